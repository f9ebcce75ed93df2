"""jobs/scaling_study: strong scaling with the installed program alone."""

import pathlib
import subprocess
import sys

import support
from support import CliTest

ROOT = pathlib.Path(__file__).parents[2]


class ScalingStudy(CliTest):
    def study(self, *options, code=support.DONE):
        launcher = " ".join([support.MPIRUN, *support.launcher_options()])
        done = subprocess.run([sys.executable, "-B", ROOT / "jobs/scaling_study", support.SMALL, "--program", support.PROGRAM, "--launcher", launcher,
                               "--ranks", "1,2", "--runs", "1", *options], cwd=self.folder, env=support.environment(1), text=True,
                              capture_output=True, timeout=200, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def test_measures_each_number_of_ranks(self):
        said = self.study("--page", "page.md", "--search=--no-posterior")
        rows = [line.split("|") for line in said.splitlines() if line.startswith("| ") and "ranks" not in line]
        self.assertEqual([(row[1].strip(), row[2].strip()) for row in rows], [("1", "1"), ("2", "1")])
        self.assertEqual([rows[0][column].strip() for column in (4, 5, 8)], ["1.00", "100 %", "1.00"])
        page = (self.folder / "page.md").read_text()
        self.assertIn(said.strip(), page)
        self.assertRegex(page, r"on \d+ cores( \(.+\))?\. What the columns mean")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["page.md"])  # searches leave nothing

    def test_refuses_before_it_runs_for_long(self):
        for options, message in ((("--launcher", "nope"), "nope is not a program; name what starts ranks with --launcher"),
                                 (("--page", "nowhere/page.md"), "nowhere is not a folder that may be written to"),
                                 (("--program", "nope"), "nope is not a program"), (("--runs", "0"), "is less than 1"), (("--ranks", "2,,3"), "2,,3 is not a list")):
            with self.subTest(options):
                self.assertIn(message, self.study(*options, code=support.WRONG_INPUT))

    def test_a_search_that_is_stopped_measures_nothing(self):
        said = self.study("--search=--max-time '1 ms'", code=support.FAILURE)
        self.assertIn("was stopped before it was complete; give it more time", said)


if __name__ == "__main__":
    support.main()
