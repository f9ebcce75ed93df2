"""What the Python studies in jobs/ share: their options, calls of prismopt, copies of scenarios, tables in Markdown, pictures."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INFEASIBLE = 3  # exit code of prismopt; the reason is in what it prints


def whole_number(text):
    """An option's value of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1; write for example 2048")
    return int(text)


def folder(text):
    """An option's folder, which is made if it does not exist."""
    try:
        pathlib.Path(text).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot make {text}: {error.strerror}; name a folder that you may write to") from error
    return pathlib.Path(text)


def options(description, draws):
    """Parser with the options of all studies. `draws`: what the default is."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", metavar="PATH", help="prismopt to run (default: build/release/prismopt, after building it)")
    parser.add_argument("--draws", metavar="N", type=whole_number, help=f"step draws of each prediction (default: {draws})")
    parser.add_argument("--out", metavar="FOLDER", type=folder, help="folder to write to (default: results)", default=ROOT / "results")
    return parser


def fail(message, code=2):
    """Ends the study. Code 2: wrong input."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(code)


def plotting():
    """matplotlib.pyplot, set up to write the same SVG file each time."""
    try:
        import matplotlib
    except ImportError:
        fail(f"{sys.executable} has no module matplotlib; install python3-matplotlib (bash jobs/install.sh --all)", 1)
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "prismopt", "font.size": 9})
    from matplotlib import pyplot
    return pyplot


class Program:
    """prismopt, which is built unless the user names one."""

    def __init__(self, path):
        self.path = pathlib.Path(path or ROOT / "build/release/prismopt").resolve()
        if path is None:
            for words in (["--preset", "release"], ["--build", "--preset", "release", "--target", "prismopt"]):
                if subprocess.run(["cmake", *words], cwd=ROOT, check=False).returncode != 0:
                    fail("the build failed; see the messages above, or name a built program with --program PATH", 1)
        elif not self.path.is_file():
            fail(f"--program {path} does not exist; leave it out to build build/release/prismopt")

    def output(self, *words, accepted=(0,)):
        """Standard output. Ends the study with the program's exit code, after its message, if that is not accepted."""
        done = subprocess.run([self.path, *map(str, words)], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in accepted:
            sys.exit(done.returncode if done.returncode > 0 else 1)  # below 0: killed by a signal
        return done.stdout

    def predict(self, *words):
        """The prediction, feasible or not."""
        return json.loads(self.output("predict", *words, "--json", accepted=(0, INFEASIBLE)))

    def sensitivity(self, *words):
        return json.loads(self.output("sensitivity", *words, "--json"))


def choices(scenario, axis):
    """The values of an axis of [space]; [None] if it does not name the axis."""
    values = scenario["space"].get(axis, [None])
    if not isinstance(values, dict):
        return values
    value, listed = values["from"], []  # to ..., with a step or a factor
    while value <= values["to"]:
        listed.append(value)
        value = value * values["factor"] if "factor" in values else value + values.get("step", 1)
    return listed


def toml(scenario):
    """The scenario as the text of a TOML file, one line per section."""
    return "".join(f"{key} = {toml_value(value)}\n" for key, value in scenario.items())


def toml_value(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (str, bool)) else str(value)


def shown(path):
    """The path as seen from the root of the project."""
    path = pathlib.Path(path).resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def table(columns, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def write(to, name, text, figure):
    """Writes `name`.md and `name`.svg."""
    figure.savefig(to / f"{name}.svg", metadata={"Date": None})
    (to / f"{name}.md").write_text(text, encoding="utf-8")
