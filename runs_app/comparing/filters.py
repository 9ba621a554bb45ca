"""What table and charts can be cut down to: tags of scenarios, and the problems in which they fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from runs_app.comparing.links import FORGOTTEN, Link, changed
from runs_app.comparing.page import Page
from runs_app.problems import kind_in_words

MOST_LISTED = 60  # of either, those of most scenarios; those chosen are always among them


@dataclass(frozen=True)
class Filters:
    """Each link turns its tag or problem on or off; `note` is the number of scenarios that have it. `more_tags` are
    those without a link, `more_kinds` is how many problems have none."""

    tags: tuple[Link, ...] = ()
    kinds: tuple[Link, ...] = ()
    more_tags: tuple[str, ...] = ()
    more_kinds: int = 0

    @property
    def on(self) -> list[Link]:
        return [link for link in (*self.tags, *self.kinds) if link.is_on]


NO_FILTERS: Final = Filters()


def filters(query: QueryDict, page: Page) -> Filters:
    if page.comparison is None:
        return NO_FILTERS
    there = [row.scenario_id for row in page.comparison.scenarios]
    tags = Counter(tag for scenario in there if scenario in page.heads for tag in page.heads[scenario].tags)
    kinds = {problem.key: len(problem.scenarios) for problem in page.problems.listed if problem.key}
    frequent = sorted(name for name, _ in sorted(tags.items(), key=lambda item: (-item[1], item[0]))[:MOST_LISTED])
    linked = list(kinds)[:MOST_LISTED]
    return Filters(
        tags=tuple(_links(query, "tag", frequent, tags, page.choice.tags)),
        kinds=tuple(_links(query, "kind", linked, kinds, page.choice.kinds)),
        more_tags=tuple(sorted(set(tags).difference(frequent, page.choice.tags))),
        more_kinds=len(set(kinds).difference(linked, page.choice.kinds)),
    )


def _links(
    query: QueryDict, name: str, listed: Sequence[str], counts: Mapping[str, int], chosen: Sequence[str]
) -> Iterable[Link]:
    for one in (*chosen, *[one for one in listed if one not in chosen]):
        left = [other for other in chosen if other != one] if one in chosen else [*chosen, one]
        text = kind_in_words(one) if name == "kind" else one
        yield Link(text, changed(query, forget=FORGOTTEN, **{name: left}), one in chosen, note=str(counts.get(one, 0)))
