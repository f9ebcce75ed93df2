"""`import`: scripts and configurations of training jobs become a scenario and a plan.

The examples of ../shared/cases/job-files give the values of their expected.toml; that check is skipped where the folder is absent
(PRISMOPT_CASES names another one).
"""

import json
import os
import pathlib
import random
import re
import time
import tomllib

import h5py

import support
from support import CliTest

CASES = pathlib.Path(os.environ.get("PRISMOPT_CASES", pathlib.Path(__file__).resolve().parents[3] / "shared" / "cases")) / "job-files"
FORMATS = pathlib.Path(__file__).resolve().parent.parent / "io" / "authoring" / "jobs"


class Imports(CliTest):
    def imported(self, *arguments, **how):
        return json.loads(self.output("import", *arguments, "--json", **how))


def edp_of(plan):
    return plan["gpus"] // (plan["pp"] * plan["ep"] * plan["etp"])


class Examples(Imports):
    """Each example with the values that its file of expectations states."""

    PLAN = {"edp": edp_of, "recompute_modules": lambda plan: plan["recompute_modules"].split("+"),
            "sequence_parallel": lambda plan: plan["sequence_parallel"] == "on"}

    def setUp(self):
        if not CASES.is_dir():
            self.skipTest(f"{CASES} is absent")
        super().setUp()

    def arguments(self, case):
        given = case.get("given", {})
        words = [CASES / file for file in case["files"]]
        words += ["--gpus", given["gpus"]] if "gpus" in given else []
        words += ["--gpus", 8 * given["nodes"]] if "nodes" in given else []
        words += ["--set", f"recipe={given['recipe']}"] if "recipe" in given else []
        words += ["--set", f"vocab-size={given['tokenizer_vocabulary']}"] if "tokenizer_vocabulary" in given else []
        return words + (["--command", case["command"]] if "command" in case else [])

    def plan_value(self, key, got):
        if key in ("accelerator", "gpus_per_node"):
            return got[key]
        if key == "layout":
            return got["plan"]["layout"]
        return self.PLAN[key](got["plan"]) if key in self.PLAN else got["plan"][key]

    def network_value(self, key, network):
        if key == "qk_norm":
            return network["query_key_norm"] != "none"
        # The scenario has adapters beside fused projections; the import counts those of the trainer.
        return network["adapter_parameters" if key == "trainable" else key]

    def check(self, case, got):
        for key, value in case["plan"].items():
            if key == "stack":
                self.assertIn(value, (got["stack"], got["software"].split()[0]))
            else:
                self.assertEqual(self.plan_value(key, got), value, key)
        for key, value in case["phase"].items():
            phase = got["phase"]
            tokens = phase["steps"] * phase["global_batch"] * phase["sequence_length"]
            self.assertEqual(tokens if key == "tokens" else phase[key], value, key)
        for key, value in case["network"].items():
            if key in ("vocabulary_unpadded", "dense_layers", "frozen"):
                continue
            own = self.network_value(key, got["network"])
            self.assertTrue(own == value or (value == "fp8" and own == "mxfp8"), f"{key} is {own}, not {value}")

    def test_examples(self):
        cases = tomllib.loads((CASES / "expected.toml").read_text())["case"]
        self.assertGreater(len(cases), 20)
        for case in cases:
            with self.subTest(case["name"]):
                self.check(case, self.imported(*self.arguments(case)))

    def test_examples_give_scenarios(self):
        for case in tomllib.loads((CASES / "expected.toml").read_text())["case"]:
            with self.subTest(case["name"]):
                begin = time.monotonic()
                text = self.output("import", *self.arguments(case), "--out", f"{case['name']}.toml")
                design = re.search(r'next: prismopt predict \S+ --design "(.*)"', text).group(1)
                predicted = self.run_program("predict", f"{case['name']}.toml", "--design", design)
                self.assertIn(predicted.returncode, (support.DONE, support.INFEASIBLE), predicted.stderr)
                self.assertLess(time.monotonic() - begin, 30)  # a second on a quiet machine


class OwnFiles(Imports):
    """Small files of each format (tests/io/authoring/jobs), with the plan that they describe."""

    def test_formats(self):
        for case in tomllib.loads((FORMATS / "formats.toml").read_text())["case"]:
            with self.subTest(case["name"]):
                for name, text in case["files"].items():
                    path = self.folder / case["name"] / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                files = [self.folder / case["name"] / name for name in case["files"] if "/" not in name]
                got = self.imported(*files, *case.get("options", []))
                self.assertEqual(sorted(got["design"].split()), sorted(case["design"].split()))
                self.assertEqual(got["unknown"], [])
                for key, value in case.get("network", {}).items():
                    self.assertEqual(got["network"][key], value, key)
                for key, value in case.get("phase", {}).items():
                    self.assertEqual(got["phase"][key], value, key)
                assumed = " ".join(got["assumed"]) + json.dumps(got["no_key"])
                for words in case.get("says", []):
                    self.assertIn(words, assumed)


MIXTURE = """
[workload]
name = "small-mixture"
hidden = 1024
vocabulary = 51200
normalisation = "rms_norm"
sequence = [{ layer = "dense", count = 1 }, { layer = "moe", count = 7 }]

[workload.layer.dense]
blocks = [{ block = "attention", heads = 16, kv_heads = 4 }, { block = "mlp", inner = 4096, activation = "swiglu" }]

[workload.layer.moe]
blocks = [{ block = "attention", heads = 16, kv_heads = 4 }, { block = "experts", count = 16, active = 2, inner = 512, shared = 512 }]
"""
SCENARIOS = {
    "megatron": dict(schedule='["1f1b", "interleaved"]', sharding='["zero1", "none"]', split='["layers", "balanced", "slots"]',
                     order='["tp-pp-dp", "tp-dp-pp"]', recompute='["none", "selective", "full"]\nrecompute_modules = [["mlp"]]',
                     dp_overlap='["on", "off"]', pp="[1, 2, 4]"),
    "megatron of long sequences": dict(sequence_length="8192", global_batch="16", tp="[1, 2]\ncp = [1, 2, 4]\nulysses = [1, 2, 0]\n"
                                       'context_exchange = ["ring", "all-gather"]\nsequence_parallel = ["on", "off"]'),
    "megatron of a mixture": dict(tp="[1, 2]\nep = [1, 2, 4]\netp = [1, 2]\nexpert_overlap = [\"off\", \"shared-experts\"]\n"
                                  'dispatch = ["of-stack", "all-to-all", "all-gather"]', pp="[1, 2]"),
    "bridge": dict(schedule='["1f1b", "interleaved"]', split='["layers", "slots"]', recompute='["none", "selective", "full"]\nrecompute_modules = [["mlp"]]',
                   order='["tp-pp-dp", "tp-dp-pp"]', v="[1, 2]\ngroup = [4, 8]"),
    "torchtitan": dict(schedule='["gpipe", "1f1b", "interleaved"]', sharding='["none", "zero2", "zero3"]\nshard_gpus = [0, 8]',
                       split='["layers", "slots", "balanced"]', order='["tp-dp-pp"]',
                       recompute='["none", "selective", "full"]\nrecompute_modules = [["alternate_products"]]'),
    "torchtitan-recipe": dict(schedule='["1f1b", "interleaved"]', sharding='["zero3", "none"]', order='["tp-dp-pp"]', recompute='["none", "full"]'),
}


class RoundTrips(Imports):
    """import(export(plan)) is the plan, without comments, and with the arguments in any order."""

    def test_exported_plans_come_back(self):
        draw = random.Random(1)
        for name, changes in SCENARIOS.items():
            target = name.split()[0]
            with self.subTest(name):
                text = self.scenario(f"{target}.toml", **changes).read_text()
                if "mixture" in name:
                    text = re.sub(r"(?s)\[workload\].*?(?=\[\[phase\]\])", lambda _: MIXTURE + "\n", text)
                self.write(text, f"{target}.toml")
                trainer = target.replace("-recipe", "")
                self.output("search", f"{target}.toml", "--out", "study.h5", "--force", "--runnable-by", trainer)
                with h5py.File(self.folder / "study.h5") as file:
                    points = file["front/evaluation"][()].tolist()
                    others = sorted(set(file["evaluations/evaluation"][()].tolist()) - set(points))
                for point in points:
                    self.assertTrue(self.compare("study.h5", point, target, draw) or target.startswith("torchtitan"))
                compared = sum(self.compare("study.h5", point, target, draw) for point in draw.sample(others, min(12, len(others))))
                self.assertGreater(compared, 5)

    def compare(self, results, point, target, draw):
        """Whether the plan of this number is exported; if so, its import must be the same."""
        suffix = {"megatron": "args", "bridge": "overrides", "torchtitan": "toml", "torchtitan-recipe": "py"}[target]
        exported = self.run_program("export", results, "--point", point, "--target", target, "--out", f"plan.{suffix}")
        if exported.returncode != support.DONE:
            return False
        plan = json.loads(self.output("export", results, "--point", point, "--target", "json"))
        lines = [line for line in (self.folder / f"plan.{suffix}").read_text().splitlines() if not line.startswith("#")]
        if suffix in ("args", "overrides"):
            draw.shuffle(lines)
        if "PipelineScheduleMulti" in " ".join(lines):
            return False  # its order of tasks is in a table, which import does not read
        self.write("\n".join(lines) + "\n", f"plan.{suffix}")
        network = [] if target == "megatron" else ["--model-config", self.config()]
        got = self.imported(f"plan.{suffix}", "--gpus", plan["gpus"], "--accelerator", "a100-sxm-40gb", *network)
        self.assertEqual(self.normal(got["plan"], plan), self.normal(plan["plan"], plan), (target, point, lines))
        self.assertEqual(got["phase"]["global_batch"], plan["phase"]["global_batch"])
        self.assertEqual(got["phase"]["sequence_length"], plan["phase"]["sequence_length"])
        if target == "megatron":
            self.assertEqual(got["unknown"], [])
        return True

    def config(self):
        return self.write(json.dumps({"architectures": ["LlamaForCausalLM"], "hidden_size": 1024, "intermediate_size": 4096,
                                      "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 51200}), "config.json")

    def normal(self, plan, exported):
        """What of a plan is no other name of the same plan."""
        gpus = exported["gpus"]
        kept = {axis: plan[axis] for axis in ("tp", "pp", "cp", "dp", "v", "microbatch", "recompute", "recomputed_layers", "sharding", "layout")}
        if plan["pp"] > 1:
            kept["schedule"] = plan["schedule"]
            microbatches = exported["phase"]["global_batch"] // (plan["dp"] * plan["microbatch"])
            if microbatches == 1 and plan["schedule"] == "gpipe":
                kept["schedule"] = "1f1b"  # of one microbatch both are the same
            kept["group"] = min(plan["group"] or plan["pp"], microbatches) if plan["schedule"] == "interleaved" else 0
        if plan["pp"] > 1 and plan["dp"] > 1 and gpus > exported["cluster"]["gpus_per_node"]:
            kept["order"] = plan["order"]
        if plan["dp"] * plan["cp"] == 1:
            del kept["sharding"]  # of one replica nothing is shared
        else:
            kept["dp_overlap"] = plan["dp_overlap"]
        if plan["recompute"] == "selective":
            kept["recompute_modules"] = plan["recompute_modules"]
        if plan["tp"] > 1:
            kept["sequence_parallel"] = plan["sequence_parallel"]
            kept["tp_overlap"] = plan["tp_overlap"]
        if plan["cp"] > 1:
            kept["ulysses"] = plan["ulysses"] or plan["cp"]
            if plan["cp"] > kept["ulysses"]:
                kept["context_exchange"] = plan["context_exchange"]
        if "mixture" in exported["workload"]["name"]:
            kept.update(ep=plan["ep"], etp=plan["etp"])
            if plan["ep"] > 1:
                kept["expert_overlap"] = plan["expert_overlap"]
                kept["dispatch"] = plan["dispatch"].replace("of-stack", "all-to-all")
        shards = plan["shard_gpus"]
        kept["shard_gpus"] = shards if 0 < shards < plan["dp"] * plan["cp"] and plan["sharding"] != "none" else 0
        return kept


JOB = """#!/bin/bash
NODES=${NODES:-2}
ARGS=(
    --num-layers 8 --hidden-size 1024 --num-attention-heads 16   # don't stop here
    --seq-length 1024 --max-position-embeddings 1024
    --micro-batch-size 2 --global-batch-size 64 --train-iters 100 --vocab-size 51200 --bf16
)
torchrun --nnodes $NODES --nproc_per_node 8 pretrain_gpt.py "${ARGS[@]}" --tensor-model-parallel-size 2 MORE
"""


class Questions(Imports):
    """What is unknown is named, and what is missing is asked for."""

    def job(self, more="", before=""):
        return self.write(before + JOB.replace("MORE", more), "job.sh")

    def test_unknown_arguments_are_named_with_their_line(self):
        got = self.imported(self.job("--tensor-model-parallel-syze 4"))
        self.assertEqual([value["name"] for value in got["unknown"]], ["tensor-model-parallel-syze"])
        self.assertRegex(got["unknown"][0]["place"], r"job.sh:8$")
        self.assertIn("Unknown, and not read", self.output("import", "job.sh"))

    def test_the_last_value_counts(self):
        self.assertEqual(self.imported(self.job("--global-batch-size 128"))["phase"]["global_batch"], 128)

    def test_steps_that_no_file_states_are_assumed(self):
        self.assertFalse([line for line in self.imported(self.job())["assumed"] if "steps" in line])
        text = (self.folder / "job.sh").read_text()
        self.write(text.replace("--train-iters", "--train-itters"), "job.sh")
        self.assertIn("1000 steps: no file states how many", " ".join(self.imported("job.sh")["assumed"]))

    def network(self, *options):
        (self.folder / "own.toml").unlink(missing_ok=True)
        self.output("import", "job.sh", "--out", "own.toml", *options)
        tier = tomllib.loads((self.folder / "own.toml").read_text())["cluster"]["tier"][-1]
        return tier["link"], tier.get("oversubscription", 1)

    def test_the_network_between_nodes_is_assumed(self):
        self.assertIn("network between nodes: ib-ndr, as h100-sxm usually has", " ".join(self.imported(self.job())["assumed"]))
        self.assertEqual(self.network(), ("ib-ndr", 1))
        self.assertEqual(self.network("--network", "roce-200g"), ("roce-200g", 1))
        self.assertNotIn("network between nodes", " ".join(self.imported("job.sh", "--network", "roce-200g")["assumed"]))
        self.assertNotIn("network between nodes", " ".join(self.imported("job.sh", "--set", "NODES=1")["assumed"]))

    def test_searches_are_limited_to_plans_that_the_trainer_runs(self):
        def limit(*options):
            (self.folder / "own.toml").unlink(missing_ok=True)
            self.output("import", "job.sh", "--out", "own.toml", *options)
            return tomllib.loads((self.folder / "own.toml").read_text())["search"].get("runnable_by")
        self.job()
        self.assertEqual(limit(), "megatron")
        self.job("--cuda-graph-impl local --transformer-impl transformer_engine")
        self.assertEqual(limit(), "megatron")
        self.assertIn("plans with cuda_graphs=mlp+attn are searched as well (runs_too)", " ".join(self.imported("job.sh")["assumed"]))

    def test_sockets_of_a_node_share_an_ethernet_port(self):
        self.job(before="export NCCL_IB_DISABLE=1\n")
        self.assertIn("one port of eth-25g for the GPUs of a node, as NCCL_IB_DISABLE=1", " ".join(self.imported("job.sh")["assumed"]))
        self.assertEqual(self.network(), ("eth-25g", 8))
        self.assertEqual(self.network("--network", "eth-100g"), ("eth-100g", 8))
        self.job(before="export NCCL_IB_DISABLE=1\nexport FI_PROVIDER=efa\n")
        self.assertNotEqual(self.network()[0], "eth-25g")

    def test_constraints_of_slurm_narrow_the_type_of_gpus(self):
        for lines, accelerator in ((["--gres=gpu:a100:8"], "a100-sxm-80gb"),
                                   (["--gres=gpu:a100:8", "--constraint=a100-40g"], "a100-sxm-40gb"),
                                   (["--gres=gpu:8", "--constraint=a100-40gb"], "a100-sxm-40gb"),
                                   (["--gres=gpu:a100:8", "-C nvlink&40g"], "a100-sxm-40gb"),
                                   (["--gres=gpu:a100:8", "--constraint=a100-80gb"], "a100-sxm-80gb"),
                                   (["--gres=gpu:a100:8", "-C rack1"], "a100-sxm-80gb")):
            with self.subTest(lines):
                directives = "".join(f"#SBATCH {line}\n" for line in ["--nodes=2", *lines])
                self.job()
                text = (self.folder / "job.sh").read_text()
                self.write(text.replace("#!/bin/bash\n", "#!/bin/bash\n" + directives), "job.sh")
                self.assertEqual(self.imported("job.sh")["accelerator"], accelerator)

    def test_abbreviations_are_unknown_to_megatron(self):
        got = self.imported(self.job("--pipeline-model-parallel-s 4"))
        self.assertEqual(got["plan"]["pp"], 1)
        self.assertEqual([value["name"] for value in got["unknown"]], ["pipeline-model-parallel-s"])

    def test_values_that_are_not_run_are_asked_for(self):
        self.job("--pipeline-model-parallel-size $PP", "PP=$(choose_stages)\n")
        text = self.refusal("import", "job.sh")
        self.assertRegex(text, r"job.sh:9: pipeline-model-parallel-size needs PP \(is \$\(choose_stages\) in line 1, which is not run\)")
        self.assertIn("--set 'PP=VALUE'", text)
        self.assertEqual(self.imported("job.sh", "--set", "PP=2")["plan"]["pp"], 2)
        self.assertEqual(self.imported(self.job("--pipeline-model-parallel-size $(choose)"), "--set", "$(choose)=4")["plan"]["pp"], 4)

    def test_variables_that_may_hold_arguments_are_asked_for(self):
        self.job("--lr 1e-4 $EXTRA")
        self.assertIn("EXTRA may hold arguments", self.refusal("import", "job.sh"))
        self.assertEqual(self.imported("job.sh", "--set", "EXTRA=")["plan"]["pp"], 1)
        self.assertEqual(self.imported("job.sh", "--set", "EXTRA=--pipeline-model-parallel-size 2")["plan"]["pp"], 2)

    def test_values_without_effect_are_not_asked_for(self):
        self.assertEqual(self.imported(self.job("--data-path $DATA --save $(pwd)/out"))["plan"]["tp"], 2)

    def test_branches_that_cannot_be_decided_are_asked_for(self):
        branch = 'if [ -n "$FAST" ]; then\n  PP=4\nelse\n  PP=2\nfi\n'
        self.job("--pipeline-model-parallel-size $PP", branch)
        self.assertIn("--set 'FAST=VALUE'", self.refusal("import", "job.sh"))
        self.assertEqual(self.imported("job.sh", "--set", "FAST=1")["plan"]["pp"], 4)
        self.assertEqual(self.imported("job.sh", "--set", "FAST=")["plan"]["pp"], 2)

    def test_values_that_the_trainer_does_not_take_are_refused(self):
        for setting in ("recompute-granularity fully", "optimizer adamx", "recompute-method foo", "cp-comm-type xx", "normalization Foo",
                        "position-embedding-type foo", "attention-backend foo", "cuda-graph-impl foo", "moe-token-dispatcher-type foo",
                        "fp8-format foo", "fp8-recipe foo"):
            with self.subTest(setting):
                text = self.refusal("import", self.job(f"--{setting}"))
                name, value = setting.split()
                self.assertRegex(text, rf"job.sh:8: {name} = {value} is no value that Megatron-LM takes; use one of \w+, \w+")
        self.assertEqual(self.imported(self.job("--cp-comm-type p2p a2a --context-parallel-size 2"))["plan"]["cp"], 2)

    def test_float8_of_torchtitan_without_a_key(self):
        self.write('[model]\nname = "llama3"\nflavor = "8B"\nconverters = ["float8"]\n[training]\nlocal_batch_size = 1\nseq_len = 8192\nsteps = 10\n'
                   '[float8]\nenable_fsdp_float8_all_gather = true\nprecompute_float8_dynamic_scale_for_fsdp = true\nrecipe_name = "tensorwise"\n', "run.toml")
        names = [value["name"] for value in self.imported("run.toml", "--gpus", "8")["no_key"]]
        self.assertEqual(names, ["float8.enable_fsdp_float8_all_gather", "float8.precompute_float8_dynamic_scale_for_fsdp"])

    def test_files_that_are_no_jobs(self):
        (self.folder / "bytes.sh").write_bytes(bytes(range(256)) * 8)
        self.assertIn("bytes.sh: is a binary file; give the script", self.refusal("import", "bytes.sh"))
        self.assertIn("empty.toml: is empty; give the script", self.refusal("import", self.write("\n", "empty.toml")))
        self.assertIn("is a scenario of prismopt, not a job; predict", self.refusal("import", self.scenario("own.toml")))

    def test_conditional_commands(self):
        for condition, batch in {'[ -n "${DEBUG:-}" ] && MBS=4': 1, "true || MBS=4": 1, "true && MBS=4": 4, "(MBS=4)": 1, "echo 4 | MBS=4": 1,
                                 "mkdir -p out && cd out && MBS=4": 4}.items():
            with self.subTest(condition):
                self.job("--micro-batch-size $MBS", f"MBS=1\n{condition}\n")
                self.assertEqual(self.imported("job.sh")["plan"]["microbatch"], batch)
        self.job("--micro-batch-size $MBS", 'MBS=1\n[[ "$D" == 1 ]] && MBS=4\n')
        self.assertIn("--set 'D=VALUE'", self.refusal("import", "job.sh"))
        self.assertEqual(self.imported("job.sh", "--set", "D=1")["plan"]["microbatch"], 4)
        self.assertEqual(self.imported("job.sh", "--set", "D=")["plan"]["microbatch"], 1)
        for unknown in ("nvidia-smi | grep -q H100 && MBS=4", "read MBS < file", "printf -v MBS %d 4"):
            with self.subTest(unknown):
                self.job("--micro-batch-size $MBS", f"MBS=1\n{unknown}\n")
                self.assertIn("--set 'MBS=VALUE'", self.refusal("import", "job.sh"))
                self.assertEqual(self.imported("job.sh", "--set", "MBS=2")["plan"]["microbatch"], 2)

    def test_launches_behind_other_commands(self):
        for before in ("cd /x && ", "mkdir -p a && ", "program && "):
            self.write(JOB.replace("MORE", "").replace("torchrun", before + "torchrun"), "job.sh")
            self.assertEqual(self.imported("job.sh")["plan"]["tp"], 2)

    def test_arguments_of_the_script_are_asked_for(self):
        for value in ('"$@"', "$*", "$1"):
            with self.subTest(value):
                self.job("--lr 1e-4 $EXTRA", f"EXTRA={value}\n")
                self.assertRegex(self.refusal("import", "job.sh"), r"EXTRA \(is \$. in line 1, .*argument.* of the script\) may hold arguments")
                self.assertEqual(self.imported("job.sh", "--set", "EXTRA=")["plan"]["pp"], 1)
        self.job('--lr 1e-4 "$@"')
        self.assertIn("--set '$@=ARGUMENTS'", self.refusal("import", "job.sh"))
        self.assertEqual(self.imported("job.sh", "--set", "$@=--pipeline-model-parallel-size 2")["plan"]["pp"], 2)
        self.assertEqual(self.imported(self.job("--pipeline-model-parallel-size ${1}"), "--set", "$1=2")["unknown"], [])

    def test_files_that_are_sourced(self):
        self.write("PP=4\n", "more.sh")
        self.job("--pipeline-model-parallel-size $PP", 'source "$(dirname $0)/more.sh"\n')
        self.assertEqual(self.imported("job.sh")["plan"]["pp"], 4)
        (self.folder / "more.sh").unlink()
        self.assertIn("--set 'PP=VALUE'", self.refusal("import", "job.sh"))

    def test_the_command_with_known_settings_counts(self):
        before = "python prepare.py --a 1 --b 2 --c 3 --d 4 --e 5 --f 6 --g 7 --h 8 --i 9 --j 10 --k 11 --l 12 --m 13 --n 14\necho pretrain_gpt.py\n"
        self.assertEqual(self.imported(self.job(before=before))["plan"]["tp"], 2)

    def test_nothing_is_run(self):
        self.job("--pipeline-model-parallel-size $(touch run; echo 2) `touch run`", "touch run\n$(touch run)\nX=$(( $(touch run) + 1 ))\n")
        self.run_program("import", "job.sh")
        self.assertFalse((self.folder / "run").exists())

    def test_the_number_of_gpus(self):
        self.write("--num-layers 8\n--hidden-size 1024\n", "bare.args")
        self.assertIn("add --gpus N", self.refusal("import", "bare.args"))
        self.assertIn("does not divide 3 GPUs", self.refusal("import", self.job(), "--gpus", "3"))
        self.assertEqual(self.imported(self.job(), "--set", "NODES=4")["plan"]["gpus"], 32)

    def test_refusals_have_place_and_remedy(self):
        self.write("x: [1\ny: 2\n", "broken.yaml")
        self.assertRegex(self.refusal("import", "broken.yaml"), r"broken.yaml:\d: is not valid YAML or JSON: .*; correct this line")
        self.write("hello: world\n", "other.yaml")
        self.assertIn("no file states settings of a known trainer", self.refusal("import", "other.yaml"))
        self.assertIn("needs a FILE", self.refusal("import"))
        self.assertIn("is not a file", self.refusal("import", "absent.sh"))
        self.assertIn("--set NNODES has no value", self.refusal("import", self.job(), "--set", "NNODES"))
        self.assertRegex(self.refusal("import", self.job("--micro-batch-size two")), r"job.sh:8: micro-batch-size = two is not a number; ")
        self.assertIn("does not fill microbatches", self.refusal("import", self.job("--global-batch-size 3")))
        self.assertRegex(self.refusal("import", self.job("--num-layers 7 --pipeline-model-parallel-size 2")),
                         r"num-layers = 7 does not divide equally among 2 chunks of the pipeline; .*give its layout")
        self.assertIn("--set vocab-size=NUMBER", self.refusal("import", self.write(JOB.replace("--vocab-size 51200", "").replace("MORE", ""), "job.sh")))

    def test_no_file_is_overwritten(self):
        self.output("import", self.job())
        self.assertIn("already exists", self.refusal("import", "job.sh"))
        self.output("import", "job.sh", "--out", "second.toml")
        self.assertIn("prismopt predict second.toml", (self.folder / "second.toml").read_text())

    def test_all_lists_what_has_no_effect(self):
        self.job("--lr 1e-4 --data-path x")
        self.assertIn("Changes neither time nor memory: lr, data-path", self.output("import", "job.sh", "--out", "a.toml"))
        self.assertRegex(self.output("import", "job.sh", "--all", "--out", "b.toml"), r"  lr = 1e-4   \(job.sh:8\)")


class HostileInput(Imports):
    """Texts that are no scripts end with a message, in bounded time and memory."""

    def test_scripts(self):
        doubling = 'A=xxxxxxxxxxxxxxxx\n' + 'A="$A$A$A$A"\n' * 30
        hostile = {
            "open.sh": 'torchrun pretrain_gpt.py "--num-layers 8\n',
            "single.sh": "A='open\ntorchrun x.py\n",
            "substitution.sh": "A=$(( 1 + (2 )\ntorchrun x.py\n",
            "doubling.sh": doubling,
            "nested.sh": "A=" + "${B:-" * 5000 + "x" + "}" * 5000 + "\n",
            "parentheses.sh": "A=" + "$((" * 5000 + "1\n",
            "circle.sh": "source circle.sh\n",
            "eval.sh": 'X=\'eval "$X"\'\neval "$X"\n',
            "document.sh": "cat <<END\nno end\n",
            "zero.sh": "A=$((1/0))\ntorchrun x.py --num-layers $A --micro-batch-size 1 --tensor-model-parallel-size 1\n",
            "bytes.sh": "\x00\x01\x1f\x7f \x1fA\x1f \\",
            "reserved.sh": "fi done esac } then else elif do\n" * 100,
            "empty.sh": "",
        }
        for name, text in hostile.items():
            with self.subTest(name):
                self.write(text, name)
                begin = time.monotonic()
                self.assertRegex(self.refusal("import", name, "--gpus", "8"), r"prismopt: .+; .+|prismopt: .+\. Give ")
                self.assertLess(time.monotonic() - begin, 20)

    def test_documents(self):
        laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
        for name, text in {"laughs.yaml": laughs, "circle.yaml": "a: &a [*a]\n", "deep.json": "[" * 5000 + "]" * 5000,
                           "tags.yaml": "!!python/object:os.system x: y\n", "empty.yaml": "", "list.yaml": "- 1\n- 2\n"}.items():
            with self.subTest(name):
                self.write(text, name)
                self.refusal("import", name, "--gpus", "8")

    def test_large_files_are_refused(self):
        self.write("# comment\n" * 1_000_000, "large.sh")
        self.assertIn("is longer than", self.refusal("import", "large.sh"))

    def test_control_characters_are_not_printed(self):
        self.write(JOB.replace("MORE", "--odd \x1b[31mred"), "job.sh")
        self.assertNotIn("\x1b", self.output("import", "job.sh"))


if __name__ == "__main__":
    support.main()
