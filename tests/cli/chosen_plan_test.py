"""A plan on its way from a results file or a report to `predict`, `sensitivity` and `export`."""

import csv
import json
import re

import support
from support import CliTest

KNOBS = """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["12.5 GB/s", "50 GB/s"]
price = { per = "25 GB/s", cost = "0.10 USD/h" }
"""


class ChosenPlan(CliTest):
    def predicted(self, *arguments):
        return json.loads(self.output("predict", *arguments, "--json"))

    def front(self, results):
        self.output("report", results, "--csv", "front.csv")
        with open(self.folder / "front.csv", newline="") as file:
            return list(csv.DictReader(file))

    def words(self, results):
        """Plans by point, as the table of `report` prints them."""
        rows = re.findall(r"(?m)^ *(\d+) +\d+  (tp .*?)  +[\d.]+ \(", self.output("report", results))
        return dict(rows)

    def test_points_and_printed_plans_are_one(self):
        self.searched(support.SMALL, "small.h5", "--seed", "7")
        words = self.words("small.h5")
        self.assertEqual(len(words), 3)
        for point, plan in words.items():
            of_point = self.predicted("small.h5", "--point", point)
            self.assertEqual(of_point, self.predicted(support.SMALL, "--seed", "7", "--design", plan))
            self.assertEqual(of_point, self.predicted("small.h5", "--design", of_point["design"]))
            printed = self.output("predict", support.SMALL, "--design", plan).splitlines()[0]
            self.assertEqual(self.predicted(support.SMALL, "--design", printed)["design"], of_point["design"])
            exported = json.loads(self.output("export", "small.h5", "--point", point, "--target", "json"))
            self.assertEqual(exported["design"], of_point["design"])
        first = next(iter(words))
        self.assertEqual(self.predicted("small.h5"), self.predicted("small.h5", "--point", first))

    def test_sensitivity_of_a_point(self):
        self.searched(support.SMALL, "small.h5")
        point, plan = next(iter(self.words("small.h5").items()))
        how = ("--draws", "128", "--pairs", "0", "--only", "gemm", "--json")
        self.assertEqual(self.output("sensitivity", "small.h5", "--point", point, *how),
                         self.output("sensitivity", support.SMALL, "--design", plan, *how))

    def test_hardware_comes_with_the_plan(self):
        text = self.scenario(tp="[1, 2]", pp="[1]", v="[1]", schedule='["1f1b"]').read_text() + KNOBS
        self.write(text, "knobs.toml")
        self.output("search", "knobs.toml", "--out", "knobs.h5")
        rows = {row["point"]: row for row in self.front("knobs.h5")}
        words = self.words("knobs.h5")
        self.assertEqual(set(words), set(rows))
        prices = set()
        for point, plan in words.items():
            of_point = self.predicted("knobs.h5", "--point", point)
            self.assertEqual(of_point["variant"], rows[point]["variant"])
            self.assertEqual(of_point, self.predicted("knobs.toml", "--design", plan))
            prices.add(of_point["gpu_price"])
        self.assertEqual(len(prices), len({row["variant"] for row in rows.values()}))

    def test_hardware_that_a_design_does_not_name_is_that_of_the_cluster(self):
        memory = '\n[[knob]]\nof = "memory"\nvalues = ["40 GB", "80 GB"]\n'
        text = self.scenario(gpu_price='"1.50 USD/h"\naccelerator_override = { memory = "40 GB" }').read_text()
        self.write(text + KNOBS + memory, "knobs.toml")
        plan = "gpus=64 tp=2 pp=1 schedule=1f1b"
        named = self.predicted("knobs.toml", "--design", plan + " cluster.bandwidth=50GB/s")
        self.assertEqual(named, self.predicted("knobs.toml", "--design", plan + " cluster.bandwidth=50GB/s memory=40GB"))
        self.assertEqual(named["variant"], "cluster.bandwidth=50GB/s memory=40GB")
        self.assertFalse(self.predicted("knobs.toml", "--design", plan).get("variant"))
        self.assertIn("is not a variant of this study", self.refusal("predict", "knobs.toml", "--design", plan + " cluster.bandwidth=50"))

    def test_refusals(self):
        self.searched(support.SMALL, "small.h5")
        for arguments in (["small.h5", "--point", "12", "--design", "tp=1"], ["small.h5", "--point", "9999999"],
                          [support.SMALL, "--point", "12"], [support.SMALL, "--design", "gpus=64 tp=2 dp=3"]):
            for command in ("predict", "sensitivity"):
                self.refusal(command, *arguments)


if __name__ == "__main__":
    support.main()
