"""What jobs/fit_stack.py computes and writes. usage: fit_stack_test.py [unittest arguments]"""

import math
import pathlib
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
import fit_stack as script  # noqa: E402  pylint: disable=wrong-import-position

ROW = {"network": "a", "layers": "2", "hidden": "64", "heads": "4", "kv_heads": "2", "feed_forward": "256", "vocabulary": "1000",
       "activation": "swiglu", "normalisation": "rms_norm", "adapter_rank": "", "states": "bf16", "master": "", "gradients": "", "sequence": "128",
       "global_batch": "4", "gpus": "2", "node": "8", "node_link": "nvlink3", "accelerator": "a100-sxm-80gb"}


class Linear:
    """A model of two rows whose logarithms of errors are linear in those of gemm and host, and 0 at gemm 0.9 and host 40."""

    rows = ["a", "b"]

    def start(self, key):
        return {"gemm": 1.0, "host": 50.0}[key]

    def errors(self, values):
        gemm, host = math.log(values["gemm"] / 0.9), math.log(values["host"] / 40.0)
        return [-gemm, 0.5 * host - 0.2 * gemm]


class Fits(unittest.TestCase):
    def test_symmetric_systems_are_solved(self):
        for got, expected in zip(script.solved([[4.0, 1.0], [1.0, 3.0]], [9.0, 5.0]), (2.0, 1.0)):
            self.assertAlmostEqual(got, expected)

    def test_constants_lie_between_the_runs_and_the_prior(self):
        x, deviations = script.fit(Linear(), ["gemm", "host"], [0, 1])
        self.assertTrue(0.9 < math.exp(x[0]) < 1.0)
        self.assertTrue(30.0 < math.exp(x[1]) < 40.0)
        self.assertTrue(deviations[0] < script.PRIORS["gemm"][1] and deviations[1] < script.PRIORS["host"][1])

    def test_without_runs_constants_are_those_of_the_prior(self):
        x, deviations = script.fit(Linear(), ["gemm", "host"], [])
        self.assertAlmostEqual(math.exp(x[1]), 30.0)
        self.assertAlmostEqual(deviations[1], script.PRIORS["host"][1])

    def test_a_row_becomes_a_scenario(self):
        full = tomllib.loads(script.scenario(ROW, "hf-fsdp"))
        self.assertEqual((full["workload"]["hidden"], full["workload"]["optimizer"]["states"], full["cluster"]["gpus"]), (64, "bf16", 8))
        self.assertNotIn("adapter_rank", full["workload"])
        adapters = tomllib.loads(script.scenario(ROW | {"adapter_rank": "16", "states": ""}, "hf-fsdp"))
        self.assertEqual((adapters["workload"]["adapter_rank"], adapters["workload"]["layer"]["dense"]["frozen"]), (16, True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
