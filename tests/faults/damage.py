"""Journals and results files with bytes that are not theirs: refused, or what comes out equals what the undamaged file gives."""

import re
import shutil

from harness import DONE, FAILED, QUICK, WRONG_INPUT, Tally, chance, contents, difference, in_parallel, judge_end, run, scenario

TITLE = "damaged files"
FULL = 10_000
JOURNALS = 0.1  # of all cases: each is a search that goes on
BATCH = 25


def flip_bits(data, random):
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def near_the_beginning(data, random):
    data[random.randrange(min(len(data), 1024))] ^= 1 << random.randrange(8)


def cut(data, random):
    del data[random.randrange(len(data)):]


def add(data, random):
    data.extend(random.randbytes(random.choice((1, 7, 512, 5000))))


def block(data, random):
    size = random.choice((16, 512, 4096))
    return slice(at := random.randrange(len(data)), min(len(data), at + size))


def zero(data, random):
    where = block(data, random)
    data[where] = bytes(where.stop - where.start)


def garble(data, random):
    where = block(data, random)
    data[where] = random.randbytes(where.stop - where.start)


def lose(data, random):
    del data[block(data, random)]


def repeat(data, random):
    where = block(data, random)
    data[where.stop:where.stop] = data[where]


def exchange(data, random):
    one, other = block(data, random), block(data, random)
    size = min(one.stop - one.start, other.stop - other.start)
    first = bytes(data[one.start:one.start + size])
    data[one.start:one.start + size] = data[other.start:other.start + size]
    data[other.start:other.start + size] = first


def replace_all(data, random):
    data[:] = random.randbytes(random.choice((0, 1, 100, len(data))))


DAMAGES = {"flipped bits": flip_bits, "flipped bits of the first 1024 bytes": near_the_beginning, "cut": cut, "bytes added": add,
           "zeroed block": zero, "garbage block": garble, "lost block": lose, "repeated block": repeat,
           "exchanged blocks": exchange, "replaced": replace_all}

# What reads results files, with the files that it writes.
READERS = {
    "inspect": (("inspect", "f.h5"), ()),
    "report": (("report", "f.h5", "--csv", "out.csv"), ("out.csv",)),
    "page": (("report", "f.h5", "--html", "out.html", "--svg", "out.svg"), ("out.html", "out.svg")),
    "compare": (("compare", "f.h5", "good.h5"), ()),
    "merge": (("merge", "--out", "out.h5", "--part", "f.h5", "second.h5"), ("out.h5",)),
    "resume": (("resume", "f.h5"), ()),
}


WEIGHTS = {"inspect": 5, "report": 5, "page": 1, "compare": 4, "merge": 3, "resume": 2}


def without_time(text):
    """Of a merge: it says when it was made."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z$", "now", text, flags=re.MULTILINE)


class Originals:
    """Undamaged files and what is made of them, in one folder."""

    def __init__(self, setup, folder):
        self.setup, self.folder = setup, folder
        scenario(setup, folder, **QUICK)
        for name, more in (("good", ()), ("first", ("--part", "1/2", "--strategy", "racing")),
                           ("second", ("--part", "2/2", "--strategy", "racing"))):
            ended = run(setup, folder, "search", "study.toml", "--out", f"{name}.h5", *more)
            assert ended.code == DONE, ended.err
        self.usual_s = ended.seconds
        self.expected = contents(folder / "good.h5")
        self.journal = self.unfinished()
        self.said = {}
        for name, (arguments, outputs) in READERS.items():
            shutil.copy(folder / self.source(name), folder / "f.h5")
            ended = run(setup, folder, *arguments)
            assert ended.code in (DONE, WRONG_INPUT), ended.err
            self.said[name] = (ended.code, self.shown(name, ended), self.taken(folder, outputs))

    @staticmethod
    def shown(reader, ended):
        return without_time(ended.out) if reader == "merge" else ended.out

    @staticmethod
    def source(reader):
        return "first.h5" if reader == "merge" else "good.h5"

    def unfinished(self):
        """The journal of a search that was killed after most of its writes."""
        log = self.folder.parent / f"{self.folder.name}.log"
        how = {"LD_PRELOAD": self.setup.faults, "PRISMOPT_FAULT_FOLDER": self.folder}
        arguments = ("search", "study.toml", "--out", "killed.h5")
        run(self.setup, self.folder, *arguments, PRISMOPT_FAULT_LOG=log, **how)
        writes = len(log.read_text().splitlines())
        log.unlink()
        (self.folder / "killed.h5").unlink()
        run(self.setup, self.folder, *arguments, PRISMOPT_FAULT="kill", PRISMOPT_FAULT_AT=writes * 2 // 3, **how)
        return (self.folder / "killed.h5.journal").read_bytes()

    def taken(self, folder, outputs):
        """Contents of the files that a command wrote; they are removed."""
        found = []
        for name in outputs:
            path = folder / name
            if path.exists():
                found.append(contents(path) if name.endswith(".h5") else path.read_bytes())
                path.unlink()
            else:
                found.append(None)
        return found


def damaged(original, random):
    name = random.choice(list(DAMAGES))
    data = bytearray(original)
    DAMAGES[name](data, random)
    return name, bytes(data)


def one_results_file(originals, folder, number, tally):
    random = chance("results", number)
    reader = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    how, data = damaged((originals.folder / originals.source(reader)).read_bytes(), random)
    (folder / "f.h5").write_bytes(data)
    arguments, outputs = READERS[reader]
    ended = run(originals.setup, folder, *arguments)
    case = f"results file {number}, {how}, {reader}"
    found = originals.taken(folder, outputs)
    (folder / "f.h5.journal").unlink(missing_ok=True)
    if not judge_end(tally, case, ended):
        return
    if ended.code in (FAILED, WRONG_INPUT) and originals.said[reader][0] == DONE:
        if any(content is not None for content in found):
            tally.violate("refused, but written", case, ended.err)
        tally.add("results files refused")
    elif (ended.code, originals.shown(reader, ended), found) == originals.said[reader]:
        tally.add("results files read as if undamaged")
    elif ended.code == WRONG_INPUT:
        tally.add("results files refused")
    else:
        tally.violate("wrong result", case, ended.out)


def one_journal(originals, folder, number, tally):
    random = chance("journal", number)
    how, data = damaged(originals.journal, random)
    case = f"journal {number}, {how}"
    (folder / "killed.h5.journal").write_bytes(data)
    inspected = run(originals.setup, folder, "inspect", "killed.h5.journal")
    judge_end(tally, case + ", inspect", inspected)
    ended = run(originals.setup, folder, "resume", "killed.h5", threads=random.choice((1, 2)))
    if judge_end(tally, case, ended, originals.usual_s):
        if ended.code == DONE:
            name = difference(contents(folder / "killed.h5"), originals.expected)
            if name:
                tally.violate("wrong result", case, f"{name} differs")
            else:
                tally.add("journals resumed with equal datasets")
        elif ended.code in (FAILED, WRONG_INPUT):
            tally.add("journals refused")
        else:
            tally.violate("unknown end", case, ended.err)
    for file in folder.glob("killed.h5*"):
        file.unlink()


def batch(originals, numbers, folder):
    tally = Tally()
    for name in ("study.toml", "good.h5", "second.h5"):
        shutil.copy(originals.folder / name, folder / name)
    for number, is_journal in numbers:
        (one_journal if is_journal else one_results_file)(originals, folder, number, tally)
    return tally


def test(setup):
    import pathlib
    import tempfile

    cases = setup.count(FULL)
    journals = max(1, round(cases * JOURNALS))
    numbers = [(k, True) for k in range(journals)] + [(k, False) for k in range(cases - journals)]
    with tempfile.TemporaryDirectory() as folder:
        originals = Originals(setup, pathlib.Path(folder))
        batches = [numbers[k:k + BATCH] for k in range(0, len(numbers), BATCH)]
        return cases, in_parallel(setup, lambda part, own: batch(originals, part, own), batches)
