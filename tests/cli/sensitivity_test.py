"""What moves one design's times: `sensitivity`, as text, JSON and a plot."""

import csv
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

    def knobs(self):
        """A scenario with two knobs, of which only one has a price."""
        self.write(pathlib.Path(support.SMALL).read_text() + """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["12.5 GB/s", "50 GB/s", "100 GB/s"]
price = { per = "25 GB/s", cost = "0.05 USD/h" }

[[knob]]
of = "latency"
tier = "cluster"
values = ["1 us", "5 us"]
""")
        return "sensitivity", "study.toml", "--design", "gpus=64 tp=2 pp=1 microbatch=2 schedule=gpipe recompute=none", "--draws", 4096

    def test_break_even_is_where_cost_is_equal(self):
        call = self.knobs()
        found = json.loads(self.output(*call, "--only", "cluster.bandwidth,cluster.latency", "--json"))["break_even"]
        bandwidth, latency = found["parameters"]
        self.assertEqual((bandwidth["name"], bandwidth["unit"], bandwidth["base"]), ("cluster.bandwidth", "GB/s", 25))
        self.assertEqual([p["value"] for p in bandwidth["points"]], [12.5, 25, 50, 100])
        base = bandwidth["points"][1]["gpu_hours"]["value"]
        for point in bandwidth["points"]:
            cost = (found["gpu_price"] + point["worth"]["value"]) * point["gpu_hours"]["value"]
            self.assertAlmostEqual(cost, found["gpu_price"] * base)
            self.assertTrue(point["worth"]["low"] <= point["worth"]["value"] <= point["worth"]["high"])
            self.assertAlmostEqual(point["price"], 0.05 * (point["value"] - 25) / 25)
        self.assertEqual([p["pays"] for p in bandwidth["points"]], ["does not pay", None, "pays", "pays"])
        self.assertEqual(bandwidth["best"], 50)
        self.assertIsNone(latency["best"])
        pair, = found["pairs"]
        self.assertEqual((pair["names"], pair["values"]), (["cluster.bandwidth", "cluster.latency"], [100, 1]))
        alone = bandwidth["points"][3]["worth"]["value"] + latency["points"][0]["worth"]["value"]
        self.assertAlmostEqual(pair["interaction"]["value"], pair["joint"]["value"] - alone)
        self.assertTrue(pair["interacts"])
        self.assertLess(pair["interaction"]["high"], 0)  # both hide the same messages

    def test_break_even_times_are_those_of_the_hardware(self):
        call = self.knobs()
        at_50 = json.loads(self.output(*call, "--json"))["break_even"]["parameters"][0]["points"][2]
        there = json.loads(self.output("predict", "study.toml", "--design", call[3] + " cluster.bandwidth=50GB/s cluster.latency=17.3us",
                                       "--draws", 4096, "--json"))
        hours = 64 * result_of(there, "training_time_p99") / 3600
        self.assertAlmostEqual(at_50["gpu_hours"]["value"], hours, delta=0.005 * hours)  # smooth quantiles

    def test_break_even_rows_are_variants_of_the_study(self):
        """A knob of all peaks leaves the one that has a knob of its own, and the board limit."""
        small = pathlib.Path(support.SMALL).read_text()
        compute = "\n[[knob]]\nof = \"compute\"\nvalues = [\"312 TFLOP/s\", \"624 TFLOP/s\"]\n"
        own_peak = "\n[[knob]]\nof = \"compute\"\nprecision = \"bf16\"\nvalues = [\"312 TFLOP/s\", \"624 TFLOP/s\"]\n"
        limit = "\n[[knob]]\nof = \"power\"\nvalues = [\"400 W\", \"800 W\"]\n"
        worth = []
        for other in ("", own_peak, limit):
            self.write(small + compute + other)
            found = json.loads(self.output("sensitivity", "study.toml", "--design", DESIGN, "--draws", 4096, "--only", "compute", "--json"))
            worth.append(found["break_even"]["parameters"][0]["points"][1]["worth"]["value"])
        self.assertAlmostEqual(worth[1], 0)
        self.assertTrue(0 < worth[2] < worth[0])

    def test_break_even_counts_electricity(self):
        call = self.knobs()
        scenario = (self.folder / "study.toml").read_text()
        without = json.loads(self.output(*call, "--json"))["break_even"]["parameters"][0]["points"][2]["worth"]["value"]
        self.write(scenario + "\n[power]\nelectricity_price = \"0.5 USD/kWh\"\n")
        with_it = json.loads(self.output(*call, "--json"))["break_even"]["parameters"][0]["points"][2]["worth"]["value"]
        self.assertGreater(with_it, without)

    def test_break_even_text_csv_and_figure(self):
        call = self.knobs()
        text = self.output(*call, "--csv", "worth.csv", "--svg", "worth.svg", "--figure", "break-even")
        for part in ("Break-even: addition to the price of 1.5 USD per GPU-hour", "cluster.bandwidth: best at 50 GB/s, worth +0.1",
                     "cluster.latency: no price in [[knob]]", "cluster.bandwidth 100 GB/s & cluster.latency 1 us"):
            self.assertIn(part, text)
        with open(self.folder / "worth.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["parameter"], float(r["value"])) for r in rows][:4],
                         [("cluster.bandwidth", v) for v in (12.5, 25, 50, 100)])
        self.assertEqual(rows[2]["pays"], "pays")
        self.assertEqual(float(rows[2]["price_usd_per_hour"]), 0.05)
        picture = xml.etree.ElementTree.parse(self.folder / "worth.svg").getroot()
        labels = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("cluster.bandwidth (GB/s)", labels)
        self.assertRegex(self.refusal(*self.call("--svg", "no.svg", "--figure", "break-even")),
                         "--figure break-even draws knobs; add a \\[\\[knob\\]\\]")
        self.assertRegex(self.refusal(*call, "--figure", "brake-even"), "did you mean 'break-even'")

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
        finished = self.run_program("predict", "study.toml")
        self.assertEqual(finished.returncode, 0)
        self.assertIn("without --design: the default plan is infeasible (global batch not divisible by dp*microbatch)", finished.stderr)
        self.assertIn("p99", finished.stdout)


if __name__ == "__main__":
    support.main()
