"""Results of one thing: the JSON object that the command prints, with its text."""

import copy
import functools
import html
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self


class Record(Mapping[str, Any]):
    """A JSON object, read by key. `str()` and notebooks show it as the command prints it.

    results/README.md of the project lists the keys of all objects.
    """

    def __init__(self, make_json: Callable[[], str], make_text: Callable[[], str]) -> None:
        self._make_json = make_json
        self._make_text = make_text

    @classmethod
    def of_texts(cls, texts: tuple[str, str]) -> Self:
        """From JSON and text."""
        return cls(lambda: texts[0], lambda: texts[1])

    @functools.cached_property
    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self._make_json())
        return values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @functools.cached_property
    def text(self) -> str:
        """For people, as the command prints it."""
        return self._make_text()

    def to_dict(self) -> dict[str, Any]:
        """A copy of the object."""
        return copy.deepcopy(self._values)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {len(self)} keys>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
