#!/usr/bin/env python3
"""Prints how long files of the product take to compile by themselves, one after the other: the slowest, and the median of those under 80 lines.

usage: tests/compile_times.py BUILD [EVERY]    BUILD: a folder configured without PRISMOPT_UNITY_BUILD and with
                                               CMAKE_EXPORT_COMPILE_COMMANDS; EVERY: take one file in so many (default: 1)

Precompiled headers are not used: they would hide what a file's own includes cost.
"""
import json
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys

SHORT = 80  # lines
FOLDERS = ("model", "search", "io", "optimizer")
WITH_VALUE = ("-o", "-MF", "-MT", "-include")


def seconds_of(entry):
    """Processor time of compiling one file."""
    arguments = shlex.split(entry["command"])
    kept = [word for before, word in zip([""] + arguments, arguments)
            if before not in WITH_VALUE and word not in WITH_VALUE and word not in ("-MD", "-Winvalid-pch")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*kept, "-o", "/dev/null"], cwd=entry["directory"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent
    entries = [entry for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
               if pathlib.Path(entry["file"]).is_relative_to(root)
               and pathlib.Path(entry["file"]).relative_to(root).parts[0] in FOLDERS]
    times = {}
    for entry in entries[::int(sys.argv[2]) if len(sys.argv) == 3 else 1]:
        times[pathlib.Path(entry["file"]).relative_to(root)] = seconds_of(entry)
    short = {path: seconds for path, seconds in times.items() if len((root / path).read_text().splitlines()) < SHORT}
    for path in sorted(times, key=times.get, reverse=True)[:10]:
        print(f"{times[path]:6.2f} s  {path}")
    print(f"{len(short)} files under {SHORT} lines: median {statistics.median(short.values()):.2f} s, "
          f"longest {max(short.values()):.2f} s of processor time")


main()
