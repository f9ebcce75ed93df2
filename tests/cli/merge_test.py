"""Parts of a space, searched by jobs of their own and merged, are the whole."""

import json
import re

import h5py

import support
from support import CliTest


class Merge(CliTest):
    def setUp(self):
        super().setUp()
        self.toml = self.scenario()

    def search(self, out, *more):
        self.output("search", self.toml, "--out", out, "--strategy", "exact", *more)

    def front(self, out):
        with h5py.File(self.folder / out) as file:
            front = file["front"]
            return sorted(zip(front["evaluation"][()].tolist(), front["training_time_p99"][()].tolist(), front["dominated"][()].tolist()))

    def test_the_parts_are_the_whole(self):
        self.search("whole.h5")
        parts = []
        for part in (1, 2, 3):
            self.search(f"{part}.h5", "--part", f"{part}/3")
            parts.append(f"{part}.h5")
        text = self.output("merge", "--out", "merged.h5", "--part", *parts)
        self.assertRegex(text, r"proved complete: parts 1,2,3 of 3 with 648 of 648 combinations of values, 244 feasible plans.*confidence 95 %")
        self.assertEqual(self.front("merged.h5"), self.front("whole.h5"))
        with h5py.File(self.folder / "merged.h5") as merged, h5py.File(self.folder / "whole.h5") as whole:
            self.assertEqual(merged["space/rejected_count"][()].sum(), whole["space/rejected_count"][()].sum())
            self.assertEqual(merged["evaluations/evaluation"][()].tolist(), whole["evaluations/evaluation"][()].tolist())
        self.assertRegex(self.output("report", "merged.h5"), "proved complete: parts 1,2,3 of 3")
        # Without one part nothing is proved; twice the same is refused.
        errors = self.refusal("merge", "--out", "two.h5", "--part", parts[0], parts[2])
        self.assertRegex(errors, r"not all 3 parts .*\n  part 2 is missing: prismopt search \.\.\. --part 2/3\n.*--partial")
        self.assertFalse((self.folder / "two.h5").exists())
        text = self.output("merge", "--partial", "--out", "two.h5", "--part", parts[0], parts[2])
        self.assertRegex(text, r"incomplete: parts 1,3 of 3 with \d+ of 648 combinations of values")
        self.output("merge", "--out", "again.h5", "--part", "two.h5", parts[1])
        self.assertEqual(self.front("again.h5"), self.front("whole.h5"))
        self.assertRegex(self.refusal("merge", "--out", "twice.h5", "--part", parts[0], parts[0]),
                         r"two of the files contain part 1 of 3: parts must not overlap")
        self.assertRegex(self.refusal("merge", "--out", "two.h5", "--part", *parts), r"two\.h5 already exists")
        self.assertRegex(self.refusal("merge", "--force", "--out", parts[0], "--part", *parts), "is an input of this command")

    def test_the_parts_answer_a_question(self):
        """The cheaper plan that is reported as not enough must not hide the answer."""
        text = re.sub(r"minimise = \[.*\]", 'minimise = ["cost"]', self.toml.read_text())
        self.toml = self.write(text + '\n[question]\ndeadline = "105 min"\n')
        self.search("whole.h5")
        parts = self.search_parts(self.toml, 2, "--strategy", "exact")
        self.output("merge", "--out", "merged.h5", "--part", *parts)
        whole, merged = (json.loads(self.output("report", name, "--json"))["question"] for name in ("whole.h5", "merged.h5"))
        self.assertEqual(merged["answer"]["point"], whole["answer"]["point"])
        self.assertGreater(whole["answer"]["probability"], 0.9)
        for question in whole, merged:
            self.assertLess(question["not_enough"]["cost_usd"], question["answer"]["cost_usd"])
            self.assertLess(question["not_enough"]["probability"], 0.9)

    def search_parts(self, toml, parts, *more):
        """Names of the results of all parts."""
        for part in range(1, parts + 1):
            self.output("search", toml, "--out", f"{part}.h5", "--part", f"{part}/{parts}", "--force", *more)
        return [f"{part}.h5" for part in range(1, parts + 1)]

    def test_parts_without_a_feasible_plan(self):
        """tp = 8 needs 8 GPUs: three of five parts have none."""
        self.toml = self.with_gpus("[1, 2, 4, 32, 64]")
        self.search("whole.h5")
        parts = self.search_parts(self.toml, 5)
        for text in (self.output("report", "1.h5"), self.output("report", "3.h5").replace("part 3 of 5", "part 1 of 5")):
            self.assertRegex(text, r"front of 0 points")
            self.assertRegex(text, r"No plan of part 1 of 5 is feasible")
            self.assertRegex(text, r"of which 72 were examined: 0 feasible plans .*; infeasible:\n +72 +100.0 % +gpus not divisible")
            self.assertRegex(text, r"Search: proved complete: no feasible plan in part 1 of 5 of the space")
        self.assertRegex(self.output("inspect", "2.h5"), r"0 feasible.*The front is empty.*no feasible plan in part 2 of 5")
        self.output("report", "1.h5", "--html", "1.html", "--csv", "1.csv", "--svg", "plots")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.journal*")), [])
        text = self.output("merge", "--out", "merged.h5", "--part", *parts)
        self.assertRegex(text, r"proved complete: parts 1,2,3,4,5 of 5 with 360 of 360 combinations of values, 56 feasible plans.*confidence 95 %")
        self.assertEqual(self.front("merged.h5"), self.front("whole.h5"))
        # More parts than combinations: the last are of none.
        self.search("none.h5", "--part", "400/400")
        self.assertRegex(self.output("report", "none.h5"), r"No plan of part 400 of 400 is feasible[^$]*no feasible plan in part 400 of 400")

    def test_no_part_has_a_feasible_plan(self):
        """What the search of the whole refuses, their merge does."""
        toml = self.with_gpus("[1, 2, 4]")
        why = r"none of the 216 combinations of values in \[space\] is a feasible plan:\n  gpus not divisible by tp\*cp\*pp: 216 \(100.0 %\); for example .*\ntry more values"
        self.assertRegex(self.refusal("search", toml, "--out", "whole.h5", "--strategy", "exact"), why)
        for more in ((), ("--strategy", "racing")):
            parts = self.search_parts(toml, 2, *more)
            self.assertRegex(self.refusal("merge", "--out", "merged.h5", "--part", *parts), why)
            self.assertFalse((self.folder / "merged.h5").exists())

    def with_gpus(self, gpus):
        text = self.scenario(tp="[8]").read_text()
        assert text.count("gpus = [16, 32, 64]") == 1
        return self.write(text.replace("gpus = [16, 32, 64]", f"gpus = {gpus}"))

    def test_a_part_that_was_stopped(self):
        self.search("1.h5", "--part", "1/2")
        self.output("search", self.toml, "--out", "2.h5", "--part", "2/2", "--max-time", "1 ms", code=support.CALL_AGAIN)
        self.assertRegex(self.refusal("merge", "--out", "all.h5", "--part", "1.h5", "2.h5"),
                         r"part 2 was stopped before its end .*prismopt resume")
        self.assertRegex(self.output("merge", "--partial", "--out", "some.h5", "--part", "1.h5", "2.h5"), r"provisional front .*")
        self.output("resume", "2.h5", "--max-time", "10 min")
        self.assertRegex(self.output("merge", "--out", "all.h5", "--part", "1.h5", "2.h5"), r"proved complete: parts 1,2 of 2")

    def test_a_journal_beside_the_results_of_another_part_is_refused(self):
        self.output("search", self.toml, "--out", "2.h5", "--part", "2/2", "--max-time", "1 ms", code=support.CALL_AGAIN)
        self.search("1.h5", "--part", "1/2")
        (self.folder / "1.h5").replace(self.folder / "2.h5")
        self.assertRegex(self.refusal("resume", "2.h5"),
                         r"different studies: their part of the space \(2/2 in the journal, 1/2 in the results\) differs")

    def test_auto_goes_through_a_part(self):
        """As the exact search does, and says so."""
        self.search("exact.h5", "--part", "2/3")
        found = self.run_program("search", self.toml, "--out", "auto.h5", "--part", "2/3")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertRegex(found.stderr, r"strategy exact: parts can be merged if all their combinations are checked, and lower bounds")
        self.assert_same_results("auto.h5", "exact.h5")

    def test_refuses_what_does_not_belong_together(self):
        self.search("1.h5", "--part", "1/2")
        self.search("2.h5", "--part", "2/2", "--seed", "5")
        self.assertRegex(self.refusal("merge", "--out", "merged.h5", "--part", "1.h5", "2.h5"), r"another study .*seed differs")
        self.assertRegex(self.refusal("merge", "--out", "merged.h5"), r"needs --out FILE and --part")
        self.assertRegex(self.refusal("search", self.toml, "--part", "3/2"), r"--part 3/2 is not K/N")
        for name in ("nlopt", "nsga2", "nsga3", "random"):
            self.assertRegex(self.refusal("search", self.toml, "--part", "1/2", "--strategy", name),
                             rf"--part needs a strategy .*, and {name} does not; choose from --strategy auto, exact, racing")


if __name__ == "__main__":
    support.main()
