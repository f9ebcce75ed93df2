"""SIGKILL under a real Slurm: the line of the template, submitted again after each kill, ends with the datasets of a search that nobody
killed. Needs root, slurm-wlm and munge. How soon a rank stops by itself is judged by tests/cli/stop_test.py: Slurm kills one that does not."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from harness import DONE, DRAWN, Skipped, Tally, chance, contents, difference, environment, in_parallel, patience_s, run, scenario
from kills import answers

TITLE = "kill -9 under Slurm"
FULL = 300
BATCH = 10  # cases in one folder
MOST_KILLS = 5  # of a study, before it is left alone
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Nodes, and ranks on each. Nodes of one machine share its /dev/shm, where Open MPI names the segments of a job by the number of a rank
# on its node: several ranks on each of several such nodes would take each other's.
SHAPES = ((1, 2), (2, 1), (3, 1))

# A search takes some seconds on two ranks.
SLOW = DRAWN | {"rungs": "[{ fleets = 64, steps = 2 }, { fleets = 2560, steps = 2 }]"}
RANKS_MAY_FOLLOW_S = 2  # SLURM_WAIT of the template
LOG_SHOWN = 300  # characters, of what a violation shows

# How a leg is ended, with how often that is drawn.
RANK, LEG, CANCEL, REQUEUE = "a rank", "ranks, srun and script at once", "scancel", "scontrol requeue"
ENDS = {RANK: 4, LEG: 2, CANCEL: 1, REQUEUE: 1}


@contextlib.contextmanager
def cluster(folder):
    """Slurm's daemons, which run while the block does; yields what its commands need in their environment."""
    start = 'set -euo pipefail; source "$0"; start_slurm "$1"; echo started; cat'
    with subprocess.Popen(["bash", "-c", start, ROOT / "tests/slurm/cluster.sh", folder], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as shell:
        if not shell.stdout.readline():
            reason = shell.stderr.read().strip()
            raise Skipped(reason) if shell.wait() == Skipped.CODE else RuntimeError(reason)
        try:
            yield {"SLURM_CONF": str(folder / "slurm.conf"), "SLURM_WAIT": str(RANKS_MAY_FOLLOW_S)}
        finally:
            shell.stdin.close()


def processes_in(folder):
    """Process ids by name, of the processes that work in a folder."""
    found = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(folder):
                found[(entry / "comm").read_text().strip()].append(int(entry.name))
        except OSError:  # it ended meanwhile
            pass
    return found


def command_lines():
    """Of all processes."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            yield path.read_text(errors="replace")


def size_of(path):
    """In bytes; 0 if it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def wait_until(condition, limit_s):
    """Whether it came true in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class Job:
    """The line of the template as a job, in the folder of its study."""

    ACTIVE = ("RUNNING", "COMPLETING", "SIGNALING", "CONFIGURING", "STAGE_OUT", "")

    def __init__(self, setup, variables, folder, nodes, ranks):
        self.variables = environment(1, **variables, PRISMOPT=setup.program)
        options = [f"--nodes={nodes}", f"--ntasks-per-node={ranks}", "--cpus-per-task=1", f"--chdir={folder}", "--output=study.log"]
        line = [ROOT / "jobs/slurm/search.sbatch", "study.toml", "study.h5", "--legs", "100"]
        self.number = self.slurm("sbatch", "--parsable", *options, *line).stdout.strip()
        assert self.number, "sbatch refused the job"

    def slurm(self, *command):
        return subprocess.run([str(word) for word in command], env=self.variables, text=True, capture_output=True, check=False)

    def state(self):
        """Empty if Slurm does not answer."""
        found = re.search(r"JobState=(\w+)", self.slurm("scontrol", "show", "job", self.number).stdout)
        return found[1] if found else ""

    def reason(self):
        """Why Slurm has it in its state."""
        found = re.search(r"JobState=\w+ Reason=(\S+).*?ExitCode=(\S+)", self.slurm("scontrol", "show", "job", self.number).stdout, re.DOTALL)
        return f"{found[1]}, exit code {found[2]}" if found else "not known"

    def has_steps(self):
        """Whether a daemon of one of its steps still runs."""
        return any(line.startswith(f"slurmstepd: [{self.number}.") for line in command_lines())

    def starts(self, limit_s):
        """Waits until it was started. Slurm holds a requeued job for two minutes, unless it is asked not to; before its old steps have
        ended, that would end its new ones, which have their numbers."""

        def started():
            if self.state() not in ("PENDING", ""):
                return True
            if not self.has_steps():
                self.slurm("scontrol", "update", f"jobid={self.number}", "starttime=now")
            return False

        return wait_until(started, limit_s)

    def is_over(self):
        """Whether it does not run any more; a requeued one is pending then."""
        return self.state() not in self.ACTIVE

    def ends(self, limit_s):
        return wait_until(self.is_over, limit_s)


class Study:
    """One study, whose legs are ended again and again."""

    def __init__(self, setup, variables, usual, folder, random, tally, case):
        self.setup, self.variables, self.usual, self.folder = setup, variables, usual, folder
        self.random, self.tally, self.case = random, tally, case
        self.journal = folder / "study.h5.journal"
        self.job = None

    def log(self):
        """Its end."""
        path = self.folder / "study.log"
        return path.read_text(errors="replace")[-LOG_SHOWN:] if path.exists() else ""

    def next_job(self):
        """The requeued job, or another one with the same line; it runs, or has run."""
        job = self.job or Job(self.setup, self.variables, self.folder, *self.random.choice(SHAPES))
        assert job.starts(180), f"Slurm does not start job {job.number}"
        self.job = None
        return job

    def end_leg(self, job, how):
        """Whether there was something to end."""
        if how == CANCEL:
            return job.slurm("scancel", job.number).returncode == 0
        if how == REQUEUE:
            return job.slurm("scontrol", "requeue", job.number).returncode == 0
        processes = processes_in(self.folder)
        targets = processes["prismopt"]
        if how == RANK and targets:
            targets = [self.random.choice(targets)]
        elif how == LEG:
            targets = targets + processes["srun"] + processes["slurm_script"]
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(targets)

    def wait_for_moment(self, job, how):
        """Waits until a random part of the journal is written, and a random time more; a quarter of the legs end while they start."""
        starts = self.random.random() < 0.25
        target = 0 if starts else self.random.uniform(size_of(self.journal), self.usual.journal)
        more_s = self.random.uniform(0.0, 2.0 if starts else 0.5)
        if how == RANK:  # a script that has not started its ranks has none to lose
            wait_until(lambda: "prismopt" in processes_in(self.folder) or job.is_over(), 60)
        wait_until(lambda: size_of(self.journal) >= target or job.is_over(), self.usual.seconds + patience_s())
        time.sleep(more_s)

    def leg(self):
        """Ends a leg at a random moment; how, or None if it was over before."""
        how = self.random.choices(list(ENDS), ENDS.values())[0]
        job = self.next_job()
        self.wait_for_moment(job, how)
        ended = self.end_leg(job, how)
        if not job.ends(patience_s() + (RANKS_MAY_FOLLOW_S if ended else self.usual.seconds)):
            self.tally.violate("hang", self.case, f"{how}: job {job.number} is {job.state()}: {self.log()}")
            job.slurm("scancel", job.number)
            job.ends(60)
        state = job.state()
        if state == "PENDING":
            self.job = job
        if state == "COMPLETED" and not self.over():
            self.tally.violate("success without results", self.case, f"job {job.number}: {self.log()}")
        if not ended or state == "COMPLETED":
            return None
        return how

    def over(self):
        return (self.folder / "study.h5").exists() and not self.journal.exists()

    def run(self, quota):
        """Ends at most `quota` legs, lets the study end, and judges; returns the number of ended legs."""
        ended = 0
        held = 0
        for _ in range(2 * MOST_KILLS):
            if ended >= min(quota, MOST_KILLS) or self.over():
                break
            how = self.leg()
            if how:
                ended += 1
                self.tally.add(f"ended: {how}")
            now = answers(self.setup, self.folder) if self.journal.exists() else 0
            if self.journal.exists() and now < held:
                self.tally.violate("data lost", self.case, f"{held} answers, then {now}")
            held = max(held, now) if self.journal.exists() else 0
        self.finish()
        return ended

    def finish(self):
        job = self.next_job()
        started = time.monotonic()
        if not job.ends(self.usual.seconds + patience_s()):
            self.tally.violate("hang", self.case, f"undisturbed, job {job.number} is {job.state()}: {self.log()}")
            job.slurm("scancel", job.number)
            return
        self.tally.longest_s = max(self.tally.longest_s, time.monotonic() - started)
        if job.state() != "COMPLETED":
            self.tally.violate("not continued", self.case, f"job {job.number} is {job.state()} ({job.reason()}): {self.log()}")
            return
        if not self.over():
            self.tally.violate("success without results", self.case, f"job {job.number}: {self.log()}")
            return
        name = difference(contents(self.folder / "study.h5"), self.usual.contents)
        if name:
            self.tally.violate("wrong result", self.case, f"{name} differs")
        left = sorted(path.name for path in self.folder.glob("study.h5*"))
        if left != ["study.h5"]:
            self.tally.violate("files left behind", self.case, str(left))
        self.tally.add("studies that did not" if name else "studies that ended with equal datasets")


@dataclasses.dataclass
class Undisturbed:
    """What a search finds without Slurm; and of a job, its seconds and the last size of its journal, in bytes."""

    contents: dict
    seconds: float
    journal: int


def undisturbed(setup, variables, folder):
    scenario(setup, folder, **SLOW)
    straight = run(setup, folder, "search", "study.toml", "--out", "straight.h5")
    assert straight.code == DONE, straight.err
    job = Job(setup, variables, folder, *SHAPES[0])
    assert job.starts(180), "Slurm does not start jobs"
    started = time.monotonic()
    journal = 0
    while not job.is_over() and time.monotonic() < started + straight.seconds + 6 * patience_s():
        journal = max(journal, size_of(folder / "study.h5.journal"))
        time.sleep(0.05)
    assert job.state() == "COMPLETED", (folder / "study.log").read_text()
    return Undisturbed(contents(folder / "straight.h5"), time.monotonic() - started, journal)


def batch(setup, variables, usual, quota, number, folder):
    tally = Tally()
    scenario(setup, folder, **SLOW)
    ended = 0
    study = 0
    while ended < quota:
        for file in [*folder.glob("study.h5*"), *folder.glob("study.log")]:
            file.unlink()
        of_study = Study(setup, variables, usual, folder, chance("slurm", number, study), tally, f"batch {number}, study {study}")
        ended += of_study.run(quota - ended)
        study += 1
    return tally


def test(setup):
    """Returns (cases, Tally)."""
    cases = setup.count(FULL)
    batches = [(number, min(BATCH, cases - begin)) for number, begin in enumerate(range(0, cases, BATCH))]
    with tempfile.TemporaryDirectory(prefix="prismopt-slurm-") as base:
        base = pathlib.Path(base)
        with cluster(base) as variables:
            reference = base / "reference"
            reference.mkdir()
            usual = undisturbed(setup, variables, reference)
            tally = in_parallel(setup, lambda item, folder: batch(setup, variables, usual, item[1], item[0], folder), batches)
    tally.notes.append(f"an undisturbed job took {usual.seconds:.1f} s")
    return sum(count for name, count in tally.outcomes.items() if name.startswith("ended: ")), tally
