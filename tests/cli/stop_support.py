"""What the tests of stopped searches share: a study of some hundred answers, its journal, and what must hold after it was resumed."""

import pathlib
import re
import signal
import struct
import subprocess
import time
import zlib

import support
from support import CALL_AGAIN, CliTest

HEADER_BYTES = 48  # two copies of 24
RECORD_HEAD_BYTES = 12
TIMEOUT_S = 100
MOST_WAIT_S = 8  # for a stop that takes a second where nothing else runs, and for writing the results


class StopTest(CliTest):
    reference = None  # contents of the results of a search that nobody stopped

    def setUp(self):
        super().setUp()
        # No bound holds for a median, so every plan is drawn: some hundred answers, over a second or more.
        self.toml = self.scenario(minimise='["training_time_p50", "memory", "gpus"]',
                                  rungs="[{ fleets = 64, steps = 2 }, { fleets = 2560, steps = 2 }]")
        if StopTest.reference is None:
            self.output("search", self.toml, "--out", "reference.h5")
            # The path is an attribute, and each test has another.
            StopTest.reference = self.contents("reference.h5")

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

    def assert_resumes_to_the_end(self, file="study.h5", *options, **how):
        self.output("resume", file, *options, **how)
        self.assert_complete()

    def assert_complete(self):
        self.assertFalse(self.journal.exists())
        self.assertEqual(sorted(p.name for p in self.folder.glob("study.h5*")), ["study.h5"])
        contents = self.contents("study.h5")
        self.assertEqual(list(contents), list(StopTest.reference))
        for name, value in StopTest.reference.items():
            self.assertEqual(contents[name], value, f"{name} differs from the study that was not stopped")

    def stopped_journal(self):
        """A study with some hundred answers in its journal, as a kill leaves it."""
        process = self.start_and_wait("search", self.toml, "--out", "study.h5", grow=30_000)
        process.kill()
        process.wait()
        return self.journal.read_bytes()

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

    def steps_of_tuning(self):
        found = re.search(r"(\d+) tuning steps, 0 answers, .*undamaged", self.output("inspect", "study.h5.journal"))
        self.assertIsNotNone(found)
        return int(found[1])

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

    def slow_sweep(self):
        """The bounds of a part of this space take a minute: steps have tens of thousands of microbatches."""
        toml = self.scenario("slow.toml", global_batch="65536", sequence='[{ layer = "dense", count = 64 }]', pp="[1, 2, 4, 8]", v="[1, 2, 4, 8]", microbatch="[1, 2, 4, 8]",
                             order='["tp-pp-dp", "tp-dp-pp"]', dp_overlap='["on", "off"]')
        recomputed = f"recomputed_layers = {list(range(33))}"
        return self.write(toml.read_text().replace("[space]\n", f"[space]\n{recomputed}\n"), "slow.toml")

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
