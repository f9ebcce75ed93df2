"""Networks of every kind, each by a scenario of jobs/scenarios/networks: read, judged for one plan, and searched where the space is small."""

import json
import pathlib
import unittest

import support
from support import CliTest, result_of

# A plan of each, and bounds of its model FLOP/s utilisation (of the peak of its products): above what such runs are known to reach, or below what
# is left of a plan that is no good, something is wrong.
PLANS = {
    "nemotron-h-8b-512": ("gpus=512 tp=2 pp=1 microbatch=1 recompute=full sharding=zero1", (0.2, 0.6)),
    "gpt-oss-120b": ("gpus=256 tp=1 pp=4 ep=8 microbatch=1 recompute=none sharding=zero1", (0.08, 0.45)),
    "deepseek-v3-prediction": ("gpus=2048 tp=1 pp=16 ep=64 microbatch=1 recompute=full split=slots sharding=zero1", (0.05, 0.3)),  # in 8 bits
    "dit-xl-2": ("gpus=256 microbatch=8 recompute=none sharding=zero1", (0.15, 0.6)),
    "sdxl-unet": ("gpus=256 microbatch=2 recompute=none sharding=zero1", (0.15, 0.7)),
    "wan-2.1-14b": ("gpus=512 cp=4 microbatch=1 recompute=full sharding=zero3", (0.2, 0.75)),
    "flux.1-dev": ("gpus=256 cp=2 ulysses=0 microbatch=2 recompute=none sharding=zero3", (0.2, 0.7)),
    "dlrm-a": ("gpus=128 ep=128 microbatch=512 sharding=zero1", (0.001, 0.2)),
    "llama3-70b-adapters": ("gpus=64 tp=4 pp=2 microbatch=1 recompute=none sharding=none", (0.15, 0.6)),
    "hybrid-attention": ("workload=twelve-attend gpus=512 tp=4 cp=4 microbatch=1 recompute=full sharding=zero1", (0.15, 0.6)),
    "llama3-8b-inference": ("gpus=64 tp=1 pp=1 microbatch=1 sharding=none", (0.3, 0.75)),
}


def folder():
    return pathlib.Path(support.SMALL).parent / "networks"


class NetworkScenarios(CliTest):
    def test_each_has_a_plan_here(self):
        self.assertEqual({path.stem for path in folder().glob("*.toml")}, set(PLANS))

    def test_each_is_judged(self):
        for name, (design, (low, high)) in PLANS.items():
            with self.subTest(name):
                p = json.loads(self.output("predict", folder() / f"{name}.toml", "--design", design, "--json", "--draws", 128))
                self.assertTrue(p["feasible"])
                self.assertTrue(low < result_of(p, "mfu") < high, result_of(p, "mfu"))
                self.assertGreater(result_of(p, "memory_headroom"), 0)

    def test_what_is_not_trained_takes_no_states(self):
        def memory(name, design):
            return json.loads(self.output("predict", folder() / f"{name}.toml", "--design", design, "--json", "--draws", 128))

        scoring = memory("llama3-8b-inference", PLANS["llama3-8b-inference"][0])["numbers"]
        self.assertEqual(scoring["memory_gradients"] + scoring["memory_optimizer_state"] + scoring["memory_activations"], 0)
        tuning = memory("llama3-70b-adapters", PLANS["llama3-70b-adapters"][0])["numbers"]
        # 2 bytes for each of 70.6e9 parameters over 8 GPUs, and 16 for the adapters, half a per cent with what each GPU holds whole.
        self.assertLess(tuning["memory_gradients"] + tuning["memory_optimizer_state"], 0.05 * tuning["memory_parameters"])

    def test_forward_passes_are_no_training(self):
        scenario = folder() / "llama3-8b-inference.toml"
        design = ("--design", PLANS["llama3-8b-inference"][0])
        text = self.output("predict", scenario, *design)
        for word in ("training", "checkpoint", "gradients", "optimizer"):
            self.assertNotIn(word, text)
        self.assertIn("run time", text)
        # 8.03e9 parameters, of which 2 x 128,256 x 4,096 are of embedding and head, which stay in 16 bits, as do norms.
        small = scenario.read_text()
        eight_bits = self.write(small.replace('task = "inference"', 'task = "inference"\nprecision = "fp8"'), "eight.toml")
        stored = result_of(json.loads(self.output("predict", eight_bits, *design, "--json")), "memory_parameters")
        ends = 2 * 128256 * 4096
        self.assertAlmostEqual(stored / (2 * ends + (8.03e9 - ends)), 1, 3)
        recomputed = json.loads(self.output("predict", scenario, "--design", PLANS["llama3-8b-inference"][0] + " recompute=full", "--json", code=3))
        self.assertIn("nothing to recompute", recomputed["reason"])
        # What is not modelled.
        one = self.write(small.replace("sequence_length = 8192", "sequence_length = 1"), "one.toml")
        self.assertIn("token by token", self.refusal("predict", one, *design))
        written = self.write(small.replace('restart = "10 min"', 'restart = "10 min"\ncheckpoint_write = "60 s"'), "written.toml")
        self.assertIn("checkpoint_write", self.refusal("predict", written, *design))

    def test_the_run_of_deepseek_v3_is_predicted(self):
        """2.664 million hours of 2,048 H800 of 80 GB with its own plan (arXiv 2412.19437, table 1), which nothing was fitted to."""
        scenario = folder().parent / "deepseek-v3-published.toml"
        p = json.loads(self.output("predict", scenario, "--json", "--draws", 256))
        self.assertTrue(p["feasible"], p["reason"])
        time = p["estimates"]["training_time_mean"]
        measured = 2.664e6 / 2048 * 3600
        self.assertLess(abs(time["value"] / measured - 1), 0.2)
        self.assertLess(time["model_low"], measured)
        self.assertGreater(time["model_high"], measured)
        for stage in p["stages"]:
            parts = stage["memory_bytes"]
            self.assertLess(sum(parts[key] for key in parts if key != "stage"), 81559 * 2**20)

    def test_small_spaces_are_searched(self):
        for name in ("dlrm-a", "llama3-8b-inference"):
            with self.subTest(name):
                file = self.folder / f"{name}.h5"
                self.output("search", folder() / f"{name}.toml", "--out", file, "--max-time", "60 s", threads=2)
                report = json.loads(self.output("report", file, "--json"))
                self.assertGreater(len(report["front"]), 0)

    def test_networks_are_chosen_among(self):
        file = self.folder / "hybrids.h5"
        self.output("search", folder() / "hybrid-attention.toml", "--out", file, "--max-time", "60 s", threads=2)
        report = json.loads(self.output("report", file, "--json"))
        self.assertEqual(report["job"]["model"], "nemotron-h-8b or eight-attend or twelve-attend")
        plans = [row for row in report["front"] if row["plan"]["variant"].startswith("workload=")]
        self.assertEqual(len(plans), len(report["front"]))
        judged = json.loads(self.output("predict", file, "--json", "--draws", 128))
        self.assertEqual(judged["variant"], plans[0]["plan"]["variant"])


if __name__ == "__main__":
    support.main()
