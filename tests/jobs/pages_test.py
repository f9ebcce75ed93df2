"""Pages that jobs/pages makes, and outputs that pages quote. usage: pages_test.py [PRISMOPT]

Exit code 77: no program is given to run the quick ones; the other tests have passed."""

import importlib.machinery
import importlib.util
import io
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from types import SimpleNamespace
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
import quoted  # noqa: E402  pylint: disable=wrong-import-position

LOADER = importlib.machinery.SourceFileLoader("pages", str(ROOT / "jobs/pages"))
pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("pages", LOADER))
sys.modules["pages"] = pages
LOADER.exec_module(pages)

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_file() else None
BY_HAND = {"results/README.md"}
# Pages that were made before jobs/pages stated the version.
WITHOUT_VERSION = {"results/model-fit.txt"}
RELEASE = re.search(r"^project\(prismopt VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
OUTPUTS = [block for page in quoted.PAGES for block in quoted.blocks_of(page) if block.kind != "file"]


def called(commands):
    """The programs that commands of bash call, each with its words."""
    calls = [[]]
    for line in commands.replace("\\\n", " ").splitlines():
        for word in shlex.shlex(line, posix=True, punctuation_chars=";&|()"):
            if set(word) <= set(";&|()") or word in ("{", "}"):
                calls.append([])
            else:
                calls[-1].append(word)
        calls.append([])
    return [call for call in calls if call and call[0] != ">"]  # where the output of a group goes


class Table(unittest.TestCase):
    def test_each_page_and_picture_of_results_is_made_by_a_row(self):
        made = [name for page in pages.PAGES for name in page.files]
        there = {str(path.relative_to(ROOT)) for kind in ("md", "svg", "txt") for path in (ROOT / "results").glob(f"*.{kind}")}
        self.assertEqual(there - set(made), BY_HAND)
        self.assertEqual([name for name in made if not (ROOT / name).exists()], [])
        self.assertEqual(len(made), len(set(made)))

    def test_the_scripts_of_the_table_exist(self):
        for page in pages.PAGES:
            for call in called(page.command):
                for script in (word for word in call[:2] if word.startswith(("jobs/", "tests/"))):
                    self.assertTrue((ROOT / script).is_file(), page.command)

    def test_pages_state_the_command_and_the_version_that_made_them(self):
        texts = {name: (ROOT / name).read_text(encoding="utf-8") for page in pages.PAGES for name in page.files
                 if name.startswith("results/") and not name.endswith(".svg")}
        for name, text in texts.items():
            stated = re.search(r"Written by `(?:bash |python3 )?(\S+?)[ `]", text)
            self.assertTrue(stated and ((ROOT / stated[1]).is_file() or stated[1] == "prismopt"), name)
        versions = {name: {made[1] for made in pages.VERSION.finditer(text)} for name, text in texts.items()}
        without = {name for name, found in versions.items() if not found}
        self.assertEqual(without - WITHOUT_VERSION, set(), "jobs/pages adds the version of the program to the pages that it makes")
        older = {name for name, found in versions.items() if found - {RELEASE}}
        self.assertEqual(older, set(), "a release makes its pages again: jobs/pages")

    @unittest.skipUnless(PROGRAM, "no program is given")
    def test_quick_pages_are_what_the_program_gives(self):
        for page in filter(lambda page: page.quick, pages.PAGES):
            with tempfile.TemporaryDirectory() as folder:
                command = page.command.format(program=shlex.quote(str(PROGRAM)))
                subprocess.run([sys.executable, "-B", *shlex.split(command), "--out", folder], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
                for name in page.files:
                    made, kept = (path.read_text(encoding="utf-8") for path in (pathlib.Path(folder) / pathlib.Path(name).name, ROOT / name))
                    made, kept = (re.sub("^Made by .*", "", text, flags=re.MULTILINE) for text in (made, kept))
                    self.assertEqual(made, kept, f"{name} differs: jobs/pages {page.name} makes it again")


class Figures(unittest.TestCase):
    def test_step_times_of_split_backward_passes_are_those_of_the_page(self):
        accuracy = (ROOT / "results/model-accuracy.md").read_text(encoding="utf-8")
        measured = {cells[1].split()[0]: cells[3:] for cells in (line.strip("| ").split(" | ") for line in accuracy.splitlines())
                    if cells[0] == "Zero Bubble, arXiv 2401.10241: 30 x 4096, 8 GPUs"}
        text = (ROOT / "docs/methods/step-graph.md").read_text(encoding="utf-8")
        section = text.split("### What splitting the backward pass costs")[1].split("\n## ")[0]
        stated = {re.search("`(.*?)`", cells[0])[1]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in section.splitlines())
                  if len(cells) == 5 and "`" in cells[0]}
        self.assertEqual(stated, measured)
        for name, column in (("measured", 2), ("predicted", 3)):
            saved = int(measured["1f1b"][column]) - int(measured["zb_h1"][column])
            self.assertRegex(" ".join(section.split()), f"{name} (difference|one), {saved} ms, (gives )?W = {saved / 14:.0f} ms")


class Making(unittest.TestCase):
    GIVEN = {"path": "/bin/echo", "program": "/bin/echo", "data": None}

    def made(self, command, **given):
        """What becomes of a page that prints, and its text."""
        page = pages.Page("a", ("results/a.md",), command, 1, given.pop("needs", ()), printed=True)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(pages, "ROOT", pathlib.Path(folder)), redirect_stdout(io.StringIO()):
            (pathlib.Path(folder) / "results").mkdir()
            path = pathlib.Path(folder) / page.files[0]
            path.write_text("before", encoding="utf-8")
            return pages.make(page, SimpleNamespace(**(self.GIVEN | given))), path.read_text(encoding="utf-8")

    def test_a_page_is_what_its_command_prints_and_says_what_made_it(self):
        outcome, text = self.made("{program} text")
        self.assertEqual(outcome, "made")
        self.assertRegex(text, r"^text\n\nMade by echo .*\.\n$")
        self.assertEqual(self.made("{program} 'text, prismopt 0.2.0 (abc)'"), ("made", "text, prismopt 0.2.0 (abc)\n"))
        self.assertRegex(self.made("{program} 'Made by a command.'")[1], r"^Made by a command\.\n\nMade by echo .*\.\n$")

    def test_a_page_stays_where_its_command_fails_or_lacks_something(self):
        self.assertEqual(self.made("echo half; exit 2"), ("failed", "before"))
        self.assertEqual(self.made("exit 77"), ("skipped", "before"))
        for need in ("data", "build", "no/such/file", "no-such-program"):
            self.assertEqual(self.made("echo text", needs=(need,)), ("skipped", "before"))


class Marks(unittest.TestCase):
    def block(self, text):
        with tempfile.TemporaryDirectory(dir=ROOT / "docs") as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            return quoted.blocks_of(page)[0]

    def test_blocks_have_fences_or_indentation(self):
        fenced = self.block("Text:\n<!-- quick output:\na b\nc -->\n```\n$ a \\\n  b\n  1\n\n2\n```\nMore.\n")
        self.assertEqual((fenced.lines, fenced.text, fenced.quick), (["$ a \\", "  b", "  1", "", "2"], "a b\nc", True))
        self.assertEqual(quoted.shown_lines(fenced), [2, 4])
        indented = self.block("1. Text:\n\n   <!-- output: a -->\n\n       one\n         two\n\n2. More.\n")
        self.assertEqual((indented.lines, indented.first, indented.quick), (["one", "  two"], 4, False))
        with self.assertRaisesRegex(ValueError, "no block of code"):
            self.block("<!-- output: a -->\n\nText.\n")

    def test_lines_may_be_left_out_and_differ_in_time_and_commit(self):
        block = self.block("<!-- output: a -->\n```\nplan  p99\n 12   3.5\nseed 1 (0123456789ab), 2026-01-01T00:00:00Z\n```\n")
        output = ["first", "plan   step  p99", " 7   3.5   9", " 12   0.5   3.5  2", "seed 1 (ba9876543210-dirty), 2027-02-02T01:00:00Z"]
        self.assertEqual(list(quoted.matches(block, output).values()), [1, 3, 4])
        self.assertEqual(list(quoted.replacements(block, output)), [])

    def test_numbers_of_a_changed_line_are_those_of_the_line_with_its_other_words(self):
        block = self.block("<!-- output: a -->\n```\nhead\nbest plan    3.5 s\ntail\n```\n")
        (at, same, _), = quoted.replacements(block, ["head", "best plan of 80  10.25 s, 7", "best plans 3.5 s", "tail"])
        self.assertEqual((at, same), (1, ["best plan  10.25 s"]))
        # The most like comes first.
        (_, same, _), = quoted.replacements(block, ["head", "best plan 4.5 s", "best plan 3.6 s", "tail"])
        self.assertEqual(same, ["best plan    3.6 s", "best plan    4.5 s"])
        # A line serves once: the plan that is gone stays for the author.
        two = self.block("<!-- output: a -->\n```\n8  tp 2  5.0 s\n8  tp 4  6.0 s\n```\n")
        self.assertEqual([same for _, same, _ in quoted.replacements(two, ["8  tp 4  5.5 s"])], [[], ["8  tp 4  5.5 s"]])
        # Order counts.
        self.assertEqual([at for at, _, _ in quoted.replacements(block, ["best plan    3.5 s", "head", "tail"])], [1])

    def test_omitted_words_stay_omitted(self):
        def changed(line, output):
            return quoted.renewed(line, quoted.alignment(line, output)[1])

        self.assertEqual(changed("12  tp 2    5.06 (5.03 to 5.09)  1.798  5.22", "12 tp 2 v 1  5.07 (5.03 to 5.1)  1.975/2.051 1.799  5.22"),
                         "12  tp 2     5.07 (5.03 to 5.1)  1.799  5.22")
        self.assertEqual(changed("answer  8 GPUs: 12.2 M USD; ...; done", "answer 8 GPUs: 12.1 M USD, point 4, tp 2; done"), "answer  8 GPUs: 12.1 M USD; ...; done")
        self.assertIsNone(quoted.alignment("a plan 5", "a machine 5"))


class Quoted(unittest.TestCase):
    def test_pages_that_show_real_output_say_what_makes_it(self):
        for page in quoted.PAGES:
            text = page.read_text(encoding="utf-8")
            for claim in re.finditer(r"\(real output", text):
                rest = text[claim.start():].split("\n\n", 2)
                self.assertRegex("\n".join(rest[:2]), r"<!-- (quick )?output: ?", f"{page.name}:{text.count(chr(10), 0, claim.start()) + 1}")

    def test_commands_exist(self):
        helps = {}
        for block in OUTPUTS:
            for program, *rest in called(block.text):
                self.assertTrue("/" in program and (ROOT / program).exists() or program == "prismopt" or shutil.which(program)
                                or program in ("cd",), f"{block.place}: {program}")
                if program == "prismopt" and PROGRAM:
                    if rest[0] not in helps:
                        done = subprocess.run([PROGRAM, rest[0], "--help"], stdout=subprocess.PIPE, text=True, check=False)
                        self.assertEqual(done.returncode, 0, f"{block.place}: {rest[0]}")
                        helps[rest[0]] = done.stdout
                    for option in (word for word in rest if word.startswith("--")):
                        self.assertIn(option, helps[rest[0]], block.place)

    @unittest.skipUnless(PROGRAM, "no program is given")
    def test_quick_outputs_are_what_the_program_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = quoted.Runs(pathlib.Path(folder), PROGRAM, None)
            for block in filter(lambda block: block.quick, OUTPUTS):
                messages, _ = quoted.check(block, runs)
                self.assertEqual(messages, [], f"{block.place} differs; jobs/pages --quoted --quick --write corrects lines that only changed:\n"
                                 + "\n".join(messages))


if __name__ == "__main__":
    ran = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not ran.wasSuccessful() else 0 if PROGRAM else 77)
