"""Mutated scenarios and measurements, read in process: read or refused, never a crash or a hang."""

import re
import signal
import subprocess
import time

from harness import LONGEST_S, Tally, environment, in_parallel

TITLE = "mutated scenarios and traces"
FULL = 100_000
BATCH = 1000
SCENARIOS = 0.6  # of all cases


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
    corpora = {"mutated_scenarios": [root / "jobs" / "scenarios", root / "tests" / "fuzz" / "scenarios"],
               "mutated_traces": [root / "tests" / "fuzz" / "corpus"]}
    cases = setup.count(FULL)
    counts = {"mutated_scenarios": round(cases * SCENARIOS), "mutated_traces": cases - round(cases * SCENARIOS)}
    parts = [(program, corpora[program], k, min(BATCH, counts[program] - k))
             for program in counts for k in range(0, counts[program], BATCH)]
    return cases, in_parallel(setup, lambda part, folder: batch(setup, part), parts)
