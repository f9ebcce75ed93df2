"""Outputs of commands that pages quote, and whether the commands still print them; jobs/pages --quoted.

A comment before a block of code, which pages do not show, says what makes it:

    <!-- file: NAME -->               the block is written to the file NAME
    <!-- output: COMMANDS -->         the block is from the output of these commands of bash
    <!-- quick output: COMMANDS -->   the same, in seconds: continuous integration runs it

The commands of docs/NAME.md run one after the other in a folder NAME that has the files of the page, and jobs/ and tests/ of this source tree;
../OTHER/FILE is a file of another page. $DATA is the folder of measured runs. A block may omit lines, and words of a
line; "..." stands for words as well.
"""

import dataclasses
import difflib
import os
import pathlib
import re
import subprocess

from study import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/methods").glob("*.md"))]
MARK = re.compile(r"^ *<!-- (file|output|quick output):\s(.*?) -->", re.DOTALL | re.MULTILINE)
# What differs between two runs of a command.
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "DATE"),
    (re.compile(r"\([0-9a-f]{12}(-dirty)?\)"), "(COMMIT)"),
    (re.compile(r"\b(in|after|of wall time) [\d.]+ (ms|s|min)\b"), r"\1 TIME"),
)


@dataclasses.dataclass
class Block:
    """A marked block of code. Its lines have no indentation of the block; `first`: index in the page of the first of them."""
    page: pathlib.Path
    kind: str
    text: str  # the name of the file, or the commands
    first: int
    indentation: str
    lines: list

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.first + 1}"

    @property
    def quick(self):
        return self.kind == "quick output"


def blocks_of(page):
    """Marked blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [block_after(page, text, mark) for mark in MARK.finditer(text)]


def block_after(page, text, mark):
    lines = text.splitlines()
    at = text.count("\n", 0, mark.end()) + 1
    own = re.match(" *", lines[text.count("\n", 0, mark.start())])[0]
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and lines[at].startswith(f"{own}```"):
        indentation, first = own, at + 1
        end = next(i for i in range(first, len(lines)) if lines[i].startswith(f"{own}```"))
    else:
        indentation, first = own + "    ", at
        end = next((i for i in range(first, len(lines)) if lines[i].strip() and not lines[i].startswith(indentation)), len(lines))
        while end > first and not lines[end - 1].strip():
            end -= 1
    if first >= end:
        raise ValueError(f"{page.relative_to(ROOT)}:{at + 1}: no block of code follows the comment \"{mark[0].strip()}\"")
    return Block(page, mark[1], "\n".join(line.strip() for line in mark[2].strip().splitlines()), first, indentation,
                 [line.removeprefix(indentation) for line in lines[first:end]])


def shown_lines(block):
    """Indices of the lines that commands print: not blank, and no command, which begins with "$ " and may continue."""
    shown, command = [], False
    for i, line in enumerate(block.lines):
        command = line.startswith("$ ") or (command and block.lines[i - 1].endswith("\\"))
        if line.strip() and not command:
            shown.append(i)
    return shown


def words(line):
    """Those of a line, without what varies and without commas at their ends, where a line may be cut."""
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return [word.rstrip(",;") for word in line.split()]


def quotes(quoted, line):
    """Whether the words of `quoted` are words of `line` in the same order, beginning with the same one."""
    wanted, rest = words(quoted), iter(words(line))
    if wanted[0] != "..." and wanted[0] != next(rest, None):
        return False
    return all(word in rest for word in wanted[1:] if word != "...")


def matches(block, output):
    """Of each shown line, the index of the line of the output that it quotes, or None; these increase."""
    found, at = {}, 0
    for i in shown_lines(block):
        found[i] = next((k for k in range(at, len(output)) if quotes(block.lines[i], output[k])), None)
        at = at if found[i] is None else found[i] + 1
    return found


NUMBER = re.compile(r"[(+<>~-]*(\d[\d,]*\.?\d*)")  # words that begin as one may change


def likeness(quoted, word):
    """1: the same word; below: another number, the less the farther; None: neither."""
    if quoted.rstrip(",;") == word.rstrip(",;"):
        return 1.0
    numbers = [NUMBER.match(text) for text in (quoted, word)]
    if not all(numbers):
        return None
    old, new = (float(number[1].replace(",", "")) for number in numbers)
    return 0.9 / (1.0 + abs(new - old) / max(abs(old), abs(new), 1e-9))


def alignment(quoted, line):
    """Of the words of a quoted line, those of `line` that take their places in the same order, the first its first, and their likeness; None: there are
    none. "..." is no word of the line."""
    own, offered = quoted.split(), line.split()
    best = [[None] * (len(offered) + 1) for _ in own] + [[(0.0, [])] * (len(offered) + 1)]
    for i in reversed(range(len(own))):
        for j in reversed(range(len(offered) + 1)):
            if own[i].rstrip(",;") == "...":
                rest = best[i + 1][j]
                best[i][j] = rest and (rest[0], ["...", *rest[1]])
                continue
            gain = likeness(own[i], offered[j]) if j < len(offered) else None
            rest = best[i + 1][j + 1] if gain is not None else None
            choices = [(gain + rest[0], [offered[j], *rest[1]])] if rest else []
            if j < len(offered) and best[i][j + 1] and i > 0:
                choices.append(best[i][j + 1])
            best[i][j] = max(choices, key=lambda choice: choice[0], default=None)
    return best[0][0]


def renewed(quoted, chosen):
    """The quoted line with other words. Columns, between two spaces or more, keep their right edges if they begin with a number, else their left edges, as
    does a sentence."""
    columns, at, text = list(re.finditer(r"\S+(?: \S+)*", quoted)), 0, ""
    for column in columns:
        own = column[0].split()
        new = " ".join(word.rstrip(",;") + old[len(old.rstrip(",;")):] for old, word in zip(own, chosen[at:]))
        at += len(own)
        right = NUMBER.match(own[0]) and (text or len(own) == 1)
        start = column.end() - len(new) if right else column.start()
        text = text.ljust(max(start, len(text) + 2 if text else 0)) + new
    return text


def alignments(block, found, output):
    """Of each shown line that does not occur: its alignments with lines of the output between its neighbours', the most like first. A line of the output
    serves only the line that it is most like."""
    shown, aligned, most = list(found), {}, {}
    for n, i in enumerate(shown):
        if found[i] is None:
            before = max((found[k] for k in shown[:n] if found[k] is not None), default=-1)
            after = min((found[k] for k in shown[n + 1:] if found[k] is not None), default=len(output))
            aligned[i] = {k: of for k in range(before + 1, after) if (of := alignment(block.lines[i], output[k]))}
            for k, (likeness_of, _) in aligned[i].items():
                most[k] = max(most.get(k, (0.0, i)), (likeness_of, i), key=lambda pair: pair[0])
    return {i: sorted((of for k, of in lines.items() if most[k][1] == i), key=lambda of: -of[0]) for i, lines in aligned.items()}


def replacements(block, output):
    """Of each shown line that does not occur: it with other numbers, by the lines of the output that have its other words, and the most similar line."""
    found = matches(block, output)
    for i, aligned in alignments(block, found, output).items():
        near = difflib.get_close_matches(block.lines[i], [line for line in output if line.strip()], n=1, cutoff=0.4)
        yield i, [renewed(block.lines[i], chosen) for _, chosen in aligned], near


class Runs:
    """Outputs of commands, in a scratch folder with a folder for each page."""

    def __init__(self, folder, program, data):
        self.folder, self.outputs = folder, {}
        programs = folder / "bin"
        programs.mkdir()
        (programs / "prismopt").symlink_to(program)
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment.pop("DATA", None)
        if data:
            self.environment["DATA"] = str(data.resolve())
        for page in PAGES:
            own = self.folder_of(page)
            own.mkdir(parents=True)
            for name in ("jobs", "tests"):
                (own / name).symlink_to(ROOT / name)
            for block in blocks_of(page):
                if block.kind == "file":
                    (own / block.text).write_text("\n".join(block.lines) + "\n", encoding="utf-8")

    def folder_of(self, page):
        return self.folder / page.relative_to(ROOT if page.parent == ROOT else ROOT / "docs").with_suffix("")

    def missing(self, block):
        """What a block needs that is not given."""
        return "--data DIR" if "$DATA" in block.text and "DATA" not in self.environment else None

    def output(self, block):
        """Lines that the commands of the block print."""
        key = (block.page, block.text)
        if key not in self.outputs:
            done = subprocess.run(["bash", "-c", block.text], cwd=self.folder_of(block.page), env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.outputs[key] = [line.rstrip() for line in done.stdout.splitlines()]
        return self.outputs[key]


def check(block, runs):
    """Messages on the lines of a block that its commands do not print, and the lines to write instead, by index."""
    messages, instead = [], {}
    for i, same, near in replacements(block, runs.output(block)):
        message = f"{block.page.relative_to(ROOT)}:{block.first + i + 1}\n- {block.lines[i]}"
        if same:
            instead[i] = same[0]
        messages.append("\n".join([message, *(f"+ {line}" for line in same[:1] or near)]))
    return messages, instead


def write(block, instead):
    """Replaces lines of the page. Returns how many."""
    lines = block.page.read_text(encoding="utf-8").splitlines()
    for i, line in instead.items():
        lines[block.first + i] = block.indentation + line
    block.page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(instead)
