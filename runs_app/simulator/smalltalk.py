"""What needs no tool: greetings, thanks, goodbyes, and questions that a fact answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runs_app.simulator import replies
from runs_app.simulator.tool_fit import meanings, split_words
from runs_app.simulator.wire import Json

_QUESTION = re.compile(
    r"^\W*(?:(?:hi|hello|hey|good \w+|and|so|ok|okay|oh)\b[,.! ]*)*"
    r"(?:what|when|where|who|which|why|how|do|does|did|is|are|was|were|can|could|will|would|have|has|may)\b",
    re.IGNORECASE,
)
_QUESTIONS = re.compile(r"[^?]*[^?\s][^?]*\?")
_GOODBYE = re.compile(r"\b(?:good ?bye|bye(?: bye)?|hang up|that(?:['’]s| is| will be) all|see you)\b", re.IGNORECASE)
_THANKS = re.compile(r"\b(?:thanks|thank you|cheers|great|perfect|lovely)\b", re.IGNORECASE)
_HELLO = re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day))\b[\w ,]*\W*$", re.IGNORECASE)

_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|certainly|of course|please do|go ahead|correct|exactly|okay|ok|do it|"
    r"that['’]?s (?:right|fine)|that is (?:right|fine))\b",
    re.IGNORECASE,
)
_LEAVE = re.compile(
    r"^\W*(?:no|nope|no,? thank(?:s| you)|no,? (?:please )?(?:don['’]t|do not)|(?:no,? )?(?:please )?leave it"
    r"(?: as it is)?|(?:no,? )?(?:please )?never mind)\b[\s,.!]*(?:thanks|thank you|please)?\W*$",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:speak|talk|connect me|put me through|get me|want|need)\b.*"
    r"\b(?:person|human|human being|somebody|someone|colleague|operator|agent|manager)\b",
    re.IGNORECASE,
)

_ASKED_FOR_NAME = re.compile(r"\bname\b.*\?", re.IGNORECASE)
_NO_NAME = (
    r"(?:yes|no|not|sorry|what|why|i|the|please|thanks|thank|never|hello|it|it['’]s|is|my|under|for|goodbye|bye)\b"
)
_BARE_ANSWER = re.compile(
    rf"^\W*(?:(?:yes|sure|of course|okay|ok)\b[\s,]*)?(?!{_NO_NAME})(?P<name>[^\W\d_]+(?: (?!{_NO_NAME})[^\W\d_]+)?)"
    r"(?:,? please)?\W*$",
    re.IGNORECASE,
)

# Words by which callers ask for the same fact, by what the fact is about.
_TOPICS = (
    "open close closed closing opening hours hour until late early",
    "parking park car garage",
    "dog dogs pet pets cat animal animals",
    "address where located location street directions find",
    "menu vegan vegetarian gluten diet dietary dish dishes food kitchen cook",
    "wheelchair accessible accessibility access step steps ramp lift",
    "price prices cost costs fee fees much charge",
    "child children kid kids baby highchair",
    "wifi internet wireless",
    "outside terrace patio garden outdoor",
    "pay payment card cash cards",
    "return returns refund refunds exchange",
    "deliver delivery shipping ship",
)
_TOPIC_OF = {word: f"#{number}" for number, words in enumerate(_TOPICS) for word in words.split()}
_NEAR = 2.0


def in_a_sentence(text: str, *, asked: str | None) -> str:
    """`text`, or "The name is Maya." for a bare "Maya." when the clerk has just asked for a name."""
    bare = _BARE_ANSWER.match(text)
    if bare and asked and _ASKED_FOR_NAME.search(asked):
        return f"The name is {bare['name'].title()}."
    return text


def is_question(text: str) -> bool:
    return "?" in text or bool(_QUESTION.search(text))


def said_goodbye(text: str) -> bool:
    return bool(_GOODBYE.search(text))


def is_assent(text: str) -> bool:
    """An answer within a conversation: neither a question nor thanks, greeting or goodbye alone."""
    courtesy = _THANKS.search(text) and len(split_words(text)) <= 5
    return not (is_question(text) or said_goodbye(text) or _HELLO.search(text) or courtesy or leaves_it(text))


def is_yes(text: str) -> bool:
    """Whether the words agree, whatever they add."""
    return bool(_YES.search(text))


def leaves_it(text: str) -> bool:
    """A plain no: nothing shall be done."""
    return bool(_LEAVE.search(text))


def asks_for_person(text: str) -> bool:
    return bool(_PERSON.search(text))


def small_talk(text: str) -> str:
    """The reply to what neither a tool nor a fact answers."""
    if _HELLO.search(text):
        return replies.GREETING
    if is_question(text):
        return replies.UNKNOWN_FACT
    return replies.WELCOME if _THANKS.search(text) else replies.NOT_UNDERSTOOD


def answer_questions(text: str, facts: dict[str, Json], *, most: int = 2) -> str | None:
    """The facts that the questions in `text` are about, each question by itself; None when there are none."""
    questions = _QUESTIONS.findall(text)
    if len(questions) < 2:
        return answer_from_facts(text, facts, most=most)
    answers = [answer_from_facts(question, facts, most=most) for question in questions]
    return " ".join(dict.fromkeys(filter(None, answers))) or None


def answer_from_facts(text: str, facts: dict[str, Json], *, sure: bool = False, most: int = 2) -> str | None:
    """The facts (at `most` so many) that the question is about; None when none is near. `sure`: only by its name."""
    asked = _topics(text)
    scored = []
    for name, value in _flat(facts):
        named, told = _topics(name), _topics(replies.say_value(value))
        scored.append((2.0 * len(asked & named) + len(asked & (told - named)), name, value))
    best = max((score for score, _, _ in scored), default=0.0)
    if best < _NEAR and (sure or not best or not is_question(text)):
        return None
    near = [replies.state_fact(name, value) for score, name, value in scored if score == best]
    return " ".join(near[:most])


def _topics(text: str) -> frozenset[str]:
    """What `text` is about; words of one topic count once."""
    topics = {_TOPIC_OF[word] for word in split_words(text) if word in _TOPIC_OF}
    return frozenset(topics) | {word for word in meanings(text) if word not in _TOPIC_OF}


def _flat(facts: dict[str, Json], prefix: str = "") -> Iterator[tuple[str, Json]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}_")
        elif value is not None:
            yield f"{prefix}{name}", value
