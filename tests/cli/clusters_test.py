"""Several [[cluster]] sections: whole clusters as alternatives of one study."""

import csv
import json
import math
import pathlib
import re
import statistics

import support
from support import CliTest


DISCREPANCY = pathlib.Path(__file__).parents[2] / "model" / "catalog" / "discrepancy.toml"
DRAWS = 1024  # of the error of the model: posterior_draws


class SeveralClusters(CliTest):
    """Each plan is as good as in a study of its cluster alone: draws do not depend on what else a study chooses."""

    def front(self, text, name):
        self.write(text, f"{name}.toml")
        self.output("search", f"{name}.toml")
        self.output("report", f"{name}.h5", "--csv", f"{name}.csv")
        with open(self.folder / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_plans_are_as_in_studies_of_one_cluster(self):
        small = pathlib.Path(support.SMALL).read_text()
        both = self.front(with_clusters(small), "both")
        self.assertEqual({row["variant"] for row in both}, {"cluster=nodes", "cluster=racks"})
        self.assertIn("hardware: a100-sxm-40gb; software: ", self.output("report", "both.h5"))  # both have it
        alone = {(row["gpus"], row["tp"], row["pp"], row["microbatch"]): row for row in self.front(small, "alone")}
        shared = [row for row in both if row["variant"] == "cluster=nodes"]
        self.assertTrue(shared)
        for row in shared:
            other = alone[row["gpus"], row["tp"], row["pp"], row["microbatch"]]
            for column in row:
                if column.startswith(("step_time", "training_time", "cost", "memory")):
                    self.assertEqual(row[column], other[column], column)

    def test_a_cluster_that_others_dominate_shows_its_best_plan(self):
        text = with_clusters(pathlib.Path(support.SMALL).read_text(), group=8)
        rows = self.front(text, "both")
        dear = [row for row in rows if row["variant"] == "cluster=racks"]
        self.assertEqual([row["dominated"] for row in dear], ["1"])
        nodes = [row for row in rows if row["variant"] == "cluster=nodes"]
        self.assertEqual(dear[0]["training_time_p99_s"], min((row["training_time_p99_s"] for row in nodes), key=float))
        self.assertIn("or as the best plan of its cluster", self.output("report", "both.h5"))

    def test_errors_of_accelerators_do_not_cancel(self):
        """Errors of accelerators of one source are independent: which is the better one is no surer than that allows."""
        source = float(re.search(r"^source = ([0-9.]+)", DISCREPANCY.read_text(), re.MULTILINE)[1])
        text = pathlib.Path(support.SMALL).read_text().replace("gpus = [16, 32, 64]", "gpus = [16]")
        both = with_clusters(text)
        first = both.index("a100-sxm-40gb")
        rows = self.front(both[:first] + both[first:].replace("a100-sxm-40gb", "a100-sxm-80gb", 1).replace("1.80", "1.20"), "both")
        times = {row["variant"]: float(row["training_time_p99_s"]) for row in rows}
        self.assertEqual(set(times), {"cluster=nodes", "cluster=racks"})
        ratio = math.log(max(times.values()) / min(times.values()))
        most = statistics.NormalDist().cdf(ratio / (math.sqrt(2.0) * source))
        margin = 4.0 * math.sqrt(0.25 / DRAWS)
        self.assertLessEqual(max(float(row["chance_best"]) for row in rows), most + margin)

    def test_commands_name_the_cluster(self):
        text = with_clusters(pathlib.Path(support.SMALL).read_text())
        self.write(text)
        self.assertIn("for example cluster=nodes", self.refusal("predict", "study.toml"))
        one = json.loads(self.output("predict", "study.toml", "--design", "cluster=racks gpus=32 tp=2", "--json"))
        self.assertEqual(one["variant"], "cluster=racks")
        # The plan as reports print it, on a cluster that has fewer GPUs than the space.
        self.write(text.replace("gpus = 64\ngpu_price = \"1.80", "gpus = 32\ngpu_price = \"1.80"))
        words = "tp 1 pp 1 dp 16 v 1 mb 2 gpipe cluster=racks recompute none"
        self.assertIn("gpus=16 ", self.output("predict", "study.toml", "--design", words))
        self.write(text.replace("gpus = 64\ngpu_price = \"1.80", "gpus = 32\ngpu_price = \"1.80"))
        self.assertIn("more GPUs than the cluster has", self.output("validate", "study.toml"))


def with_clusters(text, group=32):
    """small.toml with a second cluster of dearer nodes with so many GPUs."""
    begin, end = text.index("[cluster]"), text.index("[memory]")
    section = text[begin:end]
    first = section.replace("[cluster]", '[[cluster]]\nname = "nodes"', 1)
    second = section.replace("[cluster]", '[[cluster]]\nname = "racks"', 1).replace("group = 8", f"group = {group}")
    return text[:begin] + first + second.replace("1.50 USD/h", "1.80 USD/h") + text[end:]


if __name__ == "__main__":
    support.main()
