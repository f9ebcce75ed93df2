"""Mutated files of every kind that users give, read in process: read or refused, never a crash or a hang."""

import re
import signal
import subprocess
import time

from harness import LONGEST_S, Tally, environment, in_parallel

TITLE = "mutated inputs"
FULL = 1_000_000
BATCH = 1000
# Kinds of inputs, with their share of the cases: the more, the less a case takes.
SHARES = {"logs": 0.6, "traces": 0.1, "learned": 0.1, "configurations": 0.06, "tables": 0.06, "results": 0.06, "scenarios": 0.02}


def batch(setup, part):
    """`part`: the program, its corpus, the first case and their number. A case that ends the program is noted, and the next ones go on."""
    program, corpus, first, count = part
    tally = Tally()
    end = first + count
    while first < end:
        started = time.monotonic()
        ran = subprocess.run([setup.fuzzers / program, str(first), str(end - first), *corpus], text=True, errors="replace",
                             capture_output=True, env=environment(), timeout=12 * LONGEST_S * (end - first + 10), check=False)
        longest = re.search(r"longest ([\d.]+) s", ran.stdout)
        tally.longest_s = max(tally.longest_s, float(longest[1]) if longest else 0.0)
        if ran.returncode == 0:
            tally.outcomes[f"{program}: read or refused"] += end - first
            break
        cases = re.findall(r"^case (\d+)$", ran.stderr, re.MULTILINE)
        if not cases:
            tally.violate("crash", f"{program} from case {first}", ran.stderr)
            break
        case = int(cases[-1])
        tally.outcomes[f"{program}: read or refused"] += case - first
        hang = ran.returncode in (-signal.SIGALRM, -signal.SIGPROF)
        tally.violate("hang" if hang else "crash", f"{program} --show {case}", f"{time.monotonic() - started:.0f} s {ran.stderr[:2000]}")
        first = case + 1
    return tally


def test(setup):
    root = setup.small.parent.parent.parent
    fuzz = root / "tests" / "fuzz"
    corpora = {kind: [fuzz / kind] for kind in SHARES}
    corpora["traces"] = [fuzz / "corpus"]
    corpora["scenarios"].insert(0, root / "jobs" / "scenarios")
    cases = setup.count(FULL)
    counts = {kind: round(cases * share) for kind, share in SHARES.items()}
    parts = [(f"mutated_{kind}", corpora[kind], k, min(BATCH, counts[kind] - k))
             for kind in counts for k in range(0, counts[kind], BATCH)]
    return sum(counts.values()), in_parallel(setup, lambda part, folder: batch(setup, part), parts)
