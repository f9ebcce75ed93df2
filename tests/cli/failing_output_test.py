"""What cannot be written is an error with a message and an exit code, and leaves the former file."""

import math
import os
import resource
import signal
import subprocess

import support
from support import DONE, FAILURE, WRONG_INPUT, CliTest


def closed(*descriptors):
    return lambda: [os.close(descriptor) for descriptor in descriptors]


def size_limit(size):
    """As a shell's `ulimit -f` sets it, with the signal that kills by default."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return prepare


class FailingOutput(CliTest):
    def test_errors_that_cannot_be_printed_keep_their_exit_code(self):
        infeasible = ("predict", support.SMALL, "--design", "gpus=48", "--timeline", "step.svg")
        for arguments, code in ((("predict", "none.toml"), WRONG_INPUT), (("nonsense",), WRONG_INPUT), (infeasible, support.INFEASIBLE),
                                (("search", support.SMALL, "--out", "small.h5"), DONE),
                                (("search", support.SMALL, "--out", "small.h5"), WRONG_INPUT)):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                self.assertEqual(self.run_with(*arguments, stdout=subprocess.DEVNULL, stderr=full).returncode, code)
            if code != DONE:
                self.assertEqual(self.run_with(*arguments, stdout=subprocess.DEVNULL, prepare=closed(2)).returncode, code)

    def test_a_full_disk_behind_standard_output_is_named(self):
        self.output("search", support.SMALL, "--out", "small.h5")
        for arguments in (("report", "small.h5", "--json"), ("manual",)):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                finished = self.run_with(*arguments, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(finished.returncode, FAILURE)
                self.assertIn("cannot write to standard output; check", finished.stderr)

    def test_no_file_takes_the_place_of_a_closed_stream(self):
        found = self.run_with("search", support.SMALL, "--out", "small.h5", prepare=closed(0, 2), stdout=subprocess.PIPE)
        self.assertEqual(found.returncode, DONE)
        self.output("report", "small.h5")
        self.assertEqual(self.run_with("report", "small.h5", prepare=closed(1), stderr=subprocess.DEVNULL).returncode, FAILURE)

    def test_a_full_disk_keeps_the_former_file(self):
        self.output("search", support.SMALL, "--out", "small.h5")
        self.write("former", "front.csv")
        self.write("former", "page.html")
        for option, name in (("--html", "page.html"), ("--csv", "front.csv"), ("--svg", "new.svg")):
            with self.subTest(option):
                finished = self.run_with("report", "small.h5", option, name, prepare=size_limit(1024), capture_output=True, text=True)
                self.assertEqual(finished.returncode, FAILURE, finished.stderr)
                self.assertIn(name, finished.stderr)
        self.assertEqual((self.folder / "front.csv").read_text(), "former")
        self.assertEqual((self.folder / "page.html").read_text(), "former")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["front.csv", "page.html", "small.h5"])
        for arguments, name in ((("export", "small.h5", "--target", "json"), "plan.json"),
                                (("init", "--workload", "llama3-8b", "--gpus", 64), "my.toml")):
            finished = self.run_with(*arguments, "--out", name, prepare=size_limit(1024), capture_output=True, text=True)
            self.assertEqual(finished.returncode, FAILURE, finished.stderr)
            self.assertFalse((self.folder / name).exists())

    def test_a_full_disk_drops_the_draws_before_the_search_gives_up(self):
        """A disk that holds the results and the journal (24 kB in whole pages), but not the draws in progress (10 kB) beside them."""
        toml = self.scenario(tp="[2]", pp="[2]", v="[1]", microbatch="[1]", schedule='["1f1b"]', recompute='["full"]', minimise='["training_time_p50"]',
                             rungs="[{ fleets = 64, steps = 8 }, { fleets = 25600, steps = 8 }]")
        self.write(toml.read_text().replace("gpus = [16, 32, 64]", "gpus = [64]"))
        self.output("search", "study.toml", "--out", "whole.h5")
        page = 4  # kilobytes: such a disk is allocated in pages
        kilobytes = page * math.ceil((self.folder / "whole.h5").stat().st_size / 1024 / page) + 24
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", disk], capture_output=True, check=False).returncode != 0:
            self.skipTest("this user may not mount a small disk")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        finished = self.run_with("search", "study.toml", "--out", "disk/study.h5", capture_output=True, text=True)
        self.assertEqual(finished.returncode, DONE, finished.stderr)
        self.assertIn("disk/study.h5.journal.draws is removed", finished.stderr)
        self.assertEqual([path.name for path in disk.iterdir()], ["study.h5"])


if __name__ == "__main__":
    support.main()
