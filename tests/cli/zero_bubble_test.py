"""Schedules against the measurements of Qi et al. (Zero Bubble Pipeline Parallelism, arXiv 2401.10241, tables 4 and 8): throughput
against 1F1B's of the same network and batch. Skipped where PRISMOPT_DATA does not name the folder of measured runs."""

import csv
import functools
import json
import os
import pathlib
import sys

import support
from support import CliTest, result_of

if "PRISMOPT_DATA" not in os.environ:
    print("skipped: PRISMOPT_DATA is not set")
    sys.exit(77)
DATA = pathlib.Path(os.environ["PRISMOPT_DATA"]) / "paper_zero_bubble.csv"

# What the paper calls them; it runs zero-bubble schedules with post-validation. 1F1B-I: one layer a chunk. ZB-2p* is not compared: it
# has another microbatch than the 1F1B beside it.
SCHEDULES = {
    "1F1B": "schedule=1f1b v=1",
    "1F1B-I": "schedule=interleaved v={layers}",
    "ZB-1p": "schedule=zb_h1 v=1 post_validation=on",
    "ZB-2p": "schedule=zb_h2 v=1 post_validation=on",
    "ZB-V": "schedule=zb_v v=2 post_validation=on",
}
SCENARIO = """
name = "zero-bubble"
seed = 1
[workload]
name = "gpt"
layers = {layers}
hidden = {hidden}
heads = {heads}
kv_heads = {heads}
feed_forward = {ffn}
vocabulary = 51200
activation = "gelu"
normalisation = "layer_norm"
attention = "plain"
causal = true
tied_embedding = true
dropout = false
[[phase]]
tokens = 1e10
sequence_length = {seq}
global_batch = {global_batch}
[software]
name = "megatron-lm"
release = "2022"
[cluster]
accelerator = "a100-sxm-80gb"
gpus = 64
gpu_price = "1.50 USD/h"
[[cluster.tier]]
name = "node"
link = "nvlink3"
group = 8
[[cluster.tier]]
name = "cluster"
link = "roce-200g"
[variability]
profile = "hpc-2024"
[reliability]
node_failure_rate = "6.5e-3 /day"
restart = "5 min"
checkpoint_interval = "30 min"
checkpoint_write = "5 s"
[space]
gpus = [{n_gpus}]
pp = [{pp}]
split = ["slots"]
microbatch = [{micro_batch}]
[objectives]
minimise = ["training_time_p99"]
[search]
rungs = [{{ fleets = 64, steps = 1 }}]
confirm = {{ fleets = 64, steps = 1 }}
"""


class ZeroBubble(CliTest):
    def predicted(self, row, schedule):
        text = SCENARIO.format(**row)
        chunks = (int(row["layers"]) + 2) // int(row["pp"])
        design = f"gpus={row['n_gpus']} tp=1 " + SCHEDULES[schedule].format(layers=chunks)
        p = json.loads(self.output("predict", self.write(text), "--json", "--draws", 64, "--design", design))
        self.assertTrue(p["feasible"], p["reason"])
        return result_of(p, "step_time_mean")

    def test_ratios_to_1f1b(self):
        predicted = functools.lru_cache(None)(lambda key, schedule: self.predicted(dict(key), schedule))
        groups = {}
        with open(DATA, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                setting = ("layers", "hidden", "heads", "ffn", "seq", "global_batch", "n_gpus", "pp", "micro_batch")
                key = tuple((name, row[name]) for name in setting)
                groups.setdefault(key, {})[row["schedule"]] = float(row["step_time_s"])
        compared = 0
        for key, measured in groups.items():
            if "1F1B" not in measured:
                continue
            speed = {}
            for schedule in measured:
                measured_ratio = measured["1F1B"] / measured[schedule]
                speed[schedule] = predicted(key, "1F1B") / predicted(key, schedule)
                off = speed[schedule] / measured_ratio - 1
                print(f"{dict(key)['layers']} layers, pp {dict(key)['pp']}, batch {dict(key)['global_batch']}, {schedule}: "
                      f"{measured_ratio:.3f} measured, {speed[schedule]:.3f} predicted, {100 * off:+.1f} %")
                self.assertLess(abs(off), 0.055, (key, schedule))
                compared += 1
            order = [s for s in ("1F1B", "ZB-1p", "ZB-2p") if s in speed]
            self.assertEqual(sorted(order, key=speed.get), order, key)
        self.assertGreaterEqual(compared, 31)


if __name__ == "__main__":
    support.main()
