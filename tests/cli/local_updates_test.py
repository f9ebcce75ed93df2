"""Replicas in different buildings that exchange every few steps: from the scenario to reports and exports."""

import json
import pathlib

import support

GIVEN = "[local_updates]\nmore_tokens = %s\n"


class LocalUpdates(support.CliTest):
    def write_study(self, price, steps="[1, 30]"):
        """small.toml in two buildings of 32 GPUs with a thin circuit between them."""
        text = pathlib.Path(support.SMALL).read_text()
        for before, after in (('name = "cluster"\nlink = "ib-hdr"\n',
                               'name = "building"\nlink = "ib-hdr"\ngroup = 32\n\n'
                               '[[cluster.tier]]\nname = "campus"\nlink = "ib-hdr"\nlatency = "1 ms"\naggregate = "100 Gb/s"\n'),
                              ("gpus = [16, 32, 64]", "gpus = [64]"), ('"training_time_p99", "cost", "gpus"', '"training_time_p99"'),
                              ("[space]\n", f'{price}[space]\nlocal_steps = {steps}\ncrossing = ["dp"]\n')):
            self.assertIn(before, text)
            text = text.replace(before, after)
        self.write(text, "local.toml")

    def searched(self, price):
        self.write_study(price)
        self.output("search", "local.toml", "--out", "local.h5", "--force")
        return json.loads(self.output("report", "local.h5", "--json"))

    def fastest(self, report):
        return report["front"][0]["objectives"]["training_time_p99"]["value"]

    def test_it_is_worth_its_price_or_not(self):
        cheap = self.searched(GIVEN % 0.02)
        self.assertEqual(cheap["front"][0]["plan"]["local_steps"], 30)
        self.assertIn("2 % more tokens", cheap["local_updates_note"])
        self.assertIn(cheap["local_updates_note"], self.output("report", "local.h5", "--html", "page.html", "--csv", "front.csv"))
        self.assertIn(cheap["local_updates_note"], (self.folder / "page.html").read_text())
        self.assertIn("local_steps", (self.folder / "front.csv").read_text().splitlines()[0].split(","))
        self.assertRegex(self.output("report", "local.h5"), r"local_steps=30 .*on the front")
        plan = "tp=1 pp=1 dp=64 crossing=dp local_steps=30"
        predicted = json.loads(self.output("predict", "local.toml", "--design", plan, "--json"))
        alone = json.loads(self.output("predict", "local.toml", "--design", "tp=1 pp=1 dp=64 crossing=dp", "--json"))
        self.assertAlmostEqual(support.result_of(predicted, "tokens") / support.result_of(alone, "tokens"), 1.02, places=3)
        self.assertEqual(support.result_of(predicted, "steps"), round(support.result_of(predicted, "steps")))
        self.assertIn("2 % more for local updates", self.output("predict", "local.toml", "--design", plan))
        for target in ("megatron", "bridge", "torchtitan"):
            self.assertIn("local_steps", self.refusal("export", "local.h5", "--target", target))
        dear = self.searched(GIVEN % 50)
        self.assertEqual(dear["front"][0]["plan"]["local_steps"], 1)
        self.assertGreater(self.fastest(dear), self.fastest(cheap))

    def test_predict_and_validate(self):
        self.write_study('[local_updates]\nloss_gap = "published"\n')
        self.assertIn("2 buildings", self.output("validate", "local.toml"))
        step = {}
        for steps in (1, 2, 30):
            design = f"tp=1 pp=1 dp=64 crossing=dp local_steps={steps}"
            step[steps] = support.result_of(json.loads(self.output("predict", "local.toml", "--design", design, "--json")), "step_time_mean")
        self.assertGreater(step[1], step[2])
        self.assertGreater(step[2], step[30])
        for design in ("gpus=32 tp=1 pp=1 crossing=dp local_steps=30", "tp=1 pp=2 crossing=pp local_steps=30"):
            self.run_refused(design)
        self.refusal("predict", "local.toml", "--design", "tp=1 local_steps=0")

    def run_refused(self, design):
        finished = self.run_program("predict", "local.toml", "--design", design)
        self.assertEqual(finished.returncode, support.INFEASIBLE, finished.stdout + finished.stderr)
        self.assertIn("for local updates", finished.stdout + finished.stderr)

    def test_refusals(self):
        for why, price, steps in (("needs [local_updates]", "", "[1, 30]"), ("has no effect", GIVEN % 0.02, "[1]"),
                                  ("up to 300", '[local_updates]\nloss_gap = "published"\n', "[400]")):
            self.write_study(price, steps)
            self.assertIn(why, self.refusal("validate", "local.toml"))


if __name__ == "__main__":
    support.main()
