"""`POST /v1/responses` of the simulator: structured answers of the simulated judge, in OpenAI's shapes.

Any model name is accepted; the answer names `sim-judge`, so that nobody takes it for another. With a JSON schema
(`text.format`) the answer follows it: properties that a judge has (passed, verdict, score, rationale, evidence and
their usual synonyms) are filled, all others by their type.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from runs_app.simulator.backend_api import answer_backend, is_for_the_backend
from runs_app.simulator.http_reply import HttpReply, Json, RequestError, error_reply, json_reply, read_object
from runs_app.simulator.judge_evidence import find_evidence
from runs_app.simulator.judging import LABEL, Verdict, judge
from runs_app.simulator.persona_api import answer_persona
from runs_app.simulator.persona_scene import find_scene
from runs_app.simulator.responses_shape import text_response

JUDGE_MODEL = "sim-judge"
_PLAIN_ANSWER = (
    "This is the simulator's judge. It answers structured judge requests: send text.format with a JSON schema and the "
    f"evidence as a JSON block in the input. {LABEL}"
)
_NO_EVIDENCE = Verdict(False, 0.0, f"The request holds no evidence to judge. {LABEL}", ())


async def answer_judge(body: bytes) -> HttpReply:
    """The judge's answer to a request's JSON body (or a backend's, or a caller's), or an error that names
    the parameter."""
    try:
        asked = read_object(body)
        if is_for_the_backend(asked):
            return await answer_backend(asked)
        prompt = _prompt(asked)
        if scene := find_scene(prompt):
            return await answer_persona(asked, scene, prompt)
        return json_reply(text_response(asked, prompt, _answer(asked, prompt), model=JUDGE_MODEL))
    except RequestError as error:
        return error_reply(error)


def _prompt(asked: dict[str, Json]) -> str:
    if not isinstance(asked.get("model"), str) or not asked["model"]:
        raise RequestError(f"model is missing: any name will do, for example {JUDGE_MODEL}", "model")
    if asked.get("stream"):
        raise RequestError("streaming is not offered here", "stream", "unsupported_value")
    prompt = "\n".join(_texts(asked.get("input")))
    if not prompt.strip():
        raise RequestError("input must hold text, and it is empty or missing", "input")
    return prompt


def _texts(value: Json) -> list[str]:
    """The texts of an input: a string, or items whose content is a string or parts with text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return _texts(value.get("text") if "text" in value else value.get("content"))
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


def _answer(asked: dict[str, Json], prompt: str) -> str:
    options = asked.get("text")
    given = options.get("format") if isinstance(options, dict) else None
    wanted = given if isinstance(given, dict) else {}
    kind = wanted.get("type", "text")
    if kind == "text":
        return _PLAIN_ANSWER
    evidence = find_evidence(prompt)
    verdict = judge(evidence) if evidence else _NO_EVIDENCE
    if kind == "json_object":
        return json.dumps(_filled(_OWN_SCHEMA, _OWN_SCHEMA, verdict), ensure_ascii=False)
    if kind != "json_schema" or not isinstance(wanted.get("schema"), dict):
        raise RequestError("text.format must be text, json_object, or json_schema with a schema", "text.format")
    schema = wanted["schema"]
    return json.dumps(_filled(schema, schema, verdict), ensure_ascii=False)


_OWN_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "score": {"type": "number"},
        "rationale": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
    },
}

_KNOWN: dict[str, Callable[[Verdict], Json]] = {
    **dict.fromkeys(("passed", "pass", "ok", "success", "verdict", "result", "status"), lambda v: v.passed),
    **dict.fromkeys(("score", "grade", "rating"), lambda v: v.score),
    **dict.fromkeys(("rationale", "reason", "reasoning", "explanation", "comment"), lambda v: v.rationale),
    **dict.fromkeys(("evidence", "quotes", "citations"), lambda v: list(v.evidence)),
    **dict.fromkeys(("simulated", "is_simulated"), lambda v: True),
    "judge": lambda v: JUDGE_MODEL,
}
_DEEPEST = 32
_YES = ("passed", "pass", "true", "yes", "ok", "success", "met", "correct")
_NO = ("failed", "fail", "false", "no", "not_ok", "failure", "not_met", "unmet", "incorrect", "wrong")


def _filled(schema: Json, root: dict[str, Json], verdict: Verdict, name: str = "", depth: int = 0) -> Json:
    """A value that fits `schema`: what the verdict says where `name` is a judge's word, else the emptiest one."""
    if depth > _DEEPEST:
        raise RequestError("the schema contains itself, or is nested too deeply", "text.format.schema")
    schema = _resolved(schema, root, or_null=name.lower() not in _KNOWN)
    kind = schema.get("type")
    kind = next((each for each in kind if each != "null"), "null") if isinstance(kind, list) else kind
    if "const" in schema:
        return schema["const"]
    known = _KNOWN[name.lower()](verdict) if name.lower() in _KNOWN else None
    if "enum" in schema:
        return _chosen(schema["enum"], known)
    if kind == "object" or "properties" in schema:
        parts = schema.get("properties", {})
        return {key: _filled(each, root, verdict, key, depth + 1) for key, each in parts.items()}
    if kind == "array":
        return known if isinstance(known, list) else []
    return _typed(kind, known)


def _resolved(schema: Json, root: dict[str, Json], *, or_null: bool) -> dict[str, Json]:
    """`schema` with its references followed and one alternative taken: null if `or_null`, else the first other."""
    for _ in range(_DEEPEST):  # references may go in a circle
        if not isinstance(schema, dict):
            return {}
        if isinstance(reference := schema.get("$ref"), str):
            schema = _pointed(reference, root)
        elif choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
            nulls = [each for each in choices if isinstance(each, dict) and each.get("type") == "null"]
            schema = nulls[0] if nulls and or_null else next((each for each in choices if each not in nulls), {})
        else:
            return schema
    raise RequestError("the schema's references go in a circle", "text.format.schema")


def _pointed(reference: str, root: dict[str, Json]) -> Json:
    target: Json = root
    for key in reference.removeprefix("#").strip("/").split("/"):
        if not key:
            continue
        if not isinstance(target, dict) or key not in target:
            raise RequestError(f"the schema refers to {reference}, which it lacks", "text.format.schema")
        target = target[key]
    return target


def _chosen(choices: list[Json], known: Json) -> Json:
    if isinstance(known, bool):
        if any(each is known for each in choices):
            return known
        words = _YES if known else _NO
        return next((each for each in choices if str(each).lower() in words), choices[0 if known else -1])
    if isinstance(known, float):
        numbers = [(each, _number(each)) for each in choices]
        return min(numbers, key=lambda pair: abs(pair[1] - known))[0]
    return choices[0]


def _number(choice: Json) -> float:
    try:
        return float(choice)
    except (TypeError, ValueError):
        return float("inf")


def _typed(kind: Json, known: Json) -> Json:
    if kind == "boolean":
        return known if isinstance(known, bool) else False
    if kind in ("number", "integer"):
        number = float(known) if isinstance(known, bool | float) else 0.0
        return round(number) if kind == "integer" else number
    if kind == "null":
        return None
    if isinstance(known, bool):
        return "passed" if known else "failed"
    return "; ".join(known) if isinstance(known, list) else "" if known is None else str(known)
