"""What the two common JUnit schemas allow: Ant's (windyroad JUnit.xsd) and Jenkins' (junit-10.xsd), as plain rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

NUMBER, DECIMAL, TEXT = r"\d+", r"\d{1,3}(?:,?\d{3})*(?:\.\d{1,3})?|\d+(?:\.\d{1,3})?", r"(?s).*"
MOMENT, TOKEN = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", r"(?s).+"


@dataclass(frozen=True)
class Rule:
    """`children` in their order, each with the least and most there may be. `holds`: may have text."""

    required: dict[str, str] = field(default_factory=dict)
    optional: dict[str, str] = field(default_factory=dict)
    children: tuple[tuple[str, int, int], ...] = ()
    one_of: bool = False  # at most one child in all
    holds: bool = False


MANY = 10**9
FINDING = Rule({"type": TOKEN}, {"message": TEXT}, holds=True)

ANT = {
    "testsuites": Rule(children=(("testsuite", 0, MANY),)),
    "testsuite": Rule(
        {
            "package": TOKEN,
            "id": NUMBER,
            "name": TOKEN,
            "timestamp": MOMENT,
            "hostname": TOKEN,
            "tests": NUMBER,
            "failures": NUMBER,
            "errors": NUMBER,
            "time": DECIMAL,
        },
        {"skipped": NUMBER},
        (("properties", 1, 1), ("testcase", 0, MANY), ("system-out", 1, 1), ("system-err", 1, 1)),
    ),
    "properties": Rule(children=(("property", 0, MANY),)),
    "property": Rule({"name": TOKEN, "value": TEXT}),
    "testcase": Rule(
        {"name": TOKEN, "classname": TOKEN, "time": DECIMAL},
        children=(("skipped", 0, 1), ("error", 0, 1), ("failure", 0, 1)),
        one_of=True,
    ),
    "skipped": Rule(optional={"message": TEXT}, holds=True),
    "error": FINDING,
    "failure": FINDING,
    "system-out": Rule(holds=True),
    "system-err": Rule(holds=True),
}
# Jenkins asks less of a suite and of a finding, allows more in a case, and wants at least one property.
JENKINS = {**ANT, "properties": Rule(children=(("property", 1, MANY),))}


def problems(root: Element, rules: dict[str, Rule]) -> list[str]:
    return list(_problems(root, rules, root.tag)) if root.tag == "testsuites" else [f"the root is {root.tag}"]


def _problems(element: Element, rules: dict[str, Rule], path: str) -> Iterator[str]:
    rule = rules[element.tag]
    yield from _attributes(element, rule, path)
    yield from _children(element, rule, path)
    if not rule.holds and (element.text or "").strip():
        yield f"{path} holds text"
    for child in element:
        if child.tag in rules:
            yield from _problems(child, rules, f"{path}/{child.tag}")


def _attributes(element: Element, rule: Rule, path: str) -> Iterator[str]:
    known = {**rule.required, **rule.optional}
    yield from (f"{path} lacks {name}" for name in rule.required if name not in element.attrib)
    for name, value in element.attrib.items():
        if name not in known:
            yield f"{path} has no attribute {name}"
        elif not re.fullmatch(known[name], value):
            yield f"{path}: {name} is {value!r}"


def _children(element: Element, rule: Rule, path: str) -> Iterator[str]:
    tags = [child.tag for child in element]
    order = [tag for tag, _, _ in rule.children]
    yield from (f"{path} may not hold {tag}" for tag in tags if tag not in order)
    if [order.index(tag) for tag in tags if tag in order] != sorted(order.index(tag) for tag in tags if tag in order):
        yield f"{path}: {tags} are out of order"
    if rule.one_of and len(tags) > 1:
        yield f"{path} holds {tags}, at most one is allowed"
    for tag, least, most in rule.children:
        if not least <= tags.count(tag) <= most:
            yield f"{path} holds {tags.count(tag)} {tag}"
