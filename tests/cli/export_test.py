"""`export`: plans of a results file in the terms of what trains."""

import csv
import json
import shutil
import subprocess

import h5py

import support
from support import CliTest


class Export(CliTest):
    def setUp(self):
        super().setUp()
        self.searched(support.SMALL, "small.h5")
        with h5py.File(self.folder / "small.h5") as file:
            self.points = file["front/evaluation"][()].tolist()
            self.gpus = file["front/total_gpus"][()].tolist()
            self.tp = file["front/tp"][()].tolist()

    def test_every_point_of_the_front_goes_to_megatron(self):
        for point, gpus, tp in zip(self.points, self.gpus, self.tp):
            text = self.output("export", "small.h5", "--point", point, "--target", "json")
            plan = json.loads(text)
            self.assertEqual(plan["gpus"], gpus)
            self.assertEqual(plan["plan"]["tp"], tp)
            if plan["plan"]["pp"] == 1 or plan["plan"]["schedule"] in ("1f1b", "interleaved"):
                arguments = self.output("export", "small.h5", "--point", point, "--target", "megatron")
                self.assertIn(f"--tensor-model-parallel-size {tp}\n", arguments)
                self.assertIn(f"point {point}:", arguments)

    def test_the_first_of_the_front_is_the_default(self):
        self.assertEqual(self.output("export", "small.h5", "--target", "json"),
                         self.output("export", "small.h5", "--target", "json", "--point", self.points[0]))

    def test_a_design_is_exported_without_a_search(self):
        """The same files as from results, but for what only a search knows."""
        of_search = json.loads(self.output("export", "small.h5", "--target", "json"))
        for source in (support.SMALL, "small.h5"):
            of_design = json.loads(self.output("export", source, "--design", of_search["design"], "--target", "json"))
            self.assertEqual(of_design, of_search | {"point": None, "step_time_p50_s": None})
        arguments = self.output("export", support.SMALL, "--design", of_search["design"], "--target", "megatron")
        self.assertIn(f"# Study small: {of_search['design']}\n", arguments)

    def test_a_design_must_be_feasible(self):
        text = self.refusal("export", support.SMALL, "--design", "gpus=64 tp=32", "--target", "json", code=support.INFEASIBLE)
        self.assertIn("the plan is infeasible: ", text)
        self.assertIn("--point needs a results file", self.refusal("export", support.SMALL, "--point", 1, "--target", "json"))
        self.assertIn("--catalog has no effect", self.refusal("export", "small.h5", "--catalog", "x.toml", "--target", "json"))
        self.assertIn("--catalog has no effect", self.refusal("export", "small.h5", "--catalog", "x.toml", "--shortlist", "--target", "json",
                                                              "--out", "list"))
        self.assertIn("give one of the two",
                      self.refusal("export", "small.h5", "--shortlist", "--design", "tp=2", "--target", "json", "--out", "list"))

    def test_a_job_script_that_bash_reads(self):
        printed = self.output("export", "small.h5", "--target", "slurm", "--out", "job.sbatch")
        self.assertEqual(printed.split(), ["job.sbatch", "job.ranks.csv"])
        subprocess.run(["bash", "-n", self.folder / "job.sbatch"], check=True)
        if shutil.which("shellcheck"):
            subprocess.run(["shellcheck", self.folder / "job.sbatch"], check=True)
        with open(self.folder / "job.ranks.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["rank"]) for row in rows], list(range(self.gpus[0])))
        self.assertEqual(len({(row["node"], row["local_rank"]) for row in rows}), self.gpus[0])

    def test_refusals_say_why_and_what_to_try(self):
        text = self.refusal("export", "small.h5", "--target", "torchtitan")
        self.assertIn("cannot be exported to torchtitan:\n  ", text)
        self.assertRegex(text, r"search sharding = ")
        self.assertIn("did you mean 'megatron'?", self.refusal("export", "small.h5", "--target", "megatro"))
        self.assertIn("needs a --target", self.refusal("export", "small.h5"))
        self.assertIn("--point 999999 is out of range", self.refusal("export", "small.h5", "--target", "json", "--point", "999999"))
        self.assertIn("--phase 2", self.refusal("export", "small.h5", "--target", "json", "--phase", "2"))
        self.assertIn("writes 2 files; name the first with --out", self.refusal("export", "small.h5", "--target", "slurm"))

    def test_files_of_one_export_do_not_overwrite_each_other(self):
        for name in ("one.sbatch", "two.sbatch"):
            self.output("export", "small.h5", "--target", "slurm", "--out", name)
        self.assertTrue((self.folder / "one.ranks.csv").exists() and (self.folder / "two.ranks.csv").exists())
        (self.folder / "link.ranks.csv").write_text("mine")
        (self.folder / "link.sbatch").symlink_to("link.ranks.csv")
        self.assertIn("name the same file", self.refusal("export", "small.h5", "--target", "slurm", "--out", "link.sbatch"))
        self.assertEqual((self.folder / "link.ranks.csv").read_text(), "mine")
        self.assertIn("is not a regular file", self.refusal("export", "small.h5", "--target", "slurm", "--out", "/dev/null"))

    def test_links_are_replaced_and_not_followed(self):
        (self.folder / "list").mkdir()
        links = ("o.sh", "o.ranks.csv", "list/README.md")
        for place, name in enumerate(links):
            (self.folder / f"victim{place}").write_text("precious")
            (self.folder / name).symlink_to(self.folder / f"victim{place}")
        self.output("export", "small.h5", "--target", "slurm", "--out", "o.sh")
        self.output("export", "small.h5", "--shortlist", "--target", "json", "--out", "list")
        for place, name in enumerate(links):
            self.assertEqual((self.folder / f"victim{place}").read_text(), "precious", name)
            self.assertFalse((self.folder / name).is_symlink(), name)
            self.assertGreater((self.folder / name).stat().st_size, 100, name)

    def test_hardware_that_was_tuned_is_reported(self):
        knob = '\n[[knob]]\nof = "bandwidth"\ntier = "cluster"\nrange = ["12.5 GB/s", "50 GB/s"]\n' \
            'price = { per = "25 GB/s", cost = "0.10 USD/h" }\n'
        text = self.scenario(tp="[1]", pp="[1]", v="[1]", schedule='["1f1b"]').read_text().replace("[search]", '[search]\nstrategy = "nlopt"') + knob
        (self.folder / "tuned.toml").write_text(text)
        self.output("search", "tuned.toml", "--out", "tuned.h5")
        self.output("report", "tuned.h5", "--csv", "tuned.csv")
        with open(self.folder / "tuned.csv", newline="") as file:
            hardware = {row["variant"]: row["point"] for row in csv.DictReader(file)}
        self.assertGreater(len(hardware), 3)  # more than the two ends and their middle
        for variant, point in sorted(hardware.items())[:3]:  # each takes a second
            plan = json.loads(self.output("export", "tuned.h5", "--point", point, "--target", "json"))
            self.assertEqual([one["text"] for one in plan["variant"]], [variant])
            self.assertAlmostEqual(plan["variant"][0]["value"] / 1e9, float(variant.split("=")[1].removesuffix("GB/s")), 9)

    def test_results_are_not_overwritten(self):
        before = (self.folder / "small.h5").read_bytes()
        self.assertIn("would be overwritten", self.refusal("export", "small.h5", "--target", "json", "--out", "small.h5"))
        self.assertEqual((self.folder / "small.h5").read_bytes(), before)


if __name__ == "__main__":
    support.main()
