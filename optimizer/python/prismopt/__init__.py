"""Parallel plans of large model training, predicted and searched.

    import prismopt

    scenario = prismopt.Scenario.read("small.toml")
    prediction = scenario.predict("gpus=64 tp=2 pp=4 schedule=1f1b")
    prediction.training_time_p99    # seconds, with .low, .high, .model_low and .model_high
    results = scenario.search()     # the Pareto front
    results.front                   # as a DataFrame

Units are SI without prefixes (seconds, bytes, joules), GPU-seconds and US dollars; names of columns say them. Shares and probabilities
are from 0 to 1. Numbers are equal to those of the command line, bit for bit. Draws use OMP_NUM_THREADS threads, as it was set when the
module was imported; numbers do not depend on it.
"""

import os as _os

# Idle threads yield their core, as those of the command do. libgomp reads this when it is loaded.
if "OMP_WAIT_POLICY" not in _os.environ:
    _os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from prismopt._core import InfeasiblePlan, InputError, NoFeasiblePlan
from prismopt._core import version as _program
from prismopt.catalog import catalog
from prismopt.jobs import Improvement, Job, import_job, improve
from prismopt.plans import Explanation, Plan, Prediction, Sensitivity
from prismopt.results import Comparison, Learned, Results, Shortlist, compare, learn, resume
from prismopt.scenario import Scenario
from prismopt.table import Table

__version__ = _program.split()[1]

__all__ = [
    "Comparison",
    "Explanation",
    "Improvement",
    "InfeasiblePlan",
    "InputError",
    "Job",
    "Learned",
    "NoFeasiblePlan",
    "Plan",
    "Prediction",
    "Results",
    "Scenario",
    "Sensitivity",
    "Shortlist",
    "Table",
    "catalog",
    "compare",
    "import_job",
    "improve",
    "learn",
    "resume",
]
