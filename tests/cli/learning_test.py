"""Global batches with their price in tokens: choices of a search, and ramps."""

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

    def test_a_ramp_is_phases(self):
        self.write_study(LEARNING + "ramp = [{ tokens = 1e9, global_batch = 16 }, { tokens = 2e9, global_batch = 32 }]\n")
        self.output("search", "batches.toml", "--out", "ramp.h5")
        report = json.loads(self.output("report", "ramp.h5", "--json"))
        rows = report["global_batches"]
        self.assertEqual([row["global_batch"] for row in rows], [16, 32, 64])
        self.assertLess(sum(row["tokens"] for row in rows), 1e10)  # smaller batches need fewer tokens
        self.assertIn("Batch ramp", self.output("report", "ramp.h5"))
        for phase, batch in ((1, 16), (2, 32), (3, 64)):
            self.assertIn(f"--global-batch-size {batch}", self.output("export", "ramp.h5", "--target", "megatron", "--phase", str(phase)))
        self.assertIn("Global batch", self.output("report", "ramp.h5", "--html", "ramp.html") + (self.folder / "ramp.html").read_text())


if __name__ == "__main__":
    support.main()
