"""Wordings of the five behaviours of manner: brevity, consent, alternatives, handing over, groundedness."""

from __future__ import annotations

from runs_app.simulator.care_wordings import FREE
from runs_app.simulator.wording import NOT, Wording, any_of

_SHORT = any_of(r"brief\w*", "short(?! with)", r"concise\w*", r"terse\w*", r"succinct\w*", "to the point")
_SPEAK = any_of("be", "keep", "stay", "remain", "answer", "reply", "speak", "respond", "talk")
_WORDY = any_of("verbose", "wordy", "chatty", "long-winded", "at length", "ramble", "long speeches")

_TOOLS = any_of("tools?", "systems?", "results?", "outputs?")
_CONSENT = any_of(
    r"confirm\w*", r"agree\w*", "consent", "permission", "approval", "yes", "go-ahead", "says? so", "okay", "ok"
)
_ACT = any_of(
    "act(?:ing)?",
    r"book\w*",
    r"cancel\w*",
    r"chang\w+",
    "do(?:ing)? (?:it|anything)",
    "go(?:ing)? ahead",
    r"proceed\w*",
    "mak(?:e|ing)",
    r"order\w*",
    r"submit\w*",
)
# Consent is the caller's: a room "confirmed free" and a booking "confirmed by the system" are other matters.
_CALLERS = rf"(?!.*(?:{FREE}|{_TOOLS}))"

_OTHER = any_of(
    "alternatives?",
    "something else",
    "another (?:one|time|day|date|slot|option)",
    "other (?:times?|days?|dates?|slots?|options?|choices?)",
    "(?:next|nearest|closest) (?:free |open |available )?(?:times?|days?|dates?|slots?|one)",
    "what (?:else )?is (?:still )?(?:free|available|open)",
)
_OFFER = any_of(r"offer\w*", r"suggest\w*", r"propos\w+", r"giv\w+", r"tell\w*", r"mention\w*", r"name\w*")

_SOMEBODY = (
    r"(?:person|people|human(?: being)?|colleagues?|agent|operator|supervisor|manager|staff|team|someone|somebody|host)"
)
_PERSON = any_of(rf"(?:(?:an?|the|our|my|real|human|another) )*{_SOMEBODY}")
_HAND = any_of(r"transfer\w*", r"connect\w*", r"put(?:ting)?", r"pass\w*", r"hand\w*", r"forward\w*", r"rout\w+")

_TELL = any_of(
    "say(?:ing|s)?",
    "tell(?:ing|s)?",
    r"stat(?:e|es|ing)",
    r"claim\w*",
    r"report\w*",
    r"promis\w*",
    r"announc\w*",
    r"relay\w*",
    r"confirm\w*",
    r"mention\w*",
)

MANNERS = {
    "be_brief": Wording(
        asks=(
            rf"{_SPEAK}.*{_SHORT}",
            r"\b(?:few|short|brief) (?:words|sentences|answers|replies)\b",
            r"\bno more than (?:one|two|three|\d+) (?:short )?(?:words|sentences?)\b",
            r"\bin (?:one|two|a single) (?:short )?sentences?\b",
        ),
        although=(rf"{NOT}.*{_WORDY}",),
        against=(_WORDY, r"\bexplain\b.*\bin detail\b"),
    ),
    "confirm_first": Wording(
        asks=(
            rf"{_CONSENT}{_CALLERS}.*\b(?:before|prior to)\b.*{_ACT}",
            rf"\bbefore\b.*{_ACT}{_CALLERS}.*{_CONSENT}",
            rf"{_ACT}.*\b(?:after|when|once|if)\b{_CALLERS}.*\bcaller\b.*{_CONSENT}",
        ),
        although=(rf"{NOT}{_CALLERS}.*{_ACT}.*\b(?:without|before|unless|until)\b.*{_CONSENT}",),
        against=(rf"{_ACT}.*\bwithout\b{_CALLERS}.*{_CONSENT}", rf"{NOT} ask.*{_CONSENT}"),
    ),
    "offer_alternatives": Wording(
        asks=(rf"{_OFFER}.*{_OTHER}", rf"{_OTHER}.*{_OFFER}"),
        although=(rf"{NOT} (?:leave|send|let|turn)\b.*\bwithout\b.*{_OTHER}",),
        against=(rf"\bwithout (?:offering|suggesting|naming)\b.*{_OTHER}",),
    ),
    "transfer": Wording(
        asks=(
            rf"{_HAND}.*\b(?:to|through|over|with|on)\b.*{_PERSON}",
            r"\bescalat\w+",
            rf"\b(?:get|fetch|call|bring in)\b (?:a|an|the|our) (?:{_SOMEBODY})\b",
        ),
        although=(rf"{NOT} (?:leave|hang up|give up|end|send)\b.*\bwithout\b.*(?:{_HAND}|{_PERSON})",),
        against=(r"\b(?:handle|solve|settle|do) (?:everything|all of it|it all) (?:by )?yourself\b",),
    ),
    "only_tools": Wording(
        asks=(
            rf"\bonly\b.*{_TELL}.*{_TOOLS}",
            rf"{_TELL}.*\b(?:only|nothing (?:but|except|beyond|more than))\b.*{_TOOLS}",
            rf"\b(?:stick|keep) to what\b.*{_TOOLS}",
        ),
        although=(
            rf"{NOT}.*{_TELL}.*\b(?:no|unless|before|until|without)\b.*{_TOOLS}",
            rf"{NOT}.*{_TELL}.*{_TOOLS}.*(?:\bnot\b|n['’]t\b)",
        ),
        against=(rf"{_TELL}.*\beven (?:if|when|though)\b.*{_TOOLS}",),
    ),
}
