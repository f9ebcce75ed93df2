"""Small inputs with right values that lie beside the checkout (../shared/cases): each gives its value, or a refusal with its reason.

Skipped where the folder is absent; PRISMOPT_CASES names another one. What the inputs show is in their READMEs and heads.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import support
from support import CliTest

CASES = pathlib.Path(os.environ.get("PRISMOPT_CASES", pathlib.Path(__file__).resolve().parents[3] / "shared" / "cases"))
REFUSED = (support.WRONG_INPUT, support.INFEASIBLE)


class Cases(CliTest):
    def setUp(self):
        if not CASES.is_dir():
            self.skipTest(f"{CASES} is absent")
        super().setUp()

    def value_or_refusal(self, *arguments, timeout=100):
        """Standard output, or nothing of a run that gives a reason in one message."""
        finished = self.run_program(*arguments, timeout=timeout)
        if finished.returncode == support.DONE:
            return finished.stdout
        self.assertIn(finished.returncode, REFUSED, finished.stderr)
        self.assertRegex(finished.stderr + finished.stdout, r"prismopt: .+[(;:] .+|infeasible: ", arguments)
        self.assertNotRegex(finished.stderr, "basic_string|vector larger|std::", arguments)
        return None


class Traces(Cases):
    def calibrated(self, name, *more):
        text = self.value_or_refusal("calibrate", CASES / "files" / name, "--json", *more)
        return json.loads(text) if text else None

    def test_what_is_read_has_its_values(self):
        for name, steps, operations in (("trace-sendrecv.json", None, None), ("operations-send-capital.csv", None, None), ("trace-launch-lag.json", 5, 20)):
            with self.subTest(name):
                read = self.calibrated(name)
                self.assertIsNotNone(read)
                if steps:
                    self.assertEqual((read["steps"], read["other_steps"], read["operations"]), (steps, 0, operations))

    def test_amd_products_are_products(self):
        classes = {kind["class"] for kind in self.calibrated("trace-amd-gemm.json")["kinds"]}
        self.assertTrue({"gemm", "attention"} <= classes, classes)

    def test_kernels_have_the_classes_of_the_table(self):
        with open(CASES / "files" / "kernel-names.csv", newline="") as table:
            names = [(row["name"], re.split(" or ", row["expected_class"])) for row in csv.DictReader(table)]
        self.assertGreater(len(names), 10)
        for name, expected in names:
            with self.subTest(name):
                events = [{"ph": "X", "cat": "kernel", "name": name, "ts": 1000 * step + 10, "dur": 100 + step % 7, "pid": 0, "tid": 7,
                           "args": {"stream": 7}} for step in range(40)]
                events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 1000 * step, "dur": 990, "pid": 1, "tid": 1}
                           for step in range(40)]
                trace = self.write(json.dumps({"traceEvents": events}), "one.json")
                read = json.loads(self.output("calibrate", trace, "--json"))
                self.assertIn(read["kinds"][0]["class"], expected)

    def test_other_forms_are_read_or_refused_by_name(self):
        for name in ("chakra-linked.json", "jax-profiler-trace.json", "nsys-gpu-trace.csv", "nsys-kern-sum.csv", "osu-allreduce.txt",
                     "nccl-srun-labels.txt", "nccl-mpirun-tags.txt"):
            with self.subTest(name):
                self.calibrated(name)

    def test_planned_events_are_no_failures(self):
        failures = self.calibrated("sacctmgr-maintenance.txt", "--nodes", "100", "--days", "30")["failures"]
        self.assertEqual(sum(cause["count"] for cause in failures["causes"]), 1)
        self.assertAlmostEqual(1000 * sum(cause["per_node_day"] for cause in failures["causes"]), 1 / 3, 3)
        self.assertEqual(sum(row["count"] for row in failures["excluded"]), 40)

    def test_lists_of_outages_are_read(self):
        for name, count in (("sacctmgr-P-default.txt", 3), ("sacctmgr-default.txt", None), ("lanl-style.csv", None), ("xid-journal.txt", None)):
            with self.subTest(name):
                causes = self.calibrated(name, "--nodes", "100", "--days", "30")["failures"]["causes"]
                found = sum(cause["count"] for cause in causes)
                self.assertEqual(found, count) if count else self.assertGreater(found, 0)


class Networks(Cases):
    """`init --model-config`: the published count, or a refusal."""

    PARAMETERS = {
        "config-composite-nested-known.json": 160492544, "config-qwen3-vl-like.json": 54301696, "config-model-type-only.json": 158616576,
        "config-composite-tied-at-top.json": 1.415e8, "config-minimax-m2-like.json": 228689748992, "config-sparse-attention.json": 161574400,
    }

    def test_counts_are_right_or_the_class_is_refused(self):
        for name, parameters in self.PARAMETERS.items():
            with self.subTest(name):
                made = self.value_or_refusal("init", "--model-config", CASES / "files" / name, "--gpus", "256", "--accelerator", "h100-sxm", "--out", "a.toml")
                if made is None:
                    continue
                self.addCleanup((self.folder / "a.toml").unlink, missing_ok=True)
                counted = float(re.search(r"network .*: ([0-9.e+]+) parameters", self.output("validate", "a.toml")).group(1))
                self.assertAlmostEqual(counted / parameters, 1, 3)
                (self.folder / "a.toml").unlink()


class Hostile(Cases):
    def test_control_characters_are_refused_when_read(self):
        for name in ("name-newline.toml", "network-name-newline.toml", "tier-name-newline.toml", "name-escape.toml"):
            with self.subTest(name):
                message = self.refusal("validate", CASES / "hostile" / name)
                self.assertNotIn("\x1b", message)
                self.assertEqual(message.count("\n"), 1, message)

    def test_generated_inputs_are_refused_within_limits(self):
        for script in ("dotted-key.py", "gzip-bombs.py"):
            shorter = (CASES / "hostile" / script).read_text().replace("range(3000)", "range(100)")  # MiB, beyond the limits all the same
            subprocess.run([sys.executable, "-c", shorter], cwd=self.folder, check=True)
        self.refusal("validate", "dotted.toml", timeout=10)
        for bomb in ("one.csv.gz", "blank.json.gz", "lines.csv.gz"):
            with self.subTest(bomb):
                finished = subprocess.run(["sh", "-c", f"ulimit -v {3 << 20}; exec \"$0\" calibrate {bomb}", support.PROGRAM], cwd=self.folder,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(finished.returncode, support.WRONG_INPUT, finished.stderr)

    def test_links_are_not_followed(self):
        self.output("search", support.SMALL, "--out", "small.h5")
        (self.folder / "victim").write_text("precious")
        (self.folder / "o.html.partial").symlink_to("victim")
        self.output("report", "small.h5", "--html", "o.html")
        self.assertEqual((self.folder / "victim").read_text(), "precious")
        self.assertFalse((self.folder / "o.html").is_symlink())


class Reports(Cases):
    """Memory and times of public questions: within the measured value's tolerance, a refusal with its reason, or a label of what is assumed."""

    # File, plan, figure, value, tolerance. Without a value: the plan is refused, with its memory and what to change.
    PLANS = (
        ("01-pure-16bit-no-master", "gpus=1 microbatch=2 recompute=full", "assumes", "master copy", None),
        ("05-host-memory", "gpus=8 microbatch=2 sharding=zero3 recompute=full offload=optimizer", "host", 828e9 / 8, 0.02),
        ("07-no-sequence-parallelism", "gpus=8 tp=8 microbatch=4 sharding=none", "assumes", "sequence parallelism", None),
        ("14-logits-of-large-vocabulary", "gpus=1 microbatch=1 recompute=full sharding=none", "assumes", "loss", None),
        ("02-qlora-70b", "gpus=1 microbatch=4 recompute=full", None, None, None),
        ("03-software-not-given", "gpus=16 tp=2 ep=8 etp=2 microbatch=1", "software", None, None),
        ("06-zero-bubble-gain", "gpus=8 pp=8 microbatch=6 sharding=none schedule=1f1b", "memory", 48e9, 0.05),
        ("06-zero-bubble-gain", "gpus=8 pp=8 microbatch=6 sharding=none schedule=interleaved v=4", "memory", 57e9, 0.1),
        ("06-zero-bubble-gain", "gpus=8 pp=8 microbatch=6 sharding=none schedule=zb_h2 post_validation=on", "memory", 79e9, 0.05),
        ("06-zero-bubble-gain", "gpus=8 pp=8 microbatch=6 sharding=none schedule=zb_v v=2 post_validation=on", "memory", 53e9, 0.05),
        ("08-fsdp-selective-recompute", "gpus=8 ep=8 microbatch=4 sharding=zero3 recompute=selective", None, None, None),
        ("09-tpu-host-offload", "gpus=256 microbatch=5 sharding=zero3 recompute=full offload=activations", None, None, None),
        ("12-consumer-gpu-lora-moe", "gpus=4 sharding=zero3 microbatch=1 recompute=full", "memory", 24 * 2**30, 0.06),
        ("12-consumer-gpu-lora-moe", "gpus=4 ep=2 sharding=zero1 microbatch=1 recompute=full", None, None, None),
    )

    def test_each_gives_its_value_or_a_refusal(self):
        for name, design, figure, value, tolerance in self.PLANS:
            with self.subTest(f"{name}: {design}"):
                scenario = CASES / "reports" / f"{name}.toml"
                finished = self.run_program("predict", scenario, "--design", design, "--json")
                self.assertIn(finished.returncode, (support.DONE, support.INFEASIBLE), finished.stderr)
                plan = json.loads(finished.stdout)
                if figure == "memory":
                    self.assertAlmostEqual(plan["peak_memory_bytes"] / value, 1, delta=tolerance)
                elif figure == "host":
                    self.assertAlmostEqual(support.result_of(plan, "memory_host") / value, 1, delta=tolerance)
                elif figure == "assumes":
                    self.assertIn(value, " ".join(plan["memory_assumes"]))
                elif figure == "software":
                    self.assertIn("software assumed: ", finished.stderr)
                elif finished.returncode == support.INFEASIBLE:
                    self.assertTrue(plan["reason"].startswith("out of memory: "), plan["reason"])
                    self.assertGreater(support.result_of(plan, "memory_parameters"), 0)
                    self.assertIn("changes", plan)


if __name__ == "__main__":
    support.main()
