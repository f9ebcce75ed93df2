"""What happens to studies and files when processes are killed or stopped, writes fail, and inputs are damaged.

All cases follow from fixed seeds, so that a case that fails can be run again. Criteria of every part: no crash, no result that differs
from the undisturbed one, no data lost beyond what was not written yet, nothing that takes more than ten seconds longer than
undisturbed. Exit code 0: all hold; 1: violations, each printed with its case; 77: nothing was tested, as
something is missing (a Python module, Slurm).
"""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import time

import damage
import inputs
import kills
import slurm
import stops
import writes
from harness import Setup, Skipped

PARTS = {"kills": kills, "damage": damage, "inputs": inputs, "writes": writes, "stops": stops, "slurm": slurm}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--build", type=pathlib.Path, default="build/release", help="build folder of the program (build/release)")
    parser.add_argument("--sanitized", type=pathlib.Path, help="build folder of the programs that read mutated inputs (build/dev, where it has them; else as --build)")
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases, 0.1 for a tenth (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at once (one per core)")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="write the table there, as Markdown; rows of parts that this run omits stay")
    parser.add_argument("--mpirun", default="mpirun")
    chosen = parser.parse_args()
    unknown = [part for part in chosen.parts if part not in PARTS]
    if unknown:
        parser.error(f"{unknown[0]} is not a part; choose from {', '.join(PARTS)}")
    chosen.parts = chosen.parts or list(PARTS)
    return chosen


def table(rows):
    lines = ["| part | cases | violations | longest case | wall time | outcomes |", "|---|---:|---:|---:|---:|---|"]
    for title, cases, tally, seconds in rows:
        outcomes = "; ".join(f"{name}: {count:,}" for name, count in sorted(tally.outcomes.items()))
        lines.append(f"| {title} | {cases:,} | {len(tally.violations):,} | {tally.longest_s:.1f} s | {seconds:.0f} s | {outcomes} |")
    return "\n".join(lines)


def kept_lines(path, titles):
    """Rows, and lines below them, of parts that an earlier run recorded and this one did not repeat."""
    lines = path.read_text().splitlines() if path.exists() else []
    own = [f"| {title} |" for title in titles] + [f"- {title}: " for title in titles]
    kept = [line for line in lines if line.startswith(("| ", "- ")) and not line.startswith(("| part |", *own))]
    return [line for line in kept if line.startswith("| ")], [line for line in kept if line.startswith("- ")]


def record(path, chosen, rows):
    """Writes the rows of this run, and keeps those of other parts: each says when and with which program it was measured."""
    version = subprocess.run([chosen.build / "prismopt", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    run = f"{datetime.date.today()}, {version}, {chosen.jobs} cases at once on {os.cpu_count()} cores"
    head, rule, *new = table(rows).splitlines()
    titles = [title for title, *_ in rows]
    kept, notes = kept_lines(path, titles)
    notes += [f"- {title}: {note}" for title, _, tally, _ in rows for note in tally.notes]
    notes += [f"- {title}: violation: {violation}" for title, _, tally, _ in rows for violation in tally.violations[:20]]
    order = [f"| {module.TITLE} |" for module in PARTS.values()]
    kept = [row for row in kept if row.startswith(tuple(order))]  # a part that was renamed has none
    body = sorted([*kept, *(f"{row} {run} |" for row in new)], key=lambda row: next(i for i, title in enumerate(order) if row.startswith(title)))
    path.write_text("\n".join([
        "# Fault tests", "",
        f"Written by `python3 tests/faults/faults.py [PART...] --sanitized build/dev --record {path}`: each row is the last run of that part.",
        "Seeds are fixed. What each part does: its file in `tests/faults/`. `ctest --preset long` runs a tenth of each, "
        "`ctest --preset complete` all.", "", f"{head} run |", f"{rule}---|", *body, "",
        "Longest case: the longest command, start of MPI included. A violation is a crash (signal or abort), a hang (ten seconds more than "
        "undisturbed), a result that differs from the undisturbed one, lost answers, or a failure without a message.", "",
        *(["## Details", "", *notes, ""] if notes else [])]))


def main():
    chosen = arguments()
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    build = chosen.build.resolve()
    dev = root / "build" / "dev"
    sanitized = (chosen.sanitized or (dev if (dev / "tests" / "mutated_traces").exists() else chosen.build)).resolve()
    setup = Setup(program=build / "prismopt", mpirun=chosen.mpirun, small=root / "jobs" / "scenarios" / "small.toml",
                  faults=build / "tests" / "libfail_writes.so", fuzzers=sanitized / "tests", share=chosen.share, jobs=chosen.jobs)
    rows = []
    for part in chosen.parts:
        started = time.monotonic()
        try:
            cases, tally = PARTS[part].test(setup)
        except Skipped as reason:
            print(reason, flush=True)
            continue
        rows.append((PARTS[part].TITLE, cases, tally, time.monotonic() - started))
        print(table(rows[-1:]), flush=True)
        if chosen.record:
            record(chosen.record, chosen, rows[-1:])
    if not rows:
        return Skipped.CODE
    print(table(rows))
    return 1 if any(tally.violations for _, _, tally, _ in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
