"""A running job against its prediction: level, changes, forecasts, and logs that grow, restart or are wrong."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import time

import support
from support import CHANGED, DONE, SILENT, UNEXPECTED_LEVEL, WRONG_INPUT, CliTest

PATIENCE_S = 60


def times(count, level, seed=1, slow_from=None, factor=1.03):
    """Step times with noise of 1 %, slower from a step on."""
    generator = random.Random(seed)
    return [level * (1 + generator.gauss(0, 0.01)) * (factor if slow_from and step >= slow_from else 1)
            for step in range(1, count + 1)]


def plain(steps):
    return "".join(f"{seconds:.6f}\n" for seconds in steps)


def megatron(steps, first=1):
    return "".join(f" iteration {first + i:8}/ 152588 | consumed samples: 64 | elapsed time per iteration (ms): {1000 * seconds:.3f} | "
                   f"lm loss: 1.0E+00 |\n" for i, seconds in enumerate(steps))


class Watch(CliTest):
    study = None  # results of a search, and the step time that it predicts

    @classmethod
    def tearDownClass(cls):
        if cls.study:
            cls.study[0].cleanup()

    def setUp(self):
        super().setUp()
        if Watch.study is None:
            self.output("search", support.SMALL, "--out", "study.h5")
            kept = support.tempfile.TemporaryDirectory()
            shutil.copy(self.folder / "study.h5", kept.name)
            self.write(plain(times(300, 1.0)), "job.log")
            found = json.loads(self.output("watch", "study.h5", "job.log", "--json", code=UNEXPECTED_LEVEL))
            self.assertEqual((found["format"], found["format_version"]), ("prismopt watch", 1))
            Watch.study = (kept, found["level"]["predicted_s"])
        shutil.copy(f"{Watch.study[0].name}/study.h5", self.folder)
        self.level = Watch.study[1]

    def watched(self, log, *options, code=DONE, name="job.log"):
        self.write(log, name)
        return json.loads(self.output("watch", "study.h5", name, "--json", *options, code=code))

    def test_quiet_job(self):
        found = self.watched(plain(times(1000, self.level)))
        self.assertEqual((found["trainer"], found["last_step"], found["changes"]), ("numbers", 1000, []))
        self.assertEqual(found["level"]["verdict"], "compatible")
        self.assertAlmostEqual(found["baseline"]["mean_s"] / self.level, 1, delta=0.003)
        self.assertLess(found["level"]["low_s"], found["level"]["predicted_s"])
        self.assertIn("no change", self.output("watch", "study.h5", "job.log"))

    def test_completion_follows_from_the_job(self):
        fast, slow = (self.watched(plain(times(1000, factor * self.level)))["completion"] for factor in (1.0, 1.1))
        self.assertAlmostEqual(slow["p50"]["seconds"] / fast["p50"]["seconds"], 1.1, delta=0.02)
        self.assertLess(fast["p50"]["seconds"], fast["p99"]["seconds"])
        self.assertAlmostEqual(fast["steps"], 1e10 / 1024 / 64 - 1000, delta=1)

    def test_slowdown(self):
        found = self.watched(plain(times(1000, self.level, slow_from=701)), code=CHANGED)
        change, = found["changes"]
        self.assertEqual(change["kind"], "shift")
        self.assertAlmostEqual(change["since"], 701, delta=5)
        self.assertLess(change["relative_low"], 0.03)
        self.assertGreater(change["relative_high"], 0.03)
        self.assertEqual(found["exit_code"], CHANGED)
        self.assertRegex(self.output("watch", "study.h5", "job.log", code=CHANGED), r"slower by \d\.\d\d % .* since step 70\d")

    def test_least_change(self):
        self.watched(plain(times(1000, self.level, slow_from=701)), "--least-change", "10", code=DONE)

    def test_level_that_is_not_predicted(self):
        found = self.watched(plain(times(300, 3 * self.level)), code=UNEXPECTED_LEVEL)
        self.assertEqual(found["level"]["verdict"], "slower than predicted")

    def test_baseline_in_progress(self):
        found = self.watched(plain(times(100, 3 * self.level)))
        self.assertEqual((found["baseline"], found["level"]), (None, None))
        self.assertEqual(found["observations"], {"collected": 95, "needed": 200})

    def test_too_few_steps_have_no_step_time(self):
        found = self.watched(plain(times(2, self.level)))
        self.assertEqual((found["step_s"], found["completion"]), (None, None))
        self.assertIn("too few steps yet", self.output("watch", "study.h5", "job.log"))
        self.assertAlmostEqual(self.watched(plain(times(4, self.level)))["step_s"] / self.level, 1, delta=0.03)

    def with_batches(self, stages):
        """A Megatron log of stages of (steps, batch), whose steps take as long as their sequences."""
        lines, samples, number = [], 0, 0
        for count, batch in stages:
            for seconds in times(count, self.level * batch / 64, seed=batch):
                number, samples = number + 1, samples + batch
                lines.append(f" iteration {number:8}/ 152588 | consumed samples: {samples} | elapsed time per iteration (ms): "
                             f"{1000 * seconds:.3f} | global batch size: {batch:5} | lm loss: 1.0E+00 |\n")
        return "".join(lines)

    def test_a_ramp_of_the_batch_is_no_change_of_the_job(self):
        found = self.watched(self.with_batches([(250, 16), (250, 32), (300, 64)]))
        self.assertEqual((found["changes"], found["last_step"]), ([], 800))
        self.assertEqual(found["batch"], {"log": 64, "plan": 64, "since_step": 501})
        self.assertEqual(found["level"]["verdict"], "compatible")
        self.assertGreater(found["baseline"]["first"], 500)
        self.assertAlmostEqual(found["completion"]["steps"], 1e10 / 1024 / 64 - (250 * 16 + 250 * 32 + 300 * 64) / 64, delta=1)

    def test_another_batch_than_the_plan_has(self):
        self.write(self.with_batches([(300, 32)]), "half.log")
        ran = self.run_program("watch", "study.h5", "half.log", "--json")
        half = json.loads(ran.stdout)
        self.assertIn(ran.returncode, (DONE, UNEXPECTED_LEVEL))  # half a batch need not take half the time
        self.assertIn("batch: 32 sequences per step in the log since step 1, 64 in the plan",
                      self.output("watch", "study.h5", "half.log", code=ran.returncode))
        whole = self.watched(self.with_batches([(150, 64)]))
        self.assertEqual(half["batch"], {"log": 32, "plan": 64, "since_step": 1})
        self.assertAlmostEqual(half["step_s"] / self.level, 0.5, delta=0.01)
        self.assertAlmostEqual(half["completion"]["steps"], 2 * whole["completion"]["steps"], delta=1)
        self.assertAlmostEqual(half["completion"]["p50"]["seconds"] / whole["completion"]["p50"]["seconds"], 1, delta=0.02)
        self.assertLess(half["level"]["predicted_s"], 0.8 * self.level)

    def test_standard_input(self):
        log = plain(times(1000, self.level, slow_from=701))
        finished = self.run_with("watch", "study.h5", "-", "--json", input=log, text=True, capture_output=True)
        self.assertEqual(finished.returncode, CHANGED, finished.stderr)
        self.write(log, "job.log")
        of_file = json.loads(self.output("watch", "study.h5", "job.log", "--json", code=CHANGED))
        self.assertEqual(json.loads(finished.stdout)["changes"], of_file["changes"])

    def test_restarts_are_failures(self):
        steps = times(600, self.level)
        found = self.watched(megatron(steps[:400]) + "Traceback\n" + megatron([20 * self.level] + steps[351:], 351))
        self.assertEqual((found["trainer"], found["restarts"], found["failures"], found["last_step"]), ("megatron", 1, 1, 600))
        self.assertEqual((found["changes"], found["spikes"]), ([], []))
        self.assertGreater(found["completion"]["failure_rate_factor"], 1)
        reported = self.watched(megatron(steps), "--failures", "3")
        self.assertGreater(reported["completion"]["failure_rate_factor"], found["completion"]["failure_rate_factor"])

    def test_restarts_at_time_limits_are_no_failures(self):
        steps = times(600, self.level)
        ends = "slurmstepd: error: *** {} 7{} ON n1 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***\n"
        limit = ends.format("JOB", "") + ends.format("STEP", ".0")
        log = megatron(steps[:200]) + limit + megatron(steps[190:400], 191) + "Traceback\n" + megatron(steps[350:], 351)
        found = self.watched(log)
        self.assertEqual((found["restarts"], found["restarts_at_time_limits"], found["failures"]), (2, 1, 1))
        self.assertRegex(self.output("watch", "study.h5", "job.log"), r"(?m)2 restarts \(1 at a time limit\)")
        late = self.watched(megatron(steps[:200]) + limit + megatron(steps[200:202], 201) + megatron(steps[190:], 191))
        self.assertEqual((late["restarts_at_time_limits"], late["failures"]), (1, 0))

    def test_a_silent_log_is_named(self):
        log = megatron(times(300, self.level))
        self.assertFalse(self.watched(log)["silent"])
        days_ago = time.time() - 3 * 86400
        os.utime(self.folder / "job.log", (days_ago, days_ago))
        found = json.loads(self.output("watch", "study.h5", "job.log", "--json", code=SILENT))
        self.assertEqual((found["silent"], found["exit_code"]), (True, SILENT))
        self.assertAlmostEqual(found["unchanged_s"] / 86400, 3, delta=0.01)
        self.assertRegex(self.output("watch", "study.h5", "job.log", code=SILENT), r"(?m)^silent: nothing was written to the log for 72.0 h")

    def test_the_log_of_a_job_that_is_done_is_not_silent(self):
        days_ago = time.time() - 3 * 86400
        for total in ("300", "300000"):
            self.write(megatron(times(300, self.level)).replace("152588", total), "job.log")
            os.utime(self.folder / "job.log", (days_ago, days_ago))
            self.output("watch", "study.h5", "job.log", code=DONE if total == "300" else SILENT)

    def test_silence_comes_before_a_change(self):
        self.write(megatron(times(600, self.level) + times(600, 1.2 * self.level)), "job.log")
        self.output("watch", "study.h5", "job.log", code=CHANGED)
        days_ago = time.time() - 3 * 86400
        os.utime(self.folder / "job.log", (days_ago, days_ago))
        self.output("watch", "study.h5", "job.log", code=SILENT)

    def test_other_numbers_of_steps_are_named(self):
        log = megatron(times(300, self.level))
        total = self.watched(log)["total_steps"]
        self.assertEqual(total["log"], 152588)
        self.assertAlmostEqual(total["plan"] / 152588, 1, delta=0.001)
        self.assertNotRegex(self.output("watch", "study.h5", "job.log"), r"(?m)^steps:")
        self.write(log.replace("/ 152588", "/  50000"), "job.log")
        self.assertRegex(self.output("watch", "study.h5", "job.log"), r"(?m)^steps: 50000 in all by the log, 15258\d by the plan")
        self.assertIsNone(self.watched(plain(times(300, self.level)))["total_steps"])

    def test_out_of_memory_is_named(self):
        error = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB\n"
        self.write("building the model\n" + error, "job.log")
        self.assertRegex(self.refusal("watch", "study.h5", "job.log", "--point", str(self.feasible()[0]), code=WRONG_INPUT),
                         r"no step times in 2 lines: out of memory: line 2 of the log says \"CUDA out of memory. Tried to allocate 2.00 GiB.*"
                         r"; prismopt explain study.h5 --point \d+ lists changes")
        found = self.watched(megatron(times(300, self.level)) + error)
        self.assertEqual((found["out_of_memory"]["memory"], found["out_of_memory"]["line"]), ("gpu", 301))
        self.assertRegex(self.output("watch", "study.h5", "job.log"), r"(?m)^out of memory: line 301 ")
        self.assertIsNone(self.watched(plain(times(300, self.level)))["out_of_memory"])

    def test_milliseconds_are_suspected(self):
        self.write(plain(times(300, 1000 * self.level)), "job.log")
        self.assertRegex(self.output("watch", "study.h5", "job.log", code=UNEXPECTED_LEVEL), "for milliseconds, write step_time_ms above them")
        self.write("step_time_ms\n" + plain(times(300, 1000 * self.level)), "job.log")
        self.assertNotIn("milliseconds", self.output("watch", "study.h5", "job.log"))

    def test_tokens_per_second(self):
        """The plan gives the tokens per step and GPU."""
        tokens = 1024 * 64 / 64
        log = "".join(f"step: {i:2}  loss:  8.1  grad_norm:  1.2  memory: 40.00GiB(50.00%)  tps: {tokens / s:,.0f}  tflops: 390.10  mfu: N/A\n"
                      for i, s in enumerate(times(400, self.level), 1))
        found = self.watched(log)
        self.assertEqual(found["trainer"], "torchtitan")
        self.assertAlmostEqual(found["baseline"]["mean_s"] / self.level, 1, delta=0.003)
        self.assertAlmostEqual(found["peak_memory_bytes"], 40 * 2**30)

    def feasible(self):
        with support.h5py.File(self.folder / "study.h5") as file:
            return [int(index) for index in file["evaluations/evaluation"][:]]

    def test_any_plan_of_the_study(self):
        log = plain(times(300, 50 * self.level))
        first = self.watched(log, code=UNEXPECTED_LEVEL)
        other = next(index for index in self.feasible() if index != first["point"])
        found = self.watched(log, "--point", str(other), code=UNEXPECTED_LEVEL)
        self.assertEqual(found["point"], other)
        self.assertNotEqual(found["level"]["predicted_s"], first["level"]["predicted_s"])

    def test_phases_with_steps_of_their_own(self):
        """A planned change of the step time is none of the job."""
        text = self.scenario().read_text()
        first = re.search(r"\[\[phase\]\]\n(?:.+\n)+", text)[0]
        second = first.replace("sequence_length = 1024", "sequence_length = 2048")
        self.write(text.replace(first, first.replace("1e10", f"{600 * 1024 * 64}") + "\n" + second), "phases.toml")
        self.output("search", "phases.toml", "--out", "phases.h5")

        def watched(numbers, seconds, code):
            self.write("step,seconds\n" + "".join(f"{n},{s}\n" for n, s in zip(numbers, seconds)), "job.csv")
            return json.loads(self.output("watch", "phases.h5", "job.csv", "--json", code=code))
        short, long = (watched(range(start, start + 300), times(300, 1.0), UNEXPECTED_LEVEL)["level"]["predicted_s"]
                       for start in (1, 601))
        self.assertGreater(long / short, 1.1)
        steps = times(1000, 1.0)
        found = watched(range(1, 1001), [(short if n <= 600 else long) * s for n, s in enumerate(steps, 1)], DONE)
        self.assertEqual(found["changes"], [])
        self.assertAlmostEqual(found["step_s"] / long, 1, delta=0.01)
        self.assertAlmostEqual(found["baseline"]["mean_s"] / short, 1, delta=0.01)
        one = watched(range(1, 1001), [short * s for s in steps], CHANGED)  # the second phase is faster than predicted
        self.assertAlmostEqual(one["changes"][0]["since"], 601, delta=3)

    def follow(self, *options):
        self.write("", "job.log")
        return self.start_program("watch", "study.h5", "job.log", "--follow", *options)

    def append(self, text):
        with (self.folder / "job.log").open("a") as log:
            log.write(text)

    def test_growing_file(self):
        """Reports come as lines do, with half a line waiting; a signal ends it with what is known."""
        log = plain(times(1000, self.level, slow_from=701))
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.follow("--json")
                half = len(log) // 2 + 3
                self.append(log[:half])
                first = json.loads(process.stdout.readline())
                self.assertEqual(first["level"]["verdict"], "compatible")
                self.append(log[half:])
                second = json.loads(process.stdout.readline())
                self.assertEqual(len(second["changes"]), 1)
                process.send_signal(number)
                rest, errors = process.communicate(timeout=PATIENCE_S)
                self.assertEqual(process.returncode, CHANGED, errors)
                last = json.loads(rest)
                self.assertEqual(last["stopped_by"], number.name)
                self.assertEqual(last["last_step"], 1000)

    def test_changes_that_come_together_are_all_printed(self):
        steps = times(1000, self.level)
        steps[600:700] = [1.1 * seconds for seconds in steps[600:700]]
        self.write(megatron(steps), "job.log")
        process = self.start_program("watch", "study.h5", "job.log", "--follow")
        printed = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        self.assertRegex("".join(printed), r"(?s)level: .*shift: slower .*since step 60\d.*shift: faster .*since step 70\d")

    def test_slow_lines_count_for_all_their_steps(self):
        steps = times(400, self.level)
        steps[300] *= 1.5
        log = "".join(f" iteration {10 * i:8}/ 152588 | elapsed time per iteration (ms): {1000 * seconds:.3f} | lm loss: 1.0E+00 |\n"
                      for i, seconds in enumerate(steps, 1))
        self.write(log, "job.log")
        text = self.output("watch", "study.h5", "job.log")
        share = float(re.search(r"slow steps, single or in a block: 1, ([\d.]+) % of the time", text)[1])
        self.assertAlmostEqual(share, 100 * 0.5 / 400, delta=0.02)

    def test_signal_before_the_baseline(self):
        process = self.follow()
        self.append(plain(times(50, self.level)))
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        text, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, DONE, errors)
        self.assertRegex(text, r"stopped by SIGTERM[^$]*baseline: 45 of 200")

    def test_following_ends_with_the_training(self):
        steps = int(1e10 / 1024 / 64) + 1
        process = self.follow()
        self.append(megatron(times(300, self.level), steps - 299))
        text, errors = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, DONE, errors)
        self.assertRegex(text, r"with 0 steps to go")

    def test_wrong_input(self):
        self.write("", "empty.log")
        self.write("hello\nworld\n", "other.log")
        self.write("1.0\nfast\n", "words.log")
        self.write(plain(times(10, 1.0)), "job.log")
        for words, message in ((("job.log",), r"results file and a log"),
                               (("study.h5", "none.log"), r"cannot read none\.log: No such file"),
                               (("study.h5", "."), r"it is a folder"),
                               (("study.h5", "empty.log"), r"empty\.log: no step times in 0 lines; .*--trainer"),
                               (("study.h5", "other.log"), r"other\.log: no step times in 2 lines"),
                               (("study.h5", "words.log"), r"words\.log:2: \"fast\" is not a step time"),
                               (("job.log", "job.log"), r"job\.log"),
                               (("study.h5", "job.log", "--trainer", "megatrom"), r"did you mean 'megatron'"),
                               (("study.h5", "job.log", "--baseline", "3"), r"--baseline 3"),
                               (("study.h5", "job.log", "--false-alarm-days", "0"), r"--false-alarm-days"),
                               (("study.h5", "job.log", "--point", "99999"), r"--point 99999 is out of range")):
            with self.subTest(words):
                self.assertRegex(self.refusal("watch", *words, code=WRONG_INPUT), rf"^prismopt: .*{message}")

    def test_results_of_a_version_with_other_predictions(self):
        older = pathlib.Path(__file__).parents[1] / "fuzz" / "results" / "small.h5"  # of 0.1.0
        shutil.copy(older, self.folder / "older.h5")
        self.write(plain(times(300, 0.03167)), "job.log")  # as that file predicted
        self.assertRegex(self.refusal("watch", "older.h5", "job.log", "--point", "1"), r"of 0\.0307 s by prismopt 0\.1\.0 .* by prismopt .*init --from")

    def test_plan_that_cannot_run(self):
        self.write(plain(times(10, 1.0)), "job.log")
        undefined = next(index for index in range(648) if index not in self.feasible())
        self.assertRegex(self.refusal("watch", "study.h5", "job.log", "--point", str(undefined)), r"schedule not defined")


if __name__ == "__main__":
    support.main()
