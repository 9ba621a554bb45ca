"""`/v1/responses` through the real openai client: create and parse, any schema, plain text, and bad requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

import jsonschema
import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from runs_app.simulator.judge_api import JUDGE_MODEL, answer_judge
from tests.simulator.http_app import serving

SCHEMA = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "score": {"type": "number", "enum": [0, 0.25, 0.5, 0.75, 1]},
        "rationale": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["passed", "score", "rationale", "evidence"],
    "additionalProperties": False,
}


def prompt(reply: str) -> str:
    scenario = {
        "request": "Book a table for Maya on August 6 at 7 p.m.",
        "expected_answer": "The table is booked for Maya on August 6 at 7 p.m.",
    }
    tool = {
        "name": "create_reservation",
        "arguments": {"guest_name": "Maya", "date": "2027-08-06", "time": "19:00"},
        "status": "completed",
    }
    document = {
        "dimension": "task_understanding",
        "scenario": scenario,
        "observed": {"assistant_response": reply, "tool_executions": [tool]},
    }
    return f"```json\n{json.dumps(document, indent=1)}\n```"


RIGHT = prompt("Your table is booked for Maya on August 6 at 7 p.m.")
WRONG = prompt("Your table is booked for Maya on August 7 at 7 p.m.")


@pytest.fixture
async def client() -> AsyncIterator[AsyncOpenAI]:
    async with (
        serving({"/v1/responses": answer_judge}) as base_url,
        AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client,
    ):
        yield client


def strict(schema: dict[str, Any]) -> Any:
    return {"format": {"type": "json_schema", "name": "grade", "schema": schema, "strict": True}}


async def test_create_returns_a_verdict_by_the_schema(client: AsyncOpenAI) -> None:
    response = await client.responses.create(
        model="sim-judge", instructions="You are a judge.", input=RIGHT, text=strict(SCHEMA), store=False
    )
    verdict = json.loads(response.output_text)
    jsonschema.validate(verdict, SCHEMA)
    assert (verdict["passed"], verdict["score"]) == (True, 1)
    assert "simulated" in verdict["rationale"].lower()
    assert response.model == JUDGE_MODEL
    assert response.status == "completed"


async def test_a_wrong_day_is_named_in_the_rationale(client: AsyncOpenAI) -> None:
    response = await client.responses.create(model="any", input=WRONG, text=strict(SCHEMA))
    verdict = json.loads(response.output_text)
    assert (verdict["passed"], verdict["score"]) == (False, 0)
    assert "August 7" in verdict["rationale"]
    assert "August 6" in verdict["rationale"]


class Grade(BaseModel):
    verdict: Literal["pass", "fail"]
    score: Literal["0", "0.25", "0.5", "0.75", "1"]
    reasoning: str
    quotes: list[str]
    confidence: float | None
    reviewer: str


async def test_parse_fills_a_model_with_other_words(client: AsyncOpenAI) -> None:
    right = await client.responses.parse(model="sim-judge", input=RIGHT, text_format=Grade)
    wrong = await client.responses.parse(model="sim-judge", input=WRONG, text_format=Grade)
    assert right.output_parsed is not None
    assert wrong.output_parsed is not None
    assert (right.output_parsed.verdict, right.output_parsed.score) == ("pass", "1")
    assert (wrong.output_parsed.verdict, wrong.output_parsed.score) == ("fail", "0")
    assert right.output_parsed.confidence is None
    assert right.output_parsed.quotes


async def test_input_may_come_as_messages_with_parts(client: AsyncOpenAI) -> None:
    response = await client.responses.create(
        model="sim-judge",
        input=[
            {"role": "developer", "content": "You are a judge."},
            {"role": "user", "content": [{"type": "input_text", "text": WRONG}]},
        ],
        text=strict(SCHEMA),
    )
    assert json.loads(response.output_text)["score"] == 0


async def test_the_same_request_has_the_same_answer(client: AsyncOpenAI) -> None:
    first = await client.responses.create(model="sim-judge", input=WRONG, text=strict(SCHEMA))
    second = await client.responses.create(model="sim-judge", input=WRONG, text=strict(SCHEMA))
    assert (first.id, first.output_text) == (second.id, second.output_text)


async def test_usage_counts_the_words_that_were_read_and_written(client: AsyncOpenAI) -> None:
    response = await client.responses.create(model="m", instructions="One two three.", input=RIGHT, text=strict(SCHEMA))
    assert response.usage is not None
    assert response.usage.input_tokens == len(RIGHT.split()) + 3
    assert response.usage.output_tokens == len(response.output_text.split())
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


async def test_without_a_schema_the_answer_is_short_and_labelled(client: AsyncOpenAI) -> None:
    response = await client.responses.create(model="sim-judge", input="Hello?")
    assert response.output_text.startswith("This is the simulator's judge.")
    assert len(response.output_text.split()) < 60


async def test_without_evidence_nothing_passes(client: AsyncOpenAI) -> None:
    response = await client.responses.create(model="sim-judge", input="Is it good?", text=strict(SCHEMA))
    verdict = json.loads(response.output_text)
    assert (verdict["passed"], verdict["score"]) == (False, 0)
    assert "no evidence to judge" in verdict["rationale"]


async def test_json_without_a_schema_is_an_object(client: AsyncOpenAI) -> None:
    response = await client.responses.create(model="sim-judge", input=RIGHT, text={"format": {"type": "json_object"}})
    assert json.loads(response.output_text)["passed"] is True


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]},
        {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]},
        {"type": "object", "properties": {"verdict": {"enum": ["met", "unmet"]}}, "required": ["verdict"]},
        {"type": "object", "properties": {"passed": {"enum": [True, False]}}, "required": ["passed"]},
        {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]},
        {
            "$defs": {
                "Score": {"enum": [0, 0.5, 1]},
                "G": {"type": "object", "properties": {"score": {"$ref": "#/$defs/Score"}}},
            },
            "type": "object",
            "properties": {
                "grade": {"$ref": "#/$defs/G"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["grade", "note"],
        },
        {
            "type": "object",
            "properties": {
                "kind": {"const": "grade"},
                "n": {"type": ["integer", "null"]},
                "list": {"type": "array"},
            },
            "required": ["kind", "n", "list"],
        },
        {
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
                }
            },
            "$ref": "#/$defs/Node",
        },
    ],
    ids=range(8),
)
async def test_any_schema_is_filled_validly(client: AsyncOpenAI, schema: dict[str, Any]) -> None:
    for given in (RIGHT, WRONG):
        response = await client.responses.create(model="m", input=given, text=strict(schema))
        jsonschema.validate(json.loads(response.output_text), schema)


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"input": RIGHT}, "model"),
        ({"model": "m"}, "input"),
        ({"model": "m", "input": []}, "input"),
        ({"model": "m", "input": RIGHT, "stream": True}, "stream"),
        ({"model": "m", "input": RIGHT, "text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"model": "m", "input": RIGHT, "text": {"format": {"type": "yaml"}}}, "text.format"),
        ({"model": "m", "input": RIGHT, "text": strict({"$ref": "#/nowhere"})}, "text.format.schema"),
        ({"model": "m", "input": RIGHT, "text": strict({"$ref": "#"})}, "text.format.schema"),
        (
            {
                "model": "m",
                "input": RIGHT,
                "text": strict({"type": "object", "properties": {"a": {"$ref": "#"}}}),
            },
            "text.format.schema",
        ),
    ],
)
async def test_a_bad_request_names_its_parameter(asked: dict[str, Any], param: str) -> None:
    reply = await answer_judge(json.dumps(asked).encode())
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["param"] == param


async def test_the_client_reads_our_errors(client: AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="streaming is not offered here"):
        await client.responses.create(model="m", input=RIGHT, stream=True)
