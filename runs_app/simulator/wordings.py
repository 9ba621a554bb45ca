"""The wordings by which the clerk knows its five behaviours in its instructions (docs/simulator.md has examples)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Wording:
    """Patterns for one behaviour. `although`: asked for in a negative sentence ("never book without checking").
    `against`: forbidden without a plain "not" before the behaviour ("ignore corrections")."""

    asks: tuple[str, ...]
    although: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    def asked_at(self, sentence: str) -> list[int]:
        """Where in `sentence` the behaviour is asked for."""
        return [found.start() for pattern in self.asks if (found := _compiled(pattern).search(sentence))]

    def asked_although_negative(self, sentence: str) -> bool:
        return any(_compiled(pattern).search(sentence) for pattern in self.although)

    def forbidden_outright(self, sentence: str) -> bool:
        return any(_compiled(pattern).search(sentence) for pattern in self.against)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _any(*alternatives: str) -> str:
    return rf"\b(?:{'|'.join(alternatives)})\b"


NOT = _any(
    "never",
    r"(?:do|must|should|may|can) ?not",
    r"(?:do|must|should|ca|may)n['’]t",
    "not to",
    "no need to",
    "avoid",
    "refrain from",
    "without",
)
_USE = _any("use", "take", "apply", "follow", "go with", "keep", "book", "trust", "prefer", "act on", "count")
_HEED = _any("honou?r", "listen (?:for|to)", "respect", "accept", "pick up", "heed") + "|" + _USE
_HOLDS = _any("wins?", "counts?", "holds?", "matters?", "applies", "is the one")
_LATEST = _any("last", "latest", "final", "newest", "most recent")
_OLD = _any("first", "old", "earlier", "original", "outdated", "superseded", "withdrawn")
_THING = r"\b(?:values?|dates?|times?|things?|said|says?|details?|versions?|answers?)\b"
_CORRECTION = r"\bcorrect(?:s|ed|ion|ions|ing)\b"
_MIND = r"\bchang\w+ (?:their|his|her) minds?\b"

_CHECK = _any(
    r"check\w*",
    "look(?:ing)? (?:up|whether)",
    r"verify\w*",
    "confirm(?:ing)?",
    "make sure",
    "making certain",
    "see(?:ing)? (?:if|whether)",
    "find(?:ing)? out",
)
_FREE = _any(r"availab\w+", "free", "open", "space", "room", "slots?", r"vacan\w+", "capacity")
_AHEAD = _any("first", "before", "prior to", "ahead of", "always")
_BOOK = _any(
    r"book\w*", r"reserv\w*", r"creat\w*", r"confirm\w*", r"promis\w*", "mak(?:e|ing)", r"act\w*", r"schedul\w*"
)

_REPEAT = _any(r"repeat\w*", r"restat\w*", r"recap\w*", r"summari[sz]\w+", r"echo\w*", "go(?:ing)? (?:back )?over")
_DETAILS = _any(
    "details?",
    "booking",
    "reservation",
    "order",
    "request",
    "dates?",
    "times?",
    "everything",
    "information",
    "them",
    "what (?:you|they|the caller|has|was|is)",
)
_ALOUD = _any("aloud", "out loud", "(?:to|with) the caller", "at the (?:end|close)", "afterwards")
_SKIP = _any("skip", "forget", "omit")

_CHECKED = r"(?:verified|authori[sz]ed|identified|authenticated)"
_STRANGER = _any(
    "strangers?",
    rf"(?:not|(?:is|are|has|have)n['’]t)(?: been| yet| yet been)? {_CHECKED}",
    rf"un(?:{_CHECKED}|known callers?)",
    r"third part\w+",
    r"(?:some|any)(?:one|body) else(?:['’]s)?",
    r"other (?:people|guests?|callers?|customers?|persons?)",
    r"another (?:person|guest|caller|customer)",
)
_REFUSE = _any(
    r"refus\w+",
    r"declin\w+",
    r"turn\w* (?:\w+ ){0,4}?(?:away|down)",
    r"reject\w*",
    "den(?:y|ies|ying)",
    "say(?:ing)? no",
)
_OWNER = _any(_CHECKED, "owners?", "their own", "the (?:person|caller|guest|customer) who", "whose")
_EVERYONE = _any("everyone", "everybody", "anyone", "anybody", "all callers")

_ASK = _any(
    r"ask\w*", r"request\w*", "find(?:ing)? out", r"[ei]nquir\w+", r"clarify\w*", "follow(?:ing)? up", r"prompt\w*"
)
_MISSING = _any(
    "missing",
    "lacking",
    "lacks?",
    "left out",
    "unclear",
    "incomplete",
    "omitted",
    r"forg[eo]t\w*",
    "not (?:been )?(?:said|given|told|mentioned|provided|clear)",
    r"(?:did|does|has|have)(?:n['’]t| not) (?:sa[iy]d?|gave|given?|mention\w*|tell|told|provide\w*)",
    "(?:still|you) need",
    "needed (?:details?|information)",
    "unknown",
)
_GO_ON = _any("call", "use", "book", "act", "proceed", "go (?:ahead|on)")

WORDINGS = {
    "corrected_value": Wording(
        asks=(
            rf"(?:{_HEED}).*{_CORRECTION}",
            rf"{_CORRECTION}.*(?:{_USE}|{_HOLDS})",
            rf"{_USE}.*{_LATEST}",
            rf"{_LATEST}.*{_HOLDS}",
            rf"{_MIND}.*(?:{_USE}|{_LATEST})",
            rf"{_USE}.*{_MIND}",
        ),
        although=(
            rf"{NOT}.*(?:{_USE}|\bstick to\b|\bstay with\b).*{_OLD}",
            rf"{NOT} (?:ignore|disregard|overlook|miss)\b.*{_CORRECTION}",
        ),
        against=(
            rf"\b(?:ignore|disregard|overlook)\b.*{_CORRECTION}",
            rf"(?:{_USE}|\bstick to\b|\bstay with\b).*{_OLD}.*{_THING}",
        ),
    ),
    "check_first": Wording(
        asks=(
            rf"{_CHECK}.*{_FREE}.*(?:{_AHEAD}|\bthen\b)",
            rf"{_AHEAD}.*{_CHECK}.*{_FREE}",
            rf"\bcheck\w*\b.*{_AHEAD}.*\b(?:book|reserv)\w*",
        ),
        although=(
            rf"{NOT}.*{_BOOK}.*\b(?:without|before|unless|until)\b.*(?:{_CHECK}|{_FREE})",
            rf"{NOT} {_SKIP}.*{_CHECK}",
        ),
        against=(rf"{_SKIP}.*(?:{_CHECK}|{_FREE})", rf"{_BOOK}.*\bwithout\b.*{_CHECK}"),
    ),
    "read_back": Wording(
        asks=(
            r"\b(?:read|say|play)(?:ing)?\b.*\bback\b",
            r"\bread-?back\b",
            rf"{_REPEAT}.*{_DETAILS}",
            rf"\bconfirm(?:ing)?\b.*\b(?:details|everything)\b.*{_ALOUD}",
        ),
        although=(
            rf"{NOT} (?:end|finish|close|hang up|say goodbye|let)\b.*\b(?:without|before|until|unless)\b"
            r".*\b(?:read\w*|repeat\w*|back)\b",
            rf"{NOT} {_SKIP}.*\b(?:read\w*|repeat\w*|back)\b",
        ),
        against=(
            rf"{_SKIP}.*\bread\w*\b.*\bback\b",
            rf"{_SKIP}.*\bread-?back\b",
            rf"\bwithout\b.*(?:{_REPEAT}|\breading\b)",
        ),
    ),
    "refuse_strangers": Wording(
        asks=(
            rf"{_REFUSE}.*{_STRANGER}",
            rf"{_STRANGER}.*{_REFUSE}",
            rf"\bonly\b.*{_OWNER}",
            rf"\b{_CHECKED} (?:callers?|guests?|customers?|people|persons?) only\b",
        ),
        although=(rf"(?:{NOT}|\bnothing\b)(?!.*{_REFUSE}).*{_STRANGER}",),
        against=(
            rf"{NOT}.*{_REFUSE}",
            rf"{NOT}.*\b(?:ask|require|insist)\w*\b.*\b(?:verif\w+|identif\w+|prove|proof|who (?:they|he|she))",
            rf"\b(?:help|serve|assist)\b.*{_EVERYONE}.*(?:\beven\b|\bincluding\b|{_STRANGER})",
        ),
    ),
    "ask_missing": Wording(
        asks=(rf"{_ASK}.*{_MISSING}", rf"{_MISSING}.*{_ASK}"),
        although=(
            rf"{NOT} (?:ever )?(?:guess|invent|make up|assume|fill in)\b",
            rf"{NOT}.*{_GO_ON}.*{_MISSING}",
            rf"{NOT}.*{_GO_ON}.*\b(?:without|until|unless|before)\b.*\b(?:all|every|each)\b",
        ),
        against=(rf"{NOT} {_ASK}.*\b(?:questions?|back|anything|further|more)\b", r"\bguess\b.*\brather than ask"),
    ),
}
