#!/usr/bin/env python3
"""Fits constants of one software stack to measured runs, all others as the catalog has them.

usage: python3 jobs/fit_stack.py PROGRAM DIR STACK KEY...

PROGRAM  build/release/prismopt
DIR      tables of runs in the format of docs/accuracy.md (jobs/normalise_measurements.py); rows with `fitted` = no are not used
STACK    entry of model/catalog/stacks.toml
KEY      constants that are fitted: gemm, attention, memory, host, step

Least squares of the logarithms of predicted over measured step times, each with a deviation of 10 %, and priors as optimizer/fit/constants.cpp has
them. Prints the constants with their deviations, and errors per source: of the fit, and of a fit without the source. For few rows; all
constants of the catalog together: jobs/fit_constants.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Value and deviation of the logarithm: kinds of optimizer/fit/constants.cpp, of a family and an entry together.
PRIORS = {"gemm": (1.0, 0.11), "attention": (1.0, 0.2), "memory": (0.9, 0.32), "host": (30.0, 0.73), "step": (10.0, 0.7)}
UNITS = {"host": "us", "step": "ms"}
NOISE = 0.1
# What a scenario must have and a mean step time does not depend on.
REST = """[variability]
profile = "hpc-2024"
[reliability]
node_failure_rate = "1e-3 /day"
restart = "10 min"
checkpoint_interval = "0 s"
checkpoint_write = "30 s"
"""


def written(value):
    return json.dumps(value) if isinstance(value, (str, bool)) else repr(value)


def toml(section, keys):
    return f"[{section}]\n" + "".join(f"{key} = {written(value)}\n" for key, value in keys.items())


def network(row):
    """The decoder of a row, by blocks."""
    attention = f'{{ block = "attention", heads = {row["heads"]}, kv_heads = {row["kv_heads"]} }}'
    mlp = f'{{ block = "mlp", inner = {row["feed_forward"]}, activation = "{row["activation"]}" }}'
    rank = row["adapter_rank"]
    optimizer = {key: row[key] for key in ("states", "master", "gradients") if row[key]}
    return "".join([
        toml("workload", {"name": row["network"], "hidden": int(row["hidden"]), "vocabulary": int(row["vocabulary"]),
                          "normalisation": row["normalisation"]}),
        f"adapter_rank = {rank}\nfrozen_ends = true\n" if rank else "",
        f'sequence = [{{ layer = "dense", count = {row["layers"]} }}]\n',
        toml("workload.optimizer", optimizer) if optimizer else "",
        "[workload.layer.dense]\n", "frozen = true\n" if rank else "", f"blocks = [{attention}, {mlp}]\n",
    ])


def scenario(row, stack):
    gpus = max(int(row["gpus"]), int(row["node"]))
    return "".join([
        'name = "run"\ncatalog = ["stack.toml"]\n', network(row),
        f'[[phase]]\ntokens = 1e9\nsequence_length = {row["sequence"]}\nglobal_batch = {row["global_batch"]}\n',
        toml("cluster", {"accelerator": row["accelerator"], "gpus": gpus, "gpu_price": "1 USD/h"}),
        f'[[cluster.tier]]\nname = "node"\nlink = "{row["node_link"]}"\ngroup = {row["node"]}\n',
        toml("software", {"name": f"fitted-{stack}"}),
        REST,
        f'[space]\ngpus = [{row["gpus"]}]\n[objectives]\nminimise = ["step_time_p50"]\n',
    ])


class Model:
    """Predictions by values of the constants."""

    def __init__(self, program, stack, rows, folder):
        self.program, self.stack, self.rows, self.folder = program, stack, rows, folder
        with open(ROOT / "model/catalog/stacks.toml", "rb") as file:
            self.constants = tomllib.load(file)[stack]
        with open(folder / "runs.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["run", "scenario", "design", "step_time_s"])
            for number, row in enumerate(rows):
                (folder / f"{number}.toml").write_text(scenario(row, stack), encoding="utf-8")
                table.writerow([str(number), f"{number}.toml", row["design"], row["step_time_s"]])

    def start(self, key):
        return float(str(self.constants[key]).split(" ", maxsplit=1)[0])

    def errors(self, values):
        """Logarithms of predicted over measured step times."""
        changed = {key: f"{value:.9g} {UNITS[key]}" if key in UNITS else value for key, value in values.items()}
        name = f"fitted-{self.stack}"
        entry = f'[software.{name}]\nabout = "fit"\nreleases = [{{ name = "1", constants = "{name}", year = 2025 }}]\n'
        (self.folder / "stack.toml").write_text(entry + toml(f"stacks.{name}", self.constants | changed), encoding="utf-8")
        printed = subprocess.run([self.program, "check-model", "--data", str(self.folder), "--json"], check=True, capture_output=True)
        answer = json.loads(printed.stdout)
        found = {run["name"]: math.log(1.0 + run["error"] / 100.0) for run in answer["runs"] if run["source"] == "runs"}
        missing = [skip for skip in answer["skipped"] if skip["source"] == "runs"]
        if missing:
            raise SystemExit(f"row {missing[0]['row']}: {missing[0]['reason']}")
        return [found[str(number)] for number in range(len(self.rows))]


def solved(matrix, right):
    """x of matrix x = right, by elimination; the matrix is symmetric and positive."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for at, pivot in enumerate(rows):
        for below in rows[at + 1:]:
            share = below[at] / pivot[at]
            below[:] = [b - share * p for b, p in zip(below, pivot)]
    answer = [0.0] * len(rows)
    for at in reversed(range(len(rows))):
        known = sum(rows[at][k] * answer[k] for k in range(at + 1, len(rows)))
        answer[at] = (rows[at][-1] - known) / rows[at][at]
    return answer


def fit(model, keys, used):
    """Logarithms of the constants, and their deviations, by Gauss-Newton."""
    x = [math.log(model.start(key)) for key in keys]
    precision = []
    for _ in range(6):
        base = model.errors({key: math.exp(v) for key, v in zip(keys, x)})
        slopes = []
        for at in range(len(keys)):
            moved = x[:at] + [x[at] + 0.05] + x[at + 1:]
            slopes.append([(m - b) / 0.05 for m, b in zip(model.errors({key: math.exp(v) for key, v in zip(keys, moved)}), base)])
        precision = [[sum(a[i] * b[i] for i in used) / NOISE**2 for b in slopes] for a in slopes]
        pull = [-sum(slope[i] * base[i] for i in used) / NOISE**2 for slope in slopes]
        for at, key in enumerate(keys):
            value, spread = PRIORS[key]
            precision[at][at] += 1.0 / spread**2
            pull[at] += (math.log(value) - x[at]) / spread**2
        step = solved(precision, pull)
        x = [v + max(-0.5, min(0.5, s)) for v, s in zip(x, step)]
        if max(map(abs, step)) < 1e-3:
            break
    unit = [[float(i == j) for j in range(len(keys))] for i in range(len(keys))]
    return x, [math.sqrt(solved(precision, unit[at])[at]) for at in range(len(keys))]


def text_of(errors):
    relative = [100.0 * math.expm1(error) for error in errors]
    return f"{sum(relative) / len(relative):+.1f} {sum(map(abs, relative)) / len(relative):.1f}"


def main():
    if len(sys.argv) < 5 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    program, tables, stack, *keys = sys.argv[1:]
    rows = []
    for path in sorted(pathlib.Path(tables).glob("*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            rows += [row for row in csv.DictReader(file) if row.get("stack") == stack and row["fitted"] == "yes" and not row["skipped"] and not row.get("outcome")]
    if not rows:
        print(f"{tables}: no rows with stack {stack}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        model = Model(program, stack, rows, pathlib.Path(folder))
        before = model.errors({})
        x, deviations = fit(model, keys, range(len(rows)))
        for key, value, deviation in zip(keys, x, deviations):
            print(f"{stack}.{key} = {math.exp(value):.3g}{' ' + UNITS[key] if key in UNITS else ''}, +-{100 * deviation:.0f} %, {len(rows)} rows")
        after = model.errors(dict(zip(keys, map(math.exp, x))))
        print("source: rows, mean and mean absolute error in % before the fit, after, without the source")
        for source in sorted({row["source"] for row in rows}):
            of = [i for i, row in enumerate(rows) if row["source"] == source]
            others = [i for i in range(len(rows)) if i not in of]
            left = model.errors(dict(zip(keys, map(math.exp, fit(model, keys, others)[0]))))
            print(f"{source}: {len(of)}, " + ", ".join(text_of([errors[i] for i in of]) for errors in (before, after, left)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
