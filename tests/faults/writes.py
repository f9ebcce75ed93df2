"""Each write, sync, rename and open for writing of a command fails once: it ends with a message, or with the right result."""

import shutil

from harness import CALL_AGAIN, DONE, QUICK, Tally, contents, difference, in_parallel, judge_end, run, scenario

TITLE = "failing writes"
FAULTS = ("ENOSPC", "EIO", "full", "short")
MOST = 2000  # calls of one command
FEW = 12  # whatever the share is, all calls of a command that has no more

# What writes, each with the files that it writes; `good.h5`, `first.h5` and `second.h5` are there.
COMMANDS = {
    "search": (("search", "study.toml", "--out", "study.h5"), ("study.h5",)),
    "report": (("report", "good.h5", "--html", "o.html", "--csv", "o.csv", "--svg", "o.svg"), ("o.html", "o.csv", "o.svg")),
    "compare": (("compare", "good.h5", "first.h5", "--html", "o.html"), ("o.html",)),
    "merge": (("merge", "--out", "o.h5", "--part", "first.h5", "second.h5"), ("o.h5",)),
    "init": (("init", "--workload", "llama3-70b", "--accelerator", "h100-sxm", "--gpus", "1024", "--out", "o.toml"), ("o.toml",)),
    "calibrate": (("calibrate", "operations.csv", "--out", "o.toml"), ("o.toml",)),
}


def read(path):
    return contents(path) if path.suffix == ".h5" else path.read_bytes()


class Command:
    """One command, run again and again in a folder, each time with another call that fails."""

    def __init__(self, setup, folder, name):
        self.setup, self.folder, self.name = setup, folder, name
        self.arguments, outputs = COMMANDS[name]
        self.outputs = [folder / output for output in outputs]
        self.how = {"LD_PRELOAD": setup.faults, "PRISMOPT_FAULT_FOLDER": folder}
        log = folder.parent / f"{folder.name}.log"
        ended = run(setup, folder, *self.arguments, PRISMOPT_FAULT_LOG=log, **self.how)
        assert ended.code == DONE, ended.err
        self.calls = min(MOST, len(log.read_text().splitlines()))
        log.unlink()
        self.usual_s = ended.seconds
        self.expected = {path: read(path) for path in self.outputs}
        self.kept = set(folder.iterdir()) - set(self.outputs)

    def clear(self):
        for path in set(self.folder.iterdir()) - self.kept:
            path.unlink()

    def differing(self):
        for path in self.outputs:
            if not path.exists():
                return f"{path.name} is missing"
            if path.suffix == ".h5":
                name = difference(contents(path), self.expected[path])
                if name:
                    return f"{path.name}: {name}"
            elif path.read_bytes() != self.expected[path]:
                return path.name
        return ""

    def fail(self, fault, at, tally):
        self.clear()
        case = f"{self.name}, {fault} in call {at} of {self.calls}"
        ended = run(self.setup, self.folder, *self.arguments, PRISMOPT_FAULT=fault, PRISMOPT_FAULT_AT=at, **self.how)
        if not judge_end(tally, case, ended, self.usual_s):
            return
        if ended.code == DONE:
            wrong = self.differing()
            if wrong:
                tally.violate("wrong result", case, wrong)
            else:
                tally.add("ended with the right result in spite of it")
            return
        for path in self.outputs:
            if path.suffix != ".h5" and path.exists() and path.read_bytes() != self.expected[path]:
                tally.violate("cut file left", case, path.name)
        self.go_on(case, ended, tally)

    def go_on(self, case, ended, tally):
        """What failed once works without the fault; a search goes on with what it had."""
        again = self.arguments
        if self.name.startswith("search"):
            if (self.folder / "study.h5.journal").exists() and "journal of" in run(self.setup, self.folder, "inspect", "study.h5.journal").out:
                again = ("resume", "study.h5")
            elif ended.code == CALL_AGAIN:
                tally.violate("code 75 without a journal", case, ended.err)
                return
            else:
                again = (*self.arguments, "--force")
        elif self.name == "merge":
            again = (*self.arguments, "--force")
        once_more = run(self.setup, self.folder, *again)
        if not judge_end(tally, case + ", again", once_more, self.usual_s):
            return
        wrong = self.differing() if once_more.code == DONE else once_more.err
        if wrong:
            tally.violate("not right the second time", case, wrong)
        else:
            tally.add(f"failed with code {ended.code} and a message, right the second time")


def prepare(setup, folder):
    scenario(setup, folder, **QUICK)
    for name, more in (("good", ()), ("first", ("--part", "1/2", "--strategy", "racing")),
                       ("second", ("--part", "2/2", "--strategy", "racing"))):
        ended = run(setup, folder, "search", "study.toml", "--out", f"{name}.h5", *more)
        assert ended.code == DONE, ended.err
    rows = ["step,dp,stage,op,mb_id,start_us,dur_us"]
    for step in range(30):
        for dp in range(2):
            for microbatch in range(4):
                start = 10_000 * step + 1000 * microbatch
                rows.append(f"{step},{dp},0,forward-compute,{microbatch},{start},{300 + (7 * step + 3 * microbatch + dp) % 11}")
    (folder / "operations.csv").write_text("\n".join(rows) + "\n")


def of_command(setup, name, originals, folder):
    for file in originals.iterdir():
        shutil.copy(file, folder / file.name)
    tally = Tally()
    tested = Command(setup, folder, name)
    step = max(1, round(1 / setup.share)) if tested.calls > FEW else 1
    for k, fault in enumerate(FAULTS):
        for at in range(1 + k % step, tested.calls + 1, step):
            tally.add("calls that failed")
            tested.fail(fault, at, tally)
    tally.notes.append(f"{name}: {tested.calls} calls")
    return tally


def test(setup):
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        originals = pathlib.Path(folder)
        prepare(setup, originals)
        tally = in_parallel(setup, lambda name, own: of_command(setup, name, originals, own), COMMANDS)
    return tally.outcomes.pop("calls that failed"), tally
