"""A search that was stopped or killed and then resumed ends with the results of one that was not. More cases: long/stops_test.py."""

import json
import os
import pathlib
import random
import signal
import struct
import time

import support
from stop_support import HEADER_BYTES, MOST_WAIT_S, RECORD_HEAD_BYTES, StopTest, kill_the_program, ranks_of, record_of, records_of
from support import CALL_AGAIN, DONE


class Stop(StopTest):
    def test_max_time(self):
        finished = self.run_program("search", self.toml, "--out", "study.h5", "--max-time", "0.05 s")
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        self.assertRegex(finished.stderr, r"stopped by --max-time; incomplete: .*continue with: prismopt resume study\.h5")
        self.assertRegex(self.output("report", "study.h5"), "stopped by --max-time")
        search = json.loads(self.output("report", "study.h5", "--json"))["search"]
        self.assertEqual((search["stopped_by"], search["complete"], search["proved"]), ("--max-time", False, False))
        self.output("resume", "study.h5", code=CALL_AGAIN)  # the limit of the first leg holds
        self.assert_resumes_to_the_end("study.h5", "--max-time", "10 min", ranks=2)

    def test_max_time_as_batch_systems_write_it(self):
        finished = self.run_program("search", self.toml, "--out", "study.h5", "--max-time", "0-00:00:01")
        self.assertEqual(finished.returncode, CALL_AGAIN, finished.stderr)
        finished = self.run_program("resume", "study.h5", "--max-time", "00:10:00")
        self.assertEqual(finished.returncode, DONE, finished.stderr)

    def test_sigusr1_under_mpirun(self):
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000, ranks=2)
        process.send_signal(signal.SIGUSR1)  # mpirun hands it to the ranks
        self.assert_stopped(process, "SIGUSR1")
        self.assert_resumes_to_the_end(threads=2)

    def test_ps_and_pkill_know_the_search_by_its_name(self):
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=20_000)
        self.assertEqual(pathlib.Path(f"/proc/{process.pid}/comm").read_text(), "prismopt\n")
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")

    def test_sigterm(self):
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=40_000)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")
        process = self.start_and_wait("resume", "study.h5.journal", grow=2_000, threads=2)
        process.send_signal(signal.SIGTERM)
        self.assert_stopped(process, "SIGTERM")
        self.assert_resumes_to_the_end("study.h5.journal", ranks=2)

    def test_signals_of_terminals_and_limits(self):
        """Ctrl-C, a terminal that was closed, and a limit of CPU time stop a search as SIGTERM does."""
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
            with self.subTest(number.name):
                process = self.start_and_wait("search", self.toml, "--out", "study.h5", "--force", grow=20_000)
                process.send_signal(number)
                self.assert_stopped(process, number.name)
        self.assert_resumes_to_the_end()

    def test_a_signal_that_is_ignored_stays_so(self):
        """As under nohup."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=20_000)
        finally:
            signal.signal(signal.SIGHUP, before)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(self.end(process)[0], DONE)

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
                self.assertEqual(self.contents("study.h5"), StopTest.reference)

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
        self.assertRegex(self.refusal("search", other, "--out", "study.h5"), "study.h5.journal already exists; .*--continue")
        self.assertEqual(self.journal.read_bytes(), others)
        self.output("search", other, "--out", "study.h5", "--force")
        self.assertFalse(self.journal.exists())

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

    def test_resume_of_a_foreign_file(self):
        for name, content in {"notes.txt": "hello\n", "empty.h5": "", "study.toml": self.toml.read_text()}.items():
            self.write(content, name)
            for ranks in (0, 2):
                errors = self.refusal("resume", name, ranks=ranks)
                self.assertRegex(errors, rf"(?s)nothing to resume: {name}.*give the --out file of a stopped search")
                self.assertNotIn("is complete", errors)
        with support.h5py.File(self.folder / "other.h5", "w") as other:
            other["x"] = 1.0
        self.assertRegex(self.refusal("resume", "other.h5"), r"nothing to resume: other\.h5")


if __name__ == "__main__":
    support.main()
