"""SIGKILL: whoever is hit and whenever, resuming ends with the datasets of a search that nobody killed."""

import re
import signal
import subprocess
import time

from harness import CALL_AGAIN, DONE, DRAWN, Tally, chance, command, contents, difference, environment, in_parallel, judge_end, run
from harness import strategies, study

TITLE = "kill -9"
FULL = 1000
MOST_LEGS = 12  # of a study, before it is left alone


def answers(setup, folder):
    """How many answers the journal holds."""
    text = run(setup, folder, "inspect", "study.h5.journal").out
    found = re.search(r"(\d+) answers", text)
    return int(found[1]) if found else 0


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def wait_until_gone(pids):
    deadline = time.monotonic() + 20
    while any(children_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.005)


def children_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Study:
    """One study of a strategy, killed again and again."""

    def __init__(self, setup, folder, strategy, random, tally):
        self.setup, self.folder, self.strategy, self.random, self.tally = setup, folder, strategy, random, tally
        self.journal = folder / "study.h5.journal"

    def search(self):
        return ("search", "study.toml", "--out", "study.h5", "--strategy", self.strategy)

    @property
    def over(self):
        return (self.folder / "study.h5").exists() and not self.journal.exists()

    def next_leg(self):
        """What to run now: the line that starts or continues; or resume where there is a journal with a study, else search."""
        if self.random.random() < 0.5:
            return (*self.search(), "--continue", "--legs", 2 * MOST_LEGS + 1)
        if not self.journal.exists():
            return self.search()
        if "journal of" not in run(self.setup, self.folder, "inspect", "study.h5.journal").out:
            self.journal.unlink()  # killed while its first record was written
            return self.search()
        return ("resume", "study.h5")

    def timed_kill(self, arguments, longest_s):
        """Kills a rank or the launcher after a random time; how it ended, and who was hit."""
        ranks = self.random.choices((0, 2, 3), (8, 3, 1))[0]
        process = subprocess.Popen(command(self.setup, arguments, ranks), cwd=self.folder, text=True, errors="replace",
                                   env=environment(self.random.choice((1, 2))), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(self.random.uniform(0.0, longest_s + (0.3 if ranks else 0.0)))
        workers = children_of(process.pid) if ranks else []
        whom = self.random.choice(("rank 0", "last rank", "mpirun")) if workers else "alone"
        if whom in ("alone", "mpirun"):
            process.kill()
        else:
            subprocess.run(["kill", "-KILL", str(workers[0 if whom == "rank 0" else -1])], check=False)
        _, errors = process.communicate(timeout=60)
        wait_until_gone(workers)  # what mpirun left behind ends when it loses its launcher
        return process.returncode, whom, errors

    def kill_at_a_write(self, arguments, writes):
        at = self.random.randint(1, writes)
        ended = run(self.setup, self.folder, *arguments, threads=self.random.choice((1, 2)), LD_PRELOAD=self.setup.faults,
                    PRISMOPT_FAULT="kill", PRISMOPT_FAULT_AT=at, PRISMOPT_FAULT_FOLDER=self.folder)
        return ended.code, "at a write", ended.err

    def run(self, quota, seconds, writes, expected, case):
        """Kills at most `quota` times, lets the study end, and judges; returns the number of kills."""
        for file in self.folder.glob("study.h5*"):
            file.unlink()
        kills = 0
        held = 0
        for _ in range(2 * MOST_LEGS):
            if kills >= min(quota, MOST_LEGS) or self.over:
                break
            arguments = self.next_leg()
            if self.random.random() < 0.5:
                code, whom, errors = self.kill_at_a_write(arguments, writes)
            else:
                code, whom, errors = self.timed_kill(arguments, seconds)
            if code in (-signal.SIGKILL, 137) or whom not in ("alone", "at a write"):
                kills += 1
                self.tally.add(f"killed: {whom}")
            elif code not in (DONE, CALL_AGAIN):
                self.tally.violate("crash", case, f"code {code} {errors}")
            now = answers(self.setup, self.folder) if self.journal.exists() else 0
            if self.journal.exists() and now < held:
                self.tally.violate("data lost", case, f"{held} answers, then {now}")
            held = max(held, now) if self.journal.exists() else 0
        self.end(expected, case, seconds)
        return kills

    def end(self, expected, case, seconds):
        if not self.over:
            ended = run(self.setup, self.folder, *self.next_leg(), ranks=self.random.choice((0, 0, 2)), threads=self.random.choice((1, 2)))
            if not judge_end(self.tally, case, ended, seconds):
                return
            if ended.code != DONE:
                self.tally.violate("not resumed", case, ended.err)
                return
        name = difference(contents(self.folder / "study.h5"), expected)
        if name:
            self.tally.violate("wrong result", case, f"{name} differs")
        left = sorted(p.name for p in self.folder.glob("study.h5*"))
        if left != ["study.h5"]:
            self.tally.violate("files left behind", case, str(left))
        self.tally.add("studies that ended with equal datasets" if not name else "studies that did not")


def of_strategy(setup, strategy, quota, folder):
    tally = Tally()
    study(setup, folder, strategy)
    log = folder.parent / f"{folder.name}.log"
    reference = run(setup, folder, "search", "study.toml", "--out", "study.h5", "--strategy", strategy, LD_PRELOAD=setup.faults,
                    PRISMOPT_FAULT_FOLDER=folder, PRISMOPT_FAULT_LOG=log)
    assert reference.code == DONE, reference.err
    expected = contents(folder / "study.h5")
    writes = len(log.read_text().splitlines())
    log.unlink()
    kills = 0
    number = 0
    while kills < quota:
        case = f"{strategy}, study {number}"
        of_study = Study(setup, folder, strategy, chance("kills", strategy, number), tally)
        kills += of_study.run(quota - kills, reference.seconds, writes, expected, case)
        number += 1
    return tally


def test(setup):
    """Returns (cases, Tally)."""
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        names = strategies(setup, pathlib.Path(folder))
    kills = setup.count(FULL)
    parts = [(name, kills // len(names) + (1 if k < kills % len(names) else 0)) for k, name in enumerate(names)]
    tally = in_parallel(setup, lambda part, folder: of_strategy(setup, part[0], part[1], folder), [p for p in parts if p[1] > 0])
    tally.notes.append("strategies: " + ", ".join(names))
    return sum(count for name, count in tally.outcomes.items() if name.startswith("killed")), tally
