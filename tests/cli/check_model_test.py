"""What check-model prints of the runs that ship and of a folder of measured runs."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys

import support
from support import CliTest

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
sys.path.insert(0, str(JOBS))

JOB = {"source": "GPT", "network": "GPT 3.6B", "layers": 30, "hidden": 3072, "heads": 32, "feed_forward": 12288, "vocabulary": 50257,
       "activation": "gelu", "attention": "plain", "dropout": "yes", "tied_embedding": "yes", "sequence": 2048, "global_batch": 512,
       "accelerator": "a100-sxm-80gb", "stack": "megatron-deepspeed-2023", "node_link": "nvlink3", "node": 8, "network_link": "ib-100g",
       "sequence_parallel": "no"}
HEADER = ",".join([*JOB, "run", "gpus", "design", "step_time_s"]) + "\n"


def row(name, tp, seconds, gpus=64, microbatch=8):
    plan = f"tp={tp} microbatch={microbatch} recompute=full sharding=none dp_overlap=off"
    return ",".join(map(str, [*JOB.values(), name, gpus, plan, seconds])) + "\n"


TABLE = HEADER + row("one", 1, 3.5665) + row("four", 4, 4.6340) + row("two", 2, 3.9746) + row("wrong", 5, 3.9746)


def accuracy_study():
    loader = importlib.machinery.SourceFileLoader("accuracy_study", str(JOBS / "accuracy_study"))
    study = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy_study", loader))
    loader.exec_module(study)
    return study


def page(printed):
    """The page that jobs/accuracy_study makes of it."""
    return accuracy_study().page(printed)


class CheckModel(CliTest):
    def test_json_has_the_promised_figures(self):
        printed = json.loads(self.output("check-model", "--json"))
        figures = {"name", "rows", "skipped", "mape", "median_ape", "bias", "worst", "regret"}
        for source in [*printed["sources"], printed["total"]]:
            self.assertLessEqual(figures, set(source))
        self.assertEqual(printed["total"]["rows"], sum(source["rows"] for source in printed["sources"]))
        self.assertEqual(len(printed["runs"]), printed["total"]["rows"])
        errors = [abs(run["error"]) for run in printed["runs"]]
        self.assertAlmostEqual(printed["total"]["mape"], sum(errors) / len(errors))
        for run in printed["runs"]:
            self.assertTrue(run["assumed"])

    def test_a_folder_adds_its_runs(self):
        (self.folder / "runs.csv").write_text(TABLE)
        printed = json.loads(self.output("check-model", "--data", ".", "--json"))
        [source] = [s for s in printed["sources"] if s["name"] == "GPT"]
        self.assertEqual((source["rows"], source["skipped"]), (3, 1))
        self.assertIsNotNone(source["regret"])
        [skipped] = printed["skipped"]
        self.assertEqual((skipped["source"], skipped["row"]), ("GPT", "wrong"))
        self.assertIn("5", skipped["reason"])
        text = self.output("check-model", "--data", ".")
        self.assertIn(f"wrong: {skipped['reason']}", text)
        self.assertIn(f"| {source['name']} | 3 | 1 |", page(printed))

    def test_schedules_are_compared_by_their_microbatches(self):
        run = {"source": "a", "layers": 4, "hidden": 8, "cp": 1, "predicted_mean_s": 1.0}
        runs = [{**run, "design": f"gpus=8 tp=1 pp=4 v=1 microbatch=2 schedule={schedule}", "global_batch": batch, "measured_s": seconds}
                for schedule, batch, seconds in (("1f1b", 64, 1.0), ("1f1b", 32, 0.6), ("zb_h1", 32, 0.5), ("zb_h1", 128, 1.7))]
        text = accuracy_study().schedules(runs)
        self.assertIn("| a: 4 x 8, 8 GPUs | 1f1b v=1 microbatch=2 | 8 to 16 | 50.00 | 0.00 | 200 | 1000 |", text)
        self.assertIn("| zb_h1 v=1 microbatch=2 | 8 to 32 | 50.00 | 0.00 | 100 | 1000 |", text)
        self.assertEqual(accuracy_study().schedules(runs[:2]), "")

    def test_rows_that_miss_are_listed_with_a_reason(self):
        slow = row("slow", 1, 9.5)
        full = row("full", 1, 25.0, gpus=8, microbatch=64)
        (self.folder / "runs.csv").write_text(TABLE + slow + full)
        printed = json.loads(self.output("check-model", "--data", ".", "--json"))
        [refused] = [run for run in printed["runs"] if run["refused"]]
        self.assertEqual(refused["name"], "full")
        self.assertGreater(sum(refused["memory"].values()), refused["memory_capacity_bytes"])
        text = page(printed)
        missed = text[text.index("## Rows that are a fifth or more off") : text.index("## Memory")]
        self.assertIn("| slow | -5", missed)
        memory = text[text.index("## Memory") : text.index("## Excluded from the fit")]
        self.assertIn(f"| {refused['name']} | <1 | {sum(refused['memory'].values()) / 1e9:.1f} | 85.9 |", memory)

    def test_published_tables_are_to_be_normalised(self):
        (self.folder / "published.csv").write_text("model,tp,step_time_s,step_time_basis\nGPT,8,1.0,measured\n")
        finished = self.run_program("check-model", "--data", ".")
        self.assertEqual(finished.returncode, support.WRONG_INPUT)
        self.assertIn("python3 jobs/normalise_measurements.py . OUT", finished.stderr)

    def test_a_folder_without_tables_is_wrong_input(self):
        for folder in (".", "nowhere"):
            finished = self.run_program("check-model", "--data", folder)
            self.assertEqual(finished.returncode, support.WRONG_INPUT)
            self.assertIn(folder, finished.stderr)


if __name__ == "__main__":
    support.main()
