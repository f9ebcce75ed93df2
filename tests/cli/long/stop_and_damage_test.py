"""A search that gets a signal ends soon; one whose journal is damaged ends with the results of one that was not. Kills: tests/faults."""

import pathlib
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import support  # noqa: E402
from support import CALL_AGAIN, DONE, CliTest  # noqa: E402

TIMEOUT_S = 300


class StopAndDamage(CliTest):
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
