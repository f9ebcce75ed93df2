"""What the program says of itself: help, version, completion, manual page, and a scenario to start from."""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tomllib

import support
from support import CliTest


class Help(CliTest):
    def commands(self):
        overview = self.output("--help")
        return re.findall(r"(?m)^  ([a-z-]+) ", overview.split("Examples:")[0])

    def options(self, command):
        return set(re.findall(r"(?m)^  (?:-[a-z] \[ )?(--[a-z-]+)", self.output(command, "--help")))

    def test_each_command_has_an_example(self):
        examples = self.output("--help").split("Examples:\n")[1]
        for command in self.commands():
            self.assertRegex(examples, rf"(?m)^  .*prismopt {command}\b")

    def test_exit_codes_are_listed(self):
        """The tests' own list, help's, the manual's and the guide's."""
        known = {support.DONE, support.FAILURE, support.WRONG_INPUT, support.INFEASIBLE, support.CHANGED, support.UNEXPECTED_LEVEL,
                 support.SILENT, support.CALL_AGAIN}
        helped = dict(re.findall(r"(?m)^ +(\d+)  (.*)$", self.output("--help").split("Exit codes:\n")[1]))
        manual = dict(re.findall(r"\.TP\n\.B (\d+)\n(.*)\n", self.output("manual").split(".SH EXIT STATUS")[1].split(".SH")[0]))
        guide = (pathlib.Path(__file__).parents[2] / "docs/launch.md").read_text()
        self.assertEqual(set(map(int, helped)), known)
        self.assertEqual(helped, manual)
        self.assertEqual(dict(re.findall(r"(?m)^\| (\d+) \| (.*?) \|", guide)), helped)

    def test_version_names_what_it_was_built_with(self):
        self.assertRegex(self.output("--version"),
                         r"^prismopt \d+\.\d+\.\d+ \(.+\)\ncompiler: \S+ [\d.]+, \w+\nMPI: .*\d.*\nHDF5: \d+\.\d+\.\d+\n$")

    def test_slips_are_corrected(self):
        self.assertIn("did you mean '--max-time'?", self.refusal("search", support.SMALL, "--mx-time", "1 s"))
        self.assertIn("did you mean 'search'?", self.refusal("serch", support.SMALL))

    def test_outputs_have_a_short_option(self):
        with_output = [command for command in self.commands() if "--out" in self.options(command)]
        self.assertIn("search", with_output)
        for command in with_output:
            self.assertRegex(self.output(command, "--help"), r"(?m)^  -o \[ --out \] FILE")
        self.output("init", "--workload", "llama3-8b", "--gpus", 8, "-o", "a.toml")
        self.output("init", "--workload", "llama3-8b", "--gpus", 8, "--out", "b.toml")
        self.assertEqual((self.folder / "a.toml").read_text().replace('"a"', '"b"').replace("a.toml", "b.toml"), (self.folder / "b.toml").read_text())
        self.assertIn("\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR", self.output("manual"))
        self.assertIn("'(-o --out)'{-o,--out}'[", self.output("completion", "zsh"))
        self.assertRegex(self.output("completion", "bash"), r"search\) options=\"[^\"]*-o --out[ \"][^\n]* valued=\"[^\"]*-o \| --out")

    def test_bash_completes_commands_and_options(self):
        def completed(*words):
            script = f"""source <("$1" completion bash); shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _prismopt; printf '%s\\n' "${{COMPREPLY[@]}}" """
            return subprocess.run(["bash", "-c", script, "bash", support.PROGRAM, *words], cwd=self.folder, check=True, text=True,
                                  capture_output=True).stdout.split()
        self.assertEqual(completed("prismopt", "expo"), ["export"])
        self.assertEqual(set(self.commands()) | {"--help", "--version"}, set(completed("prismopt", "")))
        for command in self.commands():
            completions = set(completed("prismopt", command, "--"))
            self.assertEqual(completions, {"--help"} | self.options(command), command)
        self.assertEqual(completed("prismopt", "export", "--target", "meg"), ["megatron"])
        self.assertEqual(completed("prismopt", "search", "--strategy", "nsga"), ["nsga2", "nsga3"])
        self.assertIn("llama3-8b", completed("prismopt", "init", "--workload", ""))
        self.assertEqual(completed("prismopt", "init", "--instance", "p5en"), ["p5en.48xlarge"])
        self.assertEqual(completed("prismopt", "init", "--list", "acc"), ["accelerators"])
        (self.folder / "study.toml").touch()
        self.assertEqual(completed("prismopt", "search", "st"), ["study.toml"])
        self.assertEqual(completed("prismopt", "search", "--out", "st"), ["study.toml"])

    def test_zsh_reads_its_completion(self):
        text = self.output("completion", "zsh")
        for command in self.commands():
            self.assertIn(f"        {command}) _arguments", text)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n", self.write(text, "_prismopt")], check=True)
        self.assertIn("write bash or zsh", self.refusal("completion", "fish"))

    def test_the_manual_has_every_option(self):
        page = self.output("manual")
        for command in self.commands():
            self.assertIn(f'.SS "{command} ', page)
            for option in self.options(command):
                self.assertIn(r"\fB" + option.replace("-", r"\-") + r"\fR", page)
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, text=True, capture_output=True, check=True)
            self.assertEqual(shown.stderr, "")

    def test_colours_only_where_they_are_wanted(self):
        """A warning on a terminal has them, unless NO_COLOR is set."""
        toml = self.scenario(confirm="{ fleets = 256, steps = 1 }")
        for wish, coloured in ((None, True), ("1", False)):
            end, terminal = pty.openpty()
            environment = support.environment(1, TERM="xterm")
            environment.pop("NO_COLOR", None)
            if wish:
                environment["NO_COLOR"] = wish
            with subprocess.Popen([support.PROGRAM, "search", toml, "--force"], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                                  stderr=terminal) as process:
                os.close(terminal)
                said = b""
                while True:
                    try:
                        more = os.read(end, 4096)
                    except OSError:
                        break
                    if not more:
                        break
                    said += more
            os.close(end)
            self.assertEqual(process.returncode, 0)
            self.assertIn(b"warning", said)
            self.assertEqual(re.search(rb"\x1b\[[\d;]*m", said) is not None, coloured, said)


class Init(CliTest):
    def test_starters_are_valid(self):
        for workload, accelerator, gpus in (("llama3-8b", "h100-sxm", 64), ("llama3-70b", "h200-sxm", 1024), ("mixtral-8x7b", "a100-sxm-80gb", 128),
                                            ("gpt3-175b", "mi300x", 512), ("deepseek-v3", "gb200", 1152), ("llama2-7b", "b200-sxm", 8),
                                            ("gpt3-5b", "v100-sxm2-32gb", 96)):
            name = f"{workload}-{gpus}.toml"
            self.assertIn("next: prismopt validate", self.output("init", "--workload", workload, "--accelerator", accelerator, "--gpus", gpus, "--out", name))
            toml = tomllib.loads((self.folder / name).read_text())
            self.assertEqual((toml["workload"]["model"], toml["cluster"]["gpus"], toml["cluster"]["accelerator"]), (workload, gpus, accelerator))
            self.assertRegex(self.output("validate", name), r"(?m)^Space: .*: [1-9]\d* feasible plans")

    def test_machines_that_people_own(self):
        """From a name to a first prediction: cards in a box, nodes of a card each, and an instance of a cloud."""
        for name, machine in (("box", ("--accelerator", "RTX4090", "--gpus", 8)),
                              ("single", ("--accelerator", "a10", "--gpus", 4, "--gpus-per-node", 1, "--network", "eth-10g")),
                              ("cloud", ("--instance", "p5en.48xlarge", "--gpus", 16))):
            self.output("init", "--workload", "gpt2-xl", *machine, "--out", f"{name}.toml")
            self.assertRegex(self.output("validate", f"{name}.toml"), r"(?m)^Space: .*: [1-9]\d* feasible plans")
            toml = tomllib.loads((self.folder / f"{name}.toml").read_text())
            self.assertEqual(toml["cluster"]["gpus"], machine[machine.index("--gpus") + 1])
        self.assertGreater(json.loads(self.output("predict", "cloud.toml", "--json"))["estimates"]["step_time_p99"]["value"], 0)
        self.assertIn("# p5en.48xlarge: 8 x h200-sxm", (self.folder / "cloud.toml").read_text())
        self.assertIn("remove one of the two", self.refusal("init", "--workload", "llama3-8b", "--gpus", 8, "--instance", "p5en.48xlarge",
                                                            "--accelerator", "h200-sxm"))
        self.assertIn("did you mean 'p5en.48xlarge'?", self.refusal("init", "--workload", "llama3-8b", "--gpus", 8, "--instance", "p5en"))

    def test_the_catalog_is_listed(self):
        for kind, name in (("accelerators", "rtx-4090"), ("instances", "p5en.48xlarge"), ("links", "pcie4-x16"), ("workloads", "llama3-8b")):
            self.assertRegex(self.output("init", "--list", kind), rf"(?m)^{re.escape(name)}  ")
        self.assertIn("did you mean 'accelerators'?", self.refusal("init", "--list", "accelerator"))

    def test_what_is_next_can_be_pasted(self):
        text = self.output("init", "--workload", "llama3-8b", "--gpus", "64", "--out", "my study.toml")
        self.assertIn("next: prismopt validate 'my study.toml'; prismopt search 'my study.toml'\n", text)
        self.assertIn("#   prismopt validate 'my study.toml'\n", (self.folder / "my study.toml").read_text())

    def test_long_sequences_are_shared(self):
        self.output("init", "--workload", "llama3-70b", "--gpus", 1024, "--sequence-length", 1000000, "--out", "long.toml")
        self.assertRegex(self.output("validate", "long.toml"), r"(?m)^Space: .*: [1-9]\d* feasible plans")

    def test_the_starter_of_the_quick_tour_is_searched_to_its_end(self):
        self.output("init", "--workload", "llama3-70b", "--accelerator", "h100-sxm", "--gpus", 1024, "--out", "my.toml")
        found = self.run_program("search", "my.toml", "--out", "my.h5")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertNotIn("too few for upper confidence limits", found.stderr)
        self.assertRegex(found.stdout, r"proved complete: [\d,]+ feasible plans, [\d,]{5,} excluded by their lower bounds")

    def test_it_says_what_it_needs(self):
        self.assertIn("needs --workload", self.refusal("init"))
        self.assertIn("needs --gpus", self.refusal("init", "--workload", "llama3-8b"))
        self.assertIn("did you mean 'llama3-8b'?", self.refusal("init", "--workload", "lama3-8b", "--gpus", "64"))
        for option in ("--tokens", "--global-batch", "--sequence-length", "--gpus"):
            for value in ("0", "-5"):
                given = {"--workload": "llama3-8b", "--gpus": "64", option: value}
                self.assertIn(f"{option} {value} is not positive", self.refusal("init", *(word for pair in given.items() for word in pair)))
        self.assertIn("these options do not give a valid scenario: ", self.refusal("init", "--workload", "llama3-8b", "--gpus", "64", "--tokens", "1e99"))
        self.assertIn("gpus = 65   # 8 nodes of 8 GPUs, and 1 of another", self.output("init", "--workload", "llama3-8b", "--gpus", "65"))

    def test_networks_are_imported(self):
        config = {"architectures": ["Qwen3ForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
                  "intermediate_size": 12288, "vocab_size": 151936, "tie_word_embeddings": False}
        self.write(json.dumps(config), "qwen.json")
        self.output("init", "--model-config", "qwen.json", "--gpus", 64, "--out", "imported.toml")
        self.assertRegex((self.folder / "imported.toml").read_text(), "# assumed: head_dim = 128 ")
        validated = self.output("validate", "imported.toml")
        self.assertRegex(validated, r"(?m)^Space: .*: [1-9]\d* feasible plans")
        self.assertIn("8.19", validated)
        self.write(json.dumps(config | {"architectures": ["NewNetForCausalLM"]}), "new.json")
        self.assertRegex(self.refusal("init", "--model-config", "new.json", "--gpus", 64), r"NewNetForCausalLM.*docs/networks\.md")
        self.assertIn("remove one of the two", self.refusal("init", "--model-config", "qwen.json", "--workload", "llama3-8b", "--gpus", 64))
        self.assertIn("is not a file", self.refusal("init", "--model-config", "nowhere.json", "--gpus", 64))
        self.assertIn("say how a config.json is read", self.refusal("init", "--workload", "llama3-8b", "--model-class", "Qwen3ForCausalLM", "--gpus", 64))

    def test_networks_are_imported_by_the_names_that_the_user_gives(self):
        config = {"architectures": ["NewMoeForCausalLM"], "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16, "vocab_size": 32000,
                  "moe": {"experts": 8}, "ffn_dim": 2048, "tie_word_embeddings": False, "torch_dtype": "bfloat16"}
        self.write(json.dumps(config), "config.json")
        read = ("--model-config", "config.json", "--gpus", 64, "--model-class", "MixtralForCausalLM", "--field", "num_local_experts=moe.experts",
                "--field", "intermediate_size=ffn_dim", "--field", "num_experts_per_tok=2")
        self.assertIn("count = 8, active = 2, inner = 2048", self.output("init", *read))
        self.assertIn("has no field ffn_width", self.refusal("init", *read, "--field", "intermediate_size=ffn_width"))
        parameters = 2 * 32000 * 1024 + 1024 + 4 * (4 * 1024**2 + 2 * 1024 + 8 * (3 * 1024 * 2048 + 1024))
        for stored, warned in ((parameters, False), (parameters * 1.01, True)):
            self.write(json.dumps({"metadata": {"total_size": 2 * stored}, "weight_map": {}}), "model.safetensors.index.json")
            done = self.run_program("init", *read)
            self.assertEqual("model.safetensors.index.json beside the file has" in done.stderr, warned, done.stderr)

    def test_tokens_take_si_suffixes(self):
        for text, tokens in (("15T", 15e12), ("300B", 300e9), ("15.6e12", 15.6e12)):
            toml = tomllib.loads(self.output("init", "--workload", "llama3-8b", "--gpus", "64", "--tokens", text))
            self.assertEqual(toml["phase"][0]["tokens"], tokens)
        self.assertIn("15Q has the unknown suffix", self.refusal("init", "--workload", "llama3-8b", "--gpus", "64", "--tokens", "15Q"))

    def test_files_are_kept(self):
        kept = self.write("mine", "mine.toml")
        self.assertIn("already exists and is not overwritten", self.refusal("init", "--workload", "llama3-8b", "--gpus", "64", "--out", "mine.toml"))
        self.assertEqual(kept.read_text(), "mine")


if __name__ == "__main__":
    support.main()
