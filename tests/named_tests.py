"""Whether the tests that pages and filters name exist: a filter of GoogleTest without matches passes, and a page would promise a check that nobody runs.

usage: named_tests.py

Prints the names that match no test of tests/; ends with 1 if there are any. A name is `Suite.Test`; tests with parameters may begin with the name of
their instantiation, and * stands for any characters.
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
INSTANCE = re.compile(r"\bINSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+),")
NAMED = re.compile(r"`((?:\w+/)?[A-Z]\w*\.(?:[A-Z]\w*\*?|\*))`")
FILTER = re.compile(r"--gtest_filter=([^\s)]+)")


def tests(sources):
    """Names of all tests in these texts, also with those of the instantiations of their suites."""
    found, instances = set(), set()
    for text in sources:
        found |= {match.groups() for match in TEST.finditer(text)}
        instances |= {match.groups() for match in INSTANCE.finditer(text)}
    names = {f"{suite}.{test}" for suite, test in found}
    return names | {f"{prefix}/{suite}.{test}" for prefix, of in instances for suite, test in found if suite == of}


def missing(named, known):
    """(place, name) of the names without a test."""
    return [(place, name) for place, name in named if not fnmatch.filter(known, name)]


def names_in(path):
    """(place, name) of the tests that a page or a list of tests names."""
    pattern = NAMED if path.suffix == ".md" else FILTER
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for match in pattern.finditer(line):
            for name in match[1].split(":"):
                yield f"{path.relative_to(ROOT)}:{number}", name


def main():
    known = tests(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*_test.cpp"))
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "model").rglob("*.md"), ROOT / "tests/CMakeLists.txt"]
    named = [entry for path in sorted(pages) for entry in names_in(path)]
    unknown = missing(named, known)
    for place, name in unknown:
        print(f"{place}: no test has the name {name}")
    if not unknown:
        print(f"named_tests.py: {len(named)} names of tests match one of {len(known)}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
