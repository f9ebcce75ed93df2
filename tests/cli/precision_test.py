"""The precision of linear layers as a choice: its price or limit, from the scenario to reports and exports."""

import json
import pathlib

import support

GAP = '[numerics]\nloss_gap = [{ precision = "fp8", low = 0.0, high = 0.0005 }]\n'
LIMIT = "[numerics]\nmax_deviation = { factor = %s }\n"
ACCEPTED = "[numerics]\naccept_numerics = true\n"
BOTH = 'precision = ["bf16", "fp8"]\n'


class Precisions(support.CliTest):
    def write_study(self, numerics, space=BOTH, accelerator="h100-sxm", objectives='"training_time_p99", "cost"'):
        """small.toml with wider layers, whose products dominate."""
        text = pathlib.Path(support.SMALL).read_text()
        for before, after in (("hidden = 1024", "hidden = 4096"), ("inner = 4096", "inner = 16384"), ("[16, 32, 64]", "[16, 32]"),
                              ("a100-sxm-40gb", accelerator), ('"training_time_p99", "cost", "gpus"', objectives),
                              ("[space]\n", numerics + "[space]\n" + space)):
            self.assertIn(before, text)
            text = text.replace(before, after)
        self.write(text, "precisions.toml")

    def searched(self, *study, **how):
        self.write_study(*study, **how)
        self.output("search", "precisions.toml", "--out", "precisions.h5", "--force")
        return json.loads(self.output("report", "precisions.h5", "--json"))

    def fastest(self, report):
        return min(point["objectives"]["training_time_p99"]["value"] for point in report["front"])

    def test_a_gap_costs_tokens(self):
        with_gap = self.searched(GAP)
        self.assertIn("% more tokens", with_gap["numerics_note"])
        self.assertEqual({point["plan"]["variant"] for point in with_gap["front"]}, {"precision=fp8"})
        free = self.searched(ACCEPTED)
        self.assertNotIn("more tokens", free["numerics_note"])
        self.assertGreater(self.fastest(with_gap), self.fastest(free))
        narrow = self.searched(LIMIT % 10)
        self.assertIn("excluded by max_deviation", narrow["numerics_note"])
        self.assertEqual({point["plan"]["variant"] for point in narrow["front"]}, {"precision=bf16"})
        self.assertGreater(self.fastest(narrow), self.fastest(with_gap))

    def test_reports_and_exports_name_it(self):
        report = self.searched(GAP, objectives='"training_time_p99", "deviation"')
        deviations = {point["plan"]["variant"]: point["objectives"]["deviation"]["value"] for point in report["front"]}
        self.assertEqual(deviations["precision=bf16"], 1)
        self.assertGreater(deviations["precision=fp8"], 10)
        self.assertIn(report["numerics_note"], self.output("report", "precisions.h5", "--html", "page.html", "--csv", "front.csv"))
        self.assertIn(report["numerics_note"], (self.folder / "page.html").read_text())
        rows = [line.split() for line in self.output("report", "precisions.h5").splitlines() if line.strip().startswith("precision=")]
        self.assertEqual([(row[0], row[-3:]) for row in rows], [(f"precision={p}", ["on", "the", "front"]) for p in ("bf16", "fp8")])
        columns = (self.folder / "front.csv").read_text().splitlines()[0].split(",")
        self.assertLessEqual({"variant", "objective_deviation"}, set(columns))
        for point in report["front"]:
            arguments = self.output("export", "precisions.h5", "--target", "megatron", "--point", point["point"])
            self.assertEqual("--fp8-format hybrid" in arguments, point["plan"]["variant"] == "precision=fp8")
            samples = 64 * int(arguments.split("--train-iters ")[1].split()[0])
            self.assertEqual(samples > 1e10 / 1024 + 64, point["plan"]["variant"] == "precision=fp8")

    def test_attention_kernels(self):
        kernels = 'attention_kernel = ["plain", "flash"]\n'
        limited = self.searched("[numerics]\nmax_deviation = { kernel = \"flash\", factor = 1.0 }\n", kernels)
        self.assertIn("plain attention: 1.86 times the deviation of bf16 with flash attention, excluded", limited["numerics_note"])
        self.assertEqual({point["plan"]["variant"] for point in limited["front"]}, {"attention_kernel=flash"})
        for kernel in ("flash", "plain"):
            self.write_study(ACCEPTED, f'attention_kernel = ["{kernel}"]\n')
            self.output("search", "precisions.toml", "--out", "kernel.h5", "--force")
            self.assertEqual("attention_kernel=plain" in self.output("report", "kernel.h5"), kernel == "plain")
            arguments = self.output("export", "kernel.h5", "--target", "megatron")
            self.assertEqual("--attention-backend unfused" in arguments, kernel == "plain")
        self.assertIn("plain attention", self.refusal("export", "kernel.h5", "--target", "bridge"))
        self.write_study(GAP, kernels + BOTH)
        self.assertIn("needs [numerics] with max_deviation", self.refusal("validate", "precisions.toml"))

    def test_layers_that_stay_in_bf16(self):
        """A recipe is a choice with a price of its own; faster than bf16 and slower than fp8 in all layers."""
        recipes = ('precision = ["bf16", "fp8", { name = "ends", precision = "fp8", bf16_last = 2 }, '
                   '{ name = "mlp", precision = "fp8", bf16_blocks = ["attention"] }]\n')
        report = self.searched(ACCEPTED, recipes)
        self.assertIn("ends (fp8, but bf16 in the last 2 layers)", report["numerics_note"])
        steps = {}
        for name in ("bf16", "fp8", "ends", "mlp"):
            predicted = json.loads(self.output("predict", "precisions.h5", "--design", f"gpus=16 tp=2 pp=1 precision={name}", "--json"))
            steps[name] = support.result_of(predicted, "noise_free_step_time")
        self.assertLess(steps["fp8"], min(steps["ends"], steps["mlp"]))
        self.assertGreater(steps["bf16"], max(steps["ends"], steps["mlp"]))
        self.assertAlmostEqual(steps["ends"], 0.75 * steps["fp8"] + 0.25 * steps["bf16"], delta=0.01 * steps["bf16"])  # 2 of 8 layers
        price = '[numerics]\nloss_gap = [{ precision = "fp8", high = 0.01 }, { precision = "%s", high = 0.0 }]\n'
        for name, recipe in (("ends", "bf16_last = 2"), ("mlp", 'bf16_blocks = ["attention"]')):
            report = self.searched(price % name, 'precision = ["fp8", { name = "%s", precision = "fp8", %s }]\n' % (name, recipe))
            self.assertEqual({point["plan"]["variant"] for point in report["front"]}, {f"precision={name}"})
            if name == "ends":
                arguments = self.output("export", "precisions.h5", "--target", "megatron")
                self.assertIn("--num-layers-at-end-in-bf16 2", arguments)
                self.assertIn("--first-last-layers-bf16", arguments)
            else:
                self.assertIn("whole layers in bf16", self.refusal("export", "precisions.h5", "--target", "megatron"))

    def test_predict_takes_it(self):
        self.write_study(GAP)
        self.assertIn("precision=fp8", self.output("predict", "precisions.toml", "--design", "tp=1 precision=fp8"))
        for precision in ("nvfp4", "fp9", ""):
            self.refusal("predict", "precisions.toml", "--design", f"tp=1 precision={precision}")
        self.write_study(LIMIT % 10)
        self.assertIn("limit", self.refusal("predict", "precisions.toml", "--design", "tp=1 precision=fp8"))
        self.write_study(GAP, 'precision = ["fp8"]\n')
        self.assertIn("precision=fp8", self.output("predict", "precisions.toml"))  # the only one

    def test_refusals(self):
        fp8 = '{ precision = "fp8", high = 0.01 }'
        for why, numerics, how in (("needs [numerics]", "", {}),
                                   ("does not support", ACCEPTED, {"accelerator": "a100-sxm-40gb"}),
                                   ("no choice of", LIMIT % 10, {"space": ""}),
                                   ("excludes all", LIMIT % 10, {"space": 'precision = ["fp8"]\n'}),
                                   ("listed twice", f"[numerics]\nloss_gap = [{fp8}, {fp8}]\n", {}),
                                   ("has no effect", '[numerics]\nloss_gap = [{ precision = "nvfp4", high = 0.01 }]\n', {}),
                                   ("lacks fp8", '[numerics]\nloss_gap = [{ precision = "bf16", high = 0 }]\n', {}),
                                   ("has no effect", GAP + "accept_numerics = true\n", {}),
                                   ("leaves no linear layer in fp8", ACCEPTED,
                                    {"space": 'precision = [{ name = "a", precision = "fp8", bf16_first = 99 }]\n'}),
                                   ("is not one of", LIMIT.replace("factor", 'reference = "int8", factor') % 10, {})):
            self.write_study(numerics, **how)
            self.assertIn(why, self.refusal("validate", "precisions.toml"))


if __name__ == "__main__":
    support.main()
