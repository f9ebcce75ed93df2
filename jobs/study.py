"""What the Python studies in jobs/ share: their options, calls of prismopt, copies of scenarios, tables in Markdown, pictures."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE = ("results", "docs", "README.md", "model/catalog")  # what scripts and programs write
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


def options(draws, scenario=None):
    """Parser with the options of all studies. `draws`, `scenario` (in jobs/scenarios): defaults; None: the study has no such option."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--program", metavar="PATH", help="prismopt to run (default: build/release/prismopt, after building it)")
    if draws is not None:
        parser.add_argument("--draws", metavar="N", type=whole_number, help=f"step draws of each prediction (default: {draws})")
    if scenario is not None:
        parser.add_argument("scenario", metavar="SCENARIO", nargs="?", type=pathlib.Path, default=ROOT / "jobs/scenarios" / scenario,
                            help=f"scenario of the study (default: jobs/scenarios/{scenario})")
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


def result_of(prediction, name):
    """An estimate or a number of `predict --json`, by its name in the table of results."""
    estimates, numbers = prediction["estimates"], prediction["numbers"]
    return estimates[name]["value"] if name in estimates else numbers[name]


def made_by(program=None):
    """The line of a page that names the version of the program that its numbers are from; without one, that of the sources."""
    if program:
        version = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        return f"Made by {version.splitlines()[0]}."

    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)

    commit = git("rev-parse", "--short=12", "HEAD").stdout.strip() or "unknown"
    changed = git("diff", "--quiet", "HEAD", "--", ".", *(f":!{path}" for path in MADE)).returncode == 1
    version = re.search(r"project\(prismopt VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    return f"Made by prismopt {version} ({commit}{'-dirty' if changed else ''})."


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
        done = subprocess.run([self.path, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        warnings = [line for line in done.stderr.splitlines(True) if " info: " not in line]  # nor the progress of searches
        sys.stderr.write("".join(warnings))
        if done.returncode not in accepted:
            sys.exit(done.returncode if done.returncode > 0 else 1)  # below 0: killed by a signal
        return done.stdout

    def scenario(self, path):
        """The content of a valid scenario."""
        self.output("validate", path)
        return tomllib.loads(path.read_text(encoding="utf-8"))

    def predict(self, *words, feasible=False):
        """The prediction. `feasible`: a plan that cannot run ends the study with its reason."""
        found = json.loads(self.output("predict", *words, "--json", accepted=(0, INFEASIBLE)))
        if feasible and not found["feasible"]:
            fail(f"{' '.join(map(str, words))}: {found['reason']}", INFEASIBLE)
        return found

    def report(self, results):
        return json.loads(self.output("report", results, "--json"))

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


def table(columns, rows):
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(columns), *lines[1:]])


def charts(pyplot, panels, dashed=lambda name: False, logarithmic=()):
    """A panel for each (title, ticks, values by name of the line), side by side. `logarithmic`: titles of panels."""
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5.2 * len(panels), 5.4), squeeze=False)
    for axis, (title, ticks, lines) in zip(axes[0], panels):
        for name, values in lines.items():
            axis.plot(values, marker=".", label=name, linestyle="--" if dashed(name) else "-")
        axis.set_title(title)
        if title in logarithmic:
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("{x:g}")
        axis.set_xticks(range(len(ticks)), ticks)
        axis.grid(alpha=0.3)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncol=3, frameon=False)
    figure.tight_layout()
    return figure


def write(to, name, text, figure=None, program=None):
    """Writes `name`.md, which ends with what made it, and `name`.svg if there is a figure. Returns the page."""
    if figure:
        figure.savefig(to / f"{name}.svg", metadata={"Date": None})
    page = f"{text.rstrip()}\n\n{made_by(program and program.path)}\n"
    (to / f"{name}.md").write_text(page, encoding="utf-8")
    return page
