"""One design on the command line: `predict`, as text and as JSON."""

import json
import math
import pathlib
import statistics
import re

import support
from support import CliTest, result_of

DESIGN = "gpus=32 tp=2 pp=2 microbatch=2 schedule=1f1b recompute=none"


MEMORY = [f"memory_{part}" for part in ("parameters", "gradients", "optimizer_state", "activations", "workspace", "reserved")]


class Predict(CliTest):
    def predict(self, design=DESIGN, *more, code=support.DONE):
        return json.loads(self.output("predict", support.SMALL, "--design", design, "--json", *more, code=code))

    def test_values_make_sense(self):
        p = self.predict()
        self.assertIs(p["feasible"], True)
        self.assertEqual(p["reason"], "")
        self.assertEqual(p["gpus"], 32)
        self.assertEqual(p["gpu_price"], "1.50 USD per GPU-hour (given)")
        self.assertEqual(p["probabilities"], sorted(p["probabilities"]))
        for name in ("step_time", "training_time"):
            times = {q: p["estimates"][f"{name}_{q}"] for q in ("mean", "p50", "p95", "p99")}
            self.assertLess(0, times["p50"]["value"])
            self.assertLessEqual(times["p50"]["value"], times["p95"]["value"])
            self.assertLessEqual(times["p95"]["value"], times["p99"]["value"])
            self.assertLess(times["p99"]["low"], times["p99"]["high"])
            for time in times.values():
                self.assertTrue(time["low"] <= time["value"] <= time["high"])
                self.assertTrue(time["model_low"] < time["value"] < time["model_high"])
                self.assertTrue(math.isclose(time["model_low"], time["value"] * result_of(p, "model_low")))
            quantiles = p["quantiles"][f"{name}_quantile"]
            self.assertEqual(quantiles, sorted(quantiles))
            self.assertEqual(dict(zip(p["probabilities"], quantiles))[0.99], times["p99"]["value"])
        for share in ("bubble_share", "exposed_communication_share", "host_wait_share", "mfu", "memory_headroom", "ettr"):
            self.assertTrue(0 <= result_of(p, share) <= 1, share)
        self.assertLessEqual(result_of(p, "bubble_share") + result_of(p, "exposed_communication_share") + result_of(p, "host_wait_share"), 1)
        self.assertLessEqual(result_of(p, "noise_free_step_time"), p["estimates"]["step_time_mean"]["high"])
        # What follows from other numbers: A100 at 312 TFLOP/s; 64 sequences of 1024 tokens; 32 GPUs at 1.50 USD/h.
        self.assertTrue(math.isclose(result_of(p, "mfu"), result_of(p, "tflops_per_gpu") / 312))
        self.assertTrue(math.isclose(result_of(p, "tokens_per_second"), 64 * 1024 / result_of(p, "step_time_mean")))
        self.assertTrue(math.isclose(result_of(p, "cost"), 32 * 1.5 * result_of(p, "training_time_p99") / 3600))
        self.assertEqual(p["peak_memory_bytes"], sum(result_of(p, part) for part in MEMORY))
        low, high = p["peak_memory_interval_bytes"]
        self.assertTrue(math.isclose(low * high, p["peak_memory_bytes"] ** 2, rel_tol=1e-12))
        # Standard deviations of 1 to 13 %, an order of magnitude about those of the catalog.
        self.assertTrue(1.02 < high / p["peak_memory_bytes"] < 1.3)
        self.assertTrue(math.isclose(result_of(p, "memory_headroom"), 1 - p["peak_memory_bytes"] / 40e9, rel_tol=0.1))

    def test_a_question_is_answered_for_the_design(self):
        """The time that it can be promised lies between its median and the upper limit of the model error."""
        text = self.scenario().read_text() + '\n[question]\ndeadline = "60 min"\n'
        p = json.loads(self.output("predict", self.write(text), "--design", DESIGN, "--json"))
        promised = p["estimates"]["promised_time"]
        times = p["estimates"]["training_time_p99"]
        self.assertLess(p["estimates"]["training_time_p50"]["value"], promised["low"])
        self.assertLess(promised["high"], times["model_high"])
        self.assertIsNone(self.predict()["estimates"]["promised_time"]["value"])

    def test_names_and_units_are_those_of_reports(self):
        """Each result of a plan has one name in `predict --json`, `report --json` and front.csv."""
        self.output("search", support.SMALL, "--out", "small.h5", "--max-evaluations", 4)
        report = json.loads(self.output("report", "small.h5", "--json", "--csv", "front.csv"))
        point = report["front"][0]
        p = json.loads(self.output("predict", "small.h5", "--point", point["point"], "--json"))
        self.assertEqual(set(p["columns"]), set(p["estimates"]) | set(p["numbers"]))
        self.assertEqual(set(p["estimates"]), set(point["estimates"]))
        self.assertEqual(set(p["quantiles"]), set(point["quantiles"]))
        only_of_studies = {"chance_best", "chance_fits", "chance_on_front", "expected_regret", "measured_step_time"}
        self.assertEqual(set(point["numbers"]) - set(p["numbers"]), only_of_studies)
        header = (self.folder / "front.csv").read_text().splitlines()[0].split(",")
        for name in set(p["columns"]) & set(report["columns"]):
            self.assertEqual(p["columns"][name], report["columns"][name])
            self.assertTrue(any(column.startswith(name) for column in header), name)

    def test_stages_hold_the_network(self):
        for split in ("layers", "slots", "balanced"):
            p = self.predict(DESIGN + " split=" + split)
            chunks = [chunk for stage in p["stages"] for chunk in stage["chunks"]]
            self.assertEqual(len(p["stages"]), 2)
            self.assertEqual([chunk["embedding"] for chunk in chunks], [True, False])
            self.assertEqual([chunk["head"] for chunk in chunks], [False, True])
            self.assertEqual(chunks[1]["first_layer"], chunks[0]["layers"])
            fullest = max((sum(stage["memory_bytes"].values()) - number for number, stage in enumerate(p["stages"])))
            self.assertEqual(p["peak_memory_bytes"], fullest)
            for stage in p["stages"]:
                self.assertLess(stage["forward_s"], stage["backward_s"])
            text = self.output("predict", support.SMALL, "--design", DESIGN + " split=" + split, "--stages")
            self.assertIn("layout " + p["layout"], text)
        self.assertNotIn("layout", self.output("predict", support.SMALL, "--design", DESIGN))

    def test_draws_are_rounded_up_to_whole_blocks(self):
        for asked, made in ((1, 128), (128, 128), (129, 256)):  # 64 fleets of 2 steps
            self.assertEqual(self.predict(DESIGN, "--draws", asked)["draws"], made)

    def test_few_draws_support_no_interval(self):
        p = self.predict(DESIGN, "--draws", 128)
        self.assertIsNone(p["estimates"]["training_time_p99"]["high"])  # of 64 fleets
        self.assertGreater(result_of(p, "training_time_p99"), 0)
        for name in ("step_time_p99", "training_time_p95", "training_time_p99", "cost"):
            self.assertIn(name, p["too_few_draws_for"])
        self.assertNotIn("training_time_p50", p["too_few_draws_for"])
        text = self.output("predict", support.SMALL, "--design", DESIGN, "--draws", 128)
        self.assertIn("no 95 % confidence interval: too few draws", text)
        self.assertRegex(text, r"training time .*\n  mean \S+   p50 [\d.]+   p95 -   p99 -\n")
        self.assertRegex(text, r"(?m)^cost [\d.]+ USD expected, .*; 128 step draws, too few for the cost at p99$")

    def test_usual_draws_support_every_quantile(self):
        self.assertEqual(self.predict(DESIGN)["too_few_draws_for"], [])
        self.assertNotRegex(self.output("predict", support.SMALL, "--design", DESIGN), r"p99 -|too few")

    def test_the_seed_decides(self):
        first = self.predict(DESIGN, "--seed", 5)
        self.assertEqual(first, self.predict(DESIGN, "--seed", 5))
        other = self.predict(DESIGN, "--seed", 6)
        self.assertNotEqual(result_of(first, "step_time_p99"), result_of(other, "step_time_p99"))
        self.assertEqual(result_of(first, "noise_free_step_time"), result_of(other, "noise_free_step_time"))
        self.assertEqual(self.predict(), self.predict(DESIGN, "--seed", 1))  # the scenario's

    def test_infeasible_is_a_value(self):
        for design, reason in (
            ("gpus=32 tp=32", "tp does not divide a block: "),
            ("gpus=48", "global batch not divisible by dp*microbatch: "),
            ("v=2 schedule=1f1b", "schedule not defined: 1f1b has one chunk per stage; set v=1 or use interleaved"),
            ("gpus=64 tp=4 pp=16", "fewer layers than chunks: "),
        ):
            with self.subTest(design):
                p = self.predict(design, code=support.INFEASIBLE)
                self.assertIs(p["feasible"], False)
                self.assertTrue(p["reason"].startswith(reason), p["reason"])
                self.assertNotIn("estimates", p)
                self.assertIsInstance(p["changes"], list)
                text = self.output("predict", support.SMALL, "--design", design, code=support.INFEASIBLE)
                self.assertIn(f"infeasible: {reason}", text)

    def test_a_plan_that_may_not_fit_is_predicted(self):
        small = pathlib.Path(support.SMALL).read_text()
        scenario = self.write(small.replace("[cluster]\n", '[cluster]\naccelerator_override = { memory = "4.2 GB" }\n'), "tight.toml")
        p = json.loads(self.output("predict", scenario, "--design", DESIGN, "--json"))
        self.assertIs(p["feasible"], True)
        fits = result_of(p, "fit_probability")
        self.assertTrue(0.2 <= fits < 0.9, fits)
        self.assertIn("and must with 90 %", p["may_not_fit"])
        self.assertEqual(result_of(p, "step_time_p99"), result_of(self.predict(DESIGN), "step_time_p99"))
        # The distribution is that of the interval.
        low, high = p["peak_memory_interval_bytes"]
        deviation = math.log(high / low) / (2 * 1.959964)
        expected = statistics.NormalDist(0, deviation).cdf(math.log(4.2e9 / p["peak_memory_bytes"]))
        self.assertAlmostEqual(fits, expected, delta=1e-6)
        text = self.output("predict", scenario, "--design", DESIGN)
        self.assertIn(f"may not fit ({100 * fits:.0f} %): stage ", text)
        self.assertIn("Fits with one change", text)

    def test_the_interval_of_memory_says_whose_runs_it_is_of(self):
        small = pathlib.Path(support.SMALL).read_text()
        for software, said in (("hf-fsdp", "runs of hf-fsdp)"), ("llama-factory", "runs of hf-fsdp, whose constants are used for llama-factory)"),
                               ("deepspeed-zero-2", "runs of deepspeed-zero-2)"), ("internevo", "runs of other software than internevo)")):
            scenario = self.write(small.replace('name = "reference"', f'name = "{software}"'), "borrows.toml")
            plan = "gpus=32 tp=1 pp=1 microbatch=2 sharding=zero2 recompute=full"
            self.assertIn("measured " + said, self.output("predict", scenario, "--design", plan))

    def test_a_plan_that_lacks_memory_is_taken_apart(self):
        small = pathlib.Path(support.SMALL).read_text()
        scenario = self.write(small.replace("[cluster]\n", '[cluster]\naccelerator_override = { memory = "4.6 GB" }\n'), "tight.toml")
        design = DESIGN.replace("microbatch=2", "microbatch=8")
        arguments = ("predict", scenario, "--design", design, "--stages")
        p = json.loads(self.output(*arguments, "--json", code=support.INFEASIBLE))
        self.assertIs(p["feasible"], False)
        self.assertTrue(p["reason"].startswith("out of memory: "), p["reason"])
        # As with enough memory, but for what fits.
        enough = self.predict(design)
        self.assertEqual(result_of(p, "step_time_p99"), result_of(enough, "step_time_p99"))
        self.assertEqual(result_of(p, "memory_activations"), result_of(enough, "memory_activations"))
        self.assertGreater(p["missing_bytes"], 0)
        self.assertLess(result_of(p, "memory_headroom"), 0)
        largest = max(MEMORY[:-1], key=lambda part: result_of(p, part))
        self.assertIn("largest part: " + largest.removeprefix("memory_").replace("_", " "), p["reason"])
        # Each single change is feasible as a plan of its own.
        self.assertTrue(p["changes"])
        for change in p["changes"]:
            name = change["change"].split("=")[0]
            words = [word for word in p["design"].split() if word.split("=")[0] not in (name, "dp")] + [change["change"]]
            changed = json.loads(self.output("predict", scenario, "--design", " ".join(words), "--json"))
            self.assertIs(changed["feasible"], True)
            self.assertAlmostEqual(changed["peak_memory_bytes"] / change["peak_memory_bytes"], 1)
            self.assertTrue(0.9 < change["least_step_time_s"] / result_of(changed, "step_time_mean") <= 1.001, change)
        text = self.output(*arguments, code=support.INFEASIBLE)
        self.assertIn("layout ", text)
        self.assertIn(p["changes"][0]["change"], text)

    def test_text_reports_the_same(self):
        p = self.predict()
        text = self.output("predict", support.SMALL, "--design", DESIGN)
        self.assertTrue(text.startswith(p["design"]))
        self.assertIn(f"p99 {1e3 * result_of(p, 'step_time_p99'):.4g}", text)
        self.assertIn(f"MFU {100 * result_of(p, 'mfu'):.1f} %", text)

    def test_phases_are_distinguished(self):
        text = self.scenario(checkpoint_interval='"10 min"').read_text()
        second = """[[phase]]
tokens = 1e9
sequence_length = 2048
global_batch = 64
gpus = 16
tp = 4
schedule = "gpipe"

[cluster]"""
        self.write(text.replace("[cluster]", second, 1), "study.toml")
        predict = ("predict", "study.toml", "--design", "gpus=32 tp=2 pp=2 schedule=1f1b")
        p = json.loads(self.output(*predict, "--json"))
        first, later = p["phases"]
        for name, time in first["estimates"].items():
            self.assertEqual(time, p["estimates"][name])
        self.assertEqual(set(first["estimates"]), {f"step_time_{q}" for q in ("mean", "p50", "p95", "p99")})
        self.assertIn("gpus=16 tp=4 pp=2", later["design"])
        self.assertIn("schedule=gpipe", later["design"])
        productive = first["productive_time_s"] + later["productive_time_s"]
        self.assertAlmostEqual(productive, result_of(p, "ettr") * result_of(p, "training_time_mean"), delta=1e-9 * productive)
        self.assertTrue(p["run"]["checkpoints_written"])
        self.assertIn("phase 2: 2048 tokens per sequence", self.output(*predict))
        # An interval between the longest phase and the run: neither phase lasts until its first checkpoint.
        interval = 0.5 * (max(first["productive_time_s"], later["productive_time_s"]) + productive)
        rare = (self.folder / "study.toml").read_text().replace('"10 min"', f'"{interval:.0f} s"')
        self.write(rare, "study.toml")
        run = json.loads(self.output(*predict, "--json"))["run"]
        self.assertFalse(run["checkpoints_written"])
        self.assertEqual(run["checkpoint_gpu_hours"], 0)

    def test_draws_are_written(self):
        """Without a factor of whole steps, quantiles of the step are those of the draws."""
        path = self.folder / "draws.csv"
        p = json.loads(self.output("predict", support.SMALL, "--design", DESIGN, "--json", "--draws", 1024, "--write-draws", path))
        header, *rows = path.read_text().splitlines()
        draws = sorted(map(float, rows))
        self.assertEqual((header, len(draws)), ("step_s_phase_1", p["draws"]))
        below = sum(draw <= result_of(p, "step_time_p95") for draw in draws) / len(draws)
        self.assertAlmostEqual(below, 0.95, delta=0.01)
        self.assertAlmostEqual(sum(draws) / len(draws) / result_of(p, "step_time_mean"), 1.0, places=3)

    def test_what_is_read_is_not_overwritten(self):
        toml = self.scenario()
        before = toml.read_text()
        for option in ("write-orders", "write-draws", "assign-nodes", "timeline"):
            errors = self.refusal("predict", "study.toml", f"--{option}", "./study.toml")
            self.assertIn(f"--{option} ./study.toml is an input of this command and would be overwritten", errors)
        self.assertEqual(toml.read_text(), before)

    def test_under_mpirun_it_is_printed_once(self):
        self.assertEqual(json.loads(self.output("predict", support.SMALL, "--design", DESIGN, "--json", ranks=2)), self.predict())

    def test_registers_of_every_width_give_the_same_bits(self):
        designs = (DESIGN, "gpus=32 tp=4 pp=2 schedule=interleaved v=2", "gpus=32 tp=1 pp=1 sharding=zero3")
        for design in designs:
            printed = {self.output("predict", support.SMALL, "--design", design, "--json", PRISMOPT_LANES=lanes) for lanes in ("16", "8", "4")}
            self.assertEqual(len(printed), 1, design)

    def test_one_step_a_fleet_is_warned_of(self):
        small = pathlib.Path(support.SMALL).read_text()
        for steps, warned in ((1, True), (2, False)):
            self.write(re.sub(r"(?m)^(confirm = .*steps = )\d+", rf"\g<1>{steps}", small))
            finished = self.run_program("predict", "study.toml", "--design", DESIGN)
            self.assertEqual("one step per fleet" in finished.stderr, warned, finished.stderr)


if __name__ == "__main__":
    support.main()
