"""What jobs/normalise_measurements.py makes of rows of published tables. usage: normalise_measurements_test.py [unittest arguments]"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
import normalise_measurements as script  # noqa: E402  pylint: disable=wrong-import-position

GPT = {
    "row_id": "1", "model": "GPT 3.6B", "layers": "30", "hidden": "3072", "heads": "32", "ffn": "12288", "vocab": "50257", "seq": "2048",
    "gpu": "A100", "n_gpus": "64", "tp": "2", "pp": "4", "vpp": "1", "cp": "1", "micro_batch": "8", "global_batch": "512",
    "recompute": "full", "precision": "fp16", "schedule": "1F1B", "step_time_s": "3.5", "step_time_basis": "measured",
}
LLAMA = GPT | {"model": "LLAMA3_70B", "layers": "80", "gpu": "H100", "tp": "4", "pp": "8", "vpp": "5", "micro_batch": "1",
               "global_batch": "128", "recompute": "none", "precision": "bf16", "schedule": ""}
BARE = {"row_id": "1", "seq": "4096", "precision": "BF16", "step_time_s": "4.5"}


def normalised(table, *rows):
    """Rows of a table of that name in the columns of the format."""
    with tempfile.TemporaryDirectory() as folder:
        tables, out = pathlib.Path(folder) / "tables", pathlib.Path(folder) / "out"
        tables.mkdir()
        out.mkdir()
        columns = list(dict.fromkeys(column for row in rows for column in row))
        script.write(tables / f"{table}.csv", columns, rows)
        script.normalise(tables, out)
        return script.read(out / f"{table}.csv")[1]


def axes(row):
    return dict(word.split("=") for word in row["design"].split())


class Runs(unittest.TestCase):
    def one(self, table, *rows):
        [row] = normalised(table, *rows)
        self.assertEqual(row["skipped"], "")
        return row

    def test_a_row_is_a_plan_on_a_machine(self):
        row = self.one("vtrain_a100_multinode", GPT)
        self.assertEqual(row["run"], "vtrain_a100_multinode row 1: GPT 3.6B on 64 a100-sxm-80gb")
        self.assertEqual((row["accelerator"], row["stack"], row["gpus"]), ("a100-sxm-80gb", "megatron-deepspeed-2023", "64"))
        self.assertEqual((row["node_link"], row["node"], row["network_link"]), ("nvlink3", "8", "ib-100g"))
        self.assertEqual((row["kv_heads"], row["attention"], row["sequence_parallel"]), ("32", "plain", "no"))
        self.assertEqual(row["line"], "gpt 3.6b")  # of a sweep
        plan = axes(row)
        self.assertEqual((plan["tp"], plan["pp"], plan["v"], plan["microbatch"], plan["recompute"]), ("2", "4", "1", "8", "full"))
        self.assertEqual((plan["dp_overlap"], plan["schedule"]), ("off", "1f1b"))

    def test_machines_are_named_by_the_whole_text(self):
        known = script.Knowledge()
        self.assertEqual(known.accelerator("NVIDIA H100-SXM5-80GB"), "h100-sxm")
        self.assertEqual(known.accelerator("nvidia blackwell gpu (GB200)"), "gb200")
        for text in ("NVIDIA H100 PCIe", "NVIDIA H100 NVL", ""):
            self.assertEqual(known.accelerator(text), "")
        texts = [text.lower() for machine in known.machines.values() for text in machine["names"]]
        self.assertEqual(len(texts), len(set(texts)), "a text names one machine")

    def test_knowledge_names_entries_of_the_catalog(self):
        known = script.Knowledge()
        catalog = {name: script.data(ROOT / f"model/catalog/{name}.toml") for name in ("accelerators", "links", "stacks", "variability")}
        for accelerator, machine in known.machines.items():
            self.assertIn(accelerator, catalog["accelerators"])
            self.assertIn(machine["link"], catalog["links"])
        for name, table in known.tables.items():
            for machine in table["machines"]:
                self.assertIn(machine["stack"], catalog["stacks"], name)
                self.assertIn(machine["network"], catalog["links"], name)
                self.assertLessEqual(set(machine["accelerators"]), set(known.machines), name)
            self.assertLessEqual(set(known.models(table).values()), set(known.networks), name)
            self.assertIn(table.get("variability", "hpc-2024"), catalog["variability"], name)

    def test_keys_of_the_knowledge_are_known(self):
        keys = {"source", "assumed", "sweep", "group", "memory_basis", "memory_gib", "fitted", "variability", "models", "models_as", "activation", "attention", "normalisation",
                "tied_embedding", "dropout", "sequence_parallel", "machines", "recipes", "fills", "skips", *script.PLAN_OF_TABLE}
        for name, table in script.Knowledge().tables.items():
            self.assertLessEqual(set(table), keys, name)
            self.assertTrue({"models", "models_as", "activation"} & set(table), name)
            for fill in table.get("fills", []):
                self.assertIn(set(fill), ({"when", "set"}, {"when", "replace"}), name)
            for skip in table.get("skips", []):
                self.assertEqual(set(skip), {"when", "reason"}, name)

    def test_series_of_steps_count_by_their_median(self):
        steps = {"gpu": "H100", "n_gpus": "8", "layers": "24", "hidden": "1024", "heads": "16", "seq": "512", "tp": "2", "pp": "2",
                 "micro_batch": "4", "global_batch": "128", "precision": "bf16"}
        rows = normalised(
            "megatron_lm_ci_iteration_times",
            steps | {"test_case": "bert_mcore_tp2_pp2", "flash": "attention-backend unfused", "median_s": "0.95"},
            steps | {"test_case": "bert_mcore_tp2_pp2_local_spec", "flash": "attention-backend local", "median_s": "0.8"},
            steps | {"test_case": "t5_11b_mcore_tp4_pp1", "median_s": "0.4"},
        )
        self.assertEqual([row["step_time_s"] for row in rows], ["0.95", "0.8", ""])
        self.assertEqual([row["stack"] for row in rows], ["megatron-lm", "megatron-lm-local", ""])
        self.assertEqual(rows[0]["vocabulary"], "28996")
        self.assertIn("encoder", rows[2]["skipped"])

    def test_fine_tuning_is_trained_as_its_rows_say(self):
        row = GPT | {"group": "fms-mistral-7b", "model": "Mistral 7B", "gpu": "A100 80GB", "n_gpus": "2", "tp": "1", "pp": "1", "micro_batch": "2",
                     "global_batch": "4", "framework": "Transformers, Accelerate FSDP1", "zero_fsdp": "FSDP full shard", "method": "full",
                     "base_storage": "bf16", "states_bits": "16", "master": "no"}
        lora = row | {"method": "lora", "lora_rank": "16", "states_bits": "", "master": "", "step_time_s": "3.4"}
        full, adapters, alone, stage2, quantised = normalised(
            "fine_tuning", row, lora, lora | {"zero_fsdp": "none (FSDP no_shard)", "step_time_s": "3.6"},
            row | {"zero_fsdp": "ZeRO-2", "framework": "DeepSpeed", "step_time_s": "3.7"}, lora | {"base_storage": "nf4", "step_time_s": "3.8"},
        )
        self.assertEqual((full["source"], full["stack"]), ("fine-tuning, fms-mistral-7b", "hf-fsdp"))
        self.assertEqual((full["states"], full["master"], full["adapter_rank"], full["fitted"]), ("bf16", "none", "", "yes"))
        self.assertEqual((adapters["states"], adapters["adapter_rank"]), ("", "16"))
        self.assertEqual([axes(run)["sharding"] for run in (full, alone, stage2)], ["zero3", "none", "zero2"])
        self.assertEqual(stage2["stack"], "deepspeed-zero-2")
        self.assertEqual((quantised["skipped"], quantised["frozen_storage"], quantised["fitted"]), ("", "nf4", "no"))

    def test_networks_that_are_not_known_are_refused(self):
        known, unknown = normalised("nvidia_dgxc_benchmarking", LLAMA, LLAMA | {"model": "Falcon_70B"})
        self.assertEqual(known["network"], "llama3-70b")
        for text in ("Falcon_70B", "[nvidia_dgxc_benchmarking]", "scenario"):
            self.assertIn(text, unknown["skipped"])

    def test_megatron_bridge_keeps_what_its_recipes_say(self):
        row = BARE | {"gpu": "DGX-H100", "n_gpus": "64", "tp": "1", "pp": "4", "micro_batch": "1", "global_batch": "64", "recompute": "none",
                      "framework": "Megatron-Bridge 26.02"}
        gpt, deepseek, dense = normalised(
            "nvidia_megatron_bridge",
            row | {"model": "GPT OSS 120B", "ep": "8"},
            row | {"model": "DeepSeekV3", "ep": "16", "precision": "FP8"},
            row | {"model": "LLAMA3_8B"},
        )
        for run in (gpt, deepseek):
            self.assertEqual(run["routing_weights"], "activations")
        self.assertEqual(dense["routing_weights"], "")
        self.assertEqual((gpt["activation_storage"], gpt["states"]), ("", ""))
        self.assertEqual((deepseek["activation_storage"], deepseek["states"]), ("fp8", "bf16"))

    def test_recipes_say_what_a_run_was_set_to(self):
        recipe = script.Row({"precision_kind": "mxfp8", "cuda_graph_impl": "transformer_engine", "cuda_graph_scope": "attn+moe_router+moe_preprocess",
                             "moe_dispatcher": "flex", "moe_backend": "hybridep", "a2a_overlap": "yes (1F1B, between microbatches)",
                             "recompute_granularity": "selective", "recompute_modules": "moe+layernorm+core_attn+moe_act",
                             "mtp_layers": "1", "grad_reduce_dtype": "bf16", "fsdp": "Megatron-FSDP optim_grads_params"})
        settings = script.settings_of(recipe)
        self.assertEqual((settings["cuda_graphs"], settings["dispatch"]), ("attn+moe_router+moe_preprocess", "hybridep"))
        self.assertEqual((settings["expert_overlap"], settings["gradients"], settings["predictions"]), ("microbatches", "bf16", "1"))
        self.assertEqual((settings["recompute"], settings["recompute_modules"]), ("selective", "moe+layernorm+moe_act"))
        self.assertEqual(settings["zero_fsdp"], "zero-3")
        dropped = script.settings_of(script.Row({"cuda_graph_impl": "enable_cuda_graph", "cuda_graph_scope": "layer",
                                                 "expert_capacity": "padded to capacity", "load_balance": "token drop, capacity factor 1"}))
        self.assertEqual((dropped["cuda_graphs"], dropped["capacity"]), ("full_iteration", "1"))

    def test_slots_of_embedding_and_head_are_layers_where_the_trainer_counts_them(self):
        row = self.one("paper_megatron_sc21", GPT | {"model": "GPT 405B", "layers": "126", "n_gpus": "1024", "tp": "8", "pp": "8", "vpp": "16",
                                                     "micro_batch": "1", "global_batch": "1536"})
        self.assertEqual((axes(row)["split"], axes(row)["v"], axes(row)["schedule"]), ("slots", "16", "interleaved"))
        self.assertIn("split = slots", row["assumed"])

    def test_chips_of_a_torus_are_slices(self):
        row = BARE | {"model": "llama3.1-8b", "seq": "8192", "gpu": "TPU v6e (Trillium)", "recompute": "custom", "zero_fsdp": "FSDP"}
        small, derived, several = normalised(
            "tpu_maxtext_and_recipes",
            row | {"n_gpus": "16", "global_batch": "48"},
            row | {"n_gpus": "128", "global_batch": "512", "step_time_basis": "derived: F/(TFLOP/s)"},
            row | {"n_gpus": "512", "global_batch": "1024"},
        )
        self.assertEqual([run["node"] for run in (small, derived, several)], ["4x4", "8x16", "16x16"])
        self.assertEqual(small["closed"], "16")
        self.assertEqual(axes(small)["microbatch"], "3")
        self.assertEqual((small["of_formula"], derived["of_formula"]), ("no", "yes"))

    def test_a_text_has_no_usual_length_but_an_image_has(self):
        llama = BARE | {"model": "Llama2-7B pre-training", "seq": "", "gpu": "Trainium (trn1)", "n_gpus": "512", "tp": "8", "micro_batch": "1",
                        "global_batch": "1024"}
        self.assertIn("sequence length", normalised("aws_neuron_trainium", llama)[0]["skipped"])
        self.assertEqual(self.one("aws_neuron_trainium", llama | {"seq": "4096"})["cores"], "2")
        images = {"row_id": "1", "framework": "Composer", "gpu": "A100", "n_gpus": "64", "global_batch": "2048", "step_time_s": "0.9"}
        large, small = normalised("mosaicml_diffusion", images | {"model": "Stable Diffusion 2 U-Net, 512x512"},
                                  images | {"model": "Stable Diffusion 2 U-Net, 256x256"})
        self.assertEqual((large["sequence"], small["sequence"]), ("4096", "1024"))

    def test_columns_give_experts(self):
        mixtral = GPT | {"model": "Mixtral-8x22B", "layers": "56", "hidden": "6144", "heads": "48", "kv_heads": "8", "ffn": "16384", "vocab": "32768",
                         "gpu": "H100", "n_gpus": "128", "pp": "8", "vpp": "", "micro_batch": "", "global_batch": "256", "recompute": "",
                         "zero_fsdp": "ZeRO-1", "experts": "8", "experts_active": "2", "expert_ffn": "16384"}
        whole, folded = normalised(
            "paper_moe_parallel_folding",
            mixtral | {"ep": "4", "framework": "Megatron-Core, MCore", "step_time_basis": "derived: F/(MFU*989.5e12*n_gpus)"},
            mixtral | {"ep": "8", "framework": "Megatron-Core, MCore w/ Folding"},
        )
        self.assertEqual((whole["experts"], whole["experts_active"], whole["capacity"]), ("8", "2", "1"))
        self.assertEqual((axes(whole)["etp"], axes(folded)["etp"]), ("2", "1"))  # as the attention
        self.assertEqual((whole["of_formula"], whole["fitted"]), ("yes", "no"))

    def test_what_a_table_fills_in_may_be_why_it_skips_a_row(self):
        lora = {"source": "training_results_v4.1", "row_id": "1", "model": "Llama 2 70B LoRA fine-tuning", "layers": "80",
                "gpu": "NVIDIA H100-SXM5-80GB", "n_gpus": "64", "tp": "4", "cp": "2", "micro_batch": "1", "global_batch": "8",
                "step_time_s": "0.55"}
        run, bits, parallelism = normalised("mlperf_lora_diffusion_dlrm_bert_retinanet", lora, lora | {"source": "training_results_v5.1"},
                                            lora | {"tp": "", "cp": "", "micro_batch": ""})
        self.assertEqual((run["adapter_rank"], run["precision"], run["sequence"]), ("16", "fp8", "8192"))
        self.assertIn("4 bits", bits["skipped"])
        self.assertIn("parallelism", parallelism["skipped"])

    def test_what_is_blank_is_filled_and_said(self):
        # The layers that make the printed rate: 4 x 2 FLOPs a token and parameter, 12 h^2 parameters a layer.
        rate = 8.0 * 2048 * 64 * 12.0 * 72 * 8192.0**2 / (384 * 100.0) / 1e12
        row = self.one("bigscience_a100_topology", GPT | {
            "model": "GPT", "layers": "", "hidden": "8192", "n_gpus": "384", "tp": "8", "pp": "12", "micro_batch": "1", "global_batch": "64",
            "zero_fsdp": "ZeRO-1", "step_time_s": "100", "tflops_per_gpu": repr(rate), "notes": "max memory 47GB"})
        self.assertEqual((row["layers"], row["memory_gb"], axes(row)["sharding"]), ("72", "47", "zero1"))
        self.assertIn("layers = 72", row["assumed"])
        scripted = self.one("paper_megatron_sc21", GPT | {"model": "GPT 76.1B", "layers": "60", "hidden": "10240", "heads": "80", "n_gpus": "1024",
                                                          "tp": "8", "vpp": "", "micro_batch": "", "global_batch": "1792"})
        self.assertEqual((axes(scripted)["microbatch"], axes(scripted)["v"]), ("2", "3"))  # of Megatron-LM's script for this table
        self.assertIn("micro_batch = 2", scripted["assumed"])

    def test_peaks_of_memory_say_what_they_count(self):
        device = self.one("bigscience_a100_topology", GPT | {"zero_fsdp": "ZeRO-1", "notes": "max memory 47GB"})
        self.assertEqual((device["memory_gb"], device["memory_basis"]), ("47", "device"))
        allocated = self.one("simumax_b200", GPT | {"gpu": "B200 SXM", "model": "llama3_70b", "notes": "real peak alloc 10 GiB"})
        self.assertEqual((float(allocated["memory_gb"]), allocated["memory_basis"]), (10.73741824, "allocated"))
        reserved = self.one("torchtitan", GPT | {"model": "Llama 3.1 8B", "gpu": "H200", "row_id": "17", "recompute": "per-op SAC"})
        self.assertEqual((reserved["memory_gb"], reserved["memory_basis"]), ("51.497", "reserved"))
        self.assertEqual(axes(reserved)["recompute_modules"], "alternate_products")
        peak = {"peak_memory_gb": "12.5", "peak_memory_basis": "max reserved, printed bytes / 1e9"}
        self.assertEqual(self.one("simumax_b200", GPT | {"gpu": "B200 SXM", "model": "llama3_70b"} | peak)["memory_basis"], "reserved")

    def test_assumptions_of_a_table_may_replace_a_column(self):
        row = self.one("vtrain_a100_singlenode", GPT | {"n_gpus": "4", "tp": "1", "pp": "2", "recompute": "full (config)"})
        self.assertEqual(axes(row)["recompute"], "none")
        self.assertIn("recompute = none", row["assumed"])

    def test_rows_that_cannot_be_compared_say_why(self):
        changes = [{}, {"step_time_s": ""}, {"micro_batch": ""}, {"tp": "5"}, {"micro_batch": "7"}, {"gpu": "A100-PCIE-80GB"}, {"gpu": "GB200"},
                   {"layers": ""}, {"tp": "128"}, {"n_gpus": ""}]
        rows = normalised("vtrain_a100_multinode", GPT, *(GPT | change for change in changes))
        reasons = ["", "duplicate of another row", "no step time", "no microbatch", "tp*pp*cp = 20 does not divide 64 GPUs",
                   "dp*microbatch = 56 does not divide the global batch 512", '"A100-PCIE-80GB" names no machine', "no description of GB200",
                   "no layers (no model card in the catalog)", "tp = 128 on 64 GPUs", "no number of GPUs"]
        self.assertEqual(len(rows), len(reasons))
        for row, reason in zip(rows, reasons):
            self.assertTrue(row["skipped"].startswith(reason), row["skipped"])
        self.assertEqual(rows[1]["run"], "vtrain_a100_multinode row 1")


class Folders(unittest.TestCase):
    def test_collectives_have_a_link_and_a_size(self):
        row = {"source": "a", "gpu": "A100", "n_gpus": "8", "collective": "all_reduce", "size_bytes": "1024", "time_us": "9"}
        small, other, unknown, slow = normalised(
            "collectives_bandwidth",
            row | {"inter_node": "EFA 400"},
            row | {"gpu": "GB200", "inter_node": "NDR"},
            row | {"gpu": "A100 PCIe"},
            row | {"gpu": "GB200", "n_gpus": "1440"},
        )
        self.assertEqual((small["node_link"], small["network_link"], small["doubted"]), ("nvlink3", "efa-400g", "no"))
        self.assertEqual((other["node"], other["network_link"]), ("72", "ib-ndr"))
        self.assertIn("A100 PCIe is not described", unknown["skipped"])
        self.assertEqual(slow["doubted"], "yes")

    def test_tables_in_the_format_are_copied(self):
        with tempfile.TemporaryDirectory() as folder:
            tables, out = pathlib.Path(folder) / "tables", pathlib.Path(folder) / "out"
            tables.mkdir()
            script.write(tables / "own.csv", ["scenario", "design", "step_time_s"], [{"scenario": "job.toml", "design": "tp=2", "step_time_s": "1"}])
            self.call(tables, out)
            [row] = script.read(out / "own.csv")[1]
            self.assertEqual(row["scenario"], str((tables / "job.toml").resolve()))

    def test_wrong_calls_say_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("usage", self.call(code=2))
            self.assertIn("has no tables", self.call(folder, folder + "/out", code=2))
            (pathlib.Path(folder) / "vtrain_a100_multinode.csv").write_text("row_id,model\n1\n")
            self.assertIn("vtrain_a100_multinode.csv:2: has 1 fields", self.call(folder, folder + "/out", code=2))
            self.assertIn("another folder", self.call(folder, folder, code=2))

    def call(self, *arguments, code=0):
        """The messages of a call."""
        done = subprocess.run([sys.executable, ROOT / "jobs/normalise_measurements.py", *arguments], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr


if __name__ == "__main__":
    unittest.main(verbosity=2)
