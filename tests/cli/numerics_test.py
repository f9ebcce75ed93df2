"""What numerics prints, in a small size, and what it refuses."""

import json

import support
from support import CliTest

SMALL = ["numerics", "--sequence", "64", "--head", "32", "--tile", "16x16,32x16"]


class Numerics(CliTest):
    def rows(self, *options, threads=1):
        finished = self.run_program(*SMALL, *options, "--json", threads=threads)
        self.assertEqual(finished.returncode, support.DONE, finished.stderr)
        return json.loads(finished.stdout)["tables"]["attention"]

    def test_a_case_for_each_combination(self):
        rows = self.rows("--format", "bf16,mxfp8-e4m3", "--arithmetic", "fp32-accumulation")
        self.assertEqual([(row["format"], row["kernel"], row["tile"]) for row in rows],
                         [(f, k, t) for f in ("bf16", "mxfp8-e4m3") for k, t in (("plain", "-"), ("flash", "16x16"), ("flash", "32x16"))])
        for row in rows:
            self.assertLess(0.0, row["forward_rms"])
            self.assertLessEqual(row["forward_p99"], row["forward_max"])

    def test_results_do_not_depend_on_threads(self):
        options = ["--format", "nvfp4", "--rounding", "stochastic"]
        alone = self.rows(*options, threads=1)
        self.assertEqual(alone, self.rows(*options, threads=3))
        self.assertNotEqual(alone, self.rows(*options, "--seed", "2"))

    def test_text_and_markdown_have_the_same_figures(self):
        for form in ([], ["--markdown"]):
            printed = self.output(*SMALL, *form)
            for row in self.rows():
                self.assertIn(f"{row['forward_rms']:.3g}", printed)
            self.assertRegex(printed, r"Computed in \d+ s by \d+ thread")

    def test_wrong_values_are_refused(self):
        for options, reason in ((["--format", "bf61"], "did you mean 'bf16'"),
                                (["--kernel", "quick"], "choose from plain, flash"),
                                (["--tile", "64"], "for example 128x64"),
                                (["--tile", "8x64"], "at least 16"),
                                (["--sequence", "9000"], "16 to 8192"),
                                (["--head", "0"], "16 to 512"),
                                (["--format", ""], "choose from"),
                                (["--only", "atention"], "did you mean 'attention'"),
                                (["--only", "linear", "--write", "n.toml"], "--write needs the table attention"),
                                (["--only", "linear", "--format", "bf16"], "--only"),
                                (["--format", "bf16", "--plot", "n.svg"], "replace the study"),
                                (["--only", "linear", "--plot", "n.svg"], "--plot shows the tables length and training")):
            with self.subTest(options):
                self.assertIn(reason, self.refusal("numerics", *options))


if __name__ == "__main__":
    support.main()
