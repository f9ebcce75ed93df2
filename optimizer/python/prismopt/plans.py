"""A plan of a scenario: predicted, explained, and its timeline drawn."""

import html
import json
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from prismopt import _core
from prismopt.designs import OnePlan, words_of
from prismopt.plots import draw_timeline
from prismopt.record import Record
from prismopt.table import Table, frame

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


class Estimate(float):
    """A number with its interval.

    low, high: 95 % confidence interval, assuming the model is exact; infinite where the draws are too few for a limit.
    model_low, model_high: 95 % prediction interval by the error of the model; NaN where it is not known.
    """

    low: float
    high: float
    model_low: float
    model_high: float

    def __new__(cls, values: dict[str, Any]) -> "Estimate":
        made = super().__new__(cls, _number(values["value"]))
        made.low = _limit(values["low"], float("-inf"))
        made.high = _limit(values["high"], float("inf"))
        made.model_low = _number(values.get("model_low"))
        made.model_high = _number(values.get("model_high"))
        return made

    def __reduce__(self) -> "tuple[type[Estimate], tuple[dict[str, Any]]]":
        """Estimates can be copied, and sent to other processes."""
        names = ("low", "high", "model_low", "model_high")
        return Estimate, ({"value": float(self), **{name: getattr(self, name) for name in names}},)

    def __repr__(self) -> str:
        return f"{float(self):.6g} [{self.low:.6g}, {self.high:.6g}]"


def _limit(value: Optional[float], none: float) -> float:
    return none if value is None else value


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else value


class Prediction(Record):
    """The prediction of a plan: the object that `prismopt predict --json` prints.

    Results are members by the names of the object's `estimates` and `numbers`: `prediction.training_time_p99` in seconds,
    `prediction.step_time_mean` in seconds, `prediction.cost` in USD, `prediction.memory_headroom` in bytes, ...;
    `prediction["columns"]` has the units and meanings of all. An infeasible plan raises no error: see `feasible`, `reason` and
    `changes`. A plan that only lacks memory is predicted as if it had enough.
    """

    _drawn: "Optional[_core.DrawnPlan]" = None

    @classmethod
    def of(cls, drawn: "_core.DrawnPlan") -> "Prediction":
        made = cls(drawn.json, lambda: drawn.text(False))
        made._drawn = drawn
        return made

    @classmethod
    def impossible(cls, words: str, why: str) -> "Prediction":
        """That of words which name no plan, as its degrees do not fit the number of GPUs."""
        values = {"feasible": False, "reason": why, "design": words, "draws": 0, "changes": []}
        return cls.of_texts((json.dumps(values), why))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        estimate = self._values.get("estimates", {}).get(name)
        if estimate is not None:
            return Estimate(estimate)
        numbers = self._values.get("numbers", {})
        if name in numbers:
            return _number(numbers[name])
        if name in self._values:
            return self._values[name]
        if not self.feasible:
            raise AttributeError(f"the plan is infeasible ({self['reason']}), so its prediction has no '{name}'")
        raise AttributeError(f"a prediction has no '{name}'; dir() of it lists the results")

    def __dir__(self) -> list[str]:
        results = [*self._values.get("estimates", {}), *self._values.get("numbers", {})]
        return sorted({*super().__dir__(), *self._values, *results})

    def __repr__(self) -> str:
        if "estimates" not in self:
            return f"<Prediction of {self['design']}: infeasible, {self['reason']}>"
        return f"<Prediction of {self['design']}: step {self.step_time_mean!r} s, {'feasible' if self.feasible else self['reason']}>"

    @property
    def feasible(self) -> bool:
        """Whether the plan can run; `reason` says why not."""
        return bool(self["feasible"])

    @property
    def draws(self) -> "tuple[NDArray[np.float64], ...]":
        """Step times in seconds, an array for each phase, without the factor common_step.

        Draws with the same number use the same random numbers for all plans. The arrays are views, which cannot be written to.
        """
        return () if self._drawn is None else self._drawn.draws

    def stages(self) -> str:
        """The text with a table of the pipeline stages: layers, times per microbatch, memory."""
        return self.text if self._drawn is None else self._drawn.text(True)


class Explanation(Record):
    """Where the time and the memory of a plan go, and what would make it fit or faster: `prismopt explain --json`."""


class Sensitivity(Record):
    """What the times of a plan depend on: `prismopt sensitivity --json`."""


class Plan:
    """A plan in its scenario. `str()` gives its words, from which `Scenario.plan()` makes it again."""

    def __init__(self, core: "_core.Plan") -> None:
        self._core = core

    def __str__(self) -> str:
        return f"{self._core.variant} {self._core.design}".strip()

    def __repr__(self) -> str:
        return f"<Plan {self}>"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(str(self))}</code>"

    @property
    def axes(self) -> dict[str, str]:
        """Values by axis, as texts."""
        return dict(word.split("=", 1) for word in str(self).split())

    def predict(self, draws: int = 0, *, orders: str = "", search_order: Optional[int] = None) -> Prediction:
        """The prediction of the plan.

        draws: number of step draws; 0: those of `confirm` in [search].
        orders: file with the order of tasks, PyTorch's table of pipeline actions, instead of the schedule's.
        search_order: search the order of tasks, where a stage holds the activations of at most so many (chunk, microbatch) pairs.
        """
        return Prediction.of(self._core.predict(operator.index(draws), orders, search_order))

    def changed(self, plan: "Optional[OnePlan]" = None, **axes: Any) -> "Plan":
        """The plan with other values on these axes: `plan.changed(tp=4, recompute="full")`."""
        return Plan(self._core.changed(words_of(plan, axes)))

    def explain(self, *, against: "Optional[Plan]" = None, changes: bool = True) -> Explanation:
        """Where time and memory go, and which changes help (seconds of computing; `changes=False`: without these).

        against: a plan to compare with, also of another scenario: why it takes more or less time and memory, and which of the
        two is the faster, with the error of the model.
        """
        if against is not None:
            return Explanation.of_texts(self._core.explain_against(against._core))
        return Explanation.of_texts(self._core.explain(changes))

    def sensitivity(
        self, *, draws: int = 4096, faster: float = 10.0, pairs: int = 3, only: "str | Sequence[str]" = ()
    ) -> Sensitivity:
        """Which kernels, noise sources and hardware parameters affect the times of the plan, and by how much.

        faster: percentage by which kernels and hardware are made faster.  pairs: number of the strongest ones to pair.
        only: names of kernel classes, noise sources or hardware parameters; empty: all.
        """
        return Sensitivity.of_texts(self._core.sensitivity(operator.index(draws), faster, pairs, [only] if isinstance(only, str) else list(only)))

    def export(self, target: str, *, phase: int = 1, stem: str = "plan") -> dict[str, str]:
        """The plan as settings of a training program: as `Results.export`, which also knows its step time."""
        return {file.name: file.text for file in self._core.export(target, phase, stem)}

    def timeline(self, draw: Optional[int] = None, *, draws: int = 0) -> "Union[pandas.DataFrame, Table]":
        """Events of a step of the first phase: stage, stream, activity, chunk, microbatch, start_s, end_s.

        draw: by number, of so many `draws`, instead of mean times.
        """
        names = ("stage", "stream", "activity", "chunk", "microbatch", "start_s", "end_s")
        events = self._core.timeline(draw, draws)
        return frame(dict(zip(names, zip(*events))))

    def plot_timeline(self, draw: Optional[int] = None, *, draws: int = 0, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws `timeline()` with matplotlib, a row per stage."""
        return draw_timeline(self.timeline(draw, draws=draws), ax)
