"""Known nodes, circuits between buildings and the scale curve on the command line."""

import json
import pathlib

import support
from support import CliTest, result_of

DESIGN = "gpus=32 tp=2 pp=2 microbatch=2 schedule=1f1b recompute=none"


class Placement(CliTest):
    def nodes_file(self, factors):
        path = self.folder / "nodes.csv"
        path.write_text("node,factor\n" + "".join(f"{i},{f}\n" for i, f in enumerate(factors)))
        return path

    def predict(self, *more):
        return json.loads(self.output("predict", support.SMALL, "--design", DESIGN, "--json", *more))

    def test_p99_says_of_what(self):
        self.assertEqual(self.predict()["quantiles_of"], "fleet")
        known = self.predict("--nodes", self.nodes_file([1] * 8))
        self.assertEqual(known["quantiles_of"], "this cluster")
        self.assertIn("quantiles over the fleet", self.output("predict", support.SMALL, "--design", DESIGN))
        self.assertEqual(self.predict("--nodes", "drawn")["quantiles_of"], "this cluster")

    def test_a_slow_node_slows_the_step(self):
        even = self.predict("--nodes", self.nodes_file([1] * 8))
        slow = self.predict("--nodes", self.nodes_file([1, 1.3] + [1] * 6))
        unused = self.predict("--nodes", self.nodes_file([1] * 7 + [1.3]))  # 4 of 8 nodes work
        self.assertGreater(result_of(slow, "step_time_p99"), 1.05 * result_of(even, "step_time_p99"))
        self.assertEqual(unused["quantiles"], even["quantiles"])

    def test_assigns_nodes(self):
        nodes = self.nodes_file([1, 1.3, 1, 1, 1.2, 1, 1, 1])
        assignment = self.folder / "assignment.csv"
        p = self.predict("--nodes", nodes, "--assign-nodes", assignment, "--draws", 1024)
        header, *rows = assignment.read_text().splitlines()
        self.assertEqual(header, "first_gpu,node,factor,replica,stage")
        taken = [int(row.split(",")[1]) for row in rows]
        self.assertEqual(len(set(taken)), 4)
        self.assertFalse({1, 4} & set(taken))  # fast ones are enough
        self.assertLess(p["assignment"]["assigned_step_p99_s"], p["assignment"]["given_step_p99_s"])
        self.assertGreaterEqual(p["assignment"]["worst_step_p99_s"], p["assignment"]["assigned_step_p99_s"])
        self.assertIn(str(assignment), self.output("predict", support.SMALL, "--design", DESIGN, "--nodes", nodes, "--assign-nodes", assignment))

    def test_slow_nodes_stand_idle_beside_good_ones(self):
        nodes = self.nodes_file([1.3, 1, 1.2, 1, 1, 1, 1.1, 1])
        arguments = ["predict", support.SMALL, "--nodes", nodes, "--json", "--draws", 1024]
        p = json.loads(self.output(*arguments, "--design", DESIGN, "--assign-nodes", self.folder / "assignment.csv"))
        spared = json.loads(self.output(*arguments, "--design", DESIGN + " spares=4"))
        self.assertEqual(result_of(p, "step_time_p99"), result_of(spared, "step_time_p99"))
        self.assertEqual(p["assignment"]["step_p99_bound_s"], p["assignment"]["assigned_step_p99_s"])
        self.assertFalse(p["assignment"]["ended_by_budget"])

    def test_nodes_that_are_not_listed_are_drawn(self):
        """One node at 1.0001 changes about nothing; that the others are nominal must be said."""
        def p99(lines):
            toml = self.scenario(gpu_price=f'"1.50 USD/h"{lines}')
            p = json.loads(self.output("predict", toml, "--design", DESIGN, "--json", "--draws", 8192))
            return p["quantiles_of"], p["listed_nodes"], result_of(p, "training_time_p99")

        listed = "\nslow_nodes = [{ node = 1, factor = 1.0001 }]"
        plain, one = p99(""), p99(listed)
        nominal = p99(listed + '\nunlisted_nodes = "nominal"')
        self.assertEqual((plain[:2], one[:2], nominal[:2]), (("fleet", 0), ("fleet", 1), ("this cluster", 8)))
        self.assertLess(nominal[2], 0.99 * plain[2])
        self.assertLess(abs(plain[2] - one[2]), 0.4 * (plain[2] - nominal[2]))  # the others of the job's four nodes vary as before
        half = self.nodes_file([1.0001] * 2)
        p = json.loads(self.output("predict", self.scenario(), "--design", DESIGN, "--json", "--nodes", half))
        self.assertEqual((p["quantiles_of"], p["listed_nodes"]), ("fleet", 2))

    def test_refusals(self):
        def refusal(*more):
            return self.refusal("predict", support.SMALL, "--design", DESIGN, *more)

        self.assertIn("describes another cluster: it has 9 nodes, [cluster] has 8", refusal("--nodes", self.nodes_file([1] * 9)))
        self.assertIn("cannot be read (it is a directory)", refusal("--nodes", self.folder))
        self.assertIn("more spares than nodes", self.output("predict", support.SMALL, "--nodes", self.nodes_file([1] * 8),
                                                            "--design", DESIGN + " spares=5", code=support.INFEASIBLE))
        self.assertIn("needs the slowdown factor of every node", refusal("--assign-nodes", self.folder / "assignment.csv"))
        self.assertIn("needs the slowdown factor of every node", refusal("--nodes", self.nodes_file([1] * 7), "--assign-nodes", self.folder / "assignment.csv"))
        self.assertIn("cluster of one building", self.output("predict", support.SMALL, "--design", DESIGN + " crossing=dp",
                                                              code=support.INFEASIBLE))

    def test_scale_curve(self):
        curve = json.loads(self.output("predict", support.SMALL, "--design", DESIGN, "--scale-curve", "--draws", 128, "--json"))
        self.assertEqual([p["gpus"] for p in curve["points"]], [2**k for k in range(3, 18)])
        self.assertEqual(curve["published"]["p50_s"], 18.8)
        for point in curve["points"]:
            self.assertEqual(point["probability_slower"], sorted(point["probability_slower"], reverse=True))
            self.assertLessEqual(point["p50_s"], point["p99_s"])
        text = self.output("predict", support.SMALL, "--design", DESIGN, "--scale-curve", "--draws", 128)
        self.assertIn("published: PRISM", text)

    def test_scale_curve_says_what_it_leaves_out(self):
        design = "gpus=32 tp=1 pp=1 microbatch=2 schedule=1f1b recompute=none"  # 65,536 replicas are too many
        text = self.output("predict", support.SMALL, "--design", design, "--scale-curve", "--draws", 128)
        self.assertRegex(text, r"(?m)^  65536 skipped: too many replicas .*\n   64k\+ .*published: PRISM.*\n 131072 skipped: ")
        curve = json.loads(self.output("predict", support.SMALL, "--design", design, "--scale-curve", "--draws", 128, "--json"))
        self.assertEqual([size["gpus"] for size in curve["left_out"]], [65536, 131072])

    def test_export_names_the_nodes_of_the_job(self):
        slow = self.scenario(gpu_price='"1.50 USD/h"\nslow_nodes = [{ node = 1, factor = 1.3 }]\nunlisted_nodes = "nominal"',
                             sharding='["zero1"]\nspares = [1]\nnode_order = ["as-listed", "packed"]', pp="[1]")
        self.output("search", slow, "--out", "slow.h5")
        plan = json.loads(self.output("export", "slow.h5", "--target", "json"))
        self.assertEqual(plan["quantiles_of"], "this cluster")
        self.assertEqual(plan["plan"]["node_order"], "as-listed")  # the slow node stands by, so orders are one plan
        self.assertIn(1, plan["nodes"]["left_out"])
        self.output("export", "slow.h5", "--target", "slurm", "--out", "job.sbatch")
        script = (self.folder / "job.sbatch").read_text()
        self.assertRegex(script, r"Not in the job: nodes 1\b.*\(the slowest, 1, takes 1.3 times as long\)")
        self.assertIn("--exclude=HOSTS", script)


if __name__ == "__main__":
    support.main()
