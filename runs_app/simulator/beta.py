"""The beta dialect, in both directions: other names for some keys and events, and a flat session.

A session.update or response.create is first held against the beta's own shapes, so that a GA key is refused by name,
as the real service refuses it; what passes is said in GA.
"""

from __future__ import annotations

from pydantic import ValidationError

from runs_app.simulator.beta_shapes import FORMATS, BetaResponse, BetaSession, format_name
from runs_app.simulator.wire import Json, Refusal, refusal_of

DEFAULT_TEMPERATURE = 0.8

# event names, GA: beta
EVENTS = {
    "response.output_text.delta": "response.text.delta",
    "response.output_text.done": "response.text.done",
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio.done": "response.audio.done",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
    "response.output_audio_transcript.done": "response.audio_transcript.done",
    "conversation.item.added": "conversation.item.created",
}
_NOT_IN_BETA = {"conversation.item.done", "input_audio_buffer.timeout_triggered"}
_PARTS = {"output_text": "text", "output_audio": "audio"}

# where a key of the flat beta session lives in the GA session
_PLACES: dict[str, tuple[str, ...]] = {
    "modalities": ("output_modalities",),
    "max_response_output_tokens": ("max_output_tokens",),
    "voice": ("audio", "output", "voice"),
    "speed": ("audio", "output", "speed"),
    "output_audio_format": ("audio", "output", "format"),
    "input_audio_format": ("audio", "input", "format"),
    "input_audio_transcription": ("audio", "input", "transcription"),
    "input_audio_noise_reduction": ("audio", "input", "noise_reduction"),
    "turn_detection": ("audio", "input", "turn_detection"),
}
_SAME = ("instructions", "tools", "tool_choice", "tracing", "model", "conversation", "input", "metadata")


class Beta:
    """The dialect of one session. What the GA has no place for, the temperature, is kept here."""

    name = "beta"

    def __init__(self) -> None:
        self._temperature = self._asked_temperature = DEFAULT_TEMPERATURE

    def incoming(self, raw: Json) -> Json:
        """A client event in GA. Refusal names the beta key that is wrong."""
        if not isinstance(raw, dict):
            return raw
        if raw.get("type") == "session.update" and isinstance(raw.get("session"), dict):
            session = {"type": "realtime"} | _in_ga(raw, "session", BetaSession)
            self._asked_temperature = raw["session"].get("temperature") or self._temperature
            return raw | {"session": session}
        if raw.get("type") == "response.create" and isinstance(raw.get("response"), dict):
            return raw | {"response": _in_ga(raw, "response", BetaResponse)}
        if raw.get("type") == "conversation.item.create" and isinstance(raw.get("item"), dict):
            return raw | {"item": _item_in_ga(raw["item"])}
        return raw

    def outgoing(self, event: dict[str, Json]) -> dict[str, Json] | None:
        """A server event in beta; None for one that the beta does not have."""
        if event["type"] in _NOT_IN_BETA:
            return None
        said = event | {"type": EVENTS.get(event["type"], event["type"])}
        if said["type"] == "response.function_call_arguments.done":
            said.pop("name", None)
        if said["type"] == "session.updated":  # only now: the update was not refused
            self._temperature = self._asked_temperature
        if "session" in said:
            said["session"] = _session_in_beta(said["session"]) | {"temperature": self._temperature}
        if "item" in said:
            said["item"] = _item_in_beta(said["item"])
        if "response" in said:
            said["response"] = _response_in_beta(said["response"]) | {"temperature": self._temperature}
        return said

    def refusal(self, given: Refusal) -> Refusal:
        """A refusal whose parameter is called as in the beta dialect."""
        for name, place in _PLACES.items():
            for root in ("session", "response"):
                path = ".".join((root, *place))
                if given.param == path or (given.param or "").startswith(f"{path}."):
                    return given.about(f"{root}.{name}")
        return given


def _in_ga(raw: dict[str, Json], key: str, shape: type[BetaSession | BetaResponse]) -> dict[str, Json]:
    given = raw[key]
    try:
        shape.model_validate(given)
    except ValidationError as error:
        raise refusal_of(error, given, key) from error
    said: dict[str, Json] = {name: given[name] for name in _SAME if name in given}
    for name, place in _PLACES.items():
        if name in given:
            _put(said, place, given[name])
    if given.get("modalities") is not None:
        said["output_modalities"] = [_modality(given["modalities"], key)]
    for name, side in (("input_audio_format", "input"), ("output_audio_format", "output")):
        if given.get(name) is not None:
            said["audio"][side]["format"] = FORMATS[given[name]]
    if isinstance(given.get("tool_choice"), dict) and "function" in given["tool_choice"]:
        said["tool_choice"] = {"type": "function", "name": given["tool_choice"]["function"]["name"]}
    if isinstance(said.get("input"), list):
        said["input"] = [_item_in_ga(item) for item in said["input"]]
    return said


def _modality(given: list[str], root: str) -> str:
    """["text"] or both: the beta never speaks without writing along."""
    if set(given) == {"audio"}:
        message = "Invalid modalities: ['audio']. Supported combinations are: ['text'] and ['audio', 'text']."
        raise Refusal("invalid_value", message, param=f"{root}.modalities")
    return "audio" if "audio" in given else "text"


def _put(said: dict[str, Json], place: tuple[str, ...], value: Json) -> None:
    for step in place[:-1]:
        said = said.setdefault(step, {})
    said[place[-1]] = value


def _item_in_ga(item: Json) -> Json:
    if not isinstance(item, dict) or item.get("role") != "assistant" or not isinstance(item.get("content"), list):
        return item
    return item | {"content": [_renamed(part, {old: new for new, old in _PARTS.items()}) for part in item["content"]]}


def _item_in_beta(item: dict[str, Json]) -> dict[str, Json]:
    if "content" not in item:
        return item
    return item | {"content": [_renamed(part, _PARTS) for part in item["content"]]}


def _renamed(part: Json, names: dict[str, str]) -> Json:
    kind = part.get("type") if isinstance(part, dict) else None
    return part | {"type": names[kind]} if isinstance(kind, str) and kind in names else part


def _session_in_beta(session: dict[str, Json]) -> dict[str, Json]:
    audio = session["audio"]
    return {
        "id": session["id"],
        "object": session["object"],
        "model": session["model"],
        "expires_at": session["expires_at"],
        "modalities": _modalities(session["output_modalities"]),
        "instructions": session["instructions"],
        "voice": audio["output"]["voice"],
        "speed": audio["output"]["speed"],
        "input_audio_format": format_name(audio["input"]["format"]),
        "output_audio_format": format_name(audio["output"]["format"]),
        "input_audio_transcription": audio["input"]["transcription"],
        "input_audio_noise_reduction": audio["input"]["noise_reduction"],
        "turn_detection": _detection(audio["input"]["turn_detection"]),
        "tools": session["tools"],
        "tool_choice": session["tool_choice"],
        "max_response_output_tokens": session["max_output_tokens"],
        "tracing": session["tracing"],
    }


def _detection(detection: dict[str, Json] | None) -> dict[str, Json] | None:
    return {name: value for name, value in detection.items() if name != "idle_timeout_ms"} if detection else None


def _response_in_beta(response: dict[str, Json]) -> dict[str, Json]:
    said = {name: value for name, value in response.items() if name not in ("output_modalities", "audio")}
    output = response["audio"]["output"]
    said["output"] = [_item_in_beta(item) for item in response["output"]]
    said["modalities"] = _modalities(response["output_modalities"])
    said["voice"] = output["voice"]
    return said | {"output_audio_format": format_name(output["format"])}


def _modalities(modalities: list[str]) -> list[str]:
    return ["audio", "text"] if "audio" in modalities else ["text"]
