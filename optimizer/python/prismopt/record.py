"""Results of one thing: the JSON object that the command prints, with its text."""

import copy
import html
import json
from collections.abc import Mapping
from typing import Any, Iterator


class Record(Mapping[str, Any]):
    """A JSON object, read by key. `str()` and notebooks show it as the command prints it.

    results/README.md of the project lists the keys of all objects.
    """

    def __init__(self, values: "str | dict[str, Any]", text: str = "") -> None:
        self._values: dict[str, Any] = json.loads(values) if isinstance(values, str) else values
        self._text = text

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def text(self) -> str:
        """For people, as the command prints it."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """A copy of the object."""
        return copy.deepcopy(self._values)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {len(self)} keys>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
