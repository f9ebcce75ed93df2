"""Global batches with their price in tokens: choices of a search, and ramps."""

import csv
import json
import pathlib

import support

LEARNING = '[learning]\nreference_batch = 65536\ncritical_batch = 500e3\nsource = "a test"\n'


class Learning(support.CliTest):
    def write_study(self, learning, space="", name="batches.toml"):
        text = pathlib.Path(support.SMALL).read_text()
        return self.write(text.replace("[space]\n", learning + "[space]\n" + space), name)

    def test_batches_are_compared(self):
        self.write_study(LEARNING, "global_batch = [64, 256]\n")
        self.output("search", "batches.toml", "--out", "batches.h5")
        report = json.loads(self.output("report", "batches.h5", "--json"))
        rows = report["global_batches"]
        self.assertEqual([row["global_batch"] for row in rows], [64, 256])
        self.assertEqual(rows[0]["tokens"], 1e10)
        self.assertLess(rows[1]["tokens_low"], rows[1]["tokens"])
        self.assertLess(rows[1]["tokens"], rows[1]["tokens_high"])
        for row in rows:
            drawn = row["best"].get("training_time_p99", row["at_least"])
            self.assertLessEqual(row["at_least"], drawn)
        best = min(point["objectives"]["training_time_p99"]["value"] for point in report["front"])
        self.assertEqual(min(row["best"].get("training_time_p99", 1e99) for row in rows), best)
        self.assertIn("not checked for stability", self.run_program("validate", "batches.toml").stderr)
        self.assertIn("10 B tokens in", self.output("predict", "batches.toml", "--design", "tp=1 pp=1 dp=16 global_batch=64"))
        for batch in ("0", "-4", "2.5", "128", "64k"):
            self.refusal("predict", "batches.toml", "--design", f"tp=1 pp=1 dp=16 global_batch={batch}")

    def test_choices_are_columns(self):
        self.write_study(LEARNING, "global_batch = [64, 256]\n")
        self.output("search", "batches.toml", "--out", "batches.h5", "--force")
        self.output("report", "batches.h5", "--csv", "front.csv")
        with open(self.folder / "front.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        report = json.loads(self.output("report", "batches.h5", "--json"))
        tokens = {row["global_batch"]: row["tokens"] for row in report["global_batches"]}
        for row, point in zip(rows, report["front"]):
            batch = int(row["global_batch"])
            self.assertEqual(point["plan"]["global_batch"], batch)
            self.assertEqual(float(row["tokens"]), tokens[batch])
            self.assertEqual(float(row["steps"]), tokens[batch] / batch / 1024)
            self.assertEqual(float(row["deviation"]), 1)

    def test_unclear_sections_are_refused(self):
        for learning, named in (
            ("reference_batch = 1e12\ncritical_batch = 1e6\nsource = 'x'\n", "tokens of the phase"),
            ("reference_batch = 65536\ncritical_batch = 1e6\n", "source"),
            ("reference_batch = 65536\nformula = 'kaplan-2020'\n", "loss"),
        ):
            self.write_study("[learning]\n" + learning, "global_batch = [64, 256]\n", "unclear.toml")
            self.assertIn(named, self.refusal("validate", "unclear.toml"))

    def test_a_gap_costs_the_same_share_in_any_batch(self):
        text = pathlib.Path(support.SMALL).read_text().replace("a100-sxm-40gb", "h100-sxm")
        numerics = '[numerics]\nloss_gap = [{ precision = "fp8", low = 0.001, high = 0.003 }]\n'
        space = '[space]\nglobal_batch = [64, 512]\nprecision = ["bf16", "fp8"]\n'
        self.write(text.replace("[space]\n", LEARNING + numerics + space), "both.toml")
        tokens = {}
        for batch in (64, 512):
            for precision in ("bf16", "fp8"):
                design = f"tp=1 pp=1 dp=16 global_batch={batch} precision={precision}"
                tokens[batch, precision] = support.result_of(json.loads(self.output("predict", "both.toml", "--design", design, "--json")), "tokens")
        shares = [tokens[batch, "fp8"] / tokens[batch, "bf16"] for batch in (64, 512)]
        self.assertGreater(shares[0], 1.01)
        self.assertAlmostEqual(shares[0], shares[1], places=3)
        self.assertIn(f"{100 * (shares[0] - 1):.3g} % more tokens", self.output("validate", "both.toml"))
        self.assertIn("% more for the precision", self.output("predict", "both.toml", "--design", design))

    def test_objectives_of_steps_are_refused(self):
        text = pathlib.Path(support.SMALL).read_text()
        before = text[text.index("minimise = "):]
        before = before[:before.index("]") + 1]
        text = text.replace(before, 'minimise = ["step_time_p99", "memory"]')
        self.write(text.replace("[space]\n", LEARNING + "[space]\nglobal_batch = [64, 256]\n"), "steps.toml")
        self.assertIn("do not count tokens", self.refusal("validate", "steps.toml"))

    def test_results_beyond_the_measured_say_so(self):
        for law in ("formula = 'kaplan-2020'\nloss = 1.15\n",
                    "critical_batch = [{ tokens = 0, batch = 0.5e6 }, { tokens = 5e9, batch = 1e6 }]\nsource = 'x'\n"):
            self.write_study("[learning]\nreference_batch = 65536\n" + law, "global_batch = [64, 256]\n", "beyond.toml")
            self.assertIn("extrapolated by x2", self.output("validate", "beyond.toml"))

    def test_a_ramp_is_phases(self):
        self.write_study(LEARNING + "ramp = [{ tokens = 1e9, global_batch = 16 }, { tokens = 2e9, global_batch = 32 }]\n")
        text = (self.folder / "batches.toml").read_text(encoding="utf-8")
        self.write(text.replace('["gpipe", "1f1b", "interleaved"]', '["1f1b", "interleaved"]'), "ramp.toml")
        self.output("search", "ramp.toml", "--out", "ramp.h5")
        report = json.loads(self.output("report", "ramp.h5", "--json"))
        rows = report["global_batches"]
        self.write_study(LEARNING, "global_batch = [64, 256]\n", "flat.toml")
        self.output("search", "flat.toml", "--out", "flat.h5")
        self.assertNotIn("different workloads", self.output("compare", "flat.h5", "ramp.h5"))  # both train to the same loss
        self.assertEqual([row["global_batch"] for row in rows], [16, 32, 64])
        self.assertLess(sum(row["tokens"] for row in rows), 1e10)  # smaller batches need fewer tokens
        self.assertIn("Batch ramp", self.output("report", "ramp.h5"))
        for phase, batch in ((1, 16), (2, 32), (3, 64)):
            arguments = self.output("export", "ramp.h5", "--target", "megatron", "--phase", str(phase))
            self.assertIn(f"--global-batch-size {batch}", arguments)
            self.assertIn("All 3 phases have", arguments)
        self.assertIn("Global batch", self.output("report", "ramp.h5", "--html", "ramp.html") + (self.folder / "ramp.html").read_text())


if __name__ == "__main__":
    support.main()
