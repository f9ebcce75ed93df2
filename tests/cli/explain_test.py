"""`explain`: where the time and the memory of a plan go, what changes that, and why another plan is better.

The questions of ../shared/cases/reports name the change that ends an out-of-memory error; that check is skipped where the folder is absent
(PRISMOPT_CASES names another one).
"""

import json
import os
import pathlib

import support
from support import CliTest

CASES = pathlib.Path(os.environ.get("PRISMOPT_CASES", pathlib.Path(__file__).resolve().parents[3] / "shared" / "cases")) / "reports"

JOB = """\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:h100:8
ARGS="--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8
 --swiglu --disable-bias-linear --normalization RMSNorm --position-embedding-type rope --untie-embeddings-and-output-weights
 --attention-dropout 0 --hidden-dropout 0 --vocab-size 128256 --seq-length 8192 --max-position-embeddings 8192
 --micro-batch-size 4 --global-batch-size 64 --train-iters 1000 --bf16 --use-distributed-optimizer"
srun torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py $ARGS --tensor-model-parallel-size 2 --sequence-parallel
"""


class Explains(CliTest):
    def explained(self, *arguments, **how):
        return json.loads(self.output("explain", *arguments, "--json", **how))

    def job(self):
        self.write(JOB, "train.sh")
        return "train.sh"

    def test_parts_are_the_prediction(self):
        """Parts of every stage sum to one step, and memory to that of the prediction."""
        plan = "gpus=64 tp=2 pp=4 dp=8 schedule=1f1b"
        of = self.explained(support.SMALL, "--design", plan)
        predicted = json.loads(self.output("predict", support.SMALL, "--design", plan, "--json"))
        self.assertEqual(len(of["stages"]), 4)
        for stage in of["stages"]:
            self.assertAlmostEqual(sum(stage["parts_s"].values()), stage["step_s"], delta=1e-4 * stage["step_s"])
        self.assertAlmostEqual(of["step_time_mean_s"], support.result_of(predicted, "step_time_mean"), delta=1e-9)
        fullest = max(sum(stage["memory_bytes"].values()) for stage in of["stages"])
        self.assertAlmostEqual(fullest, predicted["peak_memory_bytes"], delta=1e-6 * fullest)

    def test_a_job_that_does_not_fit(self):
        of = self.explained(self.job(), code=support.INFEASIBLE)
        self.assertIn("out of memory", of["reason"])
        self.assertTrue(of["changes"])
        for change in of["changes"]:
            self.assertGreater(change["fit_probability"], 0.0)
            self.assertTrue(change["because"])
        singles = [change["step_time_mean_s"] for change in of["changes"] if len(change["change"]) == 1 and not change["price"]]
        self.assertEqual(singles, sorted(singles))
        text = self.run_program("explain", "train.sh").stdout
        for words in ("where the step goes", "where its memory goes", "what makes it fit", "microbatch=1"):
            self.assertIn(words, text)

    def test_against(self):
        of = self.explained(support.SMALL, "--design", "gpus=64 tp=2", "--against", "tp=4")
        self.assertIn("tp=4", of["second"]["design"])
        self.assertGreater(of["ratio_interval"][1], of["ratio"])
        same = self.explained(support.SMALL, "--design", "gpus=64 tp=2", "--against", "tp=2")
        self.assertAlmostEqual(same["ratio"], 1.0)

    def test_refusals(self):
        self.assertIn("--gpus completes the files of a job", self.refusal("explain", support.SMALL, "--gpus", "8"))
        self.assertIn("--point needs a results file", self.refusal("explain", self.job(), "--point", "1"))
        self.assertIn("is not a file", self.refusal("explain", "absent.sh"))


class Questions(CliTest):
    """The change that the question's answer names is among the first three."""

    ANSWERS = {
        ("02-qlora-70b", "gpus=1 microbatch=4 recompute=full"): "frozen_storage",
        ("08-fsdp-selective-recompute", "gpus=8 ep=8 microbatch=4 sharding=zero3 recompute=selective"): "microbatch=2",
        ("08-fsdp-selective-recompute", "gpus=8 microbatch=4 sharding=zero3 recompute=selective"): "microbatch=2",
        ("09-tpu-host-offload", "gpus=256 microbatch=5 sharding=zero3 recompute=full offload=activations"): "loss",
    }

    def setUp(self):
        if not CASES.is_dir():
            self.skipTest(f"no {CASES}")
        super().setUp()

    def test_named_changes(self):
        for (name, plan), answer in self.ANSWERS.items():
            with self.subTest(f"{name} {plan}"):
                of = json.loads(self.run_program("explain", CASES / f"{name}.toml", "--design", plan, "--json").stdout)
                first = [" ".join(change["change"]) for change in of["changes"][:3]]
                self.assertTrue(any(answer in change for change in first), first)


if __name__ == "__main__":
    support.main()
