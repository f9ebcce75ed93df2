"""What check-model prints of the runs that ship and of a folder of measured runs."""

import json

import support
from support import CliTest

TABLE = """row_id,model,layers,hidden,heads,ffn,vocab,seq,gpu,n_gpus,tp,pp,cp,micro_batch,global_batch,recompute,precision,schedule,step_time_s
1,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,1,1,1,8,512,full,fp16,1F1B,3.5665
2,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,4,1,1,8,512,full,fp16,1F1B,4.6340
3,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,1,1,8,512,full,fp16,1F1B,3.9746
4,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,2,1,1,,512,full,fp16,1F1B,3.9746
"""


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
        (self.folder / "vtrain_a100_multinode.csv").write_text(TABLE)
        printed = json.loads(self.output("check-model", "--data", ".", "--json"))
        [source] = [s for s in printed["sources"] if s["name"].startswith("vTrain")]
        self.assertEqual((source["rows"], source["skipped"]), (3, 1))
        self.assertIsNotNone(source["regret"])
        self.assertEqual(printed["skipped"], [{"source": source["name"], "row": "vtrain_a100_multinode row 4", "reason": "no microbatch"}])
        text = self.output("check-model", "--data", ".")
        self.assertIn("vtrain_a100_multinode row 4: no microbatch", text)
        self.assertIn(f"| {source['name']} | 3 | 1 |", self.output("check-model", "--data", ".", "--markdown"))

    def test_rows_that_miss_are_listed_with_a_reason(self):
        slow = "5,GPT 3.6B,30,3072,32,12288,50257,2048,A100,64,1,1,1,8,512,full,fp16,1F1B,9.5\n"
        full = "6,GPT 3.6B,30,3072,32,12288,50257,2048,A100,8,1,1,1,64,512,full,fp16,1F1B,25.0\n"
        (self.folder / "vtrain_a100_multinode.csv").write_text(TABLE + slow + full)
        runs = json.loads(self.output("check-model", "--data", ".", "--json"))["runs"]
        [refused] = [run for run in runs if run["refused"]]
        self.assertEqual(refused["name"], "vtrain_a100_multinode row 6: GPT 3.6B on 8 a100-sxm-80gb")
        self.assertGreater(sum(refused["memory"].values()), refused["memory_capacity_bytes"])
        page = self.output("check-model", "--data", ".", "--markdown")
        missed = page[page.index("## Rows that are a fifth or more off") : page.index("## Memory")]
        self.assertIn("row 5: GPT 3.6B on 64 a100-sxm-80gb | -5", missed)
        memory = page[page.index("## Memory") : page.index("## Left out of the fit")]
        self.assertIn(f"| {refused['name']} | {sum(refused['memory'].values()) / 1e9:.1f} | 85.9 |", memory)

    def test_a_folder_without_tables_is_wrong_input(self):
        for folder in (".", "nowhere"):
            finished = self.run_program("check-model", "--data", folder)
            self.assertEqual(finished.returncode, support.WRONG_INPUT)
            self.assertIn(folder, finished.stderr)


if __name__ == "__main__":
    support.main()
