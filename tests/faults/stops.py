"""SIGSTOP and SIGCONT: a rank, or all of them, stand still for a while; the datasets are those of a search that nobody stopped."""

import os
import signal
import subprocess
import time

from kills import children_of
from harness import DONE, DRAWN, Ended, Tally, chance, command, contents, difference, environment, in_parallel, judge_end, run, scenario

TITLE = "SIGSTOP and SIGCONT"
FULL = 200
BATCH = 10


def stopped_run(setup, folder, ranks, random):
    """Runs a search whose ranks are stopped up to three times; how it ended, less the time that it stood still."""
    started = time.monotonic()
    process = subprocess.Popen(command(setup, ("search", "study.toml", "--out", "study.h5"), ranks), cwd=folder, text=True,
                               env=environment(random.choice((1, 2))), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stood_s = 0.0
    stops = 0
    for _ in range(random.randint(1, 3)):
        time.sleep(random.uniform(0.0, 0.4))
        targets = children_of(process.pid) if ranks else [process.pid]
        if not targets or process.poll() is not None:
            continue
        targets = random.choice((targets, [random.choice(targets)]))
        pause = random.uniform(0.05, 0.8)
        send(targets, signal.SIGSTOP)
        time.sleep(pause)
        send(targets, signal.SIGCONT)
        stood_s += pause
        stops += 1
    out, err = process.communicate(timeout=120)
    return Ended(process.returncode, out, err, time.monotonic() - started - stood_s), stops


def send(targets, number):
    for pid in targets:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def batch(setup, numbers, folder):
    tally = Tally()
    scenario(setup, folder, **DRAWN)
    undisturbed = run(setup, folder, "search", "study.toml", "--out", "study.h5")
    assert undisturbed.code == DONE, undisturbed.err
    expected = contents(folder / "study.h5")
    for number in numbers:
        (folder / "study.h5").unlink(missing_ok=True)
        random = chance("stops", number)
        ranks = random.choice((0, 2, 3))
        case = f"stop {number}, {ranks} ranks"
        ended, stops = stopped_run(setup, folder, ranks, random)
        tally.outcomes["stops"] += stops
        if not judge_end(tally, case, ended, undisturbed.seconds):
            continue
        name = difference(contents(folder / "study.h5"), expected) if ended.code == DONE else ended.err
        if name:
            tally.violate("wrong result", case, name)
        else:
            tally.add("searches with equal datasets")
    return tally


def test(setup):
    cases = setup.count(FULL)
    batches = [range(k, min(cases, k + BATCH)) for k in range(0, cases, BATCH)]
    return cases, in_parallel(setup, lambda numbers, folder: batch(setup, numbers, folder), batches)
