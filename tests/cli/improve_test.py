"""`improve`: better plans for a job, as changes of its own files."""

import csv
import json
import subprocess

import support
from support import CliTest

JOB = """#!/bin/bash
NODES=${NODES:-2}
TP=4
MBS=1
ARGS=(
    --num-layers 16 --hidden-size 2048 --num-attention-heads 16   # of a small network
    --swiglu --disable-bias-linear --normalization RMSNorm --position-embedding-type rope
    --untie-embeddings-and-output-weights --attention-dropout 0 --hidden-dropout 0
    --seq-length 2048 --max-position-embeddings 2048
    --micro-batch-size $MBS
    --global-batch-size 64 --train-iters 100 --vocab-size 51200 --bf16
    --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
    --recompute-granularity full
    --recompute-method uniform
    --recompute-num-layers 1
)
torchrun --nnodes $NODES --nproc_per_node 8 pretrain_gpt.py "${ARGS[@]}" \\
    --tensor-model-parallel-size ${TP} \\
    --sequence-parallel
"""
TORCHTITAN = """[model]
name = "llama3"
flavor = "8B"

[training]
local_batch_size = 1
seq_len = 8192
steps = 1000

[activation_checkpoint]
mode = "full"
"""


class Improvements(CliTest):
    def improved(self, *arguments):
        return json.loads(self.output("improve", *arguments, "--accelerator", "h100-sxm", "--json"))

    def job(self, text=JOB):
        return self.write(text, "job.sh")

    def imported(self, *files):
        return json.loads(self.output("import", *files, "--accelerator", "h100-sxm", "--json"))["plan"]

    def test_the_diff_gives_the_plan(self):
        self.job()
        found = self.improved("job.sh")
        self.assertTrue(found["plans"])
        self.assertTrue(found["plans"][0]["diff"])
        for plan in found["plans"]:
            self.assertTrue(plan["diff"] or plan["settings"], plan["changes"])
            if not plan["diff"]:
                continue
            self.job()
            subprocess.run(["patch", "-p0", "--quiet"], input=plan["diff"], text=True, cwd=self.folder, check=True)
            subprocess.run(["bash", "-n", "job.sh"], cwd=self.folder, check=True)
            got = self.imported("job.sh")
            for change in plan["changes"]:
                axis, value = change.split("=")
                if axis in ("tp", "pp", "v", "microbatch", "recompute", "sharding", "schedule"):
                    self.assertEqual(str(got[axis]), value, plan["diff"])

    def test_a_variable_is_changed_where_nothing_else_uses_it(self):
        self.job()
        plan = next(p for p in self.improved("job.sh")["plans"] if p["changes"][0].startswith("tp="))
        self.assertIn(f"-TP=4\n+TP={plan['changes'][0][3:]}\n", plan["diff"])
        self.job(JOB + "echo $TP\n")
        plan = next(p for p in self.improved("job.sh")["plans"] if p["changes"][0].startswith("tp="))
        self.assertNotIn("-TP=4", plan["diff"])
        self.assertIn(f"+    --tensor-model-parallel-size {plan['changes'][0][3:]} \\\n", plan["diff"])

    def test_removed_recompute_leaves_no_half_setting(self):
        self.job()
        plan = next(p for p in self.improved("job.sh")["plans"] if "recompute=none" in p["changes"])
        for name in ("granularity full", "method uniform", "num-layers 1"):
            self.assertIn(f"-    --recompute-{name}\n", plan["diff"])

    def test_a_file_that_was_found_counts_as_given(self):
        (self.folder / "conf").mkdir()
        self.write(TORCHTITAN, "conf/llama.toml")
        self.write("export NGPU=8\n", "env.sh")
        self.write("source env.sh\ntorchrun --nproc_per_node 8 -m torchtitan.train --job.config_file conf/llama.toml\n", "job.sh")
        self.assertIn("+++ conf/llama.toml\n", self.improved("job.sh", "--most", 1)["plans"][0]["diff"])
        self.output("improve", "job.sh", "--accelerator", "h100-sxm", "--most", 1, "--run", "plans")
        for plan in ("today", "plan-1"):
            for name in ("job.sh", "env.sh", "conf/llama.toml"):
                self.assertTrue((self.folder / "plans" / plan / name).exists(), name)

    def test_a_script_that_is_started_is_changed_as_well(self):
        self.write(JOB.replace("MBS=1", "MBS=$1\nshift").replace("--sequence-parallel\n", '"$@"\n'), "inner.sh")
        self.write("NODES=2 bash inner.sh 1 --sequence-parallel\n", "job.sh")
        self.output("improve", "job.sh", "--accelerator", "h100-sxm", "--run", "plans")
        diffs = [plan["diff"] for plan in self.improved("job.sh")["plans"]]
        self.assertTrue(any("+++ inner.sh\n" in diff for diff in diffs), diffs)
        self.assertTrue((self.folder / "plans/today/inner.sh").exists())

    def test_a_file_that_the_script_writes_is_not_one(self):
        self.write(TORCHTITAN.replace('"8B"', '"70B"'), "llama.toml")
        self.write(f"cat > llama.toml <<EOF\n{TORCHTITAN}EOF\n"
                   "torchrun --nproc_per_node 8 -m torchtitan.train --job.config_file llama.toml\n", "job.sh")
        for plan in self.improved("job.sh", "--most", 1)["plans"]:
            self.assertNotIn("+++ llama.toml\n", plan["diff"])

    def test_fewer_changes_come_first_and_gain_less(self):
        self.job()
        found = self.improved("job.sh", "--changes", 2, "--most", 2)
        axes = [plan["axes"] for plan in found["plans"] if not plan["best_of_all"]]
        self.assertEqual(axes, sorted(axes))
        self.assertLessEqual(axes.count(1), 2)
        for plan in found["plans"]:
            self.assertLess(plan["gain_low"], plan["gain"])
            self.assertLess(plan["gain"], plan["gain_high"])
            self.assertGreaterEqual(plan["fit_probability"], 0.9)
            self.assertTrue(plan["reason"])

    def test_predictions_are_conditioned_on_a_measured_step(self):
        self.job()
        free = self.improved("job.sh")
        step_s = 1.2 * free["today"]["step_s"]
        measured = self.improved("job.sh", "--measured-step", f"{step_s} s")
        self.assertAlmostEqual(measured["today"]["step_s"], step_s)
        one = {tuple(plan["changes"]): plan for plan in free["plans"]}
        shared = [(one[tuple(plan["changes"])], plan) for plan in measured["plans"] if tuple(plan["changes"]) in one]
        self.assertTrue(shared)
        for before, after in shared:  # all plans share what made the job slower
            self.assertGreater(after["step_s"], 1.05 * before["step_s"])

    def test_peaks_are_conditioned_on_a_measured_peak(self):
        self.job()
        free = self.improved("job.sh")
        peak = 1.1 * free["today"]["memory_bytes"]
        measured = self.improved("job.sh", "--measured-memory", f"{peak / 1e9} GB")
        self.assertAlmostEqual(measured["today"]["memory_bytes"] / peak, 1.0)
        self.assertEqual(measured["predicted_memory_bytes"], free["today"]["memory_bytes"])
        one = {tuple(plan["changes"]): plan for plan in free["plans"]}
        shared = [(one[tuple(plan["changes"])], plan) for plan in measured["plans"] if tuple(plan["changes"]) in one]
        self.assertTrue(shared)
        for before, after in shared:  # by what all plans share, less than the measured ratio
            self.assertTrue(1.0 < after["memory_bytes"] / before["memory_bytes"] < 1.1)

    def test_wrong_input(self):
        self.job()
        for arguments, text in [(["--measured-step", "5.45"], "unit"), (["--changes", 4], "give 1, 2 or 3"),
                                (["--measured-step", "500 s"], "seconds per step of the whole job"),
                                (["--measured-memory", "500 GB"], "the peak of one GPU"), (["--most", 0], "not positive")]:
            with self.subTest(arguments):
                self.assertIn(text, self.refusal("improve", "job.sh", "--accelerator", "h100-sxm", *arguments))
        self.assertIn("a job; give the script", self.refusal("improve", support.SMALL, "--run", "plans"))

    def test_a_scenario_has_no_files_to_change(self):
        found = json.loads(self.output("improve", support.SMALL, "--design", "gpus=64 tp=2 pp=4 schedule=1f1b", "--json"))
        self.assertTrue(found["plans"])
        self.assertNotIn("diff", found["plans"][0])

    def test_learn_reads_what_was_measured(self):
        self.job()
        found = self.improved("job.sh")
        today_s, next_s = (1.1 * plan["step_s"] for plan in (found["today"], found["plans"][0]))
        self.output("improve", "job.sh", "--accelerator", "h100-sxm", "--measured-step", f"{today_s} s", "--run", "plans")
        plans = self.folder / "plans"
        self.assertEqual((plans / "today" / "job.sh").read_text(), JOB)
        self.assertTrue((plans / "plan-1" / "job.sh").exists())
        self.assertIn("prismopt learn plans.h5 --measured measured.csv", (plans / "README.md").read_text())
        with open(plans / "measured.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertAlmostEqual(float(rows[0]["step_time_s"]), today_s, places=4)
        rows[1]["step_time_s"] = str(next_s)
        self.write("point,plan,step_time_s\n" + "".join(f"{row['point']},{row['plan']},{row['step_time_s']}\n" for row in rows[:2]),
                   "measured.csv")
        self.assertRegex(self.output("learn", "plans/plans.h5", "--measured", "measured.csv", "--accept"), r"use plan \d+, the best")


if __name__ == "__main__":
    support.main()
