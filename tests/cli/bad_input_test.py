"""Wrong input ends with exit code 2, before any search, and with a message that says what is wrong, why, and what to try."""

import os
import pathlib
import re
import time

import h5py

import support
from support import CliTest

# So long that a test would run into its time limit if the search began.
ENDLESS = "[{ fleets = 64, steps = 2 }, { fleets = 960000, steps = 2 }]"


class BadScenario(CliTest):
    def assert_refused(self, text, fragment, message, commands=("search",)):
        """The message begins with the file and the line that holds `fragment`."""
        self.write(text)
        line = text[:text.index(fragment)].count("\n") + 1
        for name in commands:
            errors = self.refusal(name, "study.toml")
            self.assertRegex(errors, rf"^prismopt: study\.toml:{line}: {message}\n$")
            self.assertEqual([p.name for p in self.folder.iterdir()], ["study.toml"])

    def changed(self, old, new):
        text = pathlib.Path(support.SMALL).read_text()
        self.assertEqual(text.count(old), 1, old)
        return text.replace(old, new)

    def test_values(self):
        for old, new, message in (
            ("hidden = 1024", "hiden = 1024", r"unknown key 'hiden' \(did you mean 'hidden'\?\)"),
            ('profile = "hpc-2024"', 'profile = "hpc-2024"\ncolour = 3', r"unknown key 'colour' \(known here: .*\); remove it or .*"),
            ('gpu_price = "1.50 USD/h"', "gpu_price = 1.5", r'gpu_price = 1\.5 has no unit \(needs US dollars per hour\); write "1\.5 USD/h"'),
            ('restart = "5 min"', 'restart = "5 GB"', r'restart = "5 GB" has the wrong unit \(needs a duration, but GB measures bytes\); write for example ".*"'),
            ('restart = "5 min"', 'restart = "5 fortnights"', r'restart = "5 fortnights" has the unknown unit "fortnights" .*; use one of .*min.*'),
            ("probability = 0.9 ", "headroom = 1.5 ", r"headroom = 1\.5 is not in \[0, 1\) \(share of the GPU memory that is reserved: not for training\); .*"),
            ("probability = 0.9 ", "probability = 90 ", r"probability = 90 is not in \[0.2, 1\) \(probability with which plans must fit into memory, .*"),
            ("tp = [1, 2, 4]", "tp = [1, 3]", r"tp = 3 is infeasible \(tp does not divide a block: tp=3, 16 heads of block \"attention\" in layer \"dense\"\); try 2 or 4"),
            ('"a100-sxm-40gb"', '"a100-smx-40gb"', r'accelerator = "a100-smx-40gb" is not one of .* \(accelerators in the catalog\); did you mean "a100-sxm-40gb"\? .*accelerator_override.*'),
            ("gpus = [16, 32, 64]", "gpus = [16, 128]", r"gpus = 128 exceeds the cluster \(\[cluster\] has 64 GPUs\); write 64 or less"),
            ('restart = "5 min"', 'restart = "1e300 s"', r'restart = "1e300 s" is not plausible \(needs a duration in the range of real machines and runs\); write for example ".*"'),
            ("fleets = 64, steps", "fleets = 65, steps", r"fleets = 65 is not a multiple of 64 .*; try 64 or 128"),
        ):
            with self.subTest(new):
                self.assert_refused(self.changed(old, new), new.split("\n")[-1], message)

    def test_every_command_that_reads_one(self):
        text = self.changed("hidden = 1024", "hiden = 1024")
        self.assert_refused(text, "hiden", "unknown key 'hiden'.*", ("search", "predict", "validate"))
        # Under mpirun the message comes once.
        for name in ("search", "predict", "validate"):
            self.assertEqual(self.refusal(name, "study.toml", ranks=2).count("unknown key 'hiden'"), 1)

    def test_empty_space(self):
        text = self.changed("gpus = [16, 32, 64]", "gpus = [48]").replace("tp = [1, 2, 4]", "tp = [1, 2]")
        self.write(text)
        for arguments, ranks in ((("search", "study.toml"), 0), (("validate", "study.toml"), 0), (("search", "study.toml"), 2)):
            errors = self.refusal(*arguments, ranks=ranks)
            self.assertRegex(errors, r"prismopt: study\.toml: none of the 144 combinations of values in \[space\] is a feasible plan:\n"
                                     r"  global batch not divisible by dp\*microbatch: 144 \(100\.0 %\); for example dp\*microbatch = 48 .*\(gpus=48 .*\)\n"
                                     r"no number of replicas .* divides the batch; try global_batch = 96, or gpus = 32 in \[space\]")
            self.assertEqual(errors.count("prismopt:"), 1)
            self.assertEqual([p.name for p in self.folder.iterdir()], ["study.toml"])  # no journal is left behind

    def test_a_phase_that_no_plan_suits(self):
        """48 = 3 * 16 GPUs and a batch of 64: some stages or tensor ranks must come in threes."""
        phase = '[[phase]]\ntokens = 1e9\nsequence_length = 1024\nglobal_batch = 64\ngpus = 48\n\n[cluster]'
        for command in (("validate", "study.toml"), ("search", "study.toml", "--dry-run")):
            self.write(self.changed("[cluster]", phase))
            errors = self.refusal(*command)
            self.assertRegex(errors, r"\n  global batch not divisible by dp\*microbatch in phase 2: 648 \(100\.0 %\); for example "
                                     r"dp\*microbatch = 48 must divide global_batch = 64 of the phase on 48 GPUs; try 48 or 96 \(gpus=16 ")
            self.assertRegex(errors, r"\[\[phase\]\], phase 2")
        self.write(self.changed("[cluster]", phase).replace("pp = [1, 2, 4]", "pp = [1, 2, 3]").replace("gpus = [16, 32, 64]", "gpus = [48]")
                   .replace("global_batch = 64  ", "global_batch = 96  "))
        self.output("validate", "study.toml")

    def test_everything_out_of_memory(self):
        text = pathlib.Path(support.SMALL).read_text()
        begin, end = text.index("[workload]"), text.index("[[phase]]")
        self.write(text[:begin] + '[workload]\nmodel = "llama3-405b"\n\n' + text[end:])
        for name in ("search", "validate"):
            errors = self.refusal(name, "study.toml")
            miss, plan = self.assertMatch(errors, r"\n  out of memory: \d+ \(.* %\); the closest plan exceeds the memory by (\d+\.\d\d) GB: .* GB .*\((gpus=.*)\)\n")
            self.assertRegex(plan, "tp=4 pp=4 .*recompute=full")
            self.assertRegex(errors, r"\ntry larger tp or pp, recompute, sharding or offload, a smaller microbatch, more GPUs, or an accelerator with more memory\n$")
            self.assertGreater(float(miss), 1.0)
        # That plan alone says the same.
        alone = self.output("predict", "study.toml", "--design", plan, code=support.INFEASIBLE)
        self.assertRegex(alone, "infeasible: out of memory: ")

    def test_a_single_gpu_is_too_small(self):
        """What splits a model over GPUs is no advice for one."""
        text = pathlib.Path(support.SMALL).read_text()
        for axis in ("gpus", "tp", "pp"):
            text = re.sub(rf"(?m)^{axis} = \[.*", f"{axis} = [1]", text)
        text = re.sub(r'(?m)^schedule = .*', 'schedule = ["1f1b"]', text)
        text = re.sub(r"(?m)^v = .*", "v = [1]", text)
        begin, end = text.index("[workload]"), text.index("[[phase]]")
        self.write(text[:begin] + '[workload]\nmodel = "llama3-8b"\n\n' + text[end:])
        self.assertRegex(self.refusal("validate", "study.toml"), r"\ntry recompute, offload, a smaller microbatch, more GPUs, or an accelerator with more memory\n$")

    def assertMatch(self, text, pattern):
        self.assertRegex(text, pattern)
        return support.re.search(pattern, text).groups()

    def test_unreadable(self):
        (self.folder / "folder").mkdir()
        for path, why in (("none.toml", "No such file or directory"), ("folder", "it is a directory"), ("/dev/null", "it is not a regular file")):
            for name in ("search", "predict"):
                self.assertRegex(self.refusal(name, path), rf"^prismopt: {path}: cannot be read \({why}\); give the path of .*\n$")


class BadOutput(CliTest):
    def setUp(self):
        super().setUp()
        self.toml = self.scenario(rungs=ENDLESS)

    def test_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        for out, message in (
            ("none/study.h5", r"cannot write none/study\.h5\.journal \(No such file or directory\); check that its folder exists"),
            ("study.toml/study.h5", r"cannot write .* \(Not a directory\); check"),
            ("/proc/study.h5", r"cannot write /proc/study\.h5\.journal \(.*\); check"),
            ("x" * 300 + ".h5", r"x+\.h5: File name too long; name another file"),
            ("folder", r"folder is a folder; --out needs the name of a file"),
        ):
            for ranks in (0, 2) if out.startswith("none") else (0,):
                with self.subTest(out=out, ranks=ranks):
                    errors = self.refusal("search", self.toml, "--out", out, ranks=ranks, timeout=30)
                    self.assertRegex(errors, f"prismopt: {message}")
                    self.assertEqual(errors.count("prismopt: "), 1)

    def test_what_exists_is_kept(self):
        results, journal = self.folder / "study.h5", self.folder / "study.h5.journal"
        results.write_bytes(b"precious")
        for ranks in (0, 2):
            errors = self.refusal("search", self.toml, ranks=ranks, timeout=30)  # the default name is that of the scenario
            self.assertRegex(errors, r"prismopt: study\.h5 already exists; name another file with --out, or overwrite it with --force\n")
            self.assertEqual(errors.count("already exists"), 1)
        journal.write_bytes(b"precious too")
        errors = self.refusal("search", self.toml, timeout=30)
        self.assertRegex(errors, r"study\.h5 already exists; .* --force, or continue the search with --continue\n")
        # Neither does a wrong scenario with --force cost anything.
        self.scenario("wrong.toml", probability="2")
        self.refusal("search", "wrong.toml", "--out", "study.h5", "--force")
        self.assertEqual(results.read_bytes(), b"precious")
        self.assertEqual(journal.read_bytes(), b"precious too")

    def test_force_spares_what_is_no_result(self):
        scenario = self.scenario("study.toml")
        before = scenario.read_bytes()
        errors = self.refusal("search", "study.toml", "--out", "./study.toml", "--force", timeout=30)
        self.assertRegex(errors, r"study\.toml is the scenario itself; name another file with --out\n")
        self.assertEqual(scenario.read_bytes(), before)
        (self.folder / "link.h5").symlink_to("elsewhere.h5")
        os.mkfifo(self.folder / "pipe.h5")
        for name in ("link.h5", "pipe.h5"):
            errors = self.refusal("search", "study.toml", "--out", name, "--force", timeout=30)
            self.assertRegex(errors, rf"{name} is not a regular file and is not overwritten; name another file with --out\n")

    def test_two_searches_do_not_share_a_file(self):
        self.scenario("study.toml", rungs=ENDLESS)
        first = self.start_program("search", "study.toml", "--out", "one.h5")
        journal = self.folder / "one.h5.journal"
        self.wait_for(lambda: journal.exists() and journal.stat().st_size > 1000)
        for arguments in (("search", "study.toml", "--out", "one.h5", "--force"), ("resume", "one.h5")):
            errors = self.refusal(*arguments, timeout=30)
            self.assertIn("one.h5.journal is being written by another prismopt", errors)
        self.assertTrue(journal.exists())
        first.kill()

    def wait_for(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_force_replaces(self):
        results = self.folder / "small.h5"
        results.write_bytes(b"old")
        (self.folder / "small.h5.journal").write_bytes(b"old too")
        self.output("search", support.SMALL, "--force")
        self.assertEqual(results.read_bytes()[513:516], b"HDF")  # behind the block with the checksum
        self.assertFalse((self.folder / "small.h5.journal").exists())


class BadCommandLine(CliTest):
    def assert_refused(self, arguments, message):
        with self.subTest(arguments=arguments):
            self.assertRegex(self.refusal(*arguments, timeout=30), rf"^prismopt: {message}\n$")

    def test_usage(self):
        small = support.SMALL
        for arguments, message in (
            (["serch", small], r"unknown command 'serch' \(did you mean 'search'\?\); prismopt --help lists all"),
            (["xyzzy"], r"unknown command 'xyzzy'; prismopt --help lists all"),
            (["search", small, "--fast"], r"prismopt search: unrecognised option '--fast' \(did you mean '--part'\?\); see prismopt search --help"),
            (["search"], r"prismopt search needs a SCENARIO; see prismopt search --help"),
            (["resume"], r"prismopt resume needs a FILE; see prismopt resume --help"),
            (["search", small, small], r"prismopt search: too many positional options .*; see prismopt search --help"),
            (["search", small, "--out"], r"prismopt search: the required argument for option '--out' is missing; see .*"),
            (["search", small, "--seed", "x"], r"prismopt search: the argument \('x'\) for option '--seed' is invalid; see .*"),
            (["search", small, "--seed=-1"], r"--seed -1 is negative; write a whole number, for example --seed 1"),
            (["predict", small, "--draws", "0"], r"--draws 0 is not between 1 and \d+; write for example --draws 8192"),
            (["predict", small, "--draws", "2000000000"], r"--draws 2000000000 is not between .*"),
            (["predict", small, "--seed=-1"], r"--seed -1 is negative; .*"),
            (["search", small, "--max-time", "soon"], r'--max-time soon does not begin with a number \(needs a duration\); write for example "55 min", or "00:55:00" .*'),
            (["search", small, "--max-time", "55"], r'--max-time 55 has no unit \(needs a duration\); write "55 min", or "00:55:00" \(hours, minutes, seconds\)'),
            (["search", small, "--max-time", "10:00"], r'--max-time 10:00 .*"00:55:00" \(hours, minutes, seconds\)'),
            (["search", small, "--max-time", "00:10:60"], r"--max-time 00:10:60 .*"),
            (["search", small, "--max-time", "00:00:00"], r"--max-time 00:00:00 is not positive; .*"),
            (["search", small, "--max-time", "5 GB"], r"--max-time 5 GB has the wrong unit .*"),
            (["search", small, "--max-time=-5 min"], r'--max-time -5 min is not positive; write for example "55 min"'),
            (["search", small, "--max-time", "0 s"], r"--max-time 0 s is not positive; .*"),
        ):
            self.assert_refused(arguments, message)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_usage_under_mpirun(self):
        for arguments, message in ((["serch"], "unknown command"), (["search", support.SMALL, "--fast"], "unrecognised option"),
                                   (["search", support.SMALL, "--max-time", "55"], "has no unit")):
            self.assertEqual(self.refusal(*arguments, ranks=2, timeout=30).count(message), 1)

    def test_designs(self):
        for design, message in (
            ("tq=2", r"plan: unknown name 'tq'; names are gpus tp cp ulysses pp ep etp table_shards order crossing local_steps microbatch schedule v group .* shard_gpus .* dp"),
            ("tp=two", r"plan: tp=two is not a whole number from 1 to 2147483647; write for example tp=8"),
            ("schedule=zigzag", r"plan: schedule=zigzag is unknown; choose from: gpipe, 1f1b, interleaved, zb_h1, zb_h2, zb_v, v_half, v_min, dualpipe, dualpipe_v"),
            ("gpus=64 tp=3 pp=7", r"plan: tp\*pp = 21 does not divide gpus=64; change one of them"),
            ("gpus=128", r"plan: gpus=128 is more than the cluster's 64; use at most that many"),
        ):
            self.assert_refused(["predict", support.SMALL, "--json", "--design", design], message)

    def test_files_that_are_no_results(self):
        self.scenario()
        self.searched(support.SMALL, "good.h5")
        good = (self.folder / "good.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(good[:len(good) // 2])
        with h5py.File(self.folder / "other.h5", "w") as other:
            other["x"] = 1
        (self.folder / "folder").mkdir()
        for file, message in (
            ("none.h5", r"cannot open none\.h5 \(No such file or directory\); give the path of a results file"),
            ("study.toml", r"study\.toml is not a results file \(it has no HDF5 signature\); give a file that `prismopt search` wrote"),
            ("cut.h5", r"cut\.h5 is damaged or truncated.*"),
            ("other.h5", r"other\.h5 is HDF5, but not a results file of prismopt .*; give a file that `prismopt search` wrote"),
            ("folder", r"folder is not a results file .*"),
        ):
            self.assert_refused(["report", file], message)
        self.assert_refused(["inspect", "cut.h5"], r"cut\.h5 is damaged or truncated.*")
        (self.folder / "text.journal").write_text("not a journal")
        self.assert_refused(["inspect", "text.journal"], r"text\.journal is not a journal of prismopt .*; give the path of a \.journal file, or start the search again with --force")

        self.assert_refused(["report", "good.h5", "--csv", "none/front.csv"],
                            r"--csv none/front\.csv cannot be written \(No such file or directory\); name a file in a folder .*")
        self.assert_refused(["report", "good.h5", "--csv", "./good.h5"],
                            r"--csv \./good\.h5 is an input of this command and would be overwritten; name another file")
        self.assertEqual((self.folder / "good.h5").read_bytes(), good)

    def test_no_command(self):
        self.assertRegex(self.output(code=support.WRONG_INPUT), "^Usage: prismopt COMMAND")


if __name__ == "__main__":
    support.main()
