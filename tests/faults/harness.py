"""What the fault tests share: studies, processes under faults, and how an end is judged."""

import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))

from support import contents_of  # noqa: E402

LONGEST_S = 10.0  # what takes longer than this beyond the undisturbed run hangs, where each case has a core
DONE, FAILED, WRONG_INPUT, INFEASIBLE, CALL_AGAIN = 0, 1, 2, 3, 75


class Skipped(Exception):
    """What a part needs is missing here."""

    CODE = 77  # read by ctest


@dataclasses.dataclass
class Setup:
    """What a run of the tests is of."""

    program: pathlib.Path
    mpirun: str
    small: pathlib.Path
    faults: pathlib.Path  # the library that fails calls
    fuzzers: pathlib.Path  # folder of the programs that read mutated inputs
    share: float
    jobs: int

    def count(self, full):
        return max(1, round(full * self.share))


@dataclasses.dataclass
class Ended:
    code: int
    out: str
    err: str
    seconds: float

    @property
    def crashed(self):
        """By a signal, or abort; mpirun reports those of a rank as 128 and more."""
        return self.code < 0 or self.code > 128

    @property
    def explained(self):
        return "prismopt" in self.err


class Tally:
    """Outcomes of cases by name, and what must not happen, with what reproduces it."""

    def __init__(self):
        self.outcomes = collections.Counter()
        self.violations = []
        self.longest_s = 0.0
        self.notes = []

    def add(self, outcome, seconds=0.0):
        self.outcomes[outcome] += 1
        self.longest_s = max(self.longest_s, seconds)

    def violate(self, what, case, detail=""):
        self.outcomes[what] += 1
        self.violations.append(f"{what}: {case}: {detail.strip()[-400:]}")
        print(f"  {self.violations[-1]}", flush=True)

    def join(self, other):
        self.outcomes += other.outcomes
        self.violations += other.violations
        self.notes += other.notes
        self.longest_s = max(self.longest_s, other.longest_s)


def chance(*case):
    """Random numbers of a case, whatever ran before it."""
    return random.Random("/".join(map(str, case)))


def command(setup, arguments, ranks=0):
    launcher = [setup.mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks else []
    return [*launcher, str(setup.program), *map(str, arguments)]


def environment(threads=1, **more):
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PRISMOPT_FAULT")}
    variables |= {"OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                  "OMPI_MCA_odls_base_sigkill_timeout": "0", "OMPI_MCA_plm_rsh_agent": "",
                  "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    return variables | {key: str(value) for key, value in more.items()}


def run(setup, folder, *arguments, ranks=0, threads=1, limit_s=30 * LONGEST_S, **variables):
    """Runs the program in the folder to its end; a run that exceeds the limit is killed and has code None."""
    started = time.monotonic()
    process = subprocess.Popen(command(setup, arguments, ranks), cwd=folder, env=environment(threads, **variables), text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Ended(None, out, err, limit_s)
    return Ended(process.returncode, out, err, time.monotonic() - started)


def patience_s():
    """The longest that a case may take on a machine as busy as this one is."""
    return LONGEST_S * max(1.0, os.getloadavg()[0] / os.cpu_count())


def judge_end(tally, case, ended, usual_s=0.0):
    """Whether the run ended as a program may: in time, by no signal, with a reason where it failed."""
    tally.longest_s = max(tally.longest_s, ended.seconds)
    if ended.code is None or ended.seconds > usual_s + patience_s():
        tally.violate("hang", case, f"{ended.seconds:.1f} s {ended.err}")
    elif ended.crashed:
        tally.violate("crash", case, f"code {ended.code} {ended.err}")
    elif ended.code not in (DONE, FAILED, WRONG_INPUT, INFEASIBLE, CALL_AGAIN):
        tally.violate("unknown exit code", case, f"code {ended.code} {ended.err}")
    elif ended.code != DONE and not ended.explained:
        tally.violate("no message", case, f"code {ended.code} {ended.err}")
    else:
        return True
    return False


def scenario(setup, folder, name="study.toml", **changes):
    """Writes small.toml with the values of some keys replaced."""
    text = setup.small.read_text()
    for key, value in changes.items():
        text, count = re.subn(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", text)
        assert count == 1, f"{key} is {count} times in {setup.small}"
    path = folder / name
    path.write_text(text)
    return path


# Every plan is drawn, as no bound holds for a median; a search takes about half a second on one core.
DRAWN = {"minimise": '["training_time_p50", "memory", "gpus"]', "rungs": "[{ fleets = 64, steps = 2 }, { fleets = 640, steps = 2 }]",
         "confirm": "{ fleets = 256, steps = 2 }"}


# The same in a third of the time, where nothing is to be caught in the middle.
QUICK = {"minimise": '["training_time_p50", "memory", "gpus"]', "rungs": "[{ fleets = 64, steps = 2 }, { fleets = 128, steps = 2 }]",
         "confirm": "{ fleets = 64, steps = 2 }", "schedule": '["1f1b", "interleaved"]', "pp": "[1, 2]", "microbatch": "[1]"}


def study(setup, folder, strategy=""):
    """A quick study for a strategy; nlopt tunes the range of a knob."""
    path = scenario(setup, folder, **DRAWN)
    if strategy == "nlopt":
        knob = """[[knob]]
of = "bandwidth"
tier = "cluster"
range = ["10 GB/s", "50 GB/s"]
price = { per = "50 GB/s", cost = "0.15 USD/h" }

"""
        space = "[space]\n"
        path.write_text(path.read_text().replace(space, knob + space).replace("[search]\n", "[search]\ntune_points = 2\ntune_evaluations = 20\n"))
    return path


def contents(path):
    found = contents_of(path)
    found["attributes of /"].pop("scenario_path", None)
    return found


def difference(found, expected):
    """Name of the first dataset or attribute that differs; empty: equal."""
    for name in expected.keys() | found.keys():
        if found.get(name) != expected.get(name):
            return name
    return ""


def strategies(setup, folder):
    text = " ".join(run(setup, folder, "search", "--help").out.split())
    names = re.search(r"search strategy: ([a-z0-9, ]+?)(?: --|$)", text)[1]
    return [name for name in names.replace(",", " ").split() if name != "auto"]  # auto is one of the others


def in_parallel(setup, work, items):
    """work(item, folder) -> Tally, on as many cores as there are jobs, each item in a folder of its own."""

    def one(item):
        with tempfile.TemporaryDirectory(prefix="prismopt-faults-") as folder:
            return work(item, pathlib.Path(folder))

    total = Tally()
    with concurrent.futures.ThreadPoolExecutor(setup.jobs) as pool:
        for tally in pool.map(one, items):
            total.join(tally)
    return total
