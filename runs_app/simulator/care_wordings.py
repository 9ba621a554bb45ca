"""Wordings of the five behaviours of care: corrections, checks, reading back, strangers, what is missing."""

from __future__ import annotations

from runs_app.simulator.wording import NOT, Wording, any_of

_USE = any_of("use", "take", "apply", "follow", "go with", "keep", "book", "trust", "prefer", "act on", "count")
_HEED = any_of("honou?r", "listen (?:for|to)", "respect", "accept", "pick up", "heed") + "|" + _USE
_HOLDS = any_of("wins?", "counts?", "holds?", "matters?", "applies", "is the one")
_LATEST = any_of("last", "latest", "final", "newest", "most recent")
_OLD = any_of("first", "old", "earlier", "original", "outdated", "superseded", "withdrawn")
_THING = r"\b(?:values?|dates?|times?|things?|said|says?|details?|versions?|answers?)\b"
_CORRECTION = r"\bcorrect(?:s|ed|ion|ions|ing)\b"
_MIND = r"\bchang\w+ (?:their|his|her) minds?\b"

_LOOKS = (
    r"check\w*",
    "look(?:ing)? (?:up|whether)",
    r"verify\w*",
    "make sure",
    "making certain",
    "see(?:ing)? (?:if|whether)",
    "find(?:ing)? out",
)
_LOOK = any_of(*_LOOKS)
_CHECK = any_of(*_LOOKS, "confirm(?:ing)?")  # of what is free; alone, it is a question to the caller
FREE = any_of(r"availab\w+", "free", "open", "space", "room", "slots?", r"vacan\w+", "capacity")
_AHEAD = any_of("first", "before", "prior to", "ahead of", "always")
_BOOK = any_of(
    r"book\w*", r"reserv\w*", r"creat\w*", r"confirm\w*", r"promis\w*", "mak(?:e|ing)", r"act\w*", r"schedul\w*"
)

_REPEAT = any_of(r"repeat\w*", r"restat\w*", r"recap\w*", r"summari[sz]\w+", r"echo\w*", "go(?:ing)? (?:back )?over")
_DETAILS = any_of(
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
_ALOUD = any_of("aloud", "out loud", "(?:to|with) the caller", "at the (?:end|close)", "afterwards")
_SKIP = any_of("skip", "forget", "omit")

_CHECKED = r"(?:verified|authori[sz]ed|identified|authenticated)"
_STRANGER = any_of(
    "strangers?",
    rf"(?:not|(?:is|are|has|have)n['’]t)(?: been| yet| yet been)? {_CHECKED}",
    rf"un(?:{_CHECKED}|known callers?)",
    r"third part\w+",
    r"(?:some|any)(?:one|body) else(?:['’]s)?",
    r"other (?:people|guests?|callers?|customers?|persons?)",
    r"another (?:person|guest|caller|customer)",
)
_REFUSE = any_of(
    r"refus\w+",
    r"declin\w+",
    r"turn\w* (?:\w+ ){0,4}?(?:away|down)",
    r"reject\w*",
    "den(?:y|ies|ying)",
    "say(?:ing)? no",
)
_OWNER = any_of(_CHECKED, "owners?", "their own", "the (?:person|caller|guest|customer) who", "whose")
_EVERYONE = any_of("everyone", "everybody", "anyone", "anybody", "all callers")

_ASK = any_of(
    r"ask\w*", r"request\w*", "find(?:ing)? out", r"[ei]nquir\w+", r"clarify\w*", "follow(?:ing)? up", r"prompt\w*"
)
_MISSING = any_of(
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
_GO_ON = any_of("call", "use", "book", "act", "proceed", "go (?:ahead|on)")

CARE = {
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
            rf"{_CHECK}.*{FREE}.*(?:{_AHEAD}|\bthen\b)",
            rf"{_AHEAD}.*{_CHECK}.*{FREE}",
            rf"\bcheck\w*\b.*{_AHEAD}.*\b(?:book|reserv)\w*",
        ),
        although=(
            rf"{NOT}.*{_BOOK}.*\b(?:without|before|unless|until)\b.*(?:{_LOOK}|{FREE})",
            rf"{NOT} {_SKIP}.*{_CHECK}",
        ),
        against=(rf"{_SKIP}.*(?:{_CHECK}|{FREE})", rf"{_BOOK}.*\bwithout\b.*{_LOOK}"),
    ),
    "read_back": Wording(
        asks=(
            r"\b(?:read|say|play)(?:ing)?\b.*(?<!came )(?<!come )(?<!comes )\bback\b",
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
