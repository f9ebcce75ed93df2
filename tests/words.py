"""Words of tests/words.txt in pages, in literals and comments of sources, and in names of C++.

usage: words.py [FILE...]

Prints the lines with such words, and what to write instead; ends with 1 if there are any. Without FILE: all pages except those that studies
write (results/), all product sources (C++, the Python module, the scripts of jobs/, and the JavaScript of reports), and the C++ and Python of tests/.
Pages are read without code: fenced blocks, indented lines, and words between backquotes.
"""

import bisect
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOKENS = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<literal>R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*")'
                    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|(?P<name>[A-Za-z_]\w*)", re.DOTALL)
JAVASCRIPT = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<literal>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)
PYTHON_TEXTS = {"COMMENT": "comment", "STRING": "literal", "FSTRING_MIDDLE": "literal"}
WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
SCOPES = {"everywhere": {"page", "literal", "comment", "name"}, "text": {"page", "literal", "comment"},
          "names": {"name"}}


def rules():
    """Scope, pattern and replacement of each line of words.txt."""
    scope, found = "", []
    for line in (ROOT / "tests/words.txt").read_text().splitlines():
        if line.startswith("["):
            scope = line.strip("[]")
        elif line and not line.startswith("#"):
            pattern, instead = line.split("\t")
            found.append((scope, re.compile(pattern), instead))
    return found


def numbered(pattern, text):
    """The matches of a pattern with the lines on which they begin."""
    ends_of_lines = [place for place, character in enumerate(text) if character == "\n"]
    return ((match, bisect.bisect_left(ends_of_lines, match.start()) + 1) for match in pattern.finditer(text))


def page_texts(text):
    """Lines of a page with their numbers, without code and the targets of links."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if not (fence or fenced or line.startswith("    ")):
            yield "page", number, re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "``", line))


def source_texts(text):
    """Comments, literals and names of a C++ source with their line numbers; names as their words."""
    for token, number in numbered(TOKENS, text):
        if token["comment"]:
            for offset, line in enumerate(token["comment"].split("\n")):
                yield "comment", number + offset, line
        elif token["literal"]:
            yield "literal", number, token["literal"].replace("\\n", " ")
        elif token["name"]:
            yield "name", number, " ".join(WORD_END.sub(" ", token["name"]).lower().split())


def javascript_texts(text):
    """Comments and literals with their line numbers."""
    for token, number in numbered(JAVASCRIPT, text):
        for offset, line in enumerate(token[0].split("\n")):
            yield token.lastgroup, number + offset, line


def python_texts(text):
    """Comments and literals with their line numbers."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = PYTHON_TEXTS.get(tokenize.tok_name[token.type])
        if kind:
            for offset, line in enumerate(token.string.split("\n")):
                yield kind, token.start[0] + offset, line.replace("\\n", " ")


def is_python(path):
    """Scripts of jobs/ have no suffix."""
    return path.suffix in (".py", ".pyi") or not path.suffix and path.read_bytes().startswith(b"#!/usr/bin/env python3")


def texts(file):
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".cpp", ".hpp"):
        return source_texts(text)
    if path.suffix == ".js":
        return javascript_texts(text)
    return python_texts(text) if is_python(path) else page_texts(text)


def all_files():
    """Pages, except those that studies write, product sources, and those of tests, without words_test.py with such words as examples."""
    found = list(ROOT.glob("*.md"))
    for folder in ("docs", "jobs", "model", "search", "io", "optimizer", "results"):
        found += [file for file in (ROOT / folder).rglob("*") if file.suffix in (".md", ".cpp", ".hpp")]
    for folder in ("optimizer/python", "jobs"):
        found += [file for file in (ROOT / folder).rglob("*") if file.is_file() and is_python(file)]
    found += (ROOT / "io/html/page").glob("*.js")
    found += [file for file in (ROOT / "tests").rglob("*") if file.suffix in (".cpp", ".hpp", ".py")]
    names = (str(file.relative_to(ROOT)) for file in sorted(found) if "node_modules" not in file.parts)
    return [name for name in names if not re.match(r"results/(?!README)|tests/words_test\.py$", name)]


def print_found(files):
    """The lines that break a rule; returns their number."""
    found = 0
    known = rules()
    for file in files:
        for kind, number, text in texts(file):
            for scope, pattern, instead in known:
                if kind in SCOPES[scope] and pattern.search(text):
                    print(f"{file}:{number}: {text.strip()}   [write: {instead}]")
                    found += 1
    return found


def main(arguments):
    root = str(ROOT) + "/"
    files = [str(pathlib.Path(file).resolve()).removeprefix(root) for file in arguments] or all_files()
    if print_found(files):
        return 1
    print(f"words.py: no word of words.txt in {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
