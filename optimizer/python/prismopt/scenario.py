"""A scenario: a job, a cluster, and the space of plans to search."""

import html
import operator
import os
import re
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union, cast, overload

from prismopt import _core, searching
from prismopt.designs import ManyPlans, OnePlan, is_many, words_of, words_of_all
from prismopt.plans import Explanation, Plan, Prediction
from prismopt.results import Results
from prismopt.table import Table, frame
from prismopt.toml_text import document, value_text

if TYPE_CHECKING:
    import pandas


class Scenario:
    """A scenario as in a file, with the keys of that file (docs/scenario.md).

    It does not change: `changed()` returns another one. Any number of threads may use it.
    """

    def __init__(self, core: "_core.Scenario") -> None:
        self._core = core

    @staticmethod
    def read(path: "str | os.PathLike[str]", catalogs: "Sequence[str | os.PathLike[str]]" = ()) -> "Scenario":
        """Reads a file. `catalogs`: files with entries of the catalog, beside those that it names. Raises InputError."""
        return Scenario(_core.read_scenario(os.fspath(path), [os.fspath(catalog) for catalog in catalogs]))

    @staticmethod
    def parse(text: str, name: str = "scenario") -> "Scenario":
        """Reads a text in TOML that names no other files. `name`: of the text in messages."""
        return Scenario(_core.parse_scenario(text, name))

    @staticmethod
    def from_dict(values: Mapping[str, Any], name: str = "scenario") -> "Scenario":
        """A scenario from nested dictionaries with the keys of a file; lists of dictionaries are [[tables]]."""
        return Scenario.parse(document(values), name)

    @staticmethod
    def start(
        workload: str,
        gpus: int,
        *,
        accelerator: str = "h100-sxm",
        instance: str = "",
        software: str = "",
        sequence_length: int = 0,
        global_batch: int = 0,
        tokens: float = 0.0,
    ) -> "Scenario":
        """A scenario for a network of the catalog, as `prismopt init` writes it; `text` has it with comments on each line.

        sequence_length: in tokens; 0: the network's usual length.  global_batch: in sequences per step; 0: as published.
        tokens: to train on; 0: 20 per parameter.
        """
        chosen = "" if instance else accelerator
        return Scenario(
            _core.start_scenario(
                workload, operator.index(gpus), chosen, instance, software, sequence_length, global_batch, float(tokens)
            )
        )

    @property
    def text(self) -> str:
        """The file, with the files that it names."""
        return self._core.text

    @property
    def name(self) -> str:
        return self._core.name

    def to_dict(self) -> dict[str, Any]:
        """What the text gives, as nested dictionaries."""
        return tomllib.loads(self.text)

    def __getitem__(self, key: str) -> Any:
        """A value, or a whole table, of the text: scenario["cluster.gpus"], scenario["phase[1].tokens"], scenario["space"]."""
        value: Any = self.to_dict()
        for name, place in _steps(key):
            try:
                value = value[name] if place is None else value[name][place]
            except (KeyError, IndexError, TypeError):
                raise KeyError(f"{key}: the text of the scenario does not give it") from None
        return value

    def __contains__(self, key: str) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def changed(self, values: Optional[Mapping[str, Any]] = None, **sections: Any) -> "Scenario":
        """The scenario with other values: scenario.changed({"cluster.gpus": 128, "cluster.tier[1].bandwidth": "50 GB/s"}).

        Keys may also be given as `cluster={"gpus": 128}`. All changes are made before the scenario is validated. Raises InputError.
        """
        changes = dict(values or {})
        for section, members in sections.items():
            changes.update(_flat(section, members))
        return Scenario(self._core.changed([(key, value_text(value)) for key, value in changes.items()]))

    def on_nodes(self, source: "str | os.PathLike[str]") -> "Scenario":
        """The scenario on known nodes: a table node,factor, or "drawn" for one sample of nodes."""
        return Scenario(self._core.on_nodes(os.fspath(source)))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the text to a file."""
        Path(path).write_text(self.text, encoding="utf-8")

    @property
    def notes(self) -> list[str]:
        """What to read before the results: deprecated keys, assumed software, placeholders for prices."""
        return self._core.notes()

    def plan(self, plan: Optional[OnePlan] = None, **axes: Any) -> Plan:
        """A plan: scenario.plan("tp=8 pp=2 schedule=1f1b"), or scenario.plan(tp=8, pp=2, schedule="1f1b").

        Axes that are not named have their only choice in [space] or, if there are several, their default. Raises InputError.
        """
        return Plan(self._core.plan(words_of(plan, axes)))

    def plans(self, most: int = 1000) -> list[str]:
        """The first feasible plans of [space], in words."""
        return [words for _, words in self._core.feasible_plans(operator.index(most))]

    def count_plans(self) -> dict[str, Any]:
        """Combinations of [space], how many were examined, how many of these are feasible, and those rejected by reason."""
        return self._core.count_plans()

    @overload
    def predict(self, plan: Optional[OnePlan] = None, *, draws: int = 0, **axes: Any) -> Prediction: ...

    @overload
    def predict(self, plan: ManyPlans, *, draws: int = 0, **axes: Any) -> "Union[pandas.DataFrame, Table]": ...

    def predict(
        self, plan: "Optional[Union[OnePlan, ManyPlans]]" = None, *, draws: int = 0, **axes: Any
    ) -> "Union[Prediction, pandas.DataFrame, Table]":
        """The prediction of one plan, or a table of many: a list, a DataFrame, or columns of values by axis.

        draws: number of step draws; 0: those of `confirm` in [search].  axes: values of the plan, or of each plan.
        Without any, the plan is the default of [space] or, if that cannot run, the one with the best noise-free first objective.
        A table has a row per plan and the columns plan, feasible, reason, detail, and all results, in SI units and USD, with the
        95 % confidence limits `_low` and `_high`. Infeasible plans have NaN.
        """
        if not is_many(plan):
            return self._predict_one(words_of(cast(Optional[OnePlan], plan), axes), draws)
        words = self._words_of_all(plan, axes)
        return frame({"plan": words, **_core.prediction_table(self._core, words, operator.index(draws))})

    def _predict_one(self, words: str, draws: int) -> Prediction:
        if not words:
            plan, note = self._core.unnamed_plan()
            if note:
                warnings.warn(note, stacklevel=3)
            return Plan(plan).predict(draws)
        try:
            return self.plan(words).predict(draws)
        except _core.DegreesDoNotFit as error:
            return Prediction.impossible(words, str(error))

    def _words_of_all(self, plans: ManyPlans, axes: Mapping[str, Any]) -> list[str]:
        return words_of_all(plans, axes, self._core.axis_names())

    def lower_bounds(self, plans: "Union[OnePlan, ManyPlans]", **axes: Any) -> "Union[pandas.DataFrame, Table]":
        """Lower bounds of the means of many plans, without draws: thousands of plans per second.

        step_s bounds the mean step. It includes waits for the slowest member of each group, so it is mostly longer than
        Prediction.noise_free_step_time, which is the step without variation between steps and kernels.

        axes: values of each plan. Tables of results, such as `Results.front`, are taken as plans by their axes.
        Columns: plan, feasible, reason, detail, step_s, training_s, cost_usd, memory_bytes (of the fullest GPU), gpus, energy_j.
        """
        words = self._words_of_all(plans, axes) if is_many(plans) else [words_of(cast(OnePlan, plans), axes)]
        return frame({"plan": words, **_core.lower_bounds_table(self._core, words)})

    def noise_free(self, plans: "Union[OnePlan, ManyPlans]", **axes: Any) -> "Union[pandas.DataFrame, Table]":
        """The former name of lower_bounds()."""
        return self.lower_bounds(plans, **axes)

    def explain(self, plan: OnePlan, *, against: "Optional[OnePlan]" = None, changes: bool = True) -> Explanation:
        """Plan.explain() of a plan, or of the difference between two."""
        return self.plan(plan).explain(against=None if against is None else self.plan(against), changes=changes)

    def search(
        self,
        out: "Optional[str | os.PathLike[str]]" = None,
        *,
        progress: "Optional[Callable[[dict[str, Any]], None]]" = None,
        max_time: "Optional[float]" = None,
        force: bool = False,
        posterior: bool = True,
        continues: bool = False,
    ) -> Results:
        """Searches [space] for the Pareto front, in this process.

        out: file of the results, and of the journal beside it; None: a temporary file.  force: overwrite it.
        progress: called about twice per second with elapsed_s, done (a share, or None), left_s, evaluated, front, ...
        max_time: in seconds. Then, and after Ctrl-C (which raises no KeyboardInterrupt), the results so far are returned:
        `provisional` is true, and `Results.resume()` or `continues=True` continues the search.
        posterior: also compute which plans may be the best, given the error of the model.
        Strategy, seed and draws are keys of the scenario: scenario.changed({"search.strategy": "nsga2", "seed": 2}).
        """
        folder = None
        if out is None:
            folder = tempfile.TemporaryDirectory(prefix="prismopt-")
            out = os.path.join(folder.name, "study.h5")
        choice = _core.SearchChoice()
        choice.out = os.fspath(out)
        choice.force = force
        choice.continues = continues
        choice.posterior = posterior
        choice.max_time_s = None if max_time is None else float(max_time)
        return searching.run(lambda log: _core.search(self._core, choice, progress, log), choice.out, folder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> "tuple[Callable[[str, str], Scenario], tuple[str, str]]":
        """Scenarios can be sent to other processes."""
        return Scenario.parse, (self.text, self._core.path)

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<p><b>{html.escape(self.name)}</b></p><ul>{notes}</ul>"
            f"<details><summary>text</summary><pre>{html.escape(self.text)}</pre></details>"
        )


def _steps(key: str) -> list[tuple[str, Optional[int]]]:
    """The names of a key, with the place in a list: "phase[1].tokens" is [("phase", 1), ("tokens", None)]."""
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is not a key; keys are texts as \"cluster.gpus\"")
    steps = []
    for word in key.split("."):
        found = re.fullmatch(r"([^\[\]]+)(?:\[(\d+)\])?", word)
        if found is None:
            raise KeyError(f'{key}: keys are names with dots, and [number] for one of several tables: "phase[1].tokens"')
        steps.append((found[1], None if found[2] is None else int(found[2])))
    return steps


def _flat(path: str, members: Any) -> dict[str, Any]:
    if not isinstance(members, Mapping):
        return {path: members}
    return {key: value for name, member in members.items() for key, value in _flat(f"{path}.{name}", member).items()}
