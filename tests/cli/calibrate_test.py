"""From measured traces to a searched scenario: `calibrate`, and what it refuses."""

import gzip
import json
import math
import pathlib
import random
import re
import statistics

import support
from support import CliTest, result_of

HEADER = "step,dp,stage,op,seq_id,mb_id,start_us,dur_us\n"
OUTAGES = "node,start_day,end_day,level,cls\n" + "".join(f"n{i % 40},{1.7 * i:.2f},{1.7 * i + 0.4:.2f},Fault,GPU\n" for i in range(60))


def operations(steps=120, replicas=2, slow_gpu=1.0, seed=1):
    """A pipeline of two stages: forwards of 1 ms, backwards of 2 ms, 5 % of spread; a GPU may be slower."""
    draw = random.Random(seed)
    lines = [HEADER]
    for step in range(steps):
        for dp in range(replicas):
            for stage in (0, 1):
                now = 0.0
                for sequence, (name, mean) in enumerate([("forward-compute", 1000.0)] * 4 + [("backward-compute", 2000.0)] * 4):
                    factor = slow_gpu if (dp, stage) == (1, 0) else 1.0
                    took = mean * factor * draw.lognormvariate(0.0, 0.05)
                    lines.append(f"{step},{dp},{stage},{name},{sequence % 4},{sequence % 4},{now:.1f},{took:.1f}\n")
                    now += took
    return "".join(lines)


SIGMA, EXPONENTS = 0.25, {"forward-compute": 0.5, "backward-compute": 1.5}


def uneven_operations(steps=40, replicas=4, seed=3):
    """As above, with 0.5 % of spread and microbatches of many lengths, which backward passes feel more than forward ones."""
    draw = random.Random(seed)
    lines = [HEADER]
    for step in range(steps):
        for dp in range(replicas):
            lengths = [draw.gauss(0.0, SIGMA) for _ in range(8)]
            for stage in (0, 1):
                now = 0.0
                for name, mean in (("forward-compute", 1000.0), ("backward-compute", 2000.0)):
                    for microbatch, length in enumerate(lengths):
                        took = mean * math.exp(EXPONENTS[name] * length + draw.gauss(0.0, 0.005))
                        lines.append(f"{step},{dp},{stage},{name},{microbatch},{microbatch},{now:.1f},{took:.1f}\n")
                        now += took
    return "".join(lines)


class Calibrate(CliTest):
    def refused(self, content, *said, name="ops.csv"):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        error = self.refusal("calibrate", name)
        self.assertRegex(error, rf"^prismopt: {re.escape(name)}")
        for text in said:
            self.assertIn(text, error)

    def test_json_has_what_is_written(self):
        self.write(operations(), "ops.csv")
        self.write(OUTAGES, "outages.csv")
        found = json.loads(self.output("calibrate", "ops.csv", "outages.csv", "--nodes", 40, "--days", 110, "--json"))
        self.assertEqual((found["source"], found["operations"]), ("ops.csv", 120 * 2 * 2 * 8))
        residual = {c["name"]: c for c in found["components"]}["residual"]
        self.assertLess(residual["low"], 0.05)
        self.assertGreater(residual["high"], 0.05)
        operation = found["distributions"]["operation"]
        self.assertAlmostEqual(operation["cv"], 0.05, delta=0.0024)  # of 3,840 draws: 4 standard errors, 0.05 / sqrt(2 n)
        self.assertEqual(len(operation["quantiles"]), 199)
        self.assertAlmostEqual(operation["quantiles"][189], 1 + 1.645 * 0.05, delta=0.01)  # p95
        # A step is the longest of four workers with 4 forwards of 1 ms and 4 backwards of 2 ms, whose sum has a cv of 1.9 %.
        self.assertAlmostEqual(found["step_quantiles_s"][99], 0.012 * (1 + 1.03 * 0.0186), delta=0.0001)
        self.assertEqual(sum(cause["count"] for cause in found["failures"]["causes"]), 60)
        without = json.loads(self.output("calibrate", "outages.csv", "--nodes", 40, "--json"))
        self.assertNotIn("step_quantiles_s", without)

    def test_from_traces_to_a_report(self):
        (self.folder / "ops.csv.gz").write_bytes(gzip.compress(operations().encode()))
        self.write(OUTAGES, "outages.csv")
        self.output("calibrate", "ops.csv.gz", "outages.csv", "--nodes", 40, "--days", 110, "--out", "measured.toml")
        measured = (self.folder / "measured.toml").read_text()
        self.assertIn('"ops.csv.gz"', measured)
        self.assertIn('"prismopt calibrate, outages.csv"', measured)
        # As the README says: in place of the scenario's own sections.
        small = pathlib.Path(support.SMALL).read_text()
        without = re.sub(r"(?ms)^\[(variability|reliability)\]$.*?(?=^\[)", "", small)
        self.write(without + measured)
        self.output("validate", "study.toml")
        self.output("search", "study.toml", "--out", "study.h5")
        self.assertIn("p99", self.output("report", "study.h5"))
        spread = re.search(r"#   residual +([\d.]+) %", measured)
        self.assertAlmostEqual(float(spread[1]), 5.0, delta=0.24)  # of 3,840 draws: 4 standard errors, 0.05 / sqrt(2 n)
        # The scenario has what was measured: with ten times the spread of an operation steps take longer.
        wide = (without + measured).replace(f"cv = 0.0{spread[1].replace('.', '')[:2]}", "cv = 0.5")
        self.assertNotEqual(wide, without + measured)
        design = ("--design", "gpus=16 tp=1 pp=1", "--json")
        p99 = [result_of(json.loads(self.output("predict", self.write(toml), *design)), "step_time_p99")
               for toml in (without + measured, wide)]
        self.assertGreater(p99[1], p99[0])

    def test_steps_vary_as_the_exponents_of_the_written_section_say(self):
        self.write(uneven_operations(), "ops.csv")
        measured = self.output("calibrate", "ops.csv")
        constant = '{ family = "constant", source = "test" }'
        others = "".join(f"{key} = {constant}\n" for key in ("gpu", "node", "site", "stage", "common_compute", "common_communication"))
        kernels = "\n[variability.residual]\n" + "".join(f"{key} = {constant}\n" for key in ("gemm", "attention", "elementwise",
                                                                                            "tp_collective", "p2p", "dp_collective"))
        small = re.sub(r"(?ms)^\[variability\]$.*?(?=^\[)", "", pathlib.Path(support.SMALL).read_text())
        lines = [re.search(rf"(?m)^{key} = .*\n", measured)[0] for key in ("microbatch", "microbatch_exponent")]
        quantiles = json.loads(self.output("calibrate", "ops.csv", "--json"))["distributions"]["microbatch"]["quantiles"]
        draw = random.Random(1)
        for forward, backward, written in ((0.5, 1.5, "".join(lines)), (1.0, 1.0, lines[0])):
            section = '\n[variability]\nprofile = "hpc-2024"\n' + written + others + kernels
            prediction = json.loads(self.output("predict", self.write(small + section), "--design", "gpus=1 tp=1 pp=1 microbatch=1",
                                                "--draws", 8192, "--json"))
            found = result_of(prediction, "step_time_p99") / result_of(prediction, "step_time_p50") - 1
            # 64 microbatches of the distribution that was written; a backward pass takes twice as long as a forward pass.
            shares = [(exponent, share / statistics.fmean(x ** exponent for x in quantiles)) for exponent, share in ((forward, 1), (backward, 2))]
            steps = sorted(sum(share * length ** exponent for length in draw.choices(quantiles, k=64) for exponent, share in shares)
                           for _ in range(4000))
            # The p99 of 4,000 steps is known to 0.06 of their standard deviation, 2.5 % of this; quantiles beyond 99.5 % are excluded.
            self.assertAlmostEqual(found, steps[3960] / steps[2000] - 1, delta=0.09 * found)

    def test_numbers_of_nodes_begin_anew_in_each_cabinet(self):
        def table(columns, place):
            draw = random.Random(5)
            rows = [f"{node * 4 + gpu},{place(node)},{100 * draw.lognormvariate(0.0, 0.01) * (1.1 if node in (7, 50) else 1.0):.3f}\n"
                    for node in range(84) for gpu in range(4)]
            return f"gpu,{columns},perf\n" + "".join(rows)
        self.write(table("cabinet,node", lambda node: f"{node // 12},{node % 12}"), "gpus.csv")
        found = json.loads(self.output("calibrate", "gpus.csv", "--json"))
        self.assertEqual(sorted(slow["name"] for slow in found["slow"]), ["node 2 of cabinet 4", "node 7 of cabinet 0"])
        share = found["slow_shares"][0]
        self.assertEqual((share["key"], share["slow"], share["all"]), ("node", 2, 84))
        self.assertIn("# Slow nodes: 2 of 84, a share of 2.38 % (", self.output("calibrate", "gpus.csv"))
        self.write(table("node", lambda node: node % 12), "gpus.csv")
        self.assertIn("has 28 GPUs, more than any machine", self.refusal("calibrate", "gpus.csv"))

    def test_collectives_are_carried_to_other_members(self):
        draw = random.Random(2)
        rows = [f"{nodes},ring,{size},{i},{50 * draw.lognormvariate(0.0, 0.02) * (2 if draw.random() < 0.002 * nodes else 1):.3f}\n"
                for nodes in (4, 8) for size in (256, 2048, 16384) for i in range(400)]
        self.write("nodes,algo,bytes,i,lat_us\n" + "".join(rows), "nccl.csv")
        p99 = [json.loads(self.output("calibrate", "nccl.csv", "--json", *more))["distributions"]["residual.dp_collective"]["quantiles"][193]
               for more in ([], ["--members", 64])]
        self.assertGreater(p99[1], 1.3 * p99[0])  # p97: 12.8 % of 64 members' times are spikes, about 1.2 % of 6 members'
        self.assertIn("carried from", self.output("calibrate", "nccl.csv", "--members", 64))
        self.assertIn("--members", self.refusal("calibrate", "nccl.csv", "--members", 1))

    def test_a_slow_gpu_is_named(self):
        self.write(operations(replicas=4, slow_gpu=1.3), "ops.csv")
        self.assertRegex(self.output("calibrate", "ops.csv"), r'# Slow: "GPU of dp 1, stage 0" takes (29|30|31)')
        self.write(operations(replicas=4), "ops.csv")
        self.assertNotIn("# Slow:", self.output("calibrate", "ops.csv"))

    def test_of_two_workers_nobody_knows_which_is_slow_but_they_differ(self):
        self.write(operations(slow_gpu=1.3), "ops.csv")
        text = self.output("calibrate", "ops.csv")
        self.assertNotIn("# Slow:", text)
        self.assertNotIn("no significant differences between workers", text)
        self.write(operations(), "ops.csv")
        self.assertIn("no significant differences between workers", self.output("calibrate", "ops.csv"))

    def test_what_a_trace_cannot_tell_stays_with_the_profile(self):
        self.write("step,dp,stage,op,mb_id,start_us,dur_us\n0,0,0,fwd,0,0,100\n", "ops.csv")
        self.assertNotIn("constant", self.output("calibrate", "ops.csv"))
        self.write(operations(60, replicas=1), "ops.csv")
        text = self.output("calibrate", "ops.csv")
        self.assertRegex(text, r"# From the profile: gpu: ")
        self.assertNotRegex(text, r"(?m)^gpu = ")

    def test_numbers_that_cannot_be_are_refused(self):
        self.write(OUTAGES, "outages.csv")
        for days in ("-5", "0", "1e308", "nan"):
            self.assertIn("--days", self.refusal("calibrate", "outages.csv", "--nodes", 40, "--days", days))
        self.assertIn("--nodes 0", self.refusal("calibrate", "outages.csv", "--nodes", 0))

    def test_without_outages_the_result_says_what_to_do(self):
        self.write(operations(40), "ops.csv")
        self.assertIn("# Without a list of outages, [reliability] is not fitted", self.output("calibrate", "ops.csv"))
        self.write(OUTAGES, "outages.csv")
        self.assertNotIn("Without a list", self.output("calibrate", "ops.csv", "outages.csv", "--nodes", 40))

    def test_steps_that_lack_operations_are_reported(self):
        lines = operations(60).splitlines(keepends=True)
        self.write("".join(line for i, line in enumerate(lines) if i == 0 or i % 20 != 7), "ops.csv")
        finished = self.run_program("calibrate", "ops.csv")
        self.assertEqual(finished.returncode, support.DONE)
        self.assertRegex(finished.stderr, r"only \d+ of \d+ steps have the same operations")

    def test_drift_is_reported_without_outages_and_stays_in_the_steps(self):
        lines = [HEADER]
        draw = random.Random(3)
        speed = 0.0
        for step in range(400):
            speed = 0.95 * speed + draw.gauss(0.0, 0.03 * (1 - 0.95**2) ** 0.5)
            for dp in (0, 1):
                for sequence in range(4):
                    took = 1000.0 * (1.0 + speed) * draw.lognormvariate(0.0, 0.01)
                    lines.append(f"{step},{dp},0,forward-compute,{sequence},{sequence},{1100 * sequence},{took:.2f}\n")
        self.write("".join(lines), "ops.csv")
        text = self.output("calibrate", "ops.csv")
        drift = re.search(r"drift = \{ cv = ([\d.]+), time", text)
        # 400 steps are 10 stretches of twice the memory: a standard deviation is known to a quarter.
        self.assertAlmostEqual(float(drift[1]), 0.03, delta=0.5 * 0.03)
        self.assertRegex(text, r"(?m)^common_compute = (?!.*constant)")

    def test_of_two_files_the_larger_sample_is_taken(self):
        self.write(operations(60, replicas=2, slow_gpu=1.1), "ops.csv")
        draw = random.Random(5)
        self.write("gpu,perf\n" + "".join(f"g{i},{100 * draw.lognormvariate(0, 0.02):.3f}\n" for i in range(300)), "gpus.csv")
        text = self.output("calibrate", "ops.csv", "gpus.csv")
        gpu = re.search(r"(?m)^gpu = .*$", text)[0]
        self.assertIn("gpus.csv", gpu)
        self.assertRegex(gpu, r"from more values than the 4 values of: .*ops\.csv")

    def test_lines_that_cannot_be_are_counted_and_shown(self):
        lines = operations(60).splitlines(keepends=True)
        lines[10] = re.sub(r",[\d.]+\n", ",-5\n", lines[10])
        lines[20] = re.sub(r",[\d.]+\n", ",1e12\n", lines[20])
        self.write("".join(lines), "ops.csv")
        finished = self.run_program("calibrate", "ops.csv")
        self.assertEqual(finished.returncode, support.DONE)
        self.assertRegex(finished.stderr, r"1 rows with negative duration are skipped, the first in line 11")
        self.assertRegex(finished.stderr, r"1 rows with duration of more than a day are skipped, the first in line 21")

    def test_times_of_collectives_and_benchmarks_that_cannot_be_are_left_out(self):
        draw = random.Random(7)
        latencies = [f"{50 * draw.lognormvariate(0, 0.05):.2f}" for _ in range(400)]
        def distribution_with(absurd):
            lines = latencies if absurd is None else latencies[:100] + [absurd] + latencies[100:]
            self.write("nodes,bytes,i,lat_us\n" + "".join(f"4,256,{i},{time}\n" for i, time in enumerate(lines)), "nccl.csv")
            finished = self.run_program("calibrate", "nccl.csv")
            self.assertEqual(finished.returncode, support.DONE)
            return re.search(r"(?m)^residual.dp_collective = .*$|^dp_collective = .*$", finished.stdout)[0], finished.stderr
        good, said = distribution_with(None)
        self.assertEqual(said, "")
        for absurd, reason in (("5e8", "above 100 times the median of nodes 4, bytes 256"), ("1e30", "more than a day"),
                               ("1e99", "more than a day"), ("-3", "negative duration")):
            distribution, said = distribution_with(absurd)
            self.assertEqual(distribution, good)
            self.assertRegex(said, rf"nccl.csv: 1 rows with .*{reason}.* are skipped, the first in line 102")
        self.write("gpu,perf\n" + "".join(f"g{i},{100 * draw.lognormvariate(0, 0.02):.3f}\n" for i in range(50)) + "x,1e30\n",
                   "gpus.csv")
        self.assertRegex(self.run_program("calibrate", "gpus.csv").stderr, r"more than a day are skipped, the first in line 52")
        self.write("gpu,perf\n1,1e30\n", "gpus.csv")
        self.assertIn("no valid measurement remains", self.refusal("calibrate", "gpus.csv"))

    def test_a_clock_that_was_set_back_between_steps_is_reported(self):
        def started(at):
            rows = (line.split(",") for line in operations(60).splitlines()[1:])
            return HEADER + "".join(",".join([*row[:6], str(float(row[6]) + at(int(row[0]))), row[7]]) + "\n" for row in rows)
        self.write(started(lambda step: 1e5 * step), "ops.csv")
        self.assertEqual(self.run_program("calibrate", "ops.csv").stderr, "")
        self.write(started(lambda step: 1e5 * step - (5e5 if step >= 30 else 0)), "ops.csv")
        finished = self.run_program("calibrate", "ops.csv")
        self.assertEqual(finished.returncode, support.DONE)
        self.assertRegex(finished.stderr, r"ops.csv:\d+: step 30 starts before step 29 did \(the clock was set back\)")
        self.write(started(lambda step: 3.0 * (step * 7 % 11)), "ops.csv")  # each step from about zero
        self.assertEqual(self.run_program("calibrate", "ops.csv").stderr, "")

    def test_what_belongs_to_a_step_has_no_microbatch(self):
        lines = operations(60).splitlines(keepends=True)
        step = [f"{s},{dp},{stage},optimizer,0,,90000,700\n" for s in range(60) for dp in (0, 1) for stage in (0, 1)]
        self.write("".join(lines + step), "ops.csv")
        finished = self.run_program("calibrate", "ops.csv")
        self.assertIn("optimizer", finished.stdout)
        self.assertEqual(finished.stderr, "")

    def test_operations_that_lack_their_microbatch_are_reported(self):
        lines = operations(60).splitlines(keepends=True)
        fields = lines[10].split(",")
        lines[10] = ",".join([*fields[:5], "", *fields[6:]])
        self.write("".join(lines), "ops.csv")
        self.assertRegex(self.run_program("calibrate", "ops.csv").stderr,
                         r"ops.csv:11: 1 of \d+ forward-compute have no microbatch, .* give each an mb_id")

    def test_bad_input_is_refused_with_its_line(self):
        good = operations(60)
        self.refused(gzip.compress(good.encode())[:-200], "gzip", name="ops.csv.gz")
        self.refused(gzip.compress(good.encode()) + b"garbage", "not gzip", name="ops.csv.gz")
        self.refused("step,dp,op,dur_us\n1,0,x,5\n", ":1:", "stage", "start_us")
        self.refused(good.replace("\n", "\n1,0,0,forward-compute,0,0,abc,5\n", 1), ":2:", '"abc"')
        self.refused(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)
        self.refused("", name="empty.csv")
        self.refused('{"traceEvents": [{"ph": "X", "cat": "kernel"', name="cut.json")
        # Two jobs in one file: the same operation of the same step twice.
        self.refused(good + good.split("\n", 1)[1], "twice")
        self.refused(HEADER, "no usable line")
        # One after the other, under other step numbers.
        later = "".join(re.sub(r"^(\d+)", lambda step: str(int(step[1]) + 5000), line) for line in
                        (line.rsplit(",", 1)[0] + f",{5 * float(line.rsplit(',', 1)[1]):.1f}\n" for line in good.splitlines()[1:]))
        self.refused(good + later, "two jobs")
        self.write(re.sub(r",([\d.]+)\n", r",-\1\n", good), "ops.csv")
        self.assertIn("no valid operation remains", self.refusal("calibrate", "ops.csv"))
        self.assertIn("hpc-2024", self.refusal("calibrate", "ops.csv", "--profile", "nonsense"))
        self.assertIn("nowhere.csv", self.refusal("calibrate", "nowhere.csv"))

    def test_quantised_times_end_in_a_distribution(self):
        """Equal values but one: four of five folds of a fit have no spread at all."""
        for place in (0, 25, 50):
            rows = [f"gemm,{i % 8},{2.0 if i == place else 1.0}" for i in range(51)]
            self.write("app,gpu,time_ms\n" + "\n".join(rows) + "\n", "gpus.csv")
            self.output("calibrate", "gpus.csv", timeout=30)
            rows = [f"all_reduce,1048576,{101 if i == place else 100}" for i in range(51)]
            self.write("op,bytes,lat_us\n" + "\n".join(rows) + "\n", "collectives.csv")
            self.assertIn("[variability", self.output("calibrate", "collectives.csv", timeout=30))

    def test_collectives_have_sizes(self):
        rows = [f"all_reduce,{1048576 if i != 7 else -1},{100 + i}" for i in range(20)]
        self.write("op,bytes,lat_us\n" + "\n".join(rows) + "\n", "collectives.csv")
        self.assertRegex(self.refusal("calibrate", "collectives.csv"), r'collectives\.csv:9: bytes = "-1" ')

    def test_kernels_of_json_traces_are_counted_from_one(self):
        events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 1000 * step, "dur": 900} for step in range(1, 4)]
        events += [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1000 * step + 10 + 30 * k, "dur": 20 + k % 3}
                   for step in range(4) for k in range(20)]
        self.write(json.dumps({"traceEvents": events}), "trace.json")
        warnings = self.run_program("calibrate", "trace.json").stderr
        self.assertRegex(warnings, r"20 rows with a kernel before the first step are skipped, the first in kernel 1\n")
        self.assertNotRegex(warnings, r"(line|kernel) 0\b")

    def test_transfers_may_have_capital_letters(self):
        rows = ["step,dp,stage,op,start_us,dur_us,mb_id,seq_id"]
        for step in range(8):
            at = 1000 * step
            rows += [f"{step},0,0,Forward,{at},{100 + step % 3},0,0", f"{step},0,0,P2P-Send,{at + 110},{10 + step % 2},0,0",
                     f"{step},0,1,P2P-Recv,{at + 110},{10 + step % 2},0,0", f"{step},0,1,Forward,{at + 125},{100 + step % 4},0,0"]
        self.write("\n".join(rows) + "\n", "ops.csv")
        found = json.loads(self.output("calibrate", "ops.csv", "--json"))
        self.assertEqual((found["operations"], found["other_steps"]), (32, 0))
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 * k, "dur": 50 + k % 3, "args": {"stream": 7}}
                  for k, name in enumerate(["gemm", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"] * 10)]
        self.write(json.dumps({"traceEvents": events}), "trace.json")
        self.assertEqual(json.loads(self.output("calibrate", "trace.json", "--json"))["operations"], 20)

    def test_names_of_operations_may_be_of_any_bytes(self):
        step = "".join(f"{step},{dp},{stage},optimis\u00e9,0,,90000,700\n" for step in range(20) for dp in (0, 1) for stage in (0, 1))
        (self.folder / "ops.csv").write_bytes((operations(20) + step).encode("latin-1"))
        names = [kind["name"] for kind in json.loads(self.output("calibrate", "ops.csv", "--json"))["kinds"]]
        self.assertIn("optimis\ufffd", names)
        self.assertIn("optimis\ufffd", self.output("calibrate", "ops.csv"))

    def test_measured_collectives_lead_to_values_of_a_tier(self):
        header = "# nThread 1 nGpus 1\n#  Rank 0 Group 0 Pid 1 on a device 0\n{}#  size count type redop root time algbw busbw #wrong\n"
        rows = "8 2 float sum -1 120.0 0.0 0.0 0\n1073741824 268435456 float sum -1 4000.0 268.4 268.4 0\n"
        two = header.format("#  Rank 1 Group 0 Pid 2 on b device 0\n") + rows
        self.write("".join(f" 0: {line}\n" for line in ["# all_reduce_perf", *two.splitlines()]), "nccl.txt")
        note = json.loads(self.output("calibrate", "nccl.txt", "--json"))["notes"][0]
        self.assertRegex(note, r"all_reduce, 2 ranks: 120 us at 8 B, 4000 us at 1073741824 B \(bus bandwidth 268.4 GB/s\)")
        self.assertIn("prismopt components SCENARIO --measured FILE", note)
        self.write(header.format("") + rows.replace("268.4 0", "0.0 0"), "one.txt")
        self.assertRegex(self.refusal("calibrate", "one.txt"), "2 with a single rank")
        finished = self.run_program("calibrate", "one.txt", "nccl.txt")
        self.assertEqual(finished.returncode, support.DONE)
        self.assertIn("2 rows with a single rank", finished.stderr)

    def test_kernels_without_a_class_are_reported_with_their_share(self):
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 400 * k, "dur": duration + k % 3}
                  for k, (name, duration) in enumerate([("gemm", 300), ("zzz_mixer", 90)] * 20)]
        self.write(json.dumps({"traceEvents": events}), "trace.json")
        finished = self.run_program("calibrate", "trace.json", "--json")
        share = float(re.search(r"([\d.]+) % of the time is in 1 kind .*zzz_mixer", finished.stderr)[1])
        self.assertAlmostEqual(share, 100 * 91 / (91 + 301), delta=0.1)
        found = json.loads(finished.stdout)
        self.assertEqual({kind["name"]: kind["class"] for kind in found["kinds"]}, {"gemm": "gemm", "zzz_mixer": "elementwise"})
        self.assertIn("zzz_mixer", found["notes"][0])
        self.write('[[kernel]]\nclass = "scan"\nnames = ["zzz*"]\nsource = "our mixer"\n', "names.toml")
        finished = self.run_program("calibrate", "trace.json", "--json", "--kernel-names", "names.toml")
        self.assertEqual(finished.stderr, "")
        self.assertEqual({kind["name"]: kind["class"] for kind in json.loads(finished.stdout)["kinds"]},
                         {"gemm": "gemm", "zzz_mixer": "scan"})
        self.assertIn("names.toml:1", self.refusal("calibrate", "trace.json", "--kernel-names", self.write("[[kernel]]\n", "names.toml").name))

    def test_outages_that_are_listed_again_count_once(self):
        rows = [f"{i % 7},{86400 * i},{86400 * i + 7200},GPU" for i in range(20)]
        header = "node,start_s,end_s,cause"
        self.write("\n".join([header, *rows]) + "\n", "once.csv")
        self.write("\n".join([header, *rows, *rows[:5]]) + "\n", "again.csv")
        once, again = (json.loads(self.output("calibrate", f"{name}.csv", "--nodes", 40, "--days", 30, "--json"))["failures"]
                       for name in ("once", "again"))
        self.assertEqual(again["causes"], once["causes"])
        self.assertEqual([row["count"] for row in again["excluded"]], [5])
        self.assertRegex(self.output("calibrate", "again.csv", "--nodes", 40, "--days", 30), "Excluded: 5 outages .* again, .* line 22")

    def test_outages_need_to_know_of_how_many_nodes(self):
        self.write(OUTAGES, "outages.csv")
        self.assertIn("--nodes", self.refusal("calibrate", "outages.csv"))
        self.assertIn("lists 40 nodes, more than --nodes 39", self.refusal("calibrate", "outages.csv", "--nodes", 39))
        self.assertIn("days apart, more than --days 3", self.refusal("calibrate", "outages.csv", "--nodes", 40, "--days", 3))


if __name__ == "__main__":
    support.main()
