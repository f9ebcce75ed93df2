"""What the tests of the command line share: starting the program, scenarios made from small.toml, comparing results files.

usage of each test: X_test.py PROGRAM MPIRUN SMALL_TOML [unittest arguments]
Exit code 77: a Python module is missing, so nothing was checked. The environment is to let root start mpirun; see
cmake/mpi_tests.cmake.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5py")
    sys.exit(77)

DONE, FAILURE, WRONG_INPUT, INFEASIBLE, CHANGED, UNEXPECTED_LEVEL, SILENT, CALL_AGAIN = 0, 1, 2, 3, 4, 5, 6, 75

# What may differ between two runs of one study; results/README.md.
ROOT_ATTRIBUTES_OF_A_RUN = {"created", "command_line", "job_id"}
WALL_CLOCK = {"/progress/elapsed"}
GROUPS_OF_A_RUN = {"ranks", "legs"}
# Inverse of DIMENSION_LIST; holds addresses.
ADDRESSES = {"REFERENCE_LIST"}


def main():
    """Runs the tests of the calling file."""
    global PROGRAM, MPIRUN, SMALL
    PROGRAM, MPIRUN, SMALL = (str(pathlib.Path(argument).absolute()) for argument in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)


@functools.cache
def launcher_options():
    """Open MPI's mpirun refuses more ranks than cores; others know neither that option nor one with two dashes."""
    version = subprocess.run([MPIRUN, "--version"], text=True, capture_output=True, check=False).stdout
    return ["--oversubscribe", "--bind-to", "none"] if "Open MPI" in version else ["-bind-to", "none"]


def command(arguments, ranks):
    """`ranks` = 0: without mpirun."""
    launcher = [MPIRUN, *launcher_options(), "-n", str(ranks)] if ranks else []
    return [*launcher, PROGRAM, *map(str, arguments)]


def environment(threads, **more):
    return {**os.environ, "OMP_NUM_THREADS": str(threads), **more}


class CliTest(unittest.TestCase):
    """Each test works in an empty folder of its own."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, ranks=0, threads=1, timeout=100, **variables):
        # mpirun need not wait two seconds for ranks that end with an exit code.
        at_once = environment(threads, OMPI_MCA_odls_base_sigkill_timeout="0", **variables)
        return subprocess.run(command(arguments, ranks), cwd=self.folder, env=at_once, text=True, capture_output=True,
                              timeout=timeout)

    def run_with(self, *arguments, prepare=None, **how):
        """The same with streams and limits of one's own; `prepare` runs in the new process."""
        return subprocess.run(command(arguments, 0), cwd=self.folder, env=environment(1), preexec_fn=prepare, timeout=100, **how)

    def start_program(self, *arguments, ranks=0, threads=1):
        process = subprocess.Popen(command(arguments, ranks), cwd=self.folder, env=environment(threads), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def output(self, *arguments, code=DONE, **how):
        """Standard output of a run that must end with this code."""
        finished = self.run_program(*arguments, **how)
        self.assertEqual(finished.returncode, code, finished.stderr)
        return finished.stdout

    searches = {}  # results files, by scenario and options

    def searched(self, toml, out, *options):
        """Writes the results of a search that several tests read; the first of them runs it."""
        key = (pathlib.Path(toml).read_text(), options)
        if key not in CliTest.searches:
            self.output("search", toml, "--out", out, *options)
            CliTest.searches[key] = (self.folder / out).read_bytes()
        (self.folder / out).write_bytes(CliTest.searches[key])

    def refusal(self, *arguments, code=WRONG_INPUT, **how):
        """Standard error of a run that must end with this code and say nothing else."""
        finished = self.run_program(*arguments, **how)
        self.assertEqual(finished.returncode, code, finished.stdout + finished.stderr)
        self.assertEqual(finished.stdout, "")
        return finished.stderr

    def scenario(self, name="study.toml", **changes):
        """Writes small.toml with the values of some keys replaced; each key must be there once."""
        text = pathlib.Path(SMALL).read_text()
        for key, value in changes.items():
            text, count = re.subn(rf"(?m)^{key} = .*$", lambda _: f"{key} = {value}", text)
            assert count == 1, f"{key} is {count} times in {SMALL}"
        return self.write(text, name)

    def write(self, text, name="study.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def assert_same_results(self, a, b):
        contents, others = contents_of(self.folder / a), contents_of(self.folder / b)
        self.assertEqual(list(contents), list(others))
        for name, value in contents.items():
            self.assertEqual(value, others[name], f"{name} differs between {a} and {b}")


def result_of(prediction, name):
    """An estimate or a number of `predict --json`, by its name in the table of results."""
    estimates, numbers = prediction["estimates"], prediction["numbers"]
    return estimates[name]["value"] if name in estimates else numbers[name]


def value_of(value):
    """Bits of numbers, so that NaN equals NaN, and 0 differs from -0."""
    array = np.asarray(value)
    return (str(array.dtype), array.shape, array.tolist() if array.dtype == object else array.tobytes())


def attributes_of(item):
    attributes = {}
    for name in item.attrs:
        if name == "DIMENSION_LIST":
            attributes[name] = [[item.file[scale].name for scale in dimension] for dimension in item.attrs[name]]
        elif name not in ADDRESSES and not (item.name == "/" and name in ROOT_ATTRIBUTES_OF_A_RUN):
            attributes[name] = value_of(item.attrs[name])
    return attributes


def contents_of(path):
    """All that two runs of one study must agree in, by name."""
    contents = {}
    with h5py.File(path, "r") as file:
        items = [file["/"]]
        file.visititems(lambda _, item: items.append(item))
        for item in items:
            if item.name.split("/")[1] in GROUPS_OF_A_RUN:
                continue
            contents[f"attributes of {item.name}"] = attributes_of(item)
            if isinstance(item, h5py.Dataset) and item.name not in WALL_CLOCK:
                contents[item.name] = value_of(item[()])
    return contents
