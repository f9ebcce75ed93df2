"""What moves one design's times: `sensitivity`, as text, JSON and a plot."""

import json
import pathlib
import re
import xml.etree.ElementTree

import support
from support import CliTest, result_of

DESIGN = "gpus=32 tp=2 pp=2 microbatch=2 schedule=1f1b recompute=none"
FIGURES = {"p50", "p95", "p99", "p99_over_p50", "cv", "training_p99", "cost"}


class Sensitivity(CliTest):
    def call(self, *more):
        return ("sensitivity", support.SMALL, "--design", DESIGN, *more)

    def json(self, *more, **how):
        return json.loads(self.output(*self.call("--json", *more), **how))

    def test_json(self):
        found = self.json()
        self.assertGreaterEqual(found["draws"], 4096)
        names = {kind: [e["name"] for e in found["effects"] if e["kind"] == kind] for kind in ("variance", "speed", "hardware")}
        classes = {"gemm", "attention", "elementwise", "lookup", "tensor_collective", "tensor_all_gather",
                   "tensor_reduce_scatter", "p2p", "dp_collective", "dp_all_gather", "dp_reduce_scatter", "all_gather",
                   "reduce_scatter"}  # that the plan has, and the narrowest of equal ones
        self.assertEqual(set(names["speed"]), classes)
        self.assertEqual(set(names["variance"]), classes | {"common_compute", "common_communication", "gpu", "node"})  # of hpc-2024
        self.assertEqual(set(names["hardware"]), {"node.bandwidth", "node.latency", "cluster.bandwidth", "cluster.latency",
                                                  "memory_bandwidth", "compute", "power"})
        for kind in names:
            sizes = [abs(e["change"]["p99"]["change"]) for e in found["effects"] if e["kind"] == kind]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        for effect in found["effects"]:
            self.assertEqual(set(effect["change"]), FIGURES)
            for change in effect["change"].values():
                self.assertTrue(change["low"] <= change["change"] <= change["high"])
        by_name = {(e["kind"], e["name"]): e for e in found["effects"]}
        gemm = by_name["speed", "gemm"]["change"]["p99"]
        self.assertTrue(-0.1 * found["plan"]["p99"] < gemm["low"] and gemm["high"] < 0)
        compute = by_name["hardware", "compute"]
        self.assertAlmostEqual(compute["to"], 1.1 * 312)
        self.assertAlmostEqual(compute["p99_s_per_unit"], compute["change"]["p99"]["change"] / 31.2)
        self.assertIsNone(compute["p99_s_per_usd_per_gpu_hour"])
        self.assertEqual(len(found["pairs"]), 6)
        for pair in found["pairs"]:
            alone = [by_name[key]["change"]["p99"]["change"] for key in zip(pair["kinds"], pair["names"])]
            interaction = pair["interaction"]["p99"]
            self.assertAlmostEqual(interaction["change"], pair["joint"]["p99"]["change"] - sum(alone))
            self.assertTrue(interaction["low"] <= interaction["change"] <= interaction["high"])  # with the default draws

    def test_is_of_what_predict_says(self):
        p = json.loads(self.output("predict", support.SMALL, "--design", DESIGN, "--json", "--draws", 4096))
        plan = self.json("--only", "gemm")["plan"]
        self.assertEqual(plan["p99"], result_of(p, "step_time_p99"))
        self.assertEqual(plan["training_p99"], result_of(p, "training_time_p99"))

    def test_same_for_any_threads(self):
        self.assertEqual(self.output(*self.call(), threads=1), self.output(*self.call(), threads=3))

    def test_prices(self):
        text = pathlib.Path(support.SMALL).read_text().replace("[space]", """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["25 GB/s", "50 GB/s"]
price = { per = "25 GB/s", cost = "0.10 USD/h" }

[space]""")
        self.write(text)
        found = json.loads(self.output("sensitivity", "study.toml", "--design", DESIGN, "--only", "cluster.bandwidth", "--json"))
        effect, = found["effects"]
        change = effect["change"]["p99"]["change"]
        self.assertLess(change, 0)
        self.assertAlmostEqual(effect["p99_s_per_usd_per_gpu_hour"], change / (0.1 * effect["from"] / 25 * 0.10))

    def test_text_and_plot(self):
        text = self.output(*self.call("--svg", "tornado.svg", "--faster", "20", "--pairs", "2"))
        for part in ("Without the variance of", "Kernels 20 % faster", "Hardware 20 % better", "p99 per unit", "Pairs: p99 ms"):
            self.assertIn(part, text)
        picture = xml.etree.ElementTree.parse(self.folder / "tornado.svg").getroot()
        labels = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        for label in ("gemm, no variance", "gemm, faster", "cluster.bandwidth, better", "change in p99 step time, % (95 % confidence interval)"):
            self.assertIn(label, labels)

    def test_a_class_holds_all_within_it(self):
        found = self.json("--only", "tp_collective,tensor_collective,context_p2p,all_to_all")
        by_name = {(e["kind"], e["name"]): e for e in found["effects"]}
        for kind in ("variance", "speed"):
            self.assertEqual(by_name[kind, "tp_collective"]["change"], by_name[kind, "tensor_collective"]["change"])
            for name in ("context_p2p", "all_to_all"):  # which the plan has none of
                self.assertEqual(by_name[kind, name]["change"]["p99"]["change"], 0.0)
        named = [pair["names"] for pair in found["pairs"]]
        self.assertNotIn({"tp_collective", "tensor_collective"}, [set(names) for names in named])

    def test_few_draws_have_no_limits(self):
        found = self.json("--draws", 128, "--only", "gemm")
        self.assertEqual(found["draws"], 128)
        self.assertIsNone(found["effects"][0]["change"]["p99"]["high"])
        self.assertIn("(too few draws)", self.output(*self.call("--draws", "128")))

    def test_refusals(self):
        for options, message in (
                (("--only", "gem"), r"--only gem is not a kernel class.*\(did you mean 'gemm'\?\); choose from gemm, grouped_gemm, "),
                (("--only", "site"), r"--only selects nothing that varies"),
                (("--draws", "1"), r"--draws 1 is not between 128 and 10000000; write for example --draws 4096"),
                (("--faster", "0"), r"--faster 0 is not a percentage above 0"),
                (("--faster", "nan"), r"--faster nan is not a percentage above 0"),
                (("--pairs", "-1"), r"--pairs -1 is not between 0 and 10"),
                (("--svg", "none/t.svg"), r"--svg none/t.svg cannot be written")):
            with self.subTest(options):
                self.assertRegex(self.refusal(*self.call(*options)), "^prismopt: " + message)
        for design, code, message in (("gpus=32 tp=3", support.WRONG_INPUT, "tp"), (DESIGN + " v=2", support.INFEASIBLE, "infeasible: .*schedule"),):
            with self.subTest(design):
                self.assertRegex(self.refusal("sensitivity", support.SMALL, "--design", design, code=code), message)

    def test_who_names_no_plan_is_shown_one(self):
        small = pathlib.Path(support.SMALL).read_text()
        self.write(re.sub(r"(?m)^global_batch = .*$", "global_batch = 16", small))  # fewer sequences than GPUs
        error = self.refusal("sensitivity", "study.toml", code=support.INFEASIBLE)
        self.assertIn("without --design", error)
        shown = re.search(r'--design "([^"]+)"', error)[1]
        self.assertIn("p99", self.output("sensitivity", "study.toml", "--design", shown))

    def test_who_names_no_plan_gets_a_feasible_one(self):
        small = pathlib.Path(support.SMALL).read_text()
        self.write(re.sub(r"(?m)^global_batch = .*$", "global_batch = 16", small))
        told = self.run_program("predict", "study.toml")
        self.assertEqual(told.returncode, 0)
        self.assertIn("without --design: the default plan is infeasible (global batch not divisible by dp*microbatch)", told.stderr)
        self.assertIn("p99", told.stdout)


if __name__ == "__main__":
    support.main()
