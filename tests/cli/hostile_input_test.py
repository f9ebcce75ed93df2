"""Files that their author means to do harm: texts that become commands, nesting and content without limit, links to other files."""

import gzip
import json
import os
import pathlib
import resource

import h5py
import numpy as np

import support
from support import WRONG_INPUT, CliTest

SEAL_BYTES = 512  # results/README.md
NOT_MUCH_MEMORY = 1 << 30


def limit_memory():
    """Of the process and those that it starts."""
    resource.setrlimit(resource.RLIMIT_AS, (NOT_MUCH_MEMORY, NOT_MUCH_MEMORY))


class Texts(CliTest):
    def test_control_characters_in_names_are_refused(self):
        text = pathlib.Path(support.SMALL).read_text()
        for old in ('name = "small"', 'name = "gpt-small"', 'name = "cluster"'):
            self.assertEqual(text.count(old), 1, old)
            for value, character in ((r"evil\ntouch PWNED\n#", r"U\+000A \(line break\)"), (r"\u001b]0;owned\u0007", r"U\+001B \(escape\)")):
                with self.subTest(old, value=value):
                    self.write(text.replace(old, f'name = "{value}"'))
                    for command in ("validate", "search"):
                        errors = self.refusal(command, "study.toml")
                        self.assertRegex(errors, rf"^prismopt: study\.toml:\d+: name = .* contains the control character {character}.*; remove it\n$")
                        self.assertNotIn("\x1b", errors)

    def test_messages_do_not_command_the_terminal(self):
        for arguments in (("report", "\x1b[31mabsent.h5"), ("validate", "\x1b]0;owned\x07")):
            errors = self.refusal(*arguments)
            self.assertNotIn("\x1b", errors)
            self.assertIn(r"\u001B", errors)

    def test_text_that_changes_its_direction_is_refused(self):
        text = pathlib.Path(support.SMALL).read_text()
        for code in ("2028", "2029", "202E", "2066"):
            self.write(text.replace('name = "small"', rf'name = "a\u{code}b"'))
            self.assertRegex(self.refusal("validate", "study.toml"), rf"^prismopt: study\.toml:\d+: name = .*U\+{code}")

    def test_names_of_kernels_break_no_lines(self):
        events = [{"ph": "X", "cat": "kernel", "name": f"odd\u009b31m\n[hack]\nfoo = 1\x1b[31m\u202e{k % 2}", "tid": 7, "ts": 100 * k, "dur": 50 + k % 3}
                  for k in range(40)]
        self.write(json.dumps({"traceEvents": events}), "evil.json")
        ran = self.run_program("calibrate", "evil.json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for line in ran.stderr.split("\n")[:-1]:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\d [0-9:]+ warning: ")
        self.assertNotRegex(ran.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
        self.assertNotIn("\n[hack]", ran.stdout)

    def test_keys_nested_without_end_are_refused(self):
        for text in (".".join(["a"] * 40_000) + " = 1\n", "[" + ".".join(["a"] * 40_000) + "]\n", "a = " + "[" * 40_000):
            self.write(text)
            self.assertRegex(self.refusal("validate", "study.toml"), r"^prismopt: study\.toml:1: .* levels deep .*\n$")


class ResultsFiles(CliTest):
    def setUp(self):
        super().setUp()
        self.searched(support.SMALL, "small.h5")
        sealed = (self.folder / "small.h5").read_bytes()
        (self.folder / "plain.h5").write_bytes(sealed[SEAL_BYTES:])

    def changed(self, change):
        """A copy without its seal, as older programs wrote it."""
        path = self.folder / "changed.h5"
        path.write_bytes((self.folder / "plain.h5").read_bytes())
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    def assert_refused(self, change, reason):
        self.changed(change)
        ran = self.run_with("report", "changed.h5", prepare=limit_memory, capture_output=True, text=True)
        self.assertEqual(ran.returncode, WRONG_INPUT, ran.stdout[-500:] + ran.stderr[-500:])
        self.assertRegex(ran.stderr, rf"prismopt: changed\.h5 is damaged or truncated: .*{reason}")

    def test_texts(self):
        def rename(file):
            file.attrs["scenario_name"] = "evil\ntouch PWNED\n#"

        def nest(file):
            file.attrs["scenario_toml"] = ".".join(["a"] * 30_000) + " = 1\n"

        self.assert_refused(rename, r"attribute scenario_name .*U\+000A")
        self.changed(nest)
        self.assertIn("levels deep", self.refusal("export", "changed.h5", "--target", "json"))

    def test_content_elsewhere_is_not_read(self):
        other = self.folder / "other.h5"
        with h5py.File(other, "w") as file:
            file["values"] = np.zeros(4)
            file.create_group("ranks")

        def external_link(file):
            del file["ranks"]
            file["ranks"] = h5py.ExternalLink(str(other), "/ranks")

        def soft_link(file):
            file.move("ranks", "former")
            file["ranks"] = h5py.SoftLink("/former")

        def virtual(file):
            count = file["front/evaluation"].shape[0]
            del file["front/draws"]
            layout = h5py.VirtualLayout(shape=(count,), dtype="u8")
            layout[:] = h5py.VirtualSource(str(other), "values", shape=(count,))
            file["front"].create_virtual_dataset("draws", layout)

        def external_storage(file):
            count = file["front/evaluation"].shape[0]
            del file["front/draws"]
            file["front"].create_dataset("draws", (count,), "u8", external=[("/dev/zero", 0, 8 * count)])

        for change, reason in ((external_link, "link to another file"), (soft_link, "link to another name"), (virtual, "virtual dataset"),
                               (external_storage, "external files")):
            with self.subTest(change.__name__):
                self.assert_refused(change, reason)

    def test_more_content_than_the_file_can_hold_is_refused(self):
        rows = 1 << 28

        def column(name, **how):
            def change(file):
                del file[name]
                file.create_dataset(name, (rows,), "u8", **how)
            return change

        def chunks(file):
            del file["ranks/busy"]
            file["ranks"].create_dataset("busy", (1,), "f8", chunks=(1 << 28,), maxshape=(None,))

        for change in (column("evaluations/evaluation"), column("evaluations/evaluation", chunks=(1 << 20,), compression="gzip"),
                       column("front/draws"), column("progress/draws")):
            self.assert_refused(change, r"268435456 values exceed the \d+ bytes of content that are read of a file of \d+ bytes")
        self.assert_refused(chunks, "its chunks are larger than the content")


class Traces(CliTest):
    def test_content_without_use_is_refused(self):
        header = b"step,dp,stage,op,start_us,dur_us\n"
        for name, head, chunk, reason in (("line.csv.gz", header, b"A", "16 MiB of a line without an end"),
                                          ("blank.json.gz", b'{"traceEvents":[', b" ", "16 MiB of blanks"),
                                          ("string.json.gz", b'{"traceEvents":["', b"A", "64 MiB of JSON"),
                                          ("escapes.json.gz", b'{"traceEvents":["', b'\\"', "64 MiB of JSON"),
                                          ("lines.csv.gz", header, b"\n", "16 MiB of blanks and empty lines"),
                                          ("quote.csv.gz", header + b'"', b"A\n", "without an end")):
            with self.subTest(name):
                with gzip.open(self.folder / name, "wb", 1) as file:
                    file.write(head)
                    for _ in range(100):
                        file.write(chunk * ((1 << 20) // len(chunk)))
                ran = self.run_with("calibrate", name, prepare=limit_memory, capture_output=True, text=True)
                self.assertEqual(ran.returncode, WRONG_INPUT, ran.stderr[-500:])
                self.assertIn(reason, ran.stderr)

    def test_rows_that_memory_cannot_hold_are_refused(self):
        with gzip.open(self.folder / "rows.csv.gz", "wb", 1) as file:
            file.write(b"step,dp,stage,op,start_us,dur_us\n")
            for _ in range(400):
                file.write(b"0,0,0,F,0,1\n" * 100_000)
        ran = self.run_with("calibrate", "rows.csv.gz", prepare=limit_memory, capture_output=True, text=True)
        self.assertEqual(ran.returncode, WRONG_INPUT, ran.stderr[-500:])
        self.assertRegex(ran.stderr, r"^prismopt: rows\.csv\.gz: its rows take .* of memory after .* of content, and .* are left")

    def test_the_limit_of_content_is_an_option(self):
        rows = "".join(f"{s},{d},0,F,{s * 100},{10 + (s * 7 + d) % 3}\n" for s in range(200) for d in range(2))
        with gzip.open(self.folder / "rows.csv.gz", "wt") as file:
            file.write("step,dp,stage,op,start_us,dur_us\n" + rows)
        self.output("calibrate", "rows.csv.gz")
        self.assertRegex(self.refusal("calibrate", "rows.csv.gz", "--max-content", "1 kB"),
                         r"rows\.csv\.gz: has more than 1e-06 GB of content, decompressed; .*--max-content")
        self.assertIn("--max-content 3 apples", self.refusal("calibrate", "rows.csv.gz", "--max-content", "3 apples"))


class WrittenFiles(CliTest):
    """Files that people or this program write have a limit; what is larger, or has no end, is refused before it is in memory."""

    def test_files_without_end_are_refused(self):
        self.output("search", support.SMALL, "--out", "small.h5")
        with open(self.folder / "huge", "wb") as file:
            file.truncate(4 << 30)  # bytes, none of which is on the disk
        for path in ("huge", "/dev/zero"):
            for arguments in (("learn", "small.h5", "--measured", path),
                              ("predict", support.SMALL, "--nodes", path),
                              ("predict", support.SMALL, "--orders", path),
                              ("calibrate", "small.h5", "--kernel-names", path),
                              ("report", "small.h5", "--html", "o.html", "--sensitivity", path),
                              ("init", "--model-config", path, "--gpus", "8")):
                if path == "/dev/zero" and arguments[0] == "init":
                    continue  # takes regular files only
                with self.subTest(arguments):
                    ran = self.run_with(*arguments, prepare=limit_memory, capture_output=True, text=True)
                    self.assertEqual(ran.returncode, WRONG_INPUT, ran.stderr[-500:])
                    self.assertRegex(ran.stderr, r"has more than 64 MiB")

    def test_a_log_without_end_is_refused(self):
        self.output("search", support.SMALL, "--out", "small.h5")
        point = self.output("report", "small.h5", "--csv", "small.csv") and (self.folder / "small.csv").read_text()
        index = [line for line in point.splitlines() if line[:1].isdigit()][0].split(",")[0]
        self.write(f"point,step_time_s,log,peak_memory_gb\n{index},,/dev/zero,\n", "measured.csv")
        ran = self.run_with("learn", "small.h5", "--measured", "measured.csv", prepare=limit_memory, capture_output=True, text=True)
        self.assertEqual(ran.returncode, WRONG_INPUT, ran.stderr[-500:])
        self.assertIn("not a regular file", ran.stderr)


class TemporaryFiles(CliTest):
    def setUp(self):
        super().setUp()
        self.searched(support.SMALL, "small.h5")

    def test_a_foreseeable_name_is_not_followed(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        os.symlink("victim", self.folder / "o.html.partial")
        self.output("report", "small.h5", "--html", "o.html")
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.folder / "o.html").is_symlink())
        self.assertGreater((self.folder / "o.html").stat().st_size, 1000)

    def test_two_may_write_to_one_path(self):
        both = [self.start_program("report", "small.h5", "--html", "o.html") for _ in range(2)]
        self.assertEqual([process.wait() for process in both], [0, 0])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["o.html", "small.h5"])


if __name__ == "__main__":
    support.main()
