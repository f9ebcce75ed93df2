"""One line that starts a search, continues it and ends with 0 once it is complete: `prismopt search --continue`."""

import json
import pathlib
import re
import resource
import signal

import support
from stop_support import HEADER_BYTES, StopTest, records_of
from support import CALL_AGAIN, DONE, FAILURE, WRONG_INPUT


class Continue(StopTest):
    def line(self, *options, toml=None):
        return ("search", toml or self.toml, "--out", "study.h5", "--continue", *options)

    def long_study(self, fleets):
        return self.scenario("long.toml", minimise='["training_time_p50", "memory", "gpus"]',
                             rungs=f"[{{ fleets = 64, steps = 2 }}, {{ fleets = {fleets}, steps = 2 }}]")

    def legs(self, path="study.h5"):
        with support.h5py.File(self.folder / path) as file:
            group = file["legs"]
            ends = group["end"].attrs["flag_meanings"].split()
            return [ends[end] for end in group["end"][()]], group["ranks"][()].tolist(), float(group.attrs["core_hours"])

    def test_the_same_line_starts_continues_and_ends(self):
        process = self.start_and_wait(*self.line(), grow=20_000)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")
        process = self.start_and_wait(*self.line(), grow=10_000)
        process.kill()
        self.assertNotIn(self.end(process)[0], (DONE, CALL_AGAIN))
        killed = json.loads(self.output("inspect", "study.h5.journal", "--json"))["legs"][-1]
        self.assertEqual(killed["end"], "lost")
        self.assertGreater(killed["saved"], 0)  # counted, though it did not live to write how many
        finished = self.run_program(*self.line(), ranks=2, threads=2)
        self.assertEqual(finished.returncode, DONE, finished.stderr)
        self.assertRegex(finished.stderr, r"prismopt \S+ \(\S+, catalog [0-9a-f]{16}\): leg 3 of study\.h5, 1 node, 2 ranks, 4 threads")
        self.assertRegex(finished.stderr, r"taken from study\.h5\.journal: \d+ answers; \S+ core-hours in 2 legs before")
        self.assert_complete()
        ends, ranks, hours = self.legs()
        self.assertEqual((ends, ranks), (["stopped", "lost", "complete"], [1, 1, 2]))
        self.assertGreater(hours, 0.0)
        before = (self.folder / "study.h5").read_bytes()
        finished = self.run_program(*self.line(), ranks=2)
        self.assertEqual(finished.returncode, DONE, finished.stderr)
        self.assertRegex(finished.stderr, r"study\.h5: the search is complete.*prismopt report study\.h5")
        self.assertEqual((self.folder / "study.h5").read_bytes(), before)

    def test_a_kill_before_the_first_record_loses_nothing(self):
        whole = self.stopped_journal()
        for name, blank in {"empty": b"", "half a header": whole[:30], "header": whole[:HEADER_BYTES], "half a record": whole[:HEADER_BYTES + 40]}.items():
            with self.subTest(name):
                (self.folder / "study.h5").unlink(missing_ok=True)
                self.journal.write_bytes(blank)
                self.output(*self.line())
                self.assert_complete()

    def test_options_of_the_first_leg_hold(self):
        first = ("--no-posterior", "--max-time", "3 s", "--legs", "99")
        long = self.long_study(10240)
        self.output("search", long, "--out", "whole.h5", "--no-posterior", "--seed", "7")
        command = None
        codes = []
        for leg in range(100):
            # Neither a resume nor a line without them forgets them.
            line = ("resume", "study.h5") if leg % 2 else self.line("--seed", "7", *(first if leg == 0 else ()), toml=long)
            finished = self.run_program(*line)
            codes.append(finished.returncode)
            if finished.returncode != CALL_AGAIN:
                break
            self.assertRegex(finished.stderr, "stopped by --max-time")
            self.assertEqual("this leg ends after 3 s, as the first one (--max-time)" in finished.stderr, leg > 0)
            command = command or self.command_line()
            self.assertEqual(self.command_line(), command)
        self.assertEqual(codes[-1], DONE, finished.stderr)
        self.assertGreater(len(codes), 1)
        self.assertIn("--no-posterior", self.command_line())
        self.assertEqual(self.contents("study.h5"), self.contents("whole.h5"))
        with support.h5py.File(self.folder / "study.h5") as file:
            self.assertEqual(len(file["posterior/plan"]), 0)

    def command_line(self):
        with support.h5py.File(self.folder / "study.h5") as file:
            return file.attrs["command_line"]

    def test_another_study_is_refused_by_what_differs(self):
        self.stopped_journal()
        before = self.journal.read_bytes()
        other = self.scenario("other.toml", tokens="2e10")
        for line, differs in ((self.line("--seed", "7"), r"seed \(1 in the journal, 7 here\) differs"), (self.line(toml=other), r'scenario in line \d+ \("'),
                              (self.line("--strategy", "racing"), r"strategy \(\w+ in the journal, racing here\)"), (self.line("--part", "1/2", "--strategy", "racing"), r"part of the space \(1/1 in the journal, 1/2 here\)"),
                              (self.line("--max-evaluations", "9"), r"limit of evaluations \(0 in the journal, 9 here\)")):
            self.assertRegex(self.refusal(*line, ranks=0), rf"study\.h5\.journal belongs to another study: its .*{differs}")
        self.assertEqual(self.journal.read_bytes(), before)
        self.output(*self.line())
        self.assertRegex(self.refusal(*self.line("--seed", "7")), r"study\.h5 belongs to another study: its seed \(1 in the results, 7 here\)")

    def test_legs_are_limited(self):
        line = self.line("--max-time", "3 s", "--legs", "2", toml=self.long_study(204800))
        self.assertEqual(self.run_program(*line).returncode, CALL_AGAIN)
        finished = self.run_program(*line)
        self.assertEqual(finished.returncode, FAILURE, finished.stderr)
        self.assertRegex(finished.stderr, r"this was leg 2 of the study, and no other one follows on its own: allow more with --legs")
        self.assertRegex(self.refusal(*line), r"study\.h5 has had 2 legs and is not complete \(\S+ core-hours so far\)")
        finished = self.run_program("resume", "study.h5")  # with the time of the first leg
        self.assertRegex(finished.stderr, "stopped by --max-time")
        self.assertEqual(finished.returncode, CALL_AGAIN)  # whoever resumes by hand has decided

    def test_a_leg_that_saves_nothing_is_the_last(self):
        line = self.line("--max-time", "0.000001 s")
        finished = self.run_program(*line)
        self.assertEqual(finished.returncode, FAILURE, finished.stderr)
        self.assertRegex(finished.stderr, r"this leg of \S+ s saved nothing from which another one could go on.*start the same line again")
        self.output(*self.line("--max-time", "1 min"))
        self.assert_complete()

    def test_names_that_are_no_results_file(self):
        (self.folder / "folder").mkdir()
        self.write("hello\n", "notes.txt")
        self.write("hello\n", "damaged.h5.journal")
        for out, message in (("folder", "folder is a folder"), (self.toml.name, "is the scenario itself"), ("/dev/null", "is not a regular file"),
                             ("a.h5.journal", r"a\.h5\.journal is the name of the journal of a\.h5"),
                             ("notes.txt", r"(?s)notes\.txt is not a results file.*name another file with --out"),
                             ("damaged.h5", r"header is damaged.*start the search again with --force")):
            with self.subTest(out):
                self.assertRegex(self.refusal("search", self.toml, "--out", out, "--continue"), message)

    def test_options_that_exclude_each_other(self):
        self.assertRegex(self.refusal(*self.line("--force")), "--continue and --force exclude each other")
        self.assertRegex(self.refusal("search", self.toml, "--legs", "3"), "add --continue")
        self.assertRegex(self.refusal(*self.line("--legs", "0")), "--legs 0 is not a number of runs")


class Builds(StopTest):
    """A program whose catalog was changed after it was built, as a copy on one node may be."""

    def other_program(self):
        program = self.folder / "other_prismopt"
        built = pathlib.Path(support.PROGRAM).read_bytes()
        self.assertIn(b"312 TFLOP/s", built)
        program.write_bytes(built.replace(b"312 TFLOP/s", b"156 TFLOP/s"))
        program.chmod(0o755)
        return program

    def test_ranks_of_different_builds_are_refused(self):
        here = support.subprocess.run(
            [support.MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "1", support.PROGRAM, "search", self.toml, "--out", "study.h5",
             ":", "-n", "1", self.other_program(), "search", self.toml, "--out", "study.h5"],
            cwd=self.folder, env=support.environment(1), text=True, capture_output=True, timeout=100)
        self.assertEqual(here.returncode, WRONG_INPUT, here.stderr)
        self.assertRegex(here.stderr, r"rank 1 on \S+ runs prismopt .*catalog [0-9a-f]{16}\), but rank 0 on \S+ runs prismopt ")
        self.assertEqual([p.name for p in self.folder.glob("study.h5*")], [])

    def test_a_journal_stays_with_its_build(self):
        self.stopped_journal()
        before = self.journal.read_bytes()
        program, support.PROGRAM = support.PROGRAM, str(self.other_program())
        try:
            for line in (("resume", "study.h5"), ("search", self.toml, "--out", "study.h5", "--continue")):
                errors = self.refusal(*line)
                self.assertRegex(errors, r"study\.h5\.journal was written by prismopt .*, and this is prismopt .*: the catalog differs")
                self.assertEqual(self.journal.read_bytes(), before)
            described = self.output("inspect", "study.h5.journal")
        finally:
            support.PROGRAM = program
        self.assertRegex(described, r"written by prismopt \S+ \(\S+, catalog [0-9a-f]{16}\): prismopt search ")
        self.assertRegex(described, r"(?m)^1 leg, \S+ core-hours\n  1: 2\S+Z, 1 node, 1 rank, 1 thread, \S+ s, lost, ")


class Records(StopTest):
    def test_jobs_of_batch_systems(self):
        for system, variable in (("Slurm", "SLURM_JOB_ID"), ("PBS", "PBS_JOBID"), ("LSF", "LSB_JOBID")):  # Open MPI starts only in a real job of Flux
            finished = self.run_program("search", self.toml, "--out", "study.h5", "--max-time", "0.1 s", "--force", **{variable: "42.a"})
            self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
            self.assertIn(f"1 thread, job {system} 42.a", finished.stderr)
            for file in ("study.h5", "study.h5.journal"):
                described = json.loads(self.output("inspect", file, "--json"))
                self.assertEqual([leg["job"] for leg in described["legs"]], [f"{system} 42.a"])
                self.assertEqual(described["legs"][0]["end"], "stopped")
                self.assertGreater(described["core_hours"], 0.0)

    def test_exhausted_memory_says_what_to_request(self):
        """Which limit ends the start of the program and which ends the search depends on the machine."""
        for megabytes in range(60, 400, 5):
            limit = megabytes * 1000 * 1000
            finished = self.run_with("search", self.toml, "--out", "study.h5", text=True, capture_output=True,
                                     prepare=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            if "memory is exhausted" in finished.stderr:
                self.assertEqual(finished.returncode, FAILURE)
                self.assertRegex(finished.stderr, r"prismopt: (rank 0: )?memory is exhausted after \S+ GB \(ulimit -v allows 0\.\d+ GB\); the journal keeps what was computed: "
                                                  r"request about \S+ GB for each rank .*--continue")
                return
            self.journal.unlink(missing_ok=True)
        self.fail("no limit exhausts the memory of a search")

    def test_the_head_of_a_journal_is_stored_twice(self):
        whole = self.stopped_journal()
        first = records_of(whole)[0]
        self.journal.write_bytes(whole[:first[0]] + bytes(len(whole[:records_of(whole)[1][0]]) - first[0]) + whole[records_of(whole)[1][0]:])
        self.assertTrue(re.search("damaged", self.output("inspect", "study.h5.journal")))
        self.output("resume", "study.h5")
        self.assert_complete()


if __name__ == "__main__":
    support.main()
