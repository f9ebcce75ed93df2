"""Columns by name: a DataFrame where pandas is installed, and otherwise a Table."""

import csv
import html
import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

_most_rows_shown = 20


class Table(Mapping[str, "NDArray[Any]"]):
    """Arrays of equal length by name."""

    def __init__(self, columns: "Mapping[str, Any]") -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}

    def __getitem__(self, name: str) -> "NDArray[Any]":
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns; `rows` has that of rows."""
        return len(self._columns)

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    @property
    def rows(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def row(self, number: int) -> dict[str, Any]:
        """The values of one row by column."""
        return {name: column[number] for name, column in self._columns.items()}

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame of the same columns. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame(self._columns)

    def __repr__(self) -> str:
        return f"<Table of {self.rows} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        header = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        lines = []
        for number in range(min(self.rows, _most_rows_shown)):
            cells = "".join(f"<td>{html.escape(str(value))}</td>" for value in self.row(number).values())
            lines.append(f"<tr>{cells}</tr>")
        more = f"<p>{self.rows} rows</p>" if self.rows > _most_rows_shown else ""
        return f"<table><tr>{header}</tr>{''.join(lines)}</table>{more}"


def frame(columns: "Mapping[str, Any]") -> "pandas.DataFrame | Table":
    """The columns as a DataFrame where pandas is installed."""
    table = Table(columns)
    try:
        return table.to_pandas()
    except ImportError:
        return table


def frame_of_csv(text: str, wanted: "Callable[[dict[str, str]], bool]" = lambda row: True) -> "pandas.DataFrame | Table":
    """The wanted rows of a table in CSV, whose numbers keep all of their bits."""
    reader = csv.DictReader(io.StringIO(text))
    rows = [row for row in reader if wanted(row)]
    return frame({name: _typed([row[name] for row in rows]) for name in reader.fieldnames or ()})


def write_csv(columns: "Mapping[str, Any] | pandas.DataFrame", path: str) -> None:
    """Writes columns by name; a number that is not there (NaN, None) is an empty cell."""
    given: Any = columns
    names = [str(name) for name in given]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in zip(*(given[name] for name in names)):
            writer.writerow("" if cell is None or cell != cell else cell for cell in row)


def _typed(cells: list[str]) -> "NDArray[Any]":
    """Whole numbers, numbers (NaN where there is none), or texts."""
    if cells and all(re.fullmatch(r"-?\d+", cell) for cell in cells):
        return np.array([int(cell) for cell in cells])
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells, dtype=object)
