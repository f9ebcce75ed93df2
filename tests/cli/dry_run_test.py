"""`search --dry-run` counts and measures, and writes nothing."""

import json
import pathlib
import re
import resource

import support
from support import CliTest


class DryRun(CliTest):
    def test_counts_as_validate_does(self):
        toml = self.scenario()
        text = self.output("search", toml, "--dry-run")
        self.assertRegex(text, r"small: all plans checked\nSpace: 648 combinations of values: 244 feasible plans \(37.7 %\), 12 infeasible \(1.9 %\), 392 ")
        counted = self.output("validate", toml)
        self.assertIn(counted[counted.index("Space: "):], text)
        self.assertRegex(text, r"strategy exact: 648 combinations of values can all be checked")
        self.assertRegex(text, r"expected: [\d.e-]+ core-hours to [\d.e-]+ core-hours")
        memory = re.search(r"memory: at most about (\d+) MB for each rank of 1 thread, and (\d+) MB more for rank 0, which keeps the lower bounds of 244 plans; "
                           r"request for each node its ranks times (\d+) MB, or the same for all: sbatch --mem-per-cpu=(\d+)M\n", text)
        self.assertIsNotNone(memory, text)
        rank, more, for_each_rank, of_thread = map(int, memory.groups())
        self.assertGreater(rank, 20)
        self.assertIn(for_each_rank, (rank + more - 1, rank + more))  # rounded up
        self.assertEqual(of_thread, for_each_rank)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["study.toml"])

    def test_of_a_question(self):
        """Plans are feasible whatever the question; without one that may meet it, the search goes on without its limits, and so does its estimate."""
        small = self.scenario().read_text()
        counted = self.output("validate", support.SMALL)
        counted = counted[counted.index("Space: "):]
        text = self.output("search", self.write(small + '\n[question]\ndeadline = "1000 day"\n'), "--dry-run")
        self.assertIn(counted + "244 feasible plans may meet [question], by their lower bounds\n", text)
        text = self.output("search", self.write(small + '\n[question]\ndeadline = "1 min"\n'), "--dry-run")
        self.assertRegex(text, r"^small: no feasible plan can meet \[question\]: training time .* is at least .*, and deadline or done_by allows 60 s; .*\nsmall: all plans checked\n")
        self.assertIn(counted, text)
        self.assertRegex(text, r"expected: [\d.e-]+ core-hours to [\d.e-]+ core-hours")

    def test_context_parallel_plans(self):
        text = self.output("search", self.scenario(pp="[1, 2, 4]\ncp = [1, 2]"), "--dry-run")
        self.assertRegex(text, r"expected: [\d.e-]+ core-hours")

    def test_of_another_strategy(self):
        text = self.output("search", self.scenario(), "--dry-run", "--strategy", "racing", "--max-evaluations", 100, ranks=2)
        self.assertRegex(text, r"strategy racing\n")
        self.assertRegex(text, r"(?m)^100 plans evaluated at the first rung")

    def core_hours(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.output(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 3600

    def test_expects_what_each_strategy_draws(self):
        """By rehearsal; how plans scatter about their bounds is taken from a dozen, so within a factor of three."""
        toml = self.scenario()
        for strategy in ("exact", "racing", "nsga2", "random"):
            with self.subTest(strategy):
                text = self.output("search", toml, "--dry-run", "--strategy", strategy)
                found = re.search(r"(?m)^(\d+) plans evaluated at the first rung, (\d+) at the top rung, a front of (\d+) confirmed: ([\d,]+) draws", text)
                self.assertIsNotNone(found, text)
                # A busy machine takes more processor time: the least of three runs.
                core_hours = min(self.core_hours("search", toml, "--out", "study.h5", "--force", "--strategy", strategy) for _ in range(3))
                with support.h5py.File(self.folder / "study.h5") as file:
                    rungs = file["evaluations/rung"][()]
                    draws = int(file["evaluations/draws"][()].sum() + file["front/draws"][()].sum())
                for expected, drawn in ((int(found[1]), int((rungs > 0).sum())), (float(found[4].replace(",", "")), draws)):
                    self.assertLess(expected, 3 * drawn)
                    self.assertGreater(expected, drawn / 3)
                least, most = map(float, re.search(r"expected: ([\d.e-]+) core-hours to ([\d.e-]+) core-hours", text).groups())
                self.assertLess(least / 2, core_hours)
                self.assertGreater(2 * most, core_hours)

    def test_any_ladder_concludes(self):
        """With 128 fleets no upper limit of a p99 is finite, so incumbents get more; the default suits means as well."""
        short = re.sub(r"(?m)^rungs = .*$", "rungs = [{ fleets = 64, steps = 2 }, { fleets = 128, steps = 2 }]", self.scenario().read_text())
        mean = self.scenario(minimise='["training_time_p99", "cost", "gpus", "energy"]').read_text()
        for text, fleets, adds in ((short, 128, True), (re.sub(r"(?m)^rungs = .*$", "", mean), 2048, False)):
            toml = self.write(text)
            rehearsed = re.search(r"(?m)^(\d+) plans evaluated at the first rung", self.output("search", toml, "--dry-run"))
            self.assertLess(int(rehearsed[1]), 244 / 2)
            found = self.run_program("search", toml, "--out", "study.h5", "--force")
            self.assertEqual(found.returncode, support.DONE, found.stderr)
            added = [int(number) for number in re.findall(r"draws (\d+) fleets per incumbent", found.stderr)]
            self.assertEqual([number for number in added if number > fleets], added)
            self.assertEqual(bool(added), adds)
            with support.h5py.File(self.folder / "study.h5") as file:
                self.assertEqual(int(file["study"].attrs["proved"]), 1)
                self.assertGreater(int(file["study"].attrs["pruned"]), 244 / 2)
                self.assertEqual(int(file["evaluations/draws"][()].max()), 2 * fleets)

    def test_an_objective_without_a_bound_is_reported(self):
        toml = self.scenario(minimise='["training_time_p99", "miss_probability"]')
        toml.write_text(toml.read_text().replace("[objectives]", '[objectives]\ndeadline = "2 h"'))
        for arguments in (("--dry-run",), ("--out", "study.h5")):
            self.assertRegex(self.run_program("search", toml, *arguments).stderr, r"miss_probability has no lower bound")

    LARGE = {"gpus": "{ from = 1, to = 64, step = 1 }", "tp": "[1, 2, 4, 8]", "cp": "[1, 2, 4]", "pp": "[1, 2, 3, 4, 5, 6, 7, 8]",
             "v": "[1, 2, 3, 4, 8]", "microbatch": "[1, 2, 3, 4, 5, 6, 7, 8]", "schedule": '["gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v"]',
             "recompute": '["none", "selective", "full"]', "sharding": '["none", "zero1", "zero2", "zero3"]', "split": '["layers", "slots"]',
             "dp_overlap": '["on", "off"]', "order": '["tp-pp-dp", "tp-dp-pp"]'}

    def large(self, **changes):
        """The small scenario with another space."""
        path = self.scenario(**changes)
        axes = "".join(f"{key} = {values}\n" for key, values in self.LARGE.items())
        return self.write(re.sub(r"(?ms)^\[space\]$.*?(?=^\[)", lambda _: f"[space]\n{axes}\n", path.read_text()))

    def test_a_stopped_one_prints_what_it_knows(self):
        finished = self.run_program("search", self.large(), "--dry-run", "--max-time", "2 s")
        self.assertEqual(finished.returncode, support.CALL_AGAIN, finished.stderr)
        self.assertRegex(finished.stdout, r"small: [\d,]+ combinations of values\n")
        self.assertRegex(finished.stdout, r"estimates with 95 % confidence intervals, from [\d,]+ plans in [\d,]+ random branches")
        self.assertIn("stopped by --max-time", finished.stderr)
        finished = self.run_program("search", self.scenario(), "--dry-run", "--max-time", "0.001 s")
        self.assertEqual(finished.returncode, support.CALL_AGAIN, finished.stderr)
        self.assertRegex(finished.stdout, r"Space: 648 combinations of values, none of which was examined\n")

    def test_a_large_space_is_estimated(self):
        finished = self.run_program("search", self.large(), "--dry-run", "--strategy", "exact")
        self.assertEqual(finished.returncode, support.DONE, finished.stderr)
        lines = re.findall(r"\d+ s: still running", finished.stderr)
        self.assertEqual(len(lines), len(set(lines)))
        text = finished.stdout
        feasible = re.search(r"(?m)^about [\d,]+ \(([\d,]+) to ([\d,]+)\) plans are feasible; a search does not count", text)
        self.assertIsNotNone(feasible, text)
        counted = json.loads(self.output("validate", "study.toml", "--json"))
        least, most = (float(number.replace(",", "")) for number in feasible.groups())
        self.assertLess(least, 1.1 * counted["feasible"])
        self.assertGreater(most, 0.9 * counted["feasible"])
        self.assertRegex(text, r"(?m)^at most about [\d,.]+ \([\d,.]+ to [\d,.]+\) plans evaluated at the top rung, a front of about [\d,]+ confirmed: ")
        self.assertRegex(text, r"expected: [\d.e-]+ core-hours to [\d.e-]+ core-hours")

    def test_refuses_what_it_does_not_know(self):
        self.assertRegex(self.refusal("search", self.scenario(), "--strategy", "best"), r"--strategy best is unknown; choose from: auto, nlopt, exact, racing, nsga2, nsga3, random")
        self.assertRegex(self.refusal("search", "study.toml", "--max-evaluations", "0"), r"--max-evaluations 0 is less than 1")


if __name__ == "__main__":
    support.main()
