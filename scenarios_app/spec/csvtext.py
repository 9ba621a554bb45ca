"""CSV read strictly: quotes, line breaks in cells and any line ends; ragged rows named, separator found.

A quote in front of = + - @ keeps a spreadsheet from running a text. `safe` puts it there and `plain` takes it away;
both together change no text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from scenarios_app.spec.errors import Problem, SpecError
from scenarios_app.spec.jsonplaces import clean_text
from scenarios_app.spec.jsontext import decode

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
MOST_ROWS = 50_000
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")
_MOST_PROBLEMS = 100

csv.field_size_limit(2**31 - 1)  # the module's own 131,072 is below one long call; the upload has a limit of its own


@dataclass(frozen=True)
class Row:
    line: int  # where it begins
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    separator: str  # a name of SEPARATORS


def read_table(data: bytes | str, separator: str = "") -> Table:
    """The rows under their header; empty rows are skipped. `separator` "" finds it in the header. Raises SpecError
    with the line of every row that has more or fewer cells than the header."""
    text = decode(data)
    if not text.strip():
        raise SpecError([Problem("", "the file is empty", 1)])
    name = separator or _likely_separator(text)
    rows = list(_rows(text, SEPARATORS[name]))
    header = tuple(cell.strip() for cell in rows[0].cells)
    filled = [row for row in rows[1:] if any(row.cells)]
    if problems := [*_header_problems(header, rows[0].line), *_ragged(header, filled)]:
        raise SpecError(problems[:_MOST_PROBLEMS])
    return Table(header, tuple(filled), name)


def _likely_separator(text: str) -> str:
    """The one that stands most often in the first line, outside quotes; a comma when none does."""
    first = re.sub(r'"[^"]*"?', "", re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0])
    return max(SEPARATORS, key=lambda name: first.count(SEPARATORS[name]))


def _rows(text: str, separator: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    begin = 1
    try:
        for count, cells in enumerate(reader):
            if count > MOST_ROWS:
                raise SpecError([Problem("", f"more than {MOST_ROWS:,} rows: split the file", begin)])
            if cells or not count:
                yield Row(begin, tuple(plain(clean_text(cell)) for cell in cells))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise SpecError([Problem("", f"this row is not CSV: {error}", begin)]) from None


def _header_problems(header: Sequence[str], line: int) -> Iterator[Problem]:
    if len(header) < 2:
        yield Problem(
            "", f'the header has one column only ("{"".join(header)[:60]}"): is another separator used?', line
        )
    for index, name in enumerate(header):
        if name and name in header[:index]:
            yield Problem("", f'the header has the column "{name}" twice', line)


def _ragged(header: Sequence[str], rows: Iterable[Row]) -> Iterator[Problem]:
    for row in rows:
        if len(row.cells) != len(header):
            cells = f"{len(row.cells)} cell{'' if len(row.cells) == 1 else 's'}"
            yield Problem("", f"this row has {cells}, the header has {len(header)}", row.line)


def plain(text: str) -> str:
    """A cell without the quote that `safe` put in front."""
    return text[1:] if _QUOTED.match(text) else text


def safe(text: str) -> str:
    """A cell that no spreadsheet runs."""
    return f"'{text}" if _FORMULA.match(text) else text


def dump_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """CSV with a byte order mark, which spreadsheets need to see UTF-8, and CRLF."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return "\ufeff" + file.getvalue()
