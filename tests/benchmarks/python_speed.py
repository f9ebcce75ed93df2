"""The Python module beside the C++ library, on one thread: ratios of medians from one run.

usage: python_speed.py BUILD_FOLDER
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

build = pathlib.Path(sys.argv[1]).absolute()
scenarios = pathlib.Path(__file__).resolve().parents[2] / "jobs" / "scenarios"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(build / "python"))
rounds = 5
plans_known, plan_step = 3000, 30  # as in library.cpp


def seconds(work, repeats=1):
    started = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - started) / repeats


def of_library():
    """Plans per second, and seconds for one plan, in C++."""
    words = [build / "prismopt-bench", "--benchmark_filter=noise_free_plans|predict_plan", "--benchmark_format=json"]
    found = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)["benchmarks"]
    by_name = {row["name"]: row for row in found}
    return by_name["noise_free_plans"]["items_per_second"], by_name["predict_plan"]["real_time"] / 1e3


def import_seconds(code):
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], env=environment, check=True))


imports = [import_seconds("import prismopt") for _ in range(9)]
empty = [import_seconds("pass") for _ in range(9)]

import prismopt  # noqa: E402 (timed above)

scenario = prismopt.Scenario.read(scenarios / "llama3-405b-16k.toml")
known = scenario.plans(plans_known)
plans = known[::plan_step]
many, one, many_in_cpp, one_in_cpp, searches, commands = [], [], [], [], [], []
small = scenarios / "small.toml"
with tempfile.TemporaryDirectory() as folder:
    for number in range(rounds):
        plans_per_s, plan_s = of_library()
        many_in_cpp.append(plans_per_s)
        one_in_cpp.append(plan_s)
        many.append(20 * len(plans) / seconds(lambda: scenario.lower_bounds(20 * plans)))
        one.append(seconds(lambda: scenario.predict(known[0], draws=1024), 20))
        path = os.path.join(folder, f"{number}.h5")
        # Both read the file, search it and write results; a process that has imported the module starts no other.
        searches.append(seconds(lambda: prismopt.Scenario.read(small).search(path)))
        search = [build / "prismopt", "search", small, "--out", os.path.join(folder, f"command-{number}.h5")]
        commands.append(seconds(lambda: subprocess.run(search, capture_output=True, check=True)))

median = statistics.median
print(f"import prismopt: {median(imports) - median(empty):.3f} s beyond an empty program of {median(empty):.3f} s")
print(f"many plans without draws: {median(many):,.0f} per second; of C++: {median(many) / median(many_in_cpp):.3f}")
print(f"one plan with 1,024 draws: {1e3 * median(one):.2f} ms; of C++: {median(one) / median(one_in_cpp):.3f}")
print(f"search of small.toml: {median(searches):.3f} s; of the command: {median(searches) / median(commands):.3f}")
