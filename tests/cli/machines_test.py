"""[[workloads]]: machines that serve several networks."""

import csv
import json
import pathlib

import support
from support import CliTest

KNOBS = """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["12.5 GB/s", "25 GB/s", "50 GB/s"]
price = { per = "25 GB/s", cost = "0.10 USD/h" }

[[knob]]
of = "memory"
values = ["24 GB", "40 GB"]
price = { per = "10 GB", cost = "0.20 USD/h" }

"""


def served():
    """small.toml with a second network, and machines to choose from."""
    text = pathlib.Path(support.SMALL).read_text()
    begin, end = text.index("[workload]"), text.index("[software]")
    network = text[begin:text.index("[[phase]]")].replace("[workload]", "[[workloads]]").replace("[workload.", "[workloads.")
    head, layers = network.split("[workloads.layer", 1)
    phase = "phase = [{ tokens = 1e10, sequence_length = 1024, global_batch = 64 }]\n"
    first = head + phase + "[workloads.layer" + layers
    second = first.replace("gpt-small", "gpt-long").replace("sequence_length = 1024", "sequence_length = 4096")
    second = second.replace("[[workloads]]", "[[workloads]]\nruns = 2")
    space = text.index("[space]")
    text = text[:begin] + first + second + text[end:space] + KNOBS + text[space:]
    return text.replace('minimise = ["training_time_p99", "cost", "gpus"]', 'minimise = ["cost"]')


class MachinesForSeveralNetworks(CliTest):
    def setUp(self):
        super().setUp()
        self.write(served(), "served.toml")

    def test_reports_agree(self):
        text = self.output("search", "served.toml")
        self.assertIn("of 6 machines on the front of weighted cost and worst regret", text)
        self.assertIn("Networks: gpt-small 1 run, gpt-long 2 runs", text)
        self.assertRegex(text, r"model error +gpt-small [\d.]+ to [\d.]+, gpt-long [\d.]+ to [\d.]+ \w+ \(95 % prediction intervals\)")
        self.output("report", "served.h5", "--csv", "m.csv", "--json", "m.json")
        with open(self.folder / "m.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 12)
        machines = json.loads((self.folder / "m.json").read_text())["machines"]["machines"]
        self.assertEqual([row["machine"] for row in rows[::2]], [machine["name"] for machine in machines])
        best = {name: min(float(row["cost_usd"]) for row in rows if row["network"] == name and row["cost_usd"])
                for name in ("gpt-small", "gpt-long")}
        for row in rows:
            if row["settled"] == "1":
                self.assertAlmostEqual(float(row["regret"]), float(row["cost_usd"]) / best[row["network"]] - 1.0, places=9)
        for small, long in zip(rows[::2], rows[1::2]):
            if small["settled"] == long["settled"] == "1":
                weighted = float(small["cost_usd"]) + 2.0 * float(long["cost_usd"])
                self.assertAlmostEqual(float(small["weighted_cost_usd"]), weighted, places=6)
                self.assertGreaterEqual(weighted * 1.01, float(small["weighted_cost_usd_bound"]))
        # The plan of a cell is that of the network on that machine.
        words = self.output("predict", "served.h5", "--point", rows[1]["point"])
        self.assertIn("workload=gpt-long " + rows[1]["machine"], words)
        self.assertIn("4096 tokens per sequence", words)

    def test_results_do_not_depend_on_ranks(self):
        self.output("search", "served.toml", "--out", "one.h5")
        self.output("search", "served.toml", "--out", "three.h5", ranks=3)
        self.assert_same_results("one.h5", "three.h5")

    def test_commands_for_plans_of_one_job_refuse(self):
        self.output("search", "served.toml")
        for words in (["shortlist", "served.h5"], ["compare", "served.h5", "served.h5"], ["report", "served.h5", "--svg", "m.svg"]):
            self.assertIn("compares machines for several networks", self.refusal(*words))
        self.assertIn("search them as one", self.refusal("search", "served.toml", "--part", "1/2", "--out", "p.h5"))


if __name__ == "__main__":
    support.main()
