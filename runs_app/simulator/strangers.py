"""Whether a caller asks for something of somebody else, judged by the state that the instructions carry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runs_app.simulator.tool_fit import split_words
from runs_app.simulator.wire import Json

_KIN = "friend|neighbou?r|boss|colleague|sister|brother|mother|father|mum|dad|husband|wife|partner|cousin|aunt|uncle"
_FOR_ANOTHER = re.compile(
    rf"\b(?:(?:{_KIN})['’]s|some(?:one|body) else(?:['’]s)?|another (?:guest|person|customer)(?:['’]s)?|on behalf of"
    rf"|belongs to (?:my|a|an|another|some)|not mine|(?:his|her|their) (?:booking|reservation|order|account))",
    re.IGNORECASE,
)
_VERIFIED = {"verified", "authorised", "authorized", "authenticated", "identified"}
_MINE = _VERIFIED | {"own", "owned", "allowed", "permitted", "mine"}
_CALLER = {"caller", "verified", "authorised", "authorized"}
_OWNER = {"name", "guest", "owner", "customer", "member", "holder", "patron"}


def is_stranger(text: str, ids: list[str], state: dict[str, Json]) -> bool:
    """True unless the state shows that the caller may act on `ids` (those that the request is about).

    Evidence, in this order: a list of what is the caller's own (`authorised_reservation_ids`), words such as "my
    friend's", a flag (`verified: false`), the owner of the record against the caller's name. No evidence is a stranger.
    """
    own = [_folded(one) for name, value in _walk(state) if _is_own_list(name, value) for one in value]
    if own:
        return any(_folded(one) not in own for one in ids) or (not ids and bool(_FOR_ANOTHER.search(text)))
    if _FOR_ANOTHER.search(text):
        return True
    flags = [value for name, value in _walk(state) if isinstance(value, bool) and set(split_words(name)) & _VERIFIED]
    if flags:
        return not all(flags)
    owners = [owner for one in ids for owner in _owners(one, state)]
    callers = {_folded(value) for name, value in _walk(state) if isinstance(value, str) and _is_caller(name)}
    if owners and callers:
        return any(owner not in callers for owner in owners)
    known = {_folded(value) for _, value in _walk(state) if isinstance(value, str)} | _keys(state)
    return not ids or any(_folded(one) not in known for one in ids)


def _is_own_list(name: str, value: Json) -> bool:
    return isinstance(value, list) and bool(set(split_words(name)) & _MINE)


def _is_caller(name: str) -> bool:
    return bool(set(split_words(name)) & _CALLER)


def _owners(one: str, state: dict[str, Json]) -> list[str]:
    """Who the record with this id is for: a dict under the id, or one that carries it as a value."""
    records = [value for name, value in _walk(state) if isinstance(value, dict) and _is_record(one, name, value)]
    return [
        _folded(value)
        for record in records
        for name, value in record.items()
        if isinstance(value, str) and set(split_words(name)) & _OWNER and not _is_caller(name)
    ]


def _is_record(one: str, name: str, value: dict[str, Json]) -> bool:
    return _folded(name) == _folded(one) or any(
        isinstance(v, str) and _folded(v) == _folded(one) for v in value.values()
    )


def _walk(node: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Every value below `node` with the name it stands under; values of a list under the list's name."""
    yield name, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _walk(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value, name)


def _keys(node: Json) -> set[str]:
    return {_folded(name) for name, _ in _walk(node) if name}


def _folded(value: Json) -> str:
    return re.sub(r"[\W_]", "", str(value)).lower()
