"""Exports named columns as CSV, HTML and frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from os import PathLike, fspath
from typing import Any

from nearfield._methods import _on_host
from nearfield._request import said

SHOWN_ROWS = 10
"""Of a table in a notebook."""


def columns_of(table: Any) -> dict[str, Any]:
    """Arrays of a table by attribute, without missing ones and without its spacing."""
    columns = {each.name: getattr(table, each.name) for each in fields(table) if each.name != "spacing"}
    return {name: column for name, column in columns.items() if column is not None}


def suffix_of(unit: str) -> str:
    """Suffix that a unit adds to the name of a length."""
    if not (isinstance(unit, str) and unit.isascii() and (unit.isalnum() or not unit)):
        raise ValueError(f"unit is {said(unit)}; give a word of letters and digits, such as 'mm' or 'um'")
    return f"_{unit}" if unit else ""


def rows_of(columns: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields the columns row by row, formatted as the command line does."""
    lists = [_on_host(column).tolist() for column in columns.values()]
    return ([_text_of(value) for value in row] for row in zip(*lists))


def csv_of(columns: Mapping[str, Any], path: str | PathLike[str] | None) -> str | None:
    """Returns the text, or None if it went to a file."""
    return written("".join(",".join(line) + "\n" for line in [list(columns), *rows_of(columns)]), path)


def written(text: str, path: str | PathLike[str] | None) -> str | None:
    """Returns the text without a path, else writes it there; refuses numbers, which `open` takes for descriptors."""
    if path is None:
        return text
    with open(fspath(path), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return None


def html_of(columns: Mapping[str, Any], rows: int) -> str:
    """Table of the first rows, with their total number."""
    shown = {name: column[:SHOWN_ROWS] for name, column in columns.items()}
    lines = [f"<th>{'</th><th>'.join(shown)}</th>", *(f"<td>{'</td><td>'.join(row)}</td>" for row in rows_of(shown))]
    more = f"<p>and {rows - SHOWN_ROWS} more</p>" if rows > SHOWN_ROWS else ""
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>{more}"


def pandas_of(columns: Mapping[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame({name: _on_host(column) for name, column in columns.items()})


def _text_of(value: Any) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(int(value))
