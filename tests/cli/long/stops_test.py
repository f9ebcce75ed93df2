"""Rarer ways in which a search is stopped, killed or damaged, and resumed; the usual ones are in stop_test.py."""

import os
import pathlib
import signal
import sys
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import support  # noqa: E402
from stop_support import (HEADER_BYTES, MOST_WAIT_S, RECORD_HEAD_BYTES, StopTest, kill_the_program, ranks_of,  # noqa: E402
                          records_of)
from support import CALL_AGAIN, DONE  # noqa: E402

ANSWER = 3  # first byte of a record: its kind (RecordKind of optimizer/loop/study_journal.cpp)


class RareStops(StopTest):
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

    def test_threads_wait_as_the_user_says_or_briefly(self):
        for given, waits in (({}, b"GOMP_SPINCOUNT=1000"), ({"OMP_WAIT_POLICY": "active"}, b"OMP_WAIT_POLICY=active")):
            with unittest.mock.patch.dict(os.environ, given):
                process = self.start_and_wait("search", self.toml, "--out", "study.h5", "--force", grow=1_000)
            environment = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            process.kill()
            process.wait()
            self.journal.unlink()
            self.assertEqual([one for one in environment if one.startswith((b"GOMP_SPINCOUNT=", b"OMP_WAIT_POLICY="))], [waits])

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
        of_answers = [place for place in places if place[1][0] == ANSWER]  # others are of the study and its legs
        answers = len(of_answers)
        for name, bad in {"copy of the study": [places[0]], "first answer": [of_answers[0]], "some answers": of_answers[2::7]}.items():
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
                self.assertEqual(self.contents("study.h5"), StopTest.reference)

    def test_records_that_were_appended_again_are_left_out(self):
        whole = self.stopped_journal()
        (begin, _), *_ = places = records_of(whole)
        for name, doubled in {"all": whole + whole[begin:], "answers": whole + whole[places[2][0]:]}.items():
            with self.subTest(name):
                self.journal.write_bytes(doubled)
                self.output("resume", "study.h5")
                self.assertEqual(self.contents("study.h5"), StopTest.reference)

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

    def test_a_journal_beside_results_of_another_study_is_refused(self):
        journal = self.stopped_journal()
        for name, options, why in (("scenario", (self.scenario("other.toml", tokens="2e10"),), 'scenario in line '),
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


if __name__ == "__main__":
    support.main()
