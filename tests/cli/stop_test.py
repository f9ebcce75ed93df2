"""A search that was stopped or killed and then resumed ends with the results of one that was not."""

import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import time
import unittest.mock
import zlib

import support
from support import CALL_AGAIN, DONE, CliTest

HEADER_BYTES = 48  # two copies of 24
RECORD_HEAD_BYTES = 12
TIMEOUT_S = 100
MOST_WAIT_S = 8  # for a stop that takes a second where nothing else runs, and for writing the results


class Stop(CliTest):
    reference = None  # contents of the results of a search that nobody stopped

    def setUp(self):
        super().setUp()
        # No bound holds for a median, so every plan is drawn: some hundred answers, over a second or more.
        self.toml = self.scenario(minimise='["training_time_p50", "memory", "gpus"]',
                                  rungs="[{ fleets = 64, steps = 2 }, { fleets = 5120, steps = 2 }]")
        if Stop.reference is None:
            self.output("search", self.toml, "--out", "reference.h5")
            # The path is an attribute, and each test has another.
            Stop.reference = self.contents("reference.h5")

    def contents(self, out):
        contents = support.contents_of(self.folder / out)
        del contents["attributes of /"]["scenario_path"]
        return contents

    @property
    def journal(self):
        return self.folder / "study.h5.journal"

    def journal_bytes(self):
        try:
            return self.journal.stat().st_size
        except FileNotFoundError:
            return 0

    def start_and_wait(self, *arguments, grow, **how):
        """Returns a running process whose journal has grown by so many bytes."""
        before = self.journal_bytes()
        process = self.start_program(*arguments, **how)
        deadline = time.monotonic() + TIMEOUT_S
        while self.journal_bytes() < before + grow and process.poll() is None:
            self.assertLess(time.monotonic(), deadline, "the journal does not grow")
            time.sleep(0.002)
        return process

    def end(self, process):
        errors = process.communicate(timeout=TIMEOUT_S)[1]
        return process.returncode, errors

    def assert_stopped(self, process, why):
        code, errors = self.end(process)
        self.assertEqual(code, CALL_AGAIN, errors)
        self.assertRegex(errors, rf"stopped by {why}; .*continue with: prismopt resume study\.h5")
        self.assertTrue(self.journal.exists())
        self.assertRegex(self.output("inspect", "study.h5"), rf"Study small .*stopped by {why}")
        self.assertRegex(self.output("report", "study.h5"), rf"Search: stopped by {why}")
        self.assert_provisional()
        self.assertRegex(self.output("inspect", "study.h5.journal"), r'journal of "small" .* answers, .*undamaged')

    def assert_provisional(self):
        """The file of a stopped search holds the front of what was drawn, flagged, and counts each combination once."""
        with support.h5py.File(self.folder / "study.h5") as file:
            space, study, front, evaluations = (file[name] for name in ("space", "study", "front", "evaluations"))
            found = {name: int(study.attrs[name]) for name in ("pruned", "evaluated", "open")}
            self.assertEqual(sum(found.values()), space.attrs["feasible"])
            infeasible = int(space["rejected_count"][()].sum())
            unseen = int(space.attrs["raw_tuples"]) - infeasible - sum(found.values())
            no_plans = sum(int(count) for reason, count in zip(space["rejected"].asstr()[()], space["rejected_count"][()])
                           if reason.startswith(("same plan", "schedule not defined")))
            self.assertEqual(front.attrs["provisional"], 1)
            drawn = dict(zip(evaluations["evaluation"][()].tolist(), evaluations["draws"][()].tolist()))
            self.assertEqual(front["draws"][()].tolist(), [drawn[point] for point in front["evaluation"][()]])
            self.assertTrue(all(0 < low < 1 < high for low, high in zip(front["model_low"][()], front["model_high"][()])))
            self.assertEqual(len(front["evaluation"]) > 0, max(drawn.values(), default=0) > 0)
        counts = (f"of {grouped(infeasible + unseen + sum(found.values()))} combinations of values: {grouped(no_plans)} duplicate or undefined, "
                  f"{grouped(infeasible - no_plans)} infeasible, {found['pruned']} excluded by their lower bounds, {found['evaluated']} evaluated, {found['open']} open, {unseen} not examined")
        self.assertIn(counts, self.output("inspect", "study.h5"))
        self.output("report", "study.h5", "--csv", "front.csv")
        header, *rows = (line.split(",") for line in (self.folder / "front.csv").read_text().splitlines())
        self.assertEqual({row[header.index("provisional")] for row in rows}, {"1"} if rows else set())

    def assert_resumes_to_the_end(self, file="study.h5", **how):
        self.output("resume", file, **how)
        self.assert_complete()

    def assert_complete(self):
        self.assertFalse(self.journal.exists())
        self.assertEqual(sorted(p.name for p in self.folder.glob("study.h5*")), ["study.h5"])
        contents = self.contents("study.h5")
        self.assertEqual(list(contents), list(Stop.reference))
        for name, value in Stop.reference.items():
            self.assertEqual(contents[name], value, f"{name} differs from the study that was not stopped")

    def test_max_time(self):
        finished = self.run_program("search", self.toml, "--out", "study.h5", "--max-time", "0.05 s")
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        self.assertRegex(finished.stderr, r"stopped by --max-time; incomplete: .*continue with: prismopt resume study\.h5")
        self.assertRegex(self.output("report", "study.h5"), "stopped by --max-time")
        self.output("resume", "study.h5", "--max-time", "0.05 s", code=CALL_AGAIN)
        self.assert_resumes_to_the_end(ranks=2)

    def test_max_time_holds_while_the_front_is_confirmed(self):
        """Some fifty points of many draws."""
        self.scenario(minimise='["training_time_p50", "memory", "gpus"]', confirm="{ fleets = 128000, steps = 1 }")
        finished = self.run_program("search", "study.toml", "--out", "study.h5", "--max-time", "2 s")
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        self.assertTrue(self.journal.exists())
        self.assertRegex(self.output("report", "study.h5"), "stopped by --max-time")
        self.assert_provisional()

    def test_a_stop_does_not_wait_for_all_draws_of_a_plan(self):
        """A million fleets a plan take tens of seconds."""
        self.scenario(minimise='["training_time_p50", "memory", "gpus"]',
                      rungs="[{ fleets = 64, steps = 2 }, { fleets = 960000, steps = 2 }]")
        start = time.monotonic()
        finished = self.run_program("search", "study.toml", "--out", "study.h5", "--max-time", "2 s")
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        self.assertLess(time.monotonic() - start, 2 + 5)

    def test_sigusr1_under_mpirun(self):
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000, ranks=2)
        process.send_signal(signal.SIGUSR1)  # mpirun hands it to the ranks
        self.assert_stopped(process, "SIGUSR1")
        self.assert_resumes_to_the_end(threads=2)

    def test_threads_wait_as_the_user_says_or_briefly(self):
        for given, waits in (({}, b"GOMP_SPINCOUNT=1000"), ({"OMP_WAIT_POLICY": "active"}, b"OMP_WAIT_POLICY=active")):
            with unittest.mock.patch.dict(os.environ, given):
                process = self.start_and_wait("search", self.toml, "--out", "study.h5", "--force", grow=1_000)
            told = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            process.kill()
            process.wait()
            self.journal.unlink()
            self.assertEqual([one for one in told if one.startswith((b"GOMP_SPINCOUNT=", b"OMP_WAIT_POLICY="))], [waits])

    def test_sigterm(self):
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")
        process = self.start_and_wait("resume", "study.h5.journal", grow=2_000, threads=2)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")
        self.assert_resumes_to_the_end("study.h5.journal", ranks=2)

    def test_sigkill_again_and_again(self):
        chance = random.Random(1)
        arguments = ("search", self.toml, "--out", "study.h5")
        kills = 0
        for ranks in (0, 2, 1, 0):
            process = self.start_and_wait(*arguments, grow=chance.randrange(1, 20_000), ranks=ranks)
            if process.poll() is not None:
                break
            kill_the_program(process, ranks)
            self.assertNotIn(self.end(process)[0], (DONE, CALL_AGAIN))
            self.assertFalse((self.folder / "study.h5").exists())
            arguments = ("resume", "study.h5")
            kills += 1
        self.assertGreaterEqual(kills, 3)
        self.assert_resumes_to_the_end()

    def test_a_killed_evolution_resumes(self):
        options = ("--strategy", "nsga2", "--max-evaluations", "120")
        self.output("search", self.toml, "--out", "reference2.h5", *options)
        arguments = ("search", self.toml, "--out", "study.h5", *options)
        for ranks in (0, 2):
            process = self.start_and_wait(*arguments, grow=4_000, ranks=ranks)
            if process.poll() is None:
                kill_the_program(process, ranks)
            self.end(process)
            arguments = ("resume", "study.h5")
        if self.journal.exists():
            self.output("resume", "study.h5", ranks=2)
        self.assertEqual(self.contents("study.h5"), self.contents("reference2.h5"))

    def test_sigterm_to_mpirun_loses_nothing(self):
        """It hands the signal on a second later, and kills a second after that: the search may have ended before."""
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000, ranks=2)
        process.send_signal(signal.SIGTERM)
        self.assertNotEqual(self.end(process)[0], DONE)
        if self.journal.exists():
            self.output("resume", "study.h5")
        self.assert_complete()

    def stopped_journal(self):
        """A study with some hundred answers in its journal, as a kill leaves it."""
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=30_000)
        process.kill()
        process.wait()
        return self.journal.read_bytes()

    def test_a_plan_that_takes_longer_than_the_time_between_kills(self):
        """One plan of 25 MB of draws, and a kill whenever more of them are there: draws so far are kept, also those that confirm."""
        toml = self.scenario(tp="[2]", pp="[2]", v="[1]", microbatch="[1]", schedule='["1f1b"]', recompute='["full"]',
                             replicas_simulated="16", rungs="[{ fleets = 64, steps = 8 }, { fleets = 416000, steps = 8 }]",
                             confirm="{ fleets = 64000, steps = 8 }")
        self.write(toml.read_text().replace("gpus = [16, 32, 64]", "gpus = [64]"))
        self.output("search", "study.toml", "--out", "whole.h5")
        draws = self.folder / "study.h5.journal.draws"
        arguments = ("search", "study.toml", "--out", "study.h5")
        kills = 0
        for ranks in (0, 2, 0, 0, 2, 0, None):  # the last leg is left alone
            before = draws.stat().st_size if draws.exists() else 0
            process = self.start_program(*arguments, ranks=ranks or 0)
            while process.poll() is None and (ranks is None or not (draws.exists() and draws.stat().st_size > before)):
                time.sleep(0.002)
            if process.poll() is None:
                kill_the_program(process, ranks)
            if self.end(process)[0] == DONE:
                break
            kills += 1
            arguments = ("resume", "study.h5")
        self.assertGreaterEqual(kills, 3)
        self.assertEqual(self.contents("study.h5"), self.contents("whole.h5"))
        self.assertEqual(sorted(path.name for path in self.folder.glob("study.h5*")), ["study.h5"])

    def test_records_behind_damage_are_used(self):
        """What one bad byte destroys is computed again, and no more."""
        whole = self.stopped_journal()
        places = records_of(whole)
        answers = len(places) - 2  # behind two copies of the study
        for name, bad in {"copy of the study": [places[0]], "first answer": [places[2]], "some answers": places[5::7]}.items():
            with self.subTest(name):
                (self.folder / "study.h5").unlink(missing_ok=True)
                damaged = bytearray(whole)
                for begin, payload in bad:
                    damaged[begin + RECORD_HEAD_BYTES + len(payload) // 2] ^= 0x10
                self.journal.write_bytes(damaged)
                lost = 0 if name == "copy of the study" else len(bad)
                self.assertRegex(self.output("inspect", "study.h5.journal"), rf" {answers - lost} answers, .*damaged: record \d+ at byte {bad[0][0]} ")
                finished = self.run_program("resume", "study.h5", "--max-time", "0.05 s")  # writes nothing over what is good
                self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
                self.assertIn(f"{answers - lost} answers are reused", finished.stderr)
                self.output("resume", "study.h5", ranks=2)
                self.assertEqual(self.contents("study.h5"), Stop.reference)

    def test_a_damaged_tail_is_reported_and_left_out(self):
        whole = self.stopped_journal()
        for name, damaged in {
            "cut": whole[:-3],
            "zeros": whole + bytes(4096),
            "flipped": whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:],
        }.items():
            with self.subTest(name):
                (self.folder / "study.h5").unlink(missing_ok=True)
                self.journal.write_bytes(damaged)
                self.assertRegex(self.output("inspect", "study.h5.journal"), r"damaged: record \d+ at byte \d+ is ")
                finished = self.run_program("resume", "study.h5")
                self.assertEqual(finished.returncode, DONE, finished.stderr)
                self.assertRegex(finished.stderr, r"study\.h5\.journal: record \d+ at byte \d+ is .*; \d+ answers are reused")
                self.assertEqual(self.contents("study.h5"), Stop.reference)

    def test_records_that_were_appended_again_are_left_out(self):
        whole = self.stopped_journal()
        (begin, _), *_ = places = records_of(whole)
        for name, doubled in {"all": whole + whole[begin:], "answers": whole + whole[places[2][0]:]}.items():
            with self.subTest(name):
                self.journal.write_bytes(doubled)
                self.output("resume", "study.h5")
                self.assertEqual(self.contents("study.h5"), Stop.reference)

    def test_an_answer_to_another_request_is_refused(self):
        """Its checksum matches, so no crash left it."""
        whole = self.stopped_journal()
        begin, payload = records_of(whole)[4]
        number = struct.unpack_from("<Q", payload, 1)[0]
        renumbered = payload[:1] + struct.pack("<Q", number - 1) + payload[9:]
        forged = whole[:records_of(whole)[3][0]] + record_of(renumbered) + whole[begin + RECORD_HEAD_BYTES + len(payload):]
        for ranks in (0, 2):
            self.journal.write_bytes(forged)
            errors = self.refusal("resume", "study.h5", ranks=ranks)
            self.assertRegex(errors, rf"study\.h5\.journal: the record at byte {records_of(whole)[3][0]} does not answer request")
            self.assertEqual(self.journal.read_bytes(), forged)

    def tuned(self, **changes):
        """A search that tunes a knob, each evaluation of which draws: over a hundred evaluations of some 10 ms."""
        text = self.scenario(minimise='["training_time_p99", "expected_cost"]', tp="[2]", pp="[2]", v="[1]", schedule='["1f1b"]', **changes,
                             confidence='0.95\nstrategy = "nlopt"\ntune_points = 3\ntune_evaluations = 20\ntune_fleets = 1280').read_text()
        return self.write(text + """
[[knob]]
of = "bandwidth"
tier = "cluster"
range = ["5 GB/s", "100 GB/s"]
levels = 2
price = { per = "10 GB/s", cost = "0.05 USD/h" }
""", "tuned.toml")

    def test_a_tuning_of_hardware_stops_and_goes_on(self):
        toml = self.tuned()
        self.output("search", toml, "--out", "whole.h5")
        process = self.start_and_wait("search", toml, "--out", "study.h5", grow=toml.stat().st_size + 4_000)
        process.send_signal(signal.SIGUSR1)
        code, errors = self.end(process)
        self.assertEqual(code, CALL_AGAIN, errors)
        self.assertRegex(errors, r"stopped by SIGUSR1; tuning: [1-9]\d* of at most 180 evaluations; "
                                 r".*continue with: prismopt resume study\.h5")
        steps = self.steps_of_tuning()
        self.assertGreater(steps, 1)
        start = time.monotonic()
        finished = self.run_program("resume", "study.h5", "--max-time", "0.05 s")
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        self.assertRegex(finished.stderr, r"stopped by --max-time; tuning: ")
        process = self.start_and_wait("resume", "study.h5", grow=1_000, ranks=2)
        kill_the_program(process, 2)
        self.assertNotIn(self.end(process)[0], (DONE, CALL_AGAIN))
        self.assertGreater(self.steps_of_tuning(), steps)  # what was known is not asked again
        self.output("resume", "study.h5")
        self.assertFalse(self.journal.exists())
        self.assertEqual(self.contents("study.h5"), self.contents("whole.h5"))

    def steps_of_tuning(self):
        found = re.search(r"(\d+) tuning steps, 0 answers, .*undamaged", self.output("inspect", "study.h5.journal"))
        self.assertIsNotNone(found)
        return int(found[1])

    def test_a_search_that_stops_after_its_tuning_does_not_tune_again(self):
        """It stops once megabytes of draws are kept, which only those that confirm the front make."""
        text = self.tuned(confirm="{ fleets = 960000, steps = 2 }").read_text()
        toml = self.write(text.replace("tune_fleets = 1280", "tune_fleets = 64"), "tuned.toml")
        errors = self.stopped_while_confirming("search", toml, "--out", "study.h5")
        self.assertRegex(errors, r"(?s)tuned \d+ hardware variants in .*stopped by SIGUSR1.*before the front was confirmed")
        self.assertRegex(self.output("inspect", "study.h5.journal"), r": \d+ tuning steps, [1-9]\d* answers, .*undamaged")
        errors = self.stopped_while_confirming("resume", "study.h5")
        self.assertRegex(errors, r"stopped by SIGUSR1.*before the front was confirmed")
        self.assertNotIn("tuned", errors)

    def stopped_while_confirming(self, *arguments):
        draws = self.folder / "study.h5.journal.draws"
        before = draws.stat().st_size if draws.exists() else 0
        process = self.start_program(*arguments)
        deadline = time.monotonic() + TIMEOUT_S
        while process.poll() is None and not (draws.exists() and draws.stat().st_size > before + 2_000_000):
            self.assertLess(time.monotonic(), deadline, "no draws are kept")
            time.sleep(0.002)
        process.send_signal(signal.SIGUSR1)
        code, errors = self.end(process)
        self.assertEqual(code, CALL_AGAIN, errors)
        return errors

    def test_a_refused_tuning_leaves_no_journal(self):
        toml = self.tuned()
        self.write(toml.read_text().replace("gpus = [16, 32, 64]", "gpus = [2]"), "tuned.toml")
        self.assertRegex(self.refusal("search", toml, "--out", "study.h5"), "no plan is feasible on any hardware variant")
        self.assertFalse(self.journal.exists())

    def test_a_damaged_header_has_a_copy(self):
        whole = self.stopped_journal()
        once = whole[:20] + b"\xff\x00\xff\x00" + whole[24:]
        twice = once[:44] + b"\xff\x00\xff\x00" + whole[HEADER_BYTES:]
        self.journal.write_bytes(twice)
        for command in ("inspect", "resume"):
            errors = self.refusal(command, "study.h5.journal")
            self.assertRegex(errors, r"study\.h5\.journal: its header is damaged .*copy the journal again, or start the search again")
            self.assertEqual(self.journal.read_bytes(), twice)
        self.journal.write_bytes(once)
        self.assert_resumes_to_the_end()

    def test_a_journal_without_a_whole_record_is_refused(self):
        whole = self.stopped_journal()
        for name, damaged in {"header only": whole[:HEADER_BYTES], "half a header": whole[:10], "empty": b""}.items():
            with self.subTest(name):
                self.journal.write_bytes(damaged)
                errors = self.refusal("resume", "study.h5")
                self.assertRegex(errors, r"prismopt: study\.h5\.journal .*start the search again|is not a journal")
                self.assertEqual(self.journal.read_bytes(), damaged)

    def test_a_journal_of_another_study_is_refused(self):
        whole = self.stopped_journal()
        places = records_of(whole)
        changed = [payload.replace(b"tokens = 1e10", b"tokens = 2e10") for _, payload in places[:2]]
        self.assertNotEqual(changed[0], places[0][1])
        others = whole[:HEADER_BYTES] + b"".join(map(record_of, changed)) + whole[places[2][0]:]
        self.journal.write_bytes(others)
        for ranks in (0, 2):
            errors = self.refusal("resume", "study.h5", ranks=ranks)
            self.assertRegex(errors, r"study\.h5\.journal belongs to another study \(its scenario, seed or program version differs\)")
            self.assertEqual(self.journal.read_bytes(), others)
        # A search never touches the journal that is there, whatever its scenario.
        other = self.scenario("other.toml", tokens="2e10")
        self.assertRegex(self.refusal("search", other, "--out", "study.h5"), "study.h5.journal already exists; .*prismopt resume")
        self.assertEqual(self.journal.read_bytes(), others)
        self.output("search", other, "--out", "study.h5", "--force")
        self.assertFalse(self.journal.exists())

    def test_a_journal_beside_results_of_another_study_is_refused(self):
        journal = self.stopped_journal()
        for name, options, why in (("scenario", (self.scenario("other.toml", tokens="2e10"),), 'scenario ("small" in the journal'),
                                   ("seed", (self.toml, "--seed", "7"), "seed (1 in the journal, 7 in the results)")):
            with self.subTest(name):
                self.journal.unlink(missing_ok=True)
                self.output("search", *options, "--out", "study.h5", "--force", "--strategy", "nsga2", "--max-evaluations", "20")
                self.journal.write_bytes(journal)
                results = (self.folder / "study.h5").read_bytes()
                for file, ranks in (("study.h5", 0), ("study.h5.journal", 2)):
                    errors = self.refusal("resume", file, ranks=ranks)
                    self.assertIn(f"study.h5.journal and study.h5 belong to different studies: their {why}", errors)
                    self.assertIn("to continue the journal, move study.h5 elsewhere and resume again", errors)
                    self.assertEqual((self.folder / "study.h5").read_bytes(), results)
                    self.assertEqual(self.journal.read_bytes(), journal)
        (self.folder / "study.h5").rename(self.folder / "others.h5")
        self.assert_resumes_to_the_end()

    def test_resume_of_a_finished_search_is_done(self):
        self.output("search", support.SMALL, "--out", "done.h5")
        before = (self.folder / "done.h5").read_bytes()
        for file, ranks in (("done.h5", 0), ("done.h5.journal", 0), ("done.h5", 2)):
            finished = self.run_program("resume", file, ranks=ranks)
            self.assertEqual(finished.returncode, DONE, finished.stderr)
            self.assertRegex(finished.stderr, r"done\.h5: the search is complete.*prismopt report done\.h5")
        self.assertEqual((self.folder / "done.h5").read_bytes(), before)

    def test_resume_of_nothing(self):
        self.assertRegex(self.refusal("resume", "none.h5"), r"none\.h5: nothing to resume: neither .*none\.h5\.journal exists; give")
        self.output("search", self.toml, "--out", "study.h5", "--max-time", "0.05 s", code=CALL_AGAIN)
        self.journal.unlink()
        self.assertIn("its journal study.h5.journal is missing", self.refusal("resume", "study.h5"))

    def slow_sweep(self):
        """The bounds of a part of this space take a minute: steps have tens of thousands of microbatches."""
        toml = self.scenario("slow.toml", global_batch="65536", sequence='[{ layer = "dense", count = 64 }]', pp="[1, 2, 4, 8]", v="[1, 2, 4, 8]", microbatch="[1, 2, 4, 8]",
                             order='["tp-pp-dp", "tp-dp-pp"]', dp_overlap='["on", "off"]')
        recomputed = f"recomputed_layers = {list(range(33))}"
        return self.write(toml.read_text().replace("[space]\n", f"[space]\n{recomputed}\n"), "slow.toml")

    def test_max_time_holds_within_a_part_of_the_sweep(self):
        toml = self.slow_sweep()
        search = ("search", toml, "--out", "study.h5")
        for arguments, ranks, code in ((search, 0, CALL_AGAIN), (("resume", "study.h5"), 3, CALL_AGAIN),
                                       ((*search, "--dry-run"), 0, CALL_AGAIN), (("validate", toml), 0, support.FAILURE)):
            with self.subTest(arguments):
                start = time.monotonic()
                finished = self.run_program(*arguments, "--max-time", "1 s", ranks=ranks)
                self.assertLess(time.monotonic() - start, 1 + MOST_WAIT_S)
                self.assertEqual(finished.returncode, code, finished.stderr)
                self.assertIn("stopped by --max-time", finished.stderr)
        self.assertTrue(self.journal.exists())

    def test_a_signal_to_any_rank_stops_all(self):
        toml = self.slow_sweep()
        for name, (signal_, whom) in {"of a worker": (signal.SIGTERM, 2), "of rank 0": (signal.SIGUSR1, 0)}.items():
            with self.subTest(name):
                process = self.start_and_wait("search", toml, "--out", "study.h5", "--force", grow=1, ranks=3)
                time.sleep(1)  # into the sweep
                os.kill(ranks_of(process)[whom], signal_)
                start = time.monotonic()
                code, errors = self.end(process)
                self.assertLess(time.monotonic() - start, MOST_WAIT_S)
                self.assertEqual(code, CALL_AGAIN, errors)
                self.assertRegex(errors, rf"stopped by {signal_.name}; .*continue with: prismopt resume study\.h5")
                self.assertRegex(errors, "exit code 75: the checkpoint is complete")

    def test_a_signal_to_a_worker_stops_the_tuning(self):
        toml = self.tuned()
        text = toml.read_text().replace("tune_fleets = 1280", "tune_fleets = 128000")
        process = self.start_and_wait("search", self.write(text, "tuned.toml"), "--out", "study.h5", grow=len(text) * 2, ranks=2)
        os.kill(ranks_of(process)[1], signal.SIGTERM)
        start = time.monotonic()
        code, errors = self.end(process)
        self.assertLess(time.monotonic() - start, MOST_WAIT_S)
        self.assertEqual(code, CALL_AGAIN, errors)
        self.assertRegex(errors, "stopped by SIGTERM; tuning: ")


    def test_resume_of_a_foreign_file(self):
        for name, content in {"notes.txt": "hello\n", "empty.h5": "", "study.toml": self.toml.read_text()}.items():
            self.write(content, name)
            for ranks in (0, 2):
                errors = self.refusal("resume", name, ranks=ranks)
                self.assertRegex(errors, rf"(?s)nothing to resume: {name}.*give the --out file of a stopped search")
                self.assertNotIn("has ended", errors)
        with support.h5py.File(self.folder / "other.h5", "w") as other:
            other["x"] = 1.0
        self.assertRegex(self.refusal("resume", "other.h5"), r"nothing to resume: other\.h5")

    def test_a_journal_stands_soon_after_sigterm_to_mpirun(self):
        """mpirun kills its ranks about a second after the signal; what stands 0.7 s after it must do."""
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000, ranks=2)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.7)
        journal = self.journal_bytes() and self.journal.read_bytes()
        self.assertNotEqual(self.end(process)[0], DONE)
        if not journal:  # the search was faster
            self.skipTest("the search ended within 0.7 s")
        (self.folder / "study.h5").unlink(missing_ok=True)
        self.journal.write_bytes(journal)
        self.assertRegex(self.output("inspect", "study.h5.journal"), r'journal of "small" .*undamaged')
        self.assert_resumes_to_the_end(ranks=2)


def ranks_of(process):
    """Process ids under mpirun, by rank."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True)
    ranks = {}
    for pid in map(int, children.stdout.split()):
        rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
        if rank:
            ranks[int(rank[1])] = pid
    return ranks


def records_of(journal):
    """Where each record begins, and its payload; of a journal without damage."""
    at, records = HEADER_BYTES, []
    while at < len(journal):
        mark, length, _ = struct.unpack_from("<4sII", journal, at)
        assert mark == b"PREC"
        records.append((at, journal[at + RECORD_HEAD_BYTES:at + RECORD_HEAD_BYTES + length]))
        at += RECORD_HEAD_BYTES + length
    return records


def record_of(payload):
    return b"PREC" + struct.pack("<II", len(payload), zlib.crc32(struct.pack("<I", len(payload)) + payload)) + payload


def grouped(count):
    return f"{count:,}"


def kill_the_program(process, ranks):
    """Under mpirun one rank of it."""
    if ranks == 0:
        process.kill()
        return
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True)
    subprocess.run(["kill", "-KILL", children.stdout.split()[-1]], check=False)


if __name__ == "__main__":
    support.main()
