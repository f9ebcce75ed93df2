"""`search --runnable-by`: plans that one training program can run, and `init --for`, whose fronts it can export."""

import re

import h5py

import support
from support import CALL_AGAIN, CliTest

SPACE = dict(schedule='["gpipe", "1f1b", "interleaved", "zb_h1", "v_half"]', sharding='["zero1", "none", "zero2"]',
             order='["tp-pp-dp", "tp-dp-pp"]', split='["layers", "balanced", "slots"]')


class RunnableBy(CliTest):
    def assert_exports(self, results, target):
        with h5py.File(self.folder / results) as file:
            points = file["front/evaluation"][()].tolist()
        self.assertGreater(len(points), 0)
        for point in points:
            self.output("export", results, "--target", target, "--point", point, "--out", "plan.out")

    def test_fronts_export(self):
        self.scenario(**SPACE)
        for trainer in ("megatron", "bridge", "torchtitan"):
            self.output("search", "study.toml", "--out", "study.h5", "--force", "--runnable-by", trainer)
            self.assert_exports("study.h5", trainer)
            self.assertIn(f"{trainer} cannot run it: ", self.output("report", "study.h5"))

    def test_it_only_removes_plans(self):
        """Of the same combinations; plans equal under another name are counted once either way."""
        def counts(*options):
            text = self.output("search", "study.toml", "--dry-run", *options)
            return [int(count) for count in re.search(r"Space: (\d+) combinations of values: (\d+) feasible plans", text).groups()]
        self.scenario(**SPACE)
        combinations, all_plans = counts()
        for trainer in ("megatron", "bridge", "torchtitan"):
            asked, runnable = counts("--runnable-by", trainer)
            self.assertEqual(asked, combinations)
            self.assertLess(runnable, all_plans)
            self.assertGreater(runnable, 0)

    def test_it_holds_through_resume(self):
        self.scenario(**SPACE)
        self.output("search", "study.toml", "--out", "whole.h5", "--runnable-by", "torchtitan", ranks=2)
        self.output("search", "study.toml", "--out", "study.h5", "--runnable-by", "torchtitan", "--max-time", "0.05 s",
                    code=CALL_AGAIN)
        self.output("resume", "study.h5", "--max-time", "10 min")
        self.assert_same_results("whole.h5", "study.h5")

    def test_a_study_of_other_plans_is_another(self):
        self.scenario(**SPACE)
        self.output("search", "study.toml", "--out", "study.h5", "--runnable-by", "torchtitan", "--max-time", "0.05 s",
                    code=CALL_AGAIN)
        text = (self.folder / "study.toml").read_text().replace("[search]", '[search]\nrunnable_by = "megatron"')
        self.write(text)
        self.refusal("search", "study.toml", "--out", "other.h5", "--runnable-by", "torchtitan")
        self.output("search", "study.toml", "--out", "other.h5")
        self.assert_exports("other.h5", "megatron")

    def test_starters_export(self):
        for trainer in ("megatron", "bridge", "torchtitan"):
            name = f"{trainer}.toml"
            self.output("init", "--workload", "llama3-8b", "--gpus", "16", "--for", trainer, "--out", name)
            self.output("search", name, "--out", "starter.h5", "--force")
            self.assert_exports("starter.h5", trainer)
        self.refusal("init", "--workload", "llama3-8b", "--gpus", "16", "--for", "torchtian")


if __name__ == "__main__":
    support.main()
