"""The Python module on the small scenario: results equal to those of the command line, errors, threads, Ctrl-C.

usage: module_test.py PROGRAM SMALL_TOML MODULE_FOLDER [unittest arguments]
"""

import copy
import csv
import gc
import io
import json
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

PROGRAM, SMALL, MODULE = (str(pathlib.Path(argument).absolute()) for argument in sys.argv[1:4])
sys.path.insert(0, MODULE)
try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install python3-numpy")
    sys.exit(77)

import prismopt  # noqa: E402 (its folder was just named)

try:
    import pandas
except ImportError:
    pandas = None

PLAN = "gpus=64 tp=2 pp=4 schedule=1f1b"
SCRIPT = """#!/bin/bash
#SBATCH --nodes=1
torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 \\
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 \\
    --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 128256 \\
    --seq-length 8192 --max-position-embeddings 8192 --position-embedding-type rope --micro-batch-size 4 --global-batch-size 128 \\
    --train-iters 1000 --bf16 --use-distributed-optimizer --sequence-parallel --transformer-impl transformer_engine --use-flash-attn
"""


def command(*words, code=0):
    """What the command prints."""
    finished = subprocess.run([PROGRAM, *map(str, words)], text=True, capture_output=True, check=False)
    assert finished.returncode == code, finished.stdout + finished.stderr
    return finished.stdout


def without_date(overlay):
    return re.sub(r"\d{4}-\d\d-\d\dT[^\"]*", "", overlay)


def column(table, name):
    return np.asarray(table[name])


class ModuleTest(unittest.TestCase):
    """Each test works in an empty folder of its own."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.shared = pathlib.Path(folder.name)
        cls.scenario = prismopt.Scenario.read(SMALL)
        cls.results = cls.scenario.search(cls.shared / "small.h5")
        cls.script = cls.shared / "train.sbatch"
        cls.script.write_text(SCRIPT)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Scenarios(ModuleTest):
    def test_reads_values_by_the_keys_of_the_file(self):
        self.assertEqual(self.scenario["cluster.gpus"], 64)
        self.assertEqual(self.scenario["cluster.tier[1].link"], "ib-hdr")
        self.assertEqual(self.scenario["space"]["tp"], [1, 2, 4])
        self.assertIn("phase[0].tokens", self.scenario)
        for key in ("cluster.cores", "cluster.tier[2].link", "phase[0].tokens.more", "a[b"):
            with self.assertRaises(KeyError):
                self.scenario[key]

    def test_changes_values_and_leaves_the_original(self):
        changed = self.scenario.changed({"cluster.gpus": 32, "space.gpus": [16, 32], "cluster.gpu_price": "2 USD/h"})
        self.assertEqual((changed["cluster.gpus"], changed["cluster.gpu_price"]), (32, "2 USD/h"))
        self.assertEqual(changed["space.gpus"], [16, 32])
        self.assertEqual(self.scenario["cluster.gpus"], 64)
        self.assertEqual(self.scenario.changed(cluster={"gpu_price": "3 USD/h"})["cluster.gpu_price"], "3 USD/h")

    def test_round_trip_by_a_dictionary(self):
        again = prismopt.Scenario.from_dict(self.scenario.to_dict())
        self.assertEqual(again.to_dict(), self.scenario.to_dict())
        self.assertEqual(again.predict(PLAN, draws=256)["estimates"], self.scenario.predict(PLAN, draws=256)["estimates"])

    def test_texts_of_a_dictionary_may_hold_anything(self):
        values = {**self.scenario.to_dict(), "name": 'a "quoted" \\ name with [x] = ü'}
        self.assertEqual(prismopt.Scenario.from_dict(values).name, values["name"])

    def test_can_be_sent_to_other_processes(self):
        again = pickle.loads(pickle.dumps(self.scenario))
        self.assertEqual(again.predict(PLAN, draws=256)["estimates"], self.scenario.predict(PLAN, draws=256)["estimates"])

    def test_starts_as_the_command_does(self):
        started = prismopt.Scenario.start("llama3-8b", 64, accelerator="h100-sxm")
        lines = command("init", "--workload", "llama3-8b", "--gpus", 64, "--accelerator", "h100-sxm").splitlines()
        self.assertEqual(set(lines) - set(started.text.splitlines()), {line for line in lines if line.startswith(("name =", "#"))}
                         - set(started.text.splitlines()))

    def test_lists_and_counts_plans(self):
        counted = self.scenario.count_plans()
        plans = self.scenario.plans(10_000)
        self.assertEqual(counted["examined"], counted["combinations"])
        self.assertEqual(len(plans), counted["feasible"])
        self.assertLessEqual(counted["feasible"] + sum(counted["rejected"].values()), counted["combinations"])


class Predictions(ModuleTest):
    def test_equals_the_command(self):
        for words in (PLAN, "gpus=64 tp=4 pp=4 v=2 schedule=interleaved microbatch=2", "gpus=16 tp=1 pp=1"):
            printed = json.loads(command("predict", SMALL, "--design", words, "--json"))
            self.assertEqual(self.scenario.predict(words).to_dict(), printed)
        self.assertEqual(str(self.scenario.predict(PLAN)), command("predict", SMALL, "--design", PLAN).rstrip("\n"))
        self.assertEqual(self.scenario.predict(PLAN).stages().rstrip("\n"),
                         command("predict", SMALL, "--design", PLAN, "--stages").rstrip("\n"))

    def test_plans_may_be_given_in_several_ways(self):
        prediction = self.scenario.predict(PLAN, draws=256)
        for other in (self.scenario.predict(gpus=64, tp=2, pp=4, schedule="1f1b", draws=256),
                      self.scenario.predict({"gpus": 64, "tp": 2, "pp": 4, "schedule": "1f1b"}, draws=256),
                      self.scenario.predict(self.scenario.plan(PLAN), draws=256),
                      self.scenario.plan("gpus=64 tp=1 pp=4 schedule=1f1b").changed(tp=2).predict(256)):
            self.assertEqual(other.to_dict(), prediction.to_dict())

    def test_results_are_members(self):
        prediction = self.scenario.predict(PLAN, draws=256)
        p99 = prediction.training_time_p99
        given = prediction["estimates"]["training_time_p99"]
        self.assertEqual((p99, p99.low, p99.model_low, p99.model_high),
                         (given["value"], given["low"], given["model_low"], given["model_high"]))
        self.assertEqual(p99.high, float("inf") if given["high"] is None else given["high"])
        self.assertEqual(prediction.ettr, prediction["numbers"]["ettr"])
        self.assertIn("training_time_p99", dir(prediction))
        with self.assertRaises(AttributeError):
            prediction.training_time_p98

    def test_draws_are_those_of_the_command(self):
        command("predict", SMALL, "--design", PLAN, "--draws", 256, "--write-draws", self.folder / "draws.csv")
        with open(self.folder / "draws.csv") as file:
            written = [float(row[0]) for row in list(csv.reader(file))[1:]]
        prediction = self.scenario.predict(PLAN, draws=256)
        draws = prediction.draws[0]
        self.assertEqual(draws.tolist(), written)
        self.assertFalse(draws.flags.owndata)
        with self.assertRaises(ValueError):
            draws[0] = 0.0
        del prediction
        gc.collect()
        self.assertEqual(draws.tolist(), written)

    def test_table_has_what_single_predictions_have(self):
        plans = [PLAN, "gpus=64 tp=4 pp=3", "gpus=32 tp=4 pp=2"]
        table = self.scenario.predict(plans, draws=256)
        self.assertEqual(list(column(table, "plan")), plans)
        self.assertEqual(list(column(table, "feasible")), [True, False, True])
        self.assertNotEqual(column(table, "reason")[1], "")
        self.assertTrue(np.isnan(column(table, "training_time_p99_s")[1]))
        for row in (0, 2):
            one = self.scenario.predict(plans[row], draws=256)
            p99 = one.training_time_p99
            self.assertEqual([column(table, f"training_time_p99{limit}_s")[row] for limit in ("", "_low", "_high")],
                             [p99, p99.low, p99.high])
            self.assertEqual(column(table, "cost_usd")[row], one.cost)
            self.assertEqual(column(table, "ettr")[row], one.ettr)

    def test_axes_beside_plans_are_those_of_each(self):
        table = self.scenario.predict([{"tp": 1}, "tp=2"], gpus=32, pp=2, draws=128)
        self.assertEqual(list(column(table, "plan")), ["tp=1 gpus=32 pp=2", "tp=2 gpus=32 pp=2"])
        self.assertEqual(column(table, "cost_usd")[1], self.scenario.predict(tp=2, gpus=32, pp=2, draws=128).cost)
        self.assertEqual(list(column(self.scenario.lower_bounds({"plan": "tp=2", "gpus": [32, 64]}, pp=2), "gpus")), [32.0, 64.0])
        with self.assertRaises(prismopt.InputError):
            self.scenario.predict(["tp=2"], zigzag=9)

    def test_rows_of_results_are_plans(self):
        for table in (self.results.front, self.results.evaluations):
            steps = column(self.scenario.lower_bounds(table), "step_s")
            alone = [column(self.scenario.lower_bounds(self.results.plan(int(point))), "step_s")[0]
                     for point in column(table, "point")[:3]]
            self.assertEqual(list(steps[:3]), alone)

    def test_wrong_plans_are_named(self):
        for plans, words in (({"tp": [1.0, float("nan")]}, "row 1"), ({"tp": [1, None]}, "row 1"), (["tp=1", "tp=x"], "row 1"),
                             ({"tp": [1, 2], "pp": [1, 2, 4]}, "lengths")):
            with self.assertRaises(ValueError) as raised:
                self.scenario.lower_bounds(plans)
            self.assertIn(words, str(raised.exception))
        for plan in (5, b"tp=1", object()):
            with self.assertRaises(TypeError):
                self.scenario.predict(plan)
        for draws in (2.0, "256", None):
            with self.assertRaises(TypeError):
                self.scenario.predict(PLAN, draws=draws)

    def test_numbers_of_numpy_and_truth_values(self):
        self.assertEqual(str(self.scenario.plan(tp=np.int64(2), pp=np.float32(4), gpus=64)), str(self.scenario.plan("tp=2 pp=4 gpus=64")))
        self.assertIn("dp_overlap=off", str(self.scenario.plan(dp_overlap=np.False_)))
        if pandas is not None:
            row = pandas.DataFrame({"tp": [2], "pp": [4], "schedule": ["1f1b"]}).iloc[0]
            self.assertEqual(str(self.scenario.plan(row)), str(self.scenario.plan("tp=2 pp=4 schedule=1f1b")))

    def test_estimates_can_be_copied(self):
        p99 = self.scenario.predict(PLAN, draws=256).training_time_p99
        for again in (copy.copy(p99), pickle.loads(pickle.dumps(p99))):
            self.assertEqual((again, again.low, again.high, again.model_low), (p99, p99.low, p99.high, p99.model_low))

    def test_without_a_plan_is_one_that_runs(self):
        with self.assertWarns(UserWarning):
            prediction = self.scenario.changed({"space.tp": [1], "phase[0].global_batch": 48}).predict(draws=128)
        self.assertTrue(prediction.feasible)

    def test_plans_by_columns(self):
        columns = {"gpus": [64, 32], "tp": np.array([2, 4]), "pp": (4, 2), "schedule": "1f1b"}
        table = self.scenario.lower_bounds(columns)
        self.assertEqual(list(column(table, "plan")),
                         ["gpus=64 tp=2 pp=4 schedule=1f1b", "gpus=32 tp=4 pp=2 schedule=1f1b"])
        if pandas is not None:
            again = self.scenario.lower_bounds(pandas.DataFrame(columns))
            self.assertEqual(list(again["step_s"]), list(column(table, "step_s")))
            self.assertEqual(list(self.scenario.lower_bounds(table)["step_s"]), list(table["step_s"]))

    def test_times_of_all_plans_are_bounds(self):
        plans = self.scenario.plans(40)
        table = self.scenario.lower_bounds(plans)
        self.assertTrue(np.all(column(table, "feasible")))
        for row in range(0, 40, 13):
            one = self.scenario.predict(plans[row], draws=256)
            self.assertLess(column(table, "step_s")[row], one.step_time_mean.high)
            self.assertGreater(column(table, "step_s")[row], 0.9 * one.step_time_mean)
            self.assertEqual(column(table, "memory_bytes")[row], one["peak_memory_bytes"])
        self.assertEqual(list(column(self.scenario.noise_free(plans), "step_s")), list(column(table, "step_s")))  # the former name

    def test_plans_outside_of_the_space(self):
        plans = ["gpus=64 tp=8 pp=1", "gpus=64 tp=8 pp=2", PLAN]
        steps = column(self.scenario.lower_bounds(plans), "step_s")
        alone = [column(self.scenario.lower_bounds(plan), "step_s")[0] for plan in plans]
        self.assertEqual(list(steps), alone)
        self.assertLess(steps[0], self.scenario.predict(plans[0], draws=256).step_time_mean.high)

    def test_variants_of_hardware(self):
        text = self.scenario.text + '\n[[knob]]\ntier = "cluster"\nof = "bandwidth"\nvalues = ["25 GB/s", "50 GB/s"]\n'
        scenario = prismopt.Scenario.parse(text)
        plans = [f"cluster.bandwidth={value}GB/s gpus=64 tp=1 pp=1" for value in (25, 50)]
        table = scenario.lower_bounds(plans)
        slow, fast = column(table, "step_s")
        self.assertGreater(slow, fast)
        changed = self.scenario.changed({"cluster.tier[1].bandwidth": "25 GB/s"})
        self.assertEqual(slow, column(changed.lower_bounds("gpus=64 tp=1 pp=1"), "step_s")[0])

    def test_timeline(self):
        events = self.scenario.plan(PLAN).timeline()
        forward = column(events, "activity") == "F"
        self.assertEqual(len(set(zip(column(events, "stage")[forward], column(events, "microbatch")[forward]))), 4 * 8)
        self.assertLess(np.max(column(events, "end_s")), 1.05 * self.scenario.predict(PLAN, draws=256).noise_free_step_time)
        self.assertNotEqual(np.max(column(self.scenario.plan(PLAN).timeline(3, draws=256), "end_s")),
                            np.max(column(events, "end_s")))

    def test_explains_and_says_what_times_depend_on(self):
        explained = json.loads(command("explain", SMALL, "--design", PLAN, "--json"))
        self.assertEqual(self.scenario.explain(PLAN).to_dict(), explained)
        other = self.scenario.plan(PLAN).explain(against=self.scenario.plan(PLAN).changed(tp=4))
        self.assertEqual(other.to_dict(),
                         json.loads(command("explain", SMALL, "--design", PLAN, "--against", "tp=4", "--json")))
        options = ("--draws", 128, "--pairs", 0, "--only", "gemm")
        self.assertEqual(self.scenario.plan(PLAN).sensitivity(draws=128, pairs=0, only=["gemm"]).to_dict(),
                         json.loads(command("sensitivity", SMALL, "--design", PLAN, *options, "--json")))

    def test_many_predictions_take_no_more_memory(self):
        scenario = self.scenario
        plans = scenario.plans(100)
        calls = int(os.environ.get("PRISMOPT_CALLS", "200"))
        peaks = []
        for _ in range(2):
            for number in range(calls // 2):
                scenario.predict(plans[number % len(plans)], draws=128)
                scenario.lower_bounds(plans)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        self.assertLess(peaks[1] - peaks[0], 4 * 1024, "kB after the second half")

    def test_threads_get_the_same_results(self):
        plans = self.scenario.plans(8)
        scenario = prismopt.Scenario.read(SMALL)
        found = {}

        def work(number):
            found[number] = scenario.predict(plans[number], draws=256).to_dict()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(plans))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {number: self.scenario.predict(plans[number], draws=256).to_dict() for number in range(len(plans))})

    def test_other_threads_run_meanwhile(self):
        counted = [0]
        ended = threading.Event()

        def count():
            while not ended.is_set():
                counted[0] += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        self.scenario.predict(PLAN, draws=200_000)
        ended.set()
        counter.join()
        self.assertGreater(counted[0], 5)


class Errors(ModuleTest):
    def test_have_place_reason_and_remedy(self):
        path = self.folder / "wrong.toml"
        path.write_text(self.scenario.text.replace('gpu_price = "1.50 USD/h"', "gpu_price = 1.5"))
        with self.assertRaises(prismopt.InputError) as raised:
            prismopt.Scenario.read(path)
        error = raised.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.file, error.line), (str(path), 1 + path.read_text()[:path.read_text().index("gpu_price")].count("\n")))
        self.assertIn("USD/h", error.remedy)
        self.assertIn(error.reason, str(error))

    def test_name_arguments_rather_than_options(self):
        for call, words in ((lambda: self.scenario.predict(PLAN, draws=-1), "draws"),
                            (lambda: self.scenario.plan(PLAN).sensitivity(faster=0.0), "faster 0"),
                            (lambda: self.scenario.plan("tq=2"), "tq"),
                            (lambda: self.results.export("zigzag"), "target zigzag"),
                            (lambda: prismopt.Results.open(SMALL), SMALL)):
            with self.assertRaises(prismopt.InputError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("--", str(raised.exception))
        with self.assertRaises(prismopt.InputError) as raised:
            prismopt.Scenario.read(self.folder / "absent.toml")
        with self.assertRaises(prismopt.InputError):
            self.scenario.changed({"cluster.cores": 3})
        with self.assertRaises(TypeError):
            self.scenario.changed({"cluster.gpus": object()})
        with self.assertRaises(ValueError):
            self.scenario.lower_bounds({"tp": [1, 2], "pp": [1, 2, 4]})

    def test_infeasible_plans_are_values(self):
        for words in ("gpus=64 tp=4 pp=3", "gpus=64 tp=4 pp=16"):
            prediction = self.scenario.predict(words)
            self.assertFalse(prediction.feasible)
            self.assertNotEqual(prediction.reason, "")
        with self.assertRaises(prismopt.InputError):
            self.scenario.plan("gpus=64 tp=4 pp=3")
        with self.assertRaises(prismopt.InfeasiblePlan) as raised:
            self.scenario.plan("gpus=64 tp=4 pp=16").timeline()
        self.assertNotEqual(raised.exception.reason, "")

    def test_no_feasible_plan(self):
        with self.assertRaises(prismopt.NoFeasiblePlan):
            self.scenario.changed({"space.pp": [16], "space.v": [1]}).search()


class Searches(ModuleTest):
    def test_equals_the_command(self):
        command("search", SMALL, "--out", self.folder / "command.h5")
        printed = json.loads(command("report", self.folder / "command.h5", "--json"))
        found = self.results.to_dict()
        for of_run in ("file", "provenance", "legs", "performance"):
            printed.pop(of_run, None)
            found.pop(of_run, None)
        self.assertEqual(found, printed)
        table = self.results.front
        command("report", self.folder / "command.h5", "--csv", self.folder / "front.csv")
        rows = list(csv.DictReader(io.StringIO((self.folder / "front.csv").read_text())))
        for name, kind in (("point", int), ("training_time_p99_s", float), ("schedule", str)):
            self.assertEqual([kind(row[name]) for row in rows if row["may_not_fit"] == "0"], list(column(table, name)))

    def test_reports_progress_and_replaces_a_file_on_request(self):
        seen = []
        path = self.folder / "study.h5"
        self.scenario.search(path, progress=seen.append)
        self.assertTrue(seen[-1]["finished"])
        self.assertEqual(seen[-1]["front"], len(column(self.results.front, "point")))
        with self.assertRaises(prismopt.InputError):
            self.scenario.search(path)
        self.scenario.search(path, force=True)
        self.assertFalse(self.scenario.search(path, continues=True).provisional)

    def test_exceptions_of_the_callback_end_the_search(self):
        def fail(_):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            self.scenario.search(self.folder / "study.h5", progress=fail)

    def test_ends_at_its_time_with_a_provisional_front_and_continues(self):
        path = self.folder / "study.h5"
        stopped = self.scenario.search(path, max_time=0.001)
        self.assertTrue(stopped.provisional)
        with self.assertRaises(ValueError):
            stopped.plot_front()
        finished = prismopt.resume(path)
        self.assertFalse(finished.provisional)
        self.assertEqual(finished["front"], self.results["front"])
        self.assertEqual(prismopt.resume(path)["front"], self.results["front"])

    def test_temporary_results_are_kept_while_they_are_continued(self):
        stopped = self.scenario.search(max_time=0.001)
        finished = stopped.resume()
        del stopped
        gc.collect()
        self.assertEqual(finished["front"], self.results["front"])
        self.assertTrue(os.path.exists(finished.path))

    def test_refuses_times_that_are_none(self):
        for time_s in (-1.0, float("nan"), float("inf")):
            with self.assertRaises(prismopt.InputError):
                self.scenario.search(max_time=time_s)

    def test_ctrl_c_ends_predictions(self):
        text = """
import sys; sys.path.insert(0, sys.argv[1])
import prismopt
scenario = prismopt.Scenario.read(sys.argv[2])
for draws, plans in ((20_000_000, "gpus=64"), (100_000, 60 * ["gpus=64"])):
    print("begin", flush=True)
    try:
        scenario.predict(plans, draws=draws)
        print("finished")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
        process = subprocess.Popen([sys.executable, "-B", "-c", text, MODULE, SMALL], text=True, stdout=subprocess.PIPE)
        for _ in range(2):
            self.assertEqual(process.stdout.readline(), "begin\n")
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.readline(), "interrupted\n")
        process.communicate(timeout=60)

    def test_ctrl_c_ends_it_with_a_provisional_front(self):
        text = """
import sys; sys.path.insert(0, sys.argv[1])
import prismopt
scenario = prismopt.Scenario.read(sys.argv[2]).changed({"search.confirm": {"fleets": 400_000, "steps": 2}})
print("begin", flush=True)
results = scenario.search()
print("provisional", results.provisional, len(results["front"]))
"""
        process = subprocess.Popen([sys.executable, "-B", "-c", text, MODULE, SMALL], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "begin\n")
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, err = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - started, 20.0)
        self.assertEqual(process.returncode, 0, err)
        self.assertTrue(out.startswith("provisional True"), out + err)
        self.assertIn("Ctrl-C", err)


class ResultsOfSearches(ModuleTest):
    def test_tables(self):
        front = self.results.front
        evaluations = self.results.evaluations
        self.assertEqual(len(column(evaluations, "point")), self.scenario.count_plans()["feasible"])
        drawn = column(evaluations, "draws") > 0
        values, bounds = (column(evaluations, f"objective_training_time_p99{limit}_s") for limit in ("", "_bound"))
        self.assertTrue(np.all(np.isfinite(values[drawn])))
        self.assertTrue(np.all(np.isnan(values[~drawn])))
        self.assertTrue(np.all(bounds[drawn] <= values[drawn]))
        self.assertTrue(set(column(front, "point")) <= set(column(evaluations, "point")))
        self.assertEqual(set(column(evaluations, "tp")), set(self.scenario["space.tp"]))
        self.assertIsNone(self.results.machines)

    def test_plans_scenario_and_figures(self):
        number = int(column(self.results.front, "point")[0])
        plan = self.results.plan(number)
        self.assertEqual(plan.predict().to_dict()["estimates"],
                         json.loads(command("predict", self.results.path, "--point", number, "--json"))["estimates"])
        self.assertEqual(str(self.results.plan()), str(plan))
        self.assertEqual(self.results.scenario.to_dict(), self.scenario.to_dict())
        self.assertIn("<svg", self.results.figure())
        self.results.save_html(self.folder / "report.html")
        self.assertIn("<html", (self.folder / "report.html").read_text())

    def test_exports_and_shortlists(self):
        command("export", self.results.path, "--target", "json", "--out", self.folder / "plan.json")
        self.assertEqual(self.results.export("json")[""], (self.folder / "plan.json").read_text())
        of_plan = json.loads(self.results.plan().export("json")[""])
        self.assertEqual(of_plan, json.loads(self.results.export("json")[""]) | {"point": None, "step_time_p50_s": None})
        with self.assertRaises(prismopt.InfeasiblePlan):
            self.scenario.plan("gpus=64 tp=32").export("json")
        self.assertEqual(self.results.shortlist(most=2).to_dict(),
                         json.loads(command("shortlist", self.results.path, "--most", 2, "--json")))

    def test_learns_and_compares(self):
        front = self.results.front
        points = [int(point) for point in column(front, "point")[:2]]
        rows = [(point, 1.05 * self.results.plan(point).predict(256).step_time_mean) for point in points]
        table = self.folder / "measured.csv"
        table.write_text("point,step_time_s\n" + "".join(f"{point},{step!r}\n" for point, step in rows))
        learned = prismopt.learn(self.results, table)
        printed = json.loads(command("learn", self.results.path, "--measured", table, "--out", self.folder / "learned.toml", "--json"))
        self.assertEqual(learned.to_dict(), printed)
        self.assertEqual(without_date(learned.overlay), without_date((self.folder / "learned.toml").read_text()))
        if pandas is not None:
            frame = pandas.DataFrame(rows, columns=["point", "step_time_s"])
            self.assertEqual(self.results.learn(frame).to_dict()["measured"], printed["measured"])
        table = prismopt.Table({"point": [row[0] for row in rows], "step_time_s": [row[1] for row in rows]})
        self.assertEqual(self.results.learn(table).to_dict()["measured"], printed["measured"])
        for wrong in (lambda: prismopt.compare([]), lambda: self.results.shortlist(cover=2.0)):
            with self.assertRaises(prismopt.InputError):
                wrong()
        other = self.scenario.changed({"cluster.gpu_price": "3 USD/h"}).search(self.folder / "other.h5")
        self.assertEqual(prismopt.compare([self.results, other]).to_dict(),
                         json.loads(command("compare", self.results.path, other.path, "--json")))

    def test_refuses_to_mix_predictions_of_versions(self):
        older = prismopt.Results.open(pathlib.Path(__file__).parents[1] / "fuzz" / "results" / "small.h5")  # of 0.1.0
        table = self.folder / "measured.csv"
        table.write_text("point,step_time_s\n1,0.0316 0.0317\n")
        for mixed in (older.shortlist, lambda: older.learn(table)):
            with self.assertRaisesRegex(prismopt.InputError, "prismopt 0.1.0"):
                mixed()

    def test_opens_in_xarray(self):
        try:
            data = self.results.to_xarray()
        except ImportError as missing:
            self.skipTest(str(missing))
        self.assertEqual(data["training_time_p99"].attrs["units"], "s")

    def test_plots_and_pages(self):
        try:
            import matplotlib

            matplotlib.use("Agg")
        except ImportError as missing:
            self.skipTest(str(missing))
        axes = self.results.plot_front()
        self.assertEqual(axes.get_xlabel(), "training time p99 (h)")
        drawn = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == len(column(self.results.front, "point"))]
        self.assertEqual(sorted(drawn[0] * 3600), sorted(column(self.results.front, "objective_training_time_p99_s")))
        self.assertEqual(len(self.results.plot_timeline().get_yticks()), int(self.results.plan().axes["pp"]))
        with self.assertRaises(ValueError):
            self.results.plot_front("speed")

    def test_missing_modules_are_named_with_a_remedy(self):
        for missing, call in (("matplotlib.pyplot", self.results.plot_front), ("xarray", self.results.to_xarray)):
            with unittest.mock.patch.dict(sys.modules, {missing: None}):
                with self.assertRaisesRegex(ModuleNotFoundError, f"^{missing} is missing: install it"):
                    call()

    def test_html_of_notebooks(self):
        for shown in (self.scenario, self.scenario.plan(PLAN), self.scenario.predict(PLAN, draws=256), self.results,
                      prismopt.Table({"a<b": [1, 2]})):
            page = shown._repr_html_()
            self.assertIn("<", page)
            self.assertNotIn("a<b", page)


class Jobs(ModuleTest):
    def test_equals_the_command(self):
        job = prismopt.import_job(self.script)
        self.assertEqual(job.to_dict(), json.loads(command("import", self.script, "--json")))
        command("import", self.script, "--out", self.folder / "train.toml")
        printed = json.loads(command("predict", self.folder / "train.toml", "--design", job.plan, "--json", code=3))
        self.assertEqual(job.predict().to_dict(), printed)
        explained = json.loads(command("explain", self.script, "--no-changes", "--json", code=3))
        self.assertEqual(job.explain(changes=False).to_dict(), explained)

    def test_improves_as_the_command_does(self):
        job = prismopt.import_job(self.script)
        better = job.improve(most_changes=1, most=1)
        self.assertEqual(better.to_dict(), json.loads(command("improve", self.script, "--changes", 1, "--most", 1, "--json")))
        self.assertIn("train.sbatch", better.text)

    def test_says_what_is_wrong(self):
        job = prismopt.import_job(self.script)
        for call in (lambda: prismopt.import_job(SMALL), lambda: prismopt.import_job([]),
                     lambda: prismopt.import_job(self.folder / "absent.sh"), lambda: prismopt.import_job(self.script, gpus=-1),
                     lambda: job.improve(measured_step=-1.0), lambda: job.improve(most=0), lambda: job.improve(most_changes=9),
                     lambda: prismopt.Scenario.start("llama3-8b", 0)):
            with self.assertRaises(prismopt.InputError):
                call()

    def test_reads_scripts_in_other_encodings(self):
        script = self.folder / "latin.sbatch"
        script.write_bytes(SCRIPT.replace("#SBATCH", "# caf\xe9\n#SBATCH", 1).encode("latin-1"))
        self.assertEqual(str(prismopt.import_job(script).plan), str(prismopt.import_job(self.script).plan))


class Catalog(ModuleTest):
    def test_entries(self):
        self.assertIn("accelerators", prismopt.catalog())
        for kind in prismopt.catalog():
            self.assertGreater(len(column(prismopt.catalog(kind), "name")), 0, kind)
        accelerators = prismopt.catalog("accelerators")
        self.assertIn("h100-sxm", list(column(accelerators, "name")))
        with self.assertRaises(ValueError):
            prismopt.catalog("zigzags")


if __name__ == "__main__":
    warnings.simplefilter("error", DeprecationWarning)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
