"""`compare`: several results beside each other."""

import csv
import json
import pathlib

import support
from support import CliTest


class Compare(CliTest):
    def test_two_studies(self):
        self.searched(support.SMALL, "all.h5")
        self.output("search", self.scenario(pp="[1, 2]"), "--out", "fewer.h5")
        text = self.output("compare", "all.h5", "fewer.h5", "--html", "both.html")
        self.assertNotIn("Warning", text)
        self.assertIn("  pp: all: 1, 2, 4; fewer: 1, 2\n", text)
        self.assertIn("  fewer: pp = [1, 2]\n", text)
        self.assertRegex(text, r"(?m)^training_time_p99, min +fewer .* (equal|confidence intervals (disjoint|overlap))")
        self.assertRegex(text, r"hypervolume in the box of all fronts: all 0\.\d+, fewer 0\.\d+ \([+-]\d+\.\d+ %\)")
        self.assertTrue((self.folder / "both.html").read_text().startswith("<!DOCTYPE html>"))
        self.output("compare", "all.h5", "fewer.h5", "--csv", "both.csv")
        with open(self.folder / "both.csv", newline="") as file:
            first, second = csv.DictReader(file)
        reported = json.loads(self.output("compare", "all.h5", "fewer.h5", "--json"))
        best = reported["studies"][1]["best"]["training_time_p99"]
        self.assertEqual((second["name"], second["study"], second["file"], second["seed"]), ("fewer", "small", "fewer.h5", "1"))
        self.assertEqual((first["hardware"], first["change_training_time_p99"]), ("a100-sxm-40gb", ""))
        self.assertEqual(float(second["best_training_time_p99_s"]), best["estimate"]["value"])
        self.assertEqual(float(second["change_training_time_p99"]), best["change"])
        before = (self.folder / "all.h5").read_bytes()
        self.assertIn("would be overwritten", self.refusal("compare", "all.h5", "fewer.h5", "--html", "all.h5"))
        self.assertEqual((self.folder / "all.h5").read_bytes(), before)

    def test_a_fleet_beside_known_nodes_is_warned_of(self):
        self.searched(support.SMALL, "fleet.h5")
        self.output("search", self.scenario(gpu_price='"1.50 USD/h"\nslow_nodes = [{ node = 1, factor = 1.2 }]\nunlisted_nodes = "nominal"'), "--out", "slow.h5")
        text = self.output("compare", "fleet.h5", "slow.h5")
        self.assertIn("Warning: these quantiles are taken over different populations: fleet: the fleet ", text)
        self.assertRegex(text, r"(?m)^training_time_p99, min +slow .* %, different nodes")
        self.assertNotIn("confidence intervals", text)
        self.assertNotIn("Warning", self.output("compare", "fleet.h5", "fleet.h5"))

    def test_different_objectives_are_refused_unless_asked_for(self):
        self.searched(support.SMALL, "three.h5")
        self.output("search", self.scenario(minimise='["cost", "step_time_p99"]'), "--out", "two.h5")
        message = self.refusal("compare", "three.h5", "two.h5")
        self.assertIn("fronts with different objectives cannot be compared; add --common", message)
        text = self.output("compare", "three.h5", "two.h5", "--common")
        self.assertRegex(text, r"(?m)^cost, USD ")
        self.assertNotIn("step_time_p99, s", text)

    def test_the_study_that_differs_is_named(self):
        """The first has all that both share, so the other one is what is named."""
        self.searched(support.SMALL, "three.h5")
        self.output("search", self.scenario(minimise='["cost"]'), "--out", "one.h5")
        for first, second in (("three.h5", "one.h5"), ("one.h5", "three.h5")):
            message = self.refusal("compare", first, second)
            self.assertRegex(message, rf"{first} minimises .*, and {second} minimises ")

    def test_seeds_do_not_beat_each_other(self):
        self.searched(support.SMALL, "a.h5")
        self.output("search", support.SMALL, "--seed", "2", "--out", "b.h5")
        text = self.output("compare", "a.h5", "b.h5")
        self.assertIn("confidence intervals overlap: these draws cannot rank them", text)
        self.assertIn("No point dominates another beyond the sampling error.", text)

    def test_another_job_is_warned_of(self):
        self.searched(support.SMALL, "a.h5")
        self.output("search", self.scenario(tokens="2e10"), "--out", "b.h5")
        text = self.output("compare", "a.h5", "b.h5")
        self.assertRegex(text, r"Warning: these studies train different workloads: a: .* on 1e\+10 tokens .*; b: .* on 2e\+10 tokens")
        self.assertRegex(text, r"(?m)^training_time_p99, \w+ +b [^%]* different workload")

    def test_another_question_is_warned_of(self):
        self.searched(support.SMALL, "a.h5")
        question = '\n[question]\nminimise = "cost"\ndeadline = "1000 day"\n'
        self.output("search", self.write(pathlib.Path(support.SMALL).read_text() + question), "--out", "b.h5")
        warning = "Warning: these searches do not have the same [question]."
        self.assertIn(warning, self.output("compare", "a.h5", "b.h5", "--common"))
        self.assertNotIn(warning, self.output("compare", "b.h5", "b.h5"))

    def test_one_file_is_not_enough(self):
        self.searched(support.SMALL, "one.h5")
        self.assertIn("needs 2 or more results files", self.refusal("compare", "one.h5"))

    def test_a_study_is_as_fast_as_itself(self):
        self.searched(support.SMALL, "one.h5")
        pairs = json.loads(self.output("compare", "one.h5", "one.h5", "--json"))["pairs"]
        self.assertEqual([pair["best_in"] for pair in pairs], ["training_time_p99", "cost"])
        for pair in pairs:
            self.assertEqual([pair[key] for key in ("ratio", "low", "high", "differ")], [1, 1, 1, []])
            self.assertAlmostEqual(pair["chance_less_in_one_run"], 0.5)
            self.assertLess(pair["independent_low"], 1)
            self.assertTrue(pair["same_plan"])
        self.assertEqual(self.output("compare", "one.h5", "one.h5").count("nothing: the plan is the same"), 2)

    def test_pairs_of_two_machines_have_an_interval_of_what_they_do_not_share(self):
        self.searched(support.SMALL, "a.h5")
        self.output("search", self.scenario(accelerator='"h100-sxm"'), "--out", "b.h5")
        pair = json.loads(self.output("compare", "a.h5", "b.h5", "--json"))["pairs"][0]
        self.assertIn("accelerator", pair["differ"])
        self.assertLess(pair["low"], pair["ratio"])
        self.assertLess(pair["ratio"], pair["high"])
        self.assertIn("less in one run", self.output("compare", "a.h5", "b.h5"))


if __name__ == "__main__":
    support.main()
