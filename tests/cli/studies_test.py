"""The studies of jobs/ that are Python scripts, on tiny plans with few draws."""

import gzip
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import random
import re
import shlex
import subprocess
import sys

import support
from support import CliTest, result_of, WRONG_INPUT

try:
    import matplotlib  # noqa: F401, which the studies import
except ImportError as missing:
    print(f"skipped: {missing}; install python3-matplotlib")
    sys.exit(77)

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
sys.path.insert(0, str(JOBS))
import study  # noqa: E402, which lies there
DAY = 86400.0

SPACE = """
[space]
gpus = { from = 16, to = 32, factor = 2 }
tp = [2]
checkpoint_interval = ["10 min", "2 h"]
spares = [2]
"""
RELIABILITY = """
[reliability]
node_cv = 1.5
checkpoint_interval = "30 min"
checkpoint_write = "5 s"

[[reliability.cause]]
name = "GPU \\"one\\""
rate = "300 per 1000 node-days"
gaps = "weibull"
gap_cv = 3
gap_nodes = 8
restart = "10 min"
repair = "1 day"

[[reliability.cause]]
name = "planned"
rate = "0.9 per job-day"
gaps = "constant"
restart = "10 min"
planned = true
"""


def module(name):
    """A study, to call its functions."""
    loader = importlib.machinery.SourceFileLoader(name, str(JOBS / name))
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(found)
    return found


def cells(text):
    """Rows of all tables in the text."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)]


def tables(page):
    """Rows of the table below each heading, without column titles."""
    sections = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
    return {title: cells(text)[2:] for title, text in zip(sections[1::2], sections[2::2])}


class Study(CliTest):
    def study(self, name, *options, program=None):
        """A finished study, whose files are in the folder of the test."""
        command = [sys.executable, "-B", JOBS / name, "--program", program or support.PROGRAM, "--out", self.folder, *map(str, options)]
        return subprocess.run(command, cwd=self.folder, env=support.environment(1), text=True, capture_output=True, timeout=250)

    def refused(self, message, *how):
        finished = self.study(*how)
        self.assertEqual(finished.returncode, WRONG_INPUT, finished.stderr)
        self.assertIn(message, finished.stderr)
        self.assertEqual(finished.stderr.count("Traceback"), 0)


class Pictures(CliTest):
    def test_the_same_each_time(self):
        written = []
        for _ in range(2):
            figure, axis = study.plotting().subplots()
            axis.plot([1, 2], label="line")
            axis.grid()
            study.write(self.folder, "page", "text\n", figure)
            written.append((self.folder / "page.svg").read_bytes())
        self.assertEqual(*written)
        self.assertEqual((self.folder / "page.md").read_text(), f"text\n\n{study.made_by()}\n")


class Failures(Study):
    def scenario(self, space=SPACE, reliability=RELIABILITY):
        text = pathlib.Path(support.SMALL).read_text().replace("tokens = 1e10", "tokens = 1e13")  # long enough for failures
        text = re.sub(r"\n\[reliability\].*?(?=\n\[objectives\])", lambda _: reliability + space, text, flags=re.DOTALL)
        (self.folder / "tiny.toml").write_text(text)
        return "tiny.toml"

    def predicted(self, scenario, design):
        p = json.loads(self.output("predict", scenario, "--design", design, "--json", "--draws", 128))
        return f"{result_of(p, 'ettr'):.3f} / {result_of(p, 'training_time_p99') / DAY:.1f}"

    def test_cells_are_predictions(self):
        finished = self.study("failure_study", "--draws", 128, self.scenario())
        self.assertEqual(finished.returncode, 0, finished.stderr)
        page = (self.folder / "failures.md").read_text()
        self.assertIn("gpt-small on a100-sxm-40gb", page)
        self.assertIn("64 random", page)
        of = tables(page)
        for section in of.values():
            self.assertEqual(len({len(row) for row in section}), 1)
        self.assertEqual([row[0] for row in of["Size of the job"]], ["16", "32"])
        self.assertEqual([row[0] for row in of["Lost time by cause"]], ['GPU "one"', "planned"])

        own = SPACE.replace('checkpoint_interval = ["10 min", "2 h"]\nspares = [2]\n', "")
        configured = self.scenario(own)
        self.assertEqual(of["Checkpoint interval"][0][1], self.predicted(configured, "gpus=16 checkpoint_interval=600s"))
        self.assertEqual(of["Checkpoint interval"][1][2], self.predicted(configured, "gpus=32 checkpoint_interval=7200s"))
        self.assertEqual(of["Spare nodes"][1][1], self.predicted(configured, "gpus=32 spares=2"))
        gaps = 'gaps = "weibull"\ngap_cv = 3\ngap_nodes = 8\n'
        for column, reliability in enumerate((RELIABILITY.replace(gaps, "").replace("node_cv = 1.5", "node_cv = 0"), RELIABILITY,
                                              RELIABILITY.replace(gaps, 'gaps = "weibull"\ngap_cv = 2\n')), start=1):
            row = of["Clustering in time and by node"][1]
            self.assertEqual(row[column], self.predicted(self.scenario(own, reliability), "gpus=32"))
        self.assertEqual(len(set(row[1:])), 3)

    def test_wrong_input(self):
        self.refused("0 is not a whole number of at least 1; write for example 2048", "failure_study", "--draws", 0)
        self.refused("does not exist; leave it out", "failure_study", "--program", "nowhere/prismopt")
        self.refused("usage:", "failure_study", "--fast")
        self.refused("nowhere.toml", "failure_study", "nowhere.toml")
        self.refused("tp has 2 choices; the failure study compares one plan", "failure_study",
                     self.scenario(SPACE.replace("tp = [2]", "tp = [1, 2]")))
        batch_of_128 = SPACE.replace("to = 32", "to = 64").replace("tp = [2]", "tp = [2]\nmicrobatch = [4]")
        self.refused("64 GPUs: global batch not divisible", "failure_study", "--draws", 128, self.scenario(batch_of_128))


class Schedules(Study):
    def setUp(self):
        super().setUp()
        self.schedules = module("schedule_study")
        self.runs = self.schedules.Runs(study.Program(support.PROGRAM), self.folder, 256)

    def test_bubbles_are_the_published_ones_within_three_points(self):
        """Qi et al., arXiv 2401.10241, tables 5 and 8; what their authors calculated from times that we predict."""
        text, differences = self.schedules.bubble_tables(self.runs)
        self.assertEqual(len(differences), 51)
        self.assertLess(max(map(abs, differences)), 3.0, text)
        self.assertEqual([row[0] for row in cells(text)].count("ZB-2p"), 6)

    def test_of_a_hand_made_timeline(self):
        def op(stage, kind, start, duration):
            return {"pid": stage, "cat": kind, "ts": start, "dur": duration}

        # Stage 0 is busy for 5 of 8 from its first op, stage 1 for 6 of 7; the optimizer and the wait before do not count.
        events = [op(0, "F", 0, 2), op(0, "bubble", 2, 3), op(0, "B+W", 5, 3), op(0, "optimizer", 8, 9),
                  op(1, "bubble", 0, 2), op(1, "F", 2, 3), op(1, "B", 6, 2), op(1, "W", 8, 1)]
        self.assertAlmostEqual(self.schedules.bubble_rate(events), 100 * (1 - 6 / 8))

    def test_a_slow_stage_and_the_fastest_schedule(self):
        scenario = self.schedules.case()
        steps = {name: self.runs.step(scenario, name) for name in ("1f1b", "zb_h2 +pv")}
        self.assertEqual([len(draws) for _, draws in steps.values()], [256, 256])
        self.assertEqual(self.schedules.best(steps), "zb_h2 +pv (100 % of draws)")
        slow = result_of(self.runs.step(self.schedules.case(slow=1.2), "1f1b")[0], "step_time_p99")
        own = result_of(steps["1f1b"][0], "step_time_p99")
        self.assertGreater(slow, 1.05 * own)
        self.assertLess(slow, 1.2 * own)
        far = result_of(self.runs.step(self.schedules.case(latency_us=10000), "1f1b")[0], "step_time_p99")
        self.assertGreater(far, own + 2 * 7 * 0.01)  # through seven links and back
        text = self.schedules.series_section("Title", "cv", ["5 %"], [steps])
        self.assertEqual([row[0] for row in cells(text)[2:]], ["1f1b", "zb_h2 +pv", "best"])


class MadMaxStudy(Study):
    def test_its_formulas_give_the_factors_of_its_public_code(self):
        madmax = module("madmax_study")
        for task, (code, _) in madmax.PUBLISHED.items():
            steps = [madmax.MadMax(madmax.STRATEGIES[name][0]).seconds(task == "training") for name in ("FSDP", madmax.BEST[task])]
            self.assertEqual(f"{steps[0] / steps[1]:.2f}", code)
        for strategy, _ in madmax.STRATEGIES.values():
            terms = madmax.its_terms(strategy, True)
            self.assertAlmostEqual(sum(terms.values()), madmax.MadMax(strategy).seconds(True))
            self.assertGreaterEqual(min(terms.values()), 0.0)

    def test_terms_lead_from_its_factors_to_ours(self):
        finished = self.study("madmax_study")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        page = (self.folder / "madmax.md").read_text()
        self.assertIn(page, finished.stdout)
        of = tables(page)
        ours = {tuple(row[:2]): row[5] for row in of["Factors over FSDP"]}
        self.assertEqual(ours["training", "DDP"], "does not fit 40 GB")
        for row in of["From its factors to ours"]:
            self.assertEqual(row[-1], ours[tuple(row[:2])])
        # All messages of tables leave a node: sums in 32 bits, and indices before them (docs/methods/recommendation.md).
        sums, indices = 512 * 4096 * 94 * 4, 512 * 61440 * 8
        for row in of["Milliseconds per step"]:
            if row[1:3] == ["FSDP", "here"]:
                directions = 2 if row[0] == "training" else 1
                self.assertAlmostEqual(float(row[5]), (directions * sums + indices) * 120 / 128 / 7e9 * 1e3, delta=0.5)


class Placements(Study):
    def test_of_a_small_cluster(self):
        placement = module("placement_study")
        program = study.Program(support.PROGRAM)
        scenario = placement.small(program.scenario(JOBS / "scenarios/placement.toml"))
        cluster = placement.Cluster(program, self.folder, scenario, 128)
        self.assertEqual((cluster.nodes, cluster.used), (8, 8))
        factors = placement.with_slow(8, 3, 1.2)
        self.assertEqual(sorted(factors), [1.0] * 5 + [1.2] * 3)
        rows = cells(placement.placements(cluster, factors, "pp=4"))[2:]
        self.assertEqual([row[0] for row in rows[:5]], list(placement.ORDERS))
        self.assertRegex(rows[5][0], r"optimised \(all \d+ assignments\)")
        # The assignment is the best by the search's draws; others may tie with it by the final ones.
        self.assertLess(float(rows[5][3]), 1.002 * min(float(row[3]) for row in rows))
        slow = result_of(cluster.predict(factors, "pp=4 node_order=packed"), "step_time_p99")
        self.assertEqual(rows[1][3], f"{slow:.3f}")

    def test_a_hot_node_costs_most_at_the_longest_stage(self):
        placement = module("placement_study")
        program = study.Program(support.PROGRAM)
        cluster = placement.Cluster(program, self.folder, placement.small(program.scenario(JOBS / "scenarios/placement.toml")), 128)
        self.assertEqual(placement.with_hot([1.0] * 8, 2, 2), [1.0] * 4 + [placement.HOT] + [1.0] * 3)
        first, last = (result_of(cluster.predict(placement.with_hot([1.0] * 8, stage, 2), f"pp=4 {placement.ORDER}"), "step_time_p50")
                       for stage in (0, 3))
        self.assertGreater(last, 1.05 * first)  # the last stage also has the loss head


class Buildings(Study):
    def test_of_a_small_job(self):
        buildings = module("buildings_study")
        text = pathlib.Path(support.SMALL).read_text()
        text = re.sub(r"(?s)\[\[cluster.tier\]\].*?(?=\[variability\])", """[[cluster.tier]]
name = "node"
link = "nvlink3"
group = 8
[[cluster.tier]]
name = "building"
link = "ib-hdr"
group = 32
[[cluster.tier]]
name = "campus"
link = "ib-hdr"
latency = "1 ms"
aggregate = "1 Tb/s"
""", text)
        text = re.sub(r"(?s)\[space\].*?(?=\[objectives\])", """[space]
gpus = [64]
tp = [2]
pp = [2, 4]
microbatch = [1]
order = ["tp-pp-dp", "tp-dp-pp"]
crossing = ["dp", "pp", "pp-interleaved"]
""", text)
        (self.folder / "small.toml").write_text(text)
        program = study.Program(support.PROGRAM)
        found = buildings.Study(program, self.folder, program.scenario(self.folder / "small.toml"), 128)
        home, home_p99 = found.best(found.written(1))
        cell = found.cell((2, 512, 40), home)
        self.assertGreater(cell["best"], home_p99)
        self.assertGreaterEqual(cell["production"], cell["best"])
        self.assertGreaterEqual(cell["baseline"], cell["best"])
        self.assertAlmostEqual(cell["best"], found.p99(found.written(2, 512, 40), cell["design"]))
        self.assertIn("crosses, recompute", buildings.cell_row(cell, home_p99)[3])
        self.assertEqual(buildings.with_words("a=1 b=2", "b=3 c=4"), "a=1 b=3 c=4")


class Calibrations(Study):
    def setUp(self):
        super().setUp()
        self.calibration, self.program = module("calibration_study"), study.Program(support.PROGRAM)

    def test_halves_of_one_job_agree(self):
        (self.folder / "copy").mkdir()
        path = self.folder / "job.csv.gz"
        path.write_bytes(gzip.compress("".join(self.calibration.SyntheticJob(steps=120, step=0.02).lines).encode()))
        halves = self.calibration.Halves(self.program, path, self.folder / "copy")
        self.assertEqual((halves.fitted + halves.warm_up, len(halves.measured)), (60, 60))
        self.assertLess(abs(halves.error(0.5)), 4 * 1.25 * 0.02 * math.sqrt(2 / 60))  # four standard errors of two medians
        self.assertGreater(halves.ks_p, 0.001)
        self.assertEqual([row[4] for row in halves.rows()], ["p50", "p95", "p99"])

    def test_a_run_that_slows_down_has_halves_that_differ(self):
        draw = random.Random(3)
        runs = {"steady": [draw.gauss(1, 0.01) for _ in range(100)], "slower": [draw.gauss(1 if i < 50 else 1.1, 0.01) for i in range(100)],
                "short": [1.0] * 39}
        path = self.folder / "series.csv"
        path.write_text("round,system,result_file,step_times_s_space_separated\n" + "".join(
            f"v1,S,{name},{' '.join(f'{took:.5f}' for took in seconds)}\n" for name, seconds in runs.items()))
        text = self.calibration.series_section(self.program, self.folder, path)
        self.assertEqual([(row[0], row[-1]) for row in cells(text)[2:]], [("v1 S steady", "alike"), ("v1 S slower", "halves differ")])
        self.assertIn("Alike: 1 runs", text)

    def test_known_variance_is_found(self):
        rows = list(self.calibration.known_rows(self.program, self.folder, "step", {"step": 0.05, "steps": 200}))
        self.assertEqual({row[1] for row, present, _ in rows if present},
                         {"common_compute", "operation", "residual.p2p", "residual.dp_collective"})
        self.assertGreaterEqual([right for _, _, right in rows].count(True), 8)  # of 10, whose intervals are of 95 %

    def test_statistics(self):
        calibration = self.calibration
        self.assertAlmostEqual(calibration.ks_distance([1, 2, 3, 4], [3, 4, 5, 6]), 0.5)
        self.assertAlmostEqual(calibration.ks_probability(1.3581 / math.sqrt(1e6), 1e6), 0.05, places=3)  # Kolmogorov's table
        quantiles = [i / 200 for i in range(1, 200)]  # of the uniform distribution
        self.assertAlmostEqual(calibration.at_probability(quantiles, 0.9512), 0.9512)
        self.assertAlmostEqual(calibration.quantile([1, 2, 4], 0.75), 3)

    def test_wrong_input(self):
        self.refused("has no variability/llm_ops_*.csv.gz; give a folder of measurements", "calibration_study", self.folder)


class SensitivityStudy(Study):
    DESIGN = "gpus=32 tp=2 pp=2 microbatch=2 schedule=1f1b recompute=none"

    def test_of_a_small_plan(self):
        """With a program that answers for a small plan, whatever the plan."""
        program = self.folder / "small-prismopt"
        program.write_text(f"""#!/bin/sh
if [ "$1" = --version ]; then exec {shlex.quote(support.PROGRAM)} --version; fi
echo "$*" >>calls
case "$*" in *--only*) only="--only all_gather,reduce_scatter" ;; esac
exec {shlex.quote(support.PROGRAM)} sensitivity {shlex.quote(support.SMALL)} --design "{self.DESIGN}" --draws 512 $only --json
""")
        program.chmod(0o755)
        finished = self.study("sensitivity_study", program=program)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertEqual(len(calls), 8)  # for each plan: all effects, and two kinds of collectives alone
        self.assertTrue(all("--draws 65536" in call for call in calls))

        page = (self.folder / "sensitivity.md").read_text()
        found = json.loads(self.output("sensitivity", support.SMALL, "--design", self.DESIGN, "--draws", 512, "--json"))
        p99 = 0.01 * found["plan"]["p99"]
        variance = {effect["name"]: effect for effect in found["effects"] if effect["kind"] == "variance"}
        section = page.split("\n## ")[2]
        rows = {row[0]: row for row in cells(section)}  # of the last table with that name
        for name in ("gpu", "common_compute", "gemm", "attention", "tensor_all_gather", "p2p"):
            self.assertEqual(rows[name][5 if len(rows[name]) == 11 else 3], f"{variance[name]['change']['p99']['change'] / p99:+.3f}")
        first, second = section.split("Collectives together")
        for name in ("tensor_collective", "all_gather", "lookup"):
            self.assertNotIn(f"| {name} |", first)
        for name in ("tensor_collective", "all_gather", "reduce_scatter", "p2p", "dp_reduce_scatter"):
            self.assertIn(f"| {name} |", second)
        groups = ("p2p", "tensor_all_gather", "tensor_reduce_scatter", "dp_all_gather", "dp_reduce_scatter")
        shares = [float(rows[name][-1]) for name in groups]
        self.assertAlmostEqual(sum(shares), 100.0, delta=0.3)  # five of them, rounded to 0.1 each
        both = float(rows["all_gather and reduce_scatter"][-1])
        self.assertAlmostEqual(both, 100.0 - shares[0], delta=5.0)  # savings hardly interact
        self.assertIn("Rank correlation of cv and effect:", section)
        picture = (self.folder / "sensitivity.svg").read_text()
        self.assertIn("tensor_all_gather", picture)

    def test_a_failure_of_the_program_ends_it(self):
        program = self.folder / "broken-prismopt"
        program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 1\n")
        program.chmod(0o755)
        finished = self.study("sensitivity_study", program=program)
        self.assertEqual((finished.returncode, finished.stderr), (1, "no memory\n"))


if __name__ == "__main__":
    support.main()
