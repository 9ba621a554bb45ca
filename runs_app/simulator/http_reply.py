"""Plain HTTP answers of the simulator, with errors in OpenAI's envelope."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = Any


@dataclass(frozen=True)
class HttpReply:
    """What an endpoint answers; the web application sends it as it is."""

    status: int
    content_type: str
    body: bytes


class RequestError(ValueError):
    """A request that cannot be served: the message and the parameter it is about, for the 400 answer."""

    def __init__(self, message: str, param: str | None = None, code: str = "invalid_value") -> None:
        super().__init__(message)
        self.param, self.code = param, code


def json_reply(content: Json, status: int = 200) -> HttpReply:
    return HttpReply(status, "application/json", json.dumps(content, ensure_ascii=False).encode())


def error_reply(error: RequestError, status: int = 400) -> HttpReply:
    """OpenAI's error envelope, as its clients read it."""
    details = {
        "message": str(error),
        "type": "invalid_request_error",
        "param": error.param,
        "code": error.code,
    }
    return json_reply({"error": details}, status)


def read_object(body: bytes) -> dict[str, Json]:
    """The JSON object in a request's body. RequestError when it is none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the body is not JSON: {error}", code="invalid_json") from error
    if not isinstance(content, dict):
        raise RequestError("the body must be a JSON object", code="invalid_json")
    return content
