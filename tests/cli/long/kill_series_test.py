"""A search that is killed twenty times and more, whoever is hit and whenever, ends with the results of one that was not."""

import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import support  # noqa: E402
from support import CALL_AGAIN, DONE, CliTest  # noqa: E402

KILLS = 24
TIMEOUT_S = 300


def children_of(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


class KillSeries(CliTest):
    def setUp(self):
        super().setUp()
        # No bound holds for a median, so every plan is drawn.
        self.toml = self.scenario(minimise='["training_time_p50", "memory", "gpus"]',
                                  rungs="[{ fleets = 64, steps = 2 }, { fleets = 12800, steps = 2 }]")

    def contents(self, out):
        contents = support.contents_of(self.folder / out)
        del contents["attributes of /"]["scenario_path"]
        return contents

    def finish(self, process):
        process.communicate(timeout=TIMEOUT_S)
        return process.returncode

    def hit(self, process, ranks, whom):
        """`whom`: rank 0, the last rank, or mpirun itself, whose ranks must not go on alone."""
        workers = children_of(process.pid) if ranks else []
        if whom == "mpirun" or not workers:
            process.kill()
        else:
            subprocess.run(["kill", "-KILL", str(workers[0 if whom == "rank 0" else -1])], check=False)
        code = self.finish(process)
        deadline = time.monotonic() + 20
        for worker in workers:  # what mpirun left behind ends when it loses its launcher
            while pathlib.Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        return code

    def test_kills(self):
        self.output("search", self.toml, "--out", "reference.h5", timeout=TIMEOUT_S)
        started = time.monotonic()
        chance = random.Random(20)
        journal = self.folder / "study.h5.journal"
        hits = {}
        studies = 0
        while sum(hits.values()) < KILLS:
            for file in self.folder.glob("study.h5*"):
                file.unlink()
            studies += 1
            arguments = ("search", self.toml, "--out", "study.h5")
            resumes = 0
            while True:
                ranks = chance.choice((0, 2, 3))
                process = self.start_program(*arguments, ranks=ranks)
                # The first kills of a study come early, so that several legs fit in.
                time.sleep(chance.uniform(0.0, 1.0) * 0.35 * (1 + resumes / 2))
                whom = chance.choice(("rank 0", "worker", "mpirun"))
                if process.poll() is None and sum(hits.values()) < KILLS:
                    before = self.hit(process, ranks, whom)
                    if before != DONE:
                        hits[whom if ranks else "alone"] = hits.get(whom if ranks else "alone", 0) + 1
                else:
                    self.assertEqual(self.finish(process), DONE)
                if not journal.exists():
                    if (self.folder / "study.h5").exists():
                        break  # done
                    continue  # killed before there was a journal: the same again
                arguments = ("resume", "study.h5")
                resumes += 1
                text = self.run_program("inspect", "study.h5.journal").stdout
                self.assertRegex(text, r"journal of|^$")
                if "journal of" not in text:  # killed while its first record was written
                    journal.unlink()
                    arguments = ("search", self.toml, "--out", "study.h5")
            self.assertEqual(self.contents("study.h5"), self.contents("reference.h5"))
        print(f"{sum(hits.values())} kills ({hits}) over {studies} studies in {time.monotonic() - started:.0f} s", file=sys.stderr)
        self.assertGreaterEqual(sum(hits.values()), KILLS)

    def test_signals_end_within_five_seconds(self):
        for send, ranks in ((signal.SIGUSR1, 2), (signal.SIGTERM, 0)):
            with self.subTest(send):
                process = self.start_program("search", self.toml, "--out", "study.h5", "--force", ranks=ranks)
                time.sleep(1.0)
                started = time.monotonic()
                process.send_signal(send)
                self.assertEqual(self.finish(process), CALL_AGAIN)
                self.assertLess(time.monotonic() - started, 5.0)

    def test_a_journal_flipped_anywhere_resumes_from_before_the_damage(self):
        process = self.start_program("search", self.toml, "--out", "study.h5")
        journal = self.folder / "study.h5.journal"
        while not journal.exists() or journal.stat().st_size < 20_000:
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        process.kill()
        self.finish(process)
        whole = journal.read_bytes()
        self.output("search", self.toml, "--out", "reference.h5", timeout=TIMEOUT_S)
        chance = random.Random(7)
        for _ in range(2):
            place = chance.randrange(len(whole) // 2, len(whole))
            for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ (1 << chance.randrange(8))]) + whole[place + 1:]):
                (self.folder / "study.h5").unlink(missing_ok=True)
                journal.write_bytes(damaged)
                self.output("resume", "study.h5", ranks=2, timeout=TIMEOUT_S)
                self.assertEqual(self.contents("study.h5"), self.contents("reference.h5"))


if __name__ == "__main__":
    support.main()
