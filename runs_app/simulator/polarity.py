"""What an utterance does, apart from what it names: deny, refuse, ask, claim that something was done."""

from __future__ import annotations

import re

_NEGATED = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n[’']t\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"\b(?:cannot|can not|unable|not (?:able|allowed|permitted|authori[sz]ed|possible)|impossible|"
    r"(?:can|may) only|only (?:the )?(?:guest|owner|account holder|person)|declin\w+|refus\w+|"
    r"will not|not going to)\b|\b(?:can|won|may|couldn)[’']?n?[’']t\b",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"\b(?:unavailable|not (?:available|free|open|offered)|no longer available|fully booked|booked (?:out|up|solid)|"
    r"sold out|out of stock|(?:is|are|we[’']re|were|was) full|"
    r"no (?:\w+ )?(?:tables?|rooms?|seats?|places?|slots?|availability|openings?|appointments?|space)|"
    r"nothing (?:free|available|left)|(?:do not|don[’']t|does not|doesn[’']t) (?:have|offer|serve)|"
    r"(?:isn|aren|wasn)[’']t (?:available|free|any))\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:did not (?:work|go through)|didn[’']t (?:work|go through)|failed|went wrong|an error|a problem|"
    r"(?:is|was|are) down|not reachable|out of order|could not|couldn[’']t)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\?|\b(?:(?:could|can|would|will) you (?:please )?(?:tell|give|say|spell|repeat|confirm)|"
    r"(?:may|could|can) i (?:have|ask|get|take)|please (?:tell|give|say|spell|provide|confirm)|"
    r"(?:i|we)(?:[’']ll)? (?:still )?need (?:to know|your|the|a)\b|let me know|"
    r"ask(?:s|ed|ing)?(?: \w+){0,4} (?:for|which|what|when|who|how|whether|about))",
    re.IGNORECASE,
)
_DONE_WORDS = (
    r"booked|reserved|cancell?ed|changed|moved|updated|scheduled|rescheduled|created|sent|refunded|registered|"
    r"ordered|placed|renewed|confirmed|completed|made|added|removed|deleted|opened|closed|paid|issued|transferred"
)
_CLAIMED = re.compile(
    rf"\b(?:(?:is|are|has been|have been|was|were|been|[’']s|i|we|i[’']ve|we[’']ve|i have|we have|got|it[’']s|now|"
    rf"you[’']re|you are) "
    rf"(?:now |all |already |successfully |just |also )*(?P<verb>{_DONE_WORDS})\b|"
    rf"^\W*(?P<first>{_DONE_WORDS})\b|"
    r"\b(?P<set>all set|all done|done)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?;]+\s+|,?\s+\b(?:but|however)\b\s+", re.IGNORECASE)
_CONDITIONAL = re.compile(r"\b(?:if|once|when|before|would|shall|should|until|can|will)\b", re.IGNORECASE)


def negated(text: str) -> bool:
    """Whether the words deny anything at all."""
    return bool(_NEGATED.search(text))


def refuses(text: str) -> bool:
    """Whether the speaker will not or may not do it ("I cannot", "only the guest may")."""
    return bool(_REFUSED.search(text))


def unavailable(text: str) -> bool:
    """Whether something is said not to be there ("fully booked", "no table", "not available")."""
    return bool(_UNAVAILABLE.search(text))


def denies(text: str) -> bool:
    """A refusal, a lack, or a failure that is owned up to."""
    return refuses(text) or unavailable(text) or bool(_FAILED.search(text))


def asks(text: str) -> bool:
    """Whether the words ask for something, with or without a question mark."""
    return bool(_ASKED.search(text))


def claimed_actions(text: str) -> tuple[str, ...]:
    """What is claimed to have been done, as lower-case participles ("booked"); "done" for "all set".

    Clauses that deny, that set a condition or that ask claim nothing.
    """
    found: list[str] = []
    for clause in _clauses(text):
        if negated(clause) or clause.rstrip().endswith("?") or _CONDITIONAL.search(clause):
            continue
        for match in _CLAIMED.finditer(clause):
            word = (
                "done" if match["set"] else (match["verb"] or match["first"]).lower().replace("canceled", "cancelled")
            )
            if word not in found:
                found.append(word)
    return tuple(found)


def _clauses(text: str) -> list[str]:
    start, clauses = 0, []
    for cut in _CLAUSE.finditer(text):
        clauses.append(text[start : cut.end()])
        start = cut.end()
    return [*clauses, text[start:]]
