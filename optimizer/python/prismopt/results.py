"""Results of searches, and what they are used for."""

import operator
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from prismopt import _core
from prismopt.needed import needed
from prismopt.plans import Plan
from prismopt.plots import draw_front
from prismopt.record import Record
from prismopt.table import Table, frame, frame_of_csv, write_csv

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


Measured = Union[str, "os.PathLike[str]", "Mapping[str, Sequence[Any]]", "pandas.DataFrame"]


class Shortlist(Record):
    """Plans that may be the best, given the error of the model: `prismopt shortlist --json`."""


class Comparison(Record):
    """Several studies compared: `prismopt compare --json`."""


class Learned(Record):
    """What measured plans teach: `prismopt learn --json`. `overlay` is the file for later studies."""

    overlay: str = ""

    @classmethod
    def of(cls, learned: tuple[tuple[str, str], str]) -> "Learned":
        made = cls.of_texts(learned[0])
        made.overlay = learned[1]
        return made

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the overlay, which scenarios read with `learned` in [cluster]."""
        Path(path).write_text(self.overlay, encoding="utf-8")


class Results(Record):
    """Results of a search: the object that `prismopt report --json` prints, and its tables."""

    def __init__(self, core: "_core.Results", folder: "Optional[tempfile.TemporaryDirectory[str]]" = None) -> None:
        super().__init__(core.json, core.text)
        self._core = core
        self._folder = folder

    @staticmethod
    def open(path: "str | os.PathLike[str]") -> "Results":
        """Opens a file of results, also of a search that was stopped. Raises InputError."""
        return Results(_core.open_results(os.fspath(path)))

    @property
    def path(self) -> str:
        """The file of the results."""
        return self._core.path

    @property
    def provisional(self) -> bool:
        """Whether the search was stopped before it confirmed its front."""
        return self._core.provisional

    @property
    def objectives(self) -> dict[str, str]:
        """Units by the name of each objective."""
        return {name: units for name, units, _ in self._core.objectives}

    @property
    def scenario(self) -> "Any":
        """The scenario that was searched."""
        from prismopt.scenario import Scenario

        return Scenario.parse(self._core.scenario_text, self.path)

    @property
    def front(self) -> "Union[pandas.DataFrame, Table]":
        """The front, a row per plan: number, values of axes, all results with their limits; names of columns have the units."""
        return self._plans(may_not_fit=False)

    @property
    def may_not_fit(self) -> "Union[pandas.DataFrame, Table]":
        """Plans that would be on the front, but fit into memory with less than the probability of the limit; as `front`."""
        return self._plans(may_not_fit=True)

    def _plans(self, may_not_fit: bool) -> "Union[pandas.DataFrame, Table]":
        return frame_of_csv(self._core.front_csv(), lambda row: (row["may_not_fit"] == "1") == may_not_fit)

    @property
    def machines(self) -> "Union[pandas.DataFrame, Table, None]":
        """Machines of a study for several networks, a row each; None of other studies."""
        text = self._core.machines_csv()
        return frame_of_csv(text) if text else None

    @property
    def evaluations(self) -> "Union[pandas.DataFrame, Table]":
        """All feasible plans that were found, a row each.

        Columns: point, values of axes, draws, and for each objective, as in `front` (objective_training_time_p99_s), its value with
        _low and _high (NaN: excluded by its bound, without draws) and its lower bound, _bound.
        """
        table = self._core.evaluations()
        columns = {"point": table["numbers"].pop("point")}
        for name, labels, positions in table["axes"]:
            columns[name] = _labels(labels)[positions]
        return frame({**columns, **table["numbers"]})

    def plan(self, number: Optional[int] = None) -> Plan:
        """The plan of a number in tables; None: the first of the front."""
        return Plan(self._core.plan(None if number is None else operator.index(number)))

    def to_xarray(self, group: str = "front") -> "xarray.Dataset":
        """A group of the file, with units: "front", "evaluations", "progress", ... Needs xarray and h5netcdf."""
        xarray = needed("xarray", "install it and h5netcdf, or read the file with h5py")
        needed("h5netcdf", "install it, or read the file with h5py")
        with _core.FilesInUse(), xarray.open_dataset(self.path, group=group, engine="h5netcdf") as data:
            loaded: "xarray.Dataset" = data.load()
            return loaded

    def plot_front(self, x: str = "", y: str = "", *, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws two objectives of the front, with its confidence intervals, and of all evaluated plans, with matplotlib.

        x, y: names of objectives; empty: the first two.
        """
        return draw_front(self, x, y, ax)

    def plot_timeline(self, number: Optional[int] = None, *, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws a step of a plan at mean times; None: the first of the front."""
        return self.plan(number).plot_timeline(ax=ax)

    def figure(self, name: str = "front", *, x: str = "", y: str = "", colour: str = "") -> str:
        """A figure for papers as SVG, as `prismopt report --figure` draws it."""
        return self._core.figure(name, x, y, colour)

    def save_html(self, path: "str | os.PathLike[str]") -> None:
        """Writes the report as one page, as `prismopt report --html` does."""
        Path(path).write_text(self._core.html(), encoding="utf-8")

    def export(self, target: str, number: Optional[int] = None, *, phase: int = 1, stem: str = "plan") -> dict[str, str]:
        """A plan as settings of a training program: texts by file name, the main one first under "".

        target: as `prismopt export --help` lists them. stem: of the names of further files. Raises InputError where the program
        cannot run the plan.
        """
        return {file.name: file.text for file in self._core.export(target, number, phase, stem)}

    def shortlist(self, objective: str = "", *, most: int = 0, cover: float = 0.9) -> Shortlist:
        """Plans to measure: the smallest set that has the best one with probability `cover`, or the `most` useful ones."""
        return Shortlist.of_texts(self._core.shortlist(objective, operator.index(most), cover))

    def learn(self, measured: "Measured", *, accept: bool = False) -> Learned:
        """What measured plans teach: a CSV file, or a table with the columns point or plan, step_time_s, peak_memory_gb.

        accept: also measurements that the intervals of the model do not allow.
        """
        if isinstance(measured, (str, os.PathLike)):
            return Learned.of(self._core.learn(os.fspath(measured), accept))
        with tempfile.TemporaryDirectory(prefix="prismopt-") as folder:
            path = os.path.join(folder, "measured.csv")
            write_csv(measured, path)
            return Learned.of(self._core.learn(path, accept))

    def resume(
        self, *, progress: "Optional[Callable[[dict[str, Any]], None]]" = None, max_time: Optional[float] = None
    ) -> "Results":
        """Continues a search that was stopped, as Scenario.search(). max_time: None: until it is complete."""
        from prismopt import searching

        choice = _core.SearchChoice()
        choice.max_time_s = None if max_time is None else float(max_time)
        return searching.run(lambda log: _core.resume(self.path, choice, progress, log), self.path, self._folder)

    def __repr__(self) -> str:
        return f"<Results of {len(self._core.front_points)} plans on the front, {self.path}>"


def _labels(labels: list[str]) -> "NDArray[Any]":
    """Values of an axis: numbers, where all are."""
    if all(re.fullmatch(r"-?\d+", label) for label in labels):
        return np.array([int(label) for label in labels])
    return np.array(labels, dtype=object)


def compare(results: "Sequence[Union[Results, str, os.PathLike[str]]]", *, common: bool = False) -> Comparison:
    """Compares studies, or their files: their best plans, hypervolumes, and which of two plans is the faster.

    common: compare only the objectives that all of them have.
    """
    if isinstance(results, (Results, str, os.PathLike)):
        raise TypeError("compare() needs a list of results")
    studies = [study if isinstance(study, Results) else Results.open(study) for study in results]
    return Comparison.of_texts(_core.compare([study._core for study in studies], common))


def learn(results: Results, measured: "Measured", *, accept: bool = False) -> Learned:
    """Results.learn()."""
    return results.learn(measured, accept=accept)


def resume(
    path: "str | os.PathLike[str]",
    *,
    progress: "Optional[Callable[[dict[str, Any]], None]]" = None,
    max_time: Optional[float] = None,
) -> Results:
    """Continues a search from its results or its journal, as Scenario.search() does. max_time: None: until it is complete."""
    from prismopt import searching

    choice = _core.SearchChoice()
    choice.max_time_s = None if max_time is None else float(max_time)
    file = os.fspath(path)
    return searching.run(lambda log: _core.resume(file, choice, progress, log), file, None)
