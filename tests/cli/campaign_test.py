"""jobs/campaign: a table of overrides times one scenario, stopped and continued, with its page; `init --from`."""

import csv
import pathlib
import re
import signal
import subprocess
import sys
import time

import support
from support import CliTest

ROOT = pathlib.Path(__file__).parents[2]
TABLE = """study,cluster.gpus,cluster.gpu_price,space.gpus,space.schedule
base,,,"[16, 32]","[""1f1b""]"
half,32,2 USD/h,"[16, 32]","[""1f1b""]"
small,16,,[16],"[""1f1b""]"
"""


class Campaign(CliTest):
    def setUp(self):
        super().setUp()
        self.write(TABLE, "table.csv")

    def start(self, *options):
        return subprocess.Popen([sys.executable, "-B", ROOT / "jobs/campaign", "--program", support.PROGRAM, support.SMALL, "table.csv", "out", *options],
                                cwd=self.folder, env=support.environment(1), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, process, code):
        output, errors = process.communicate(timeout=200)
        self.assertEqual(process.returncode, code, errors)
        return output + errors

    def campaign(self, *options, code=0):
        return self.end(self.start(*options), code)

    def rows(self, name):
        with open(self.folder / "out" / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_a_search_for_each_row(self):
        self.assertIn("3 of 3 studies have results", self.campaign("--jobs", "2"))
        studies = ["base", "half", "small"]
        self.assertEqual([row["name"] for row in self.rows("compare.csv")], studies)
        self.assertEqual(sorted({row["study"] for row in self.rows("fronts.csv")}), studies)
        self.assertIn("studies", (self.folder / "out/compare.html").read_text())
        half = (self.folder / "out/half.toml").read_text()
        self.assertIn('gpu_price = "2 USD/h"', half)
        self.assertIn("# assumption", half)  # all other lines stay
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "out").glob("*.h5")}
        self.campaign()
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in before})  # complete studies are kept
        self.write(TABLE.replace("half,32", "half,48"), "table.csv")
        self.assertIn("half.toml is of another table or scenario", self.campaign(code=support.WRONG_INPUT))

    def test_the_same_line_continues_it(self):
        process = self.start()
        journal = self.folder / "out/base.h5.journal"
        while not journal.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        self.assertIn("studies are not complete; the same line continues them", self.end(process, support.CALL_AGAIN))
        self.campaign()
        self.assertFalse(journal.exists())
        self.output("search", "out/base.toml", "--out", "alone.h5")
        self.assert_same_results("alone.h5", "out/base.h5")
        self.assertIn("study small failed with exit code 2", self.campaign("--", "--seed", "2", code=support.FAILURE))
        self.assertIn("its seed (1 in the results, 2 here) differs", (self.folder / "out/small.log").read_text())

    def test_studies_that_never_end_are_not_called_again_for_ever(self):
        for _ in range(2):
            self.campaign("--", "--max-time", "1 ms", "--legs", "1", code=support.FAILURE)
        log = (self.folder / "out/base.log").read_text()
        self.assertIn("saved nothing from which another one could go on", log)
        self.assertRegex(log, r"has had 1 legs? and is not complete")

    def test_tasks_of_an_array_divide_the_rows(self):
        self.campaign("--task", "1/2")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").glob("*.h5")), ["base.h5", "small.h5"])
        self.assertIn("2 of 3 studies have results", self.campaign("--page-only"))
        self.campaign("--task", "2/2")
        self.assertTrue((self.folder / "out/half.h5").exists())

    def test_wrong_tables(self):
        for table, message in (("study,cluster.gpus\nx,12,3\n", "has not as many fields"), ("name,x\na,1\n", "has no column `study`"),
                               ("study;seed\na;1\n", "commas separate the columns"), ("study,seed,seed\na,1,2\n", "a column is there twice"),
                               ("study\n../a\n", "is no name of a file"),
                               ("study\na\na\n", "is there twice"), ("study,cluster\na,[1\n", "study a: "), ("study\n", "has no rows")):
            with self.subTest(table):
                self.write(table, "table.csv")
                self.assertIn(message, self.campaign(code=support.WRONG_INPUT))
        self.write("study,cluster.gpu\na,12\n", "table.csv")
        self.assertIn("study a failed with exit code 2", self.campaign(code=support.FAILURE))
        self.write("\ufeffstudy,space.gpus\na,[16]\n", "table.csv")  # corrected, by a spreadsheet
        self.campaign()
        self.assertTrue((self.folder / "out/a.h5").exists())

    def test_what_a_campaign_cannot_use(self):
        self.assertIn("--launcher nope is no program", self.campaign("--launcher", "nope", code=support.WRONG_INPUT))
        self.write("hello\n", "out")
        self.assertIn("out cannot be made", self.campaign(code=support.WRONG_INPUT))
        (self.folder / "out").unlink()
        (self.folder / "out").mkdir()
        self.write("hello\n", "out/half.h5")
        self.assertIn("out/half.h5 cannot be reported", self.campaign("--page-only", code=support.WRONG_INPUT))

    def test_ranks_of_a_launcher_have_one_thread(self):
        self.write("study,space.gpus\na,[16]\n", "table.csv")
        without = {name: value for name, value in support.environment(1).items() if name != "OMP_NUM_THREADS"}
        launcher = " ".join([support.MPIRUN, *support.launcher_options(), "-n", "2"])
        done = subprocess.run([sys.executable, "-B", ROOT / "jobs/campaign", "--program", support.PROGRAM, support.SMALL, "table.csv", "out",
                               "--launcher", launcher], cwd=self.folder, env=without, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 ranks, 2 threads", (self.folder / "out/a.log").read_text())

    def test_the_example_of_the_page(self):
        """docs/campaigns.md: fronts joined by pandas."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no python3-pandas")
        self.campaign()
        page = (ROOT / "docs/campaigns.md").read_text()
        example = page.split("```python\n")[1].split("```")[0]
        for path in (self.folder / "out").glob("*.h5"):
            self.output("report", path, "--csv", path.with_suffix(".front"))
            path.with_suffix(".front").rename(self.folder / f"{path.stem}.csv")
        (self.folder / "table.csv").unlink()
        done = subprocess.run([sys.executable, "-c", example], cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("base", "half", "small"):
            self.assertRegex(done.stdout, rf"(?m)\b{name} ")

    def test_init_changes_a_scenario(self):
        text = self.output("init", "--from", support.SMALL, "--set", "cluster.gpus=32", "--set", "phase[0].tokens=2e10")
        before, after = pathlib.Path(support.SMALL).read_text().splitlines(), text.splitlines()
        self.assertEqual([line for line in after if line not in before], ["tokens = 2e10", "gpus = 32"])
        self.assertIn("is not valid TOML", self.refusal("init", "--from", support.SMALL, "--set", "cluster.gpu_price=2 USD/h"))
        self.assertIn("has no value", self.refusal("init", "--from", support.SMALL, "--set", "cluster.gpus"))
        self.assertIn("name it with --from", self.refusal("init", "--set", "cluster.gpus=32"))

    def test_init_warns_of_values_that_make_a_scenario_invalid(self):
        def said(scenario, change):
            return self.run_program("init", "--from", scenario, "--set", change).stderr

        for change in ("power.pue=0.9", 'power.electricity_price="0.08 USD/h"', "cluster.gpus=32"):
            self.assertIn("with these values of --set, the scenario is not valid: ", said(support.SMALL, change))
        self.assertNotIn("not valid", said(support.SMALL, "cluster.gpus=128"))
        steps = self.folder / "steps.toml"  # of measured steps, which is no study before either
        steps.write_text(re.sub(r"(?m)^minimise = .*$", "", pathlib.Path(support.SMALL).read_text()))
        self.assertNotIn("not valid", said(steps, "cluster.gpus=32"))

    def test_init_changes_the_scenario_of_results(self):
        results = self.folder / "small.h5"
        self.output("search", support.SMALL, "--out", results)
        self.assertEqual(self.output("init", "--from", results, "--set", "cluster.gpus=32"),
                         self.output("init", "--from", support.SMALL, "--set", "cluster.gpus=32"))

    def test_validate_names_the_order_that_is_assumed(self):
        scenario = self.folder / "no-order.toml"
        text = pathlib.Path(support.SMALL).read_text()
        self.assertNotIn("gives no order", self.output("validate", support.SMALL))
        scenario.write_text(re.sub(r"(?m)^order = .*$", "", text))
        self.assertIn('gives no order; "tp-dp-pp" is assumed', self.output("validate", scenario))


if __name__ == "__main__":
    support.main()
