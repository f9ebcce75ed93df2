"""The catalog: accelerators, links, networks and other entries that scenarios name."""

import tomllib
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from prismopt import _core
from prismopt.table import Table, frame

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray


def catalog(kind: str = "") -> "Union[list[str], pandas.DataFrame, Table]":
    """The entries of a kind as a table, a row per entry and a column per key, as docs/catalog.md lists them; "": the kinds."""
    kinds = _core.catalog_kinds()
    if not kind:
        return kinds
    if kind not in kinds:
        raise ValueError(f"the catalog has no {kind!r}; kinds are {', '.join(kinds)}")
    entries: dict[str, dict[str, Any]] = tomllib.loads(_core.catalog_text(f"{kind}.toml"))
    keys = list(dict.fromkeys(key for entry in entries.values() for key in entry))
    columns: dict[str, list[Any]] = {"name": list(entries)}
    for key in keys:
        columns[key] = [entry.get(key) for entry in entries.values()]
    return frame({name: _objects(column) for name, column in columns.items()})


def _objects(column: list[Any]) -> "NDArray[Any]":
    """A column of values that may be lists or tables."""
    made = np.empty(len(column), dtype=object)
    for row, value in enumerate(column):
        made[row] = value
    return made
