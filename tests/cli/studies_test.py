"""jobs/failure_study and jobs/sensitivity_study, on tiny plans with few draws."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import support
from support import CliTest, WRONG_INPUT

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
        self.assertEqual((self.folder / "page.md").read_text(), "text\n")


class Failures(Study):
    def scenario(self, space=SPACE, reliability=RELIABILITY):
        text = pathlib.Path(support.SMALL).read_text().replace("tokens = 1e10", "tokens = 1e13")  # long enough for failures
        text = re.sub(r"\n\[reliability\].*?(?=\n\[objectives\])", lambda _: reliability + space, text, flags=re.DOTALL)
        (self.folder / "tiny.toml").write_text(text)
        return "tiny.toml"

    def predicted(self, scenario, design):
        p = json.loads(self.output("predict", scenario, "--design", design, "--json", "--draws", 128))
        return f"{p['ettr']:.3f} / {p['training_time_s']['p99'] / DAY:.1f}"

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


class SensitivityStudy(Study):
    DESIGN = "gpus=32 tp=2 pp=2 microbatch=2 schedule=1f1b recompute=none"

    def test_of_a_small_plan(self):
        """With a program that answers for a small plan, whatever the plan."""
        program = self.folder / "small-prismopt"
        program.write_text(f"""#!/bin/sh
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
        self.assertAlmostEqual(both, 100.0 - shares[0], delta=5.0)  # exposed times hardly interact
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
