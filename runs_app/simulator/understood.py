"""`POST /v1/understood`: which sentences of some instructions the clerk heeds, and as what.

Asked with `{"instructions": "..."}` it answers `{"spans": [{"start", "end", "behaviour", "label", "asks"}]}`. Positions
count characters (code points) of the instructions. `asks` is false where the sentence forbids the behaviour. A
sentence may stand for two behaviours; what has no span is for a real model to read.
"""

from __future__ import annotations

from runs_app.simulator.http_reply import HttpReply, RequestError, error_reply, json_reply, read_object
from runs_app.simulator.instructions import read_sentences

LONGEST = 100_000  # characters; more would keep the loop from its calls

LABELS = {
    "corrected_value": "use the corrected value",
    "check_first": "check first",
    "read_back": "read back",
    "refuse_strangers": "refuse strangers",
    "ask_missing": "ask for what is missing",
    "be_brief": "be brief",
    "confirm_first": "confirm before acting",
    "offer_alternatives": "offer alternatives",
    "transfer": "transfer to a person",
    "only_tools": "say only what tools returned",
}


async def answer_understood(body: bytes) -> HttpReply:
    """The spans of a request's JSON body, or a 400 that names what is wrong with it."""
    try:
        text = _instructions(body)
    except RequestError as error:
        return error_reply(error)
    spans = [
        {"start": one.start, "end": one.end, "behaviour": name, "label": LABELS[name], "asks": asks}
        for one in read_sentences(text)
        for name, asks in one.verdicts.items()
    ]
    return json_reply({"object": "understood", "spans": spans})


def _instructions(body: bytes) -> str:
    text = read_object(body).get("instructions")
    if not isinstance(text, str):
        raise RequestError("instructions must be the text of a prompt, and it is missing or no text", "instructions")
    if len(text) > LONGEST:
        raise RequestError(f"instructions has {len(text)} characters; {LONGEST} are the most", "instructions")
    return text
