"""`POST /v1/responses` for who thinks behind a voice: the same clerk, asked over HTTP, with function tools.

A request is the backend's when it declares function tools or names the model `sim-clerk`; options may follow that name,
as in `sim-clerk:latency-ms=0:fault=server_error`. Everything else of `/v1/responses` is the judge's.
"""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

from runs_app.simulator.clerk import Call, Decision, Say, decide
from runs_app.simulator.http_reply import HttpReply, Json, RequestError, error_reply, json_reply
from runs_app.simulator.lines import Answered, Called, Line, Said
from runs_app.simulator.options import DEFAULT_MODEL, OptionError, Options, read_options
from runs_app.simulator.responses_shape import Asked, digest_of, message_item, response_object

NEVER_S = 90.0  # longer than anybody waits


def is_for_the_backend(asked: Asked) -> bool:
    model, tools = asked.get("model"), asked.get("tools")
    named = isinstance(model, str) and model.split(":")[0] == DEFAULT_MODEL
    return named or (isinstance(tools, list) and any(_is_function(tool) for tool in tools))


async def answer_backend(asked: Asked) -> HttpReply:
    """The clerk's next output as a response, or an error in OpenAI's envelope. Takes its time to think."""
    options, lines = _options(asked), _lines(asked.get("input"))
    if status := options.faults.refusal_status():
        message = f"The simulator refuses on request: HTTP {status}."
        return error_reply(RequestError(message, code=f"refused_{status}"), status)
    if "never_answer" in options.faults:
        await asyncio.sleep(NEVER_S)
    decision = await asyncio.to_thread(
        decide,
        instructions=str(asked.get("instructions") or ""),
        tools=[tool for tool in asked.get("tools") or [] if _is_function(tool)],
        tool_choice=asked.get("tool_choice") or "auto",
        lines=lines,
        forgetful=options.slips(),
        all_at_once="parallel_calls" in options.faults,
    )
    rounds = sum(isinstance(line, Answered) for line in lines)
    await asyncio.sleep((options.thinking_ms(rounds) + decision.extra_ms) / 1000)
    return json_reply(_response(asked, decision, options))


def _response(asked: Asked, decision: Decision, options: Options) -> Asked:
    digest = digest_of(asked)
    output = [_item(each, f"{digest[32:56]}{n:02d}", options) for n, each in enumerate(decision.outputs)]
    read = len(json.dumps([asked.get("instructions"), asked.get("input")]).split())
    made = response_object(asked, output, model=DEFAULT_MODEL, read=read, written=len(json.dumps(output).split()))
    if failure := options.faults.failure():
        message = f"The simulator fails on request: {failure[1]}."
        return made | {"status": "failed", "output": [], "error": {"code": failure[1], "message": message}}
    return made


def _item(output: Say | Call, identity: str, options: Options) -> Asked:
    if isinstance(output, Say):
        return message_item(f"msg_{identity}", output.text)
    arguments = options.faults.spoil(json.dumps(output.arguments, ensure_ascii=False))
    told = {"call_id": f"call_{identity}", "name": output.name, "arguments": arguments}
    return {"id": f"fc_{identity}", "type": "function_call", "status": "completed", **told}


def _options(asked: Asked) -> Options:
    model = asked.get("model")
    if not isinstance(model, str) or not model:
        raise RequestError("model is missing: any name will do", "model")
    try:
        return read_options({}, f"model={quote(model)}")
    except OptionError as error:
        raise RequestError(str(error), "model") from error


def _lines(given: Json) -> list[Line]:
    if isinstance(given, str):
        return [Said("user", given)]
    if not isinstance(given, list) or not given:
        raise RequestError("input must be text, or a list of items", "input")
    lines = [_line(item, number) for number, item in enumerate(given)]
    calls = {line.call_id for line in lines if isinstance(line, Called)}
    answered = {line.call_id for line in lines if isinstance(line, Answered)}
    if missing := sorted(calls - answered):
        raise RequestError(f"No tool output found for function call {missing[0]}.", "input")
    if unknown := sorted(answered - calls):
        raise RequestError(f"No tool call found for function call output with call_id {unknown[0]}.", "input")
    return [line for line in lines if line is not None]


def _line(item: Json, number: int) -> Line | None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    try:
        if kind == "function_call":
            return Called(item["call_id"], item["name"], item["arguments"])
        if kind == "function_call_output":
            output = item["output"]
            return Answered(item["call_id"], output if isinstance(output, str) else json.dumps(output))
        if kind == "message":
            return Said(item["role"], _text(item["content"]))
    except KeyError as error:
        raise RequestError(f"the item lacks {error.args[0]}", f"input[{number}].{error.args[0]}") from error
    if kind == "reasoning":
        return None
    raise RequestError("the item is of no type that the clerk reads", f"input[{number}].type")


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _is_function(tool: Json) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("name"), str)
