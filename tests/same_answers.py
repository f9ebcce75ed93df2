#!/usr/bin/env python3
"""Stores the answers of a build, so that a change of the code that must not change results can be judged:

    tests/same_answers.py build/release/prismopt before     (at the start)
    tests/same_answers.py build/release/prismopt after      (after each step)
    diff -r before after

Answers are searches of five scenarios with their reports and exports, predictions of plans of all shipped scenarios, the reference
pages, and, where PRISMOPT_DATA names the folder of measured runs, the errors of the model there. Takes about two minutes on 2 cores.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "cli"))
import support  # noqa: E402  pylint: disable=wrong-import-position

JOBS = pathlib.Path(__file__).parent.parent / "jobs"
SCENARIOS = JOBS / "scenarios"
SEARCHED = {"small": [], "sharded": ["--max-evaluations", "60"], "failures": ["--max-evaluations", "40"],
            "batch-and-precision": ["--max-evaluations", "40"], "nvlink-domain": ["--max-evaluations", "30"]}
TARGETS = ("megatron", "bridge", "torchtitan", "torchtitan-recipe", "slurm", "json")
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "v_half", "v_min", "dualpipe", "dualpipe_v")
CHUNKS = {"interleaved": 2, "zb_v": 2, "v_half": 2, "v_min": 2, "dualpipe": 2, "dualpipe_v": 2}
# Of the build, the day and the clock, not of the answer:
OF_THE_RUN = re.compile(r"[0-9a-f]{12}(-dirty-[0-9a-f]{12})?(?=[)\"' ])|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ?|\"(elapsed|ranks)\":\[.*?\](?=[,}])")


class Judge:
    def __init__(self, program, folder):
        self.program = pathlib.Path(program).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True)

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, text=True, capture_output=True, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})

    def keep(self, name, *arguments):
        """Stores the output, messages and exit code of a command; returns the output."""
        done = self.run(*arguments)
        (self.folder / name).write_text(f"{done.stdout}\n{done.stderr}\nexit code {done.returncode}\n")
        return done.stdout

    def search(self, name):
        results = f"{name}.h5"
        self.run("search", SCENARIOS / f"{name}.toml", "--out", results, "--seed", 7, *SEARCHED[name])
        contents = support.contents_of(self.folder / results)
        contents["attributes of /"].pop("git_commit")
        (self.folder / f"{name}.datasets").write_text("".join(f"{key} {value}\n" for key, value in sorted(contents.items())))
        report = json.loads(self.keep(f"{name}.report.json", "report", results, "--json"))
        self.keep(f"{name}.report", "report", results, "--csv", f"{name}.csv", "--html", f"{name}.html")
        self.keep(f"{name}.shortlist", "shortlist", results, "--json")
        for point in report["front"][:2]:
            self.keep(f"{name}.{point['point']}.predicted", "predict", results, "--point", point["point"], "--draws", 256)
            for target in TARGETS:
                written = f"{name}.{point['point']}.{target}"
                self.keep(f"{written}.messages", "export", results, "--point", point["point"], "--target", target, "--out", written)
        (self.folder / results).unlink()

    def predict(self, scenario):
        name = scenario.stem
        self.keep(f"{name}.validated", "validate", scenario)
        self.keep(f"{name}.usual", "predict", scenario)
        example = re.search(r'--design "([^"]*)"', (self.folder / f"{name}.usual").read_text())
        plan = ["--design", example.group(1)] if example else []
        self.keep(f"{name}.text", "predict", scenario, *plan, "--stages", "--draws", 128)
        self.keep(f"{name}.json", "predict", scenario, *plan, "--stages", "--draws", 128, "--json")

    def schedules(self):
        for schedule in SCHEDULES:
            design = f"gpus=64 tp=2 pp=4 v={CHUNKS.get(schedule, 1)} schedule={schedule}"
            self.keep(f"{schedule}.json", "predict", SCENARIOS / "small.toml", "--design", design, "--stages", "--json",
                      "--write-orders", f"{schedule}.orders", "--timeline", f"{schedule}.svg")

    def pages(self):
        self.keep("reference", "init", "--reference")
        self.keep("schema", "init", "--schema")
        self.keep("starter", "init", "--workload", "llama3-70b", "--accelerator", "h100-sxm", "--gpus", 1024)
        self.keep("sensitivity", "sensitivity", SCENARIOS / "small.toml", "--json")
        with tempfile.TemporaryDirectory() as folder:
            self.keep("accuracy", "check-model", "--json", *self.measured(folder))

    def measured(self, folder):
        """Options that name the measured runs of PRISMOPT_DATA, written to a folder in the format that check-model reads."""
        if "PRISMOPT_DATA" not in os.environ:
            return []
        subprocess.run([sys.executable, JOBS / "normalise_measurements.py", os.environ["PRISMOPT_DATA"], folder], check=True,
                       capture_output=True)
        return ["--data", folder]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    judge = Judge(*sys.argv[1:])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(judge.pages), pool.submit(judge.schedules), *(pool.submit(judge.search, name) for name in SEARCHED),
                 *(pool.submit(judge.predict, scenario) for scenario in sorted(SCENARIOS.glob("*.toml")))]
        for task in tasks:
            task.result()
    for path in judge.folder.iterdir():
        path.write_text(OF_THE_RUN.sub("...", path.read_text()))


main()
