"""Jobs from the files that start them, and better plans for them."""

import html
import operator
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from prismopt import _core
from prismopt.plans import Explanation, Plan, Prediction
from prismopt.record import Record
from prismopt.scenario import Scenario

_FileName = Union[str, "os.PathLike[str]"]


class Improvement(Record):
    """Better plans for a job: `prismopt improve --json`. Its text has the changes of the job's files."""


class Job(Record):
    """A training job as it was read: the object that `prismopt import --json` prints.

    `doubts` says what was not read, or assumed.
    """

    def __init__(self, core: "_core.Job") -> None:
        super().__init__(core.json, core.text)
        self._core = core

    @property
    def scenario(self) -> Scenario:
        return Scenario(self._core.scenario)

    @property
    def plan(self) -> Plan:
        """The plan that the job runs today."""
        return self.scenario.plan(self._core.design)

    @property
    def doubts(self) -> list[str]:
        """What makes the plan doubtful, a sentence each; empty: nothing."""
        return self._core.doubts()

    def predict(self, draws: int = 0) -> Prediction:
        """Plan.predict() of today's plan."""
        return self.plan.predict(draws)

    def explain(self, *, changes: bool = True) -> Explanation:
        """Plan.explain() of today's plan."""
        return self.plan.explain(changes=changes)

    def improve(self, *, measured_step: float = 0.0, measured_memory: float = 0.0, most_changes: int = 3, most: int = 3) -> Improvement:
        """Better plans within one, two and three changes, and the best of all, as changes of the job's files.

        measured_step: mean step of today's plan in seconds; 0: not measured.  measured_memory: its peak on one GPU in bytes.
        most: plans of each number of changes.
        """
        return improve(
            self.plan,
            measured_step=measured_step,
            measured_memory=measured_memory,
            most_changes=most_changes,
            most=most,
            job=self,
        )

    def _repr_html_(self) -> str:
        doubts = "".join(f"<li>{html.escape(doubt)}</li>" for doubt in self.doubts)
        return f"<p><code>{html.escape(str(self.plan))}</code></p><ul>{doubts}</ul>{super()._repr_html_()}"


def improve(
    plan: Plan,
    *,
    measured_step: float = 0.0,
    measured_memory: float = 0.0,
    most_changes: int = 3,
    most: int = 3,
    job: Optional[Job] = None,
) -> Improvement:
    """Job.improve() of a plan of a scenario; `job`: whose files are changed."""
    request = _core.ImproveRequest()
    request.measured_step_s = float(measured_step)
    request.measured_memory_bytes = float(measured_memory)
    request.most_changes = operator.index(most_changes)
    request.most = operator.index(most)
    return Improvement.of_texts(_core.improve(plan._core, request, None if job is None else job._core))


def import_job(
    files: "Union[_FileName, Sequence[_FileName]]",
    *,
    command: str = "",
    values: "Optional[Mapping[str, Any]]" = None,
    workload: str = "",
    model_config: "Optional[_FileName]" = None,
    gpus: int = 0,
    gpus_per_node: int = 0,
    accelerator: str = "",
    instance: str = "",
    network: str = "",
    catalogs: "Sequence[_FileName]" = (),
) -> Job:
    """Reads the files that start a training job: launch script, configurations of the trainer and of the network.

    command: that starts them, where no script does.  values: of variables and settings that the files leave open.
    workload: network of the catalog, or model_config: its config.json, where the files only name it.
    gpus, gpus_per_node, accelerator, instance, network (link between nodes): the machine, where the files do not say.
    Raises InputError.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    request = _core.ImportRequest()
    request.files = [_file(path) for path in paths]
    request.command = command
    request.set = {name: str(value) for name, value in (values or {}).items()}
    request.workload = workload
    request.model_config = None if model_config is None else _file(model_config)
    request.gpus = operator.index(gpus)
    request.node_gpus = operator.index(gpus_per_node)
    request.accelerator = accelerator
    request.instance = instance
    request.network = network
    request.name = Path(paths[0]).stem if paths else "job"
    return Job(_core.import_job(request, [os.fspath(catalog) for catalog in catalogs]))


def _file(path: _FileName) -> "_core.JobFile":
    return _core.JobFile(os.fspath(path))
