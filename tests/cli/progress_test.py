"""What a running search says of itself in a batch log."""

import re

import support
from support import DONE, CliTest


class Progress(CliTest):
    def test_lines_say_how_far_it_is(self):
        for ranks in (0, 2):
            finished = self.run_program("search", self.scenario(), "--out", "study.h5", "--force", ranks=ranks)
            self.assertEqual(finished.returncode, DONE, finished.stderr)
            self.assertRegex(finished.stderr, r"info: 0 s: \d+ feasible plans found, \d+ of 256 parts of the space checked, "
                                              r"idle \d+\.\d %(, ETA of this sweep \d+ s)?\n")
            last = r"info: \d+ s: 244 feasible plans found, (\d+) excluded by their lower bounds, (\d+) evaluated, 0 open, front \d+, " \
                   r"hypervolume 0\.\d{4}, [\d.e+]+ draws/s, idle \d+\.\d %, ETA 0 s"
            self.assertRegex(finished.stderr, last)
            pruned, evaluated = map(int, re.search(last, finished.stderr).groups())
            self.assertEqual(evaluated + pruned, 244)
            self.assertLess(evaluated, 244 / 10)  # bounds exclude most

    def test_a_word_counts_the_same_in_lines_and_at_the_end(self):
        """Of a search stopped while plans are drawn, which most are more than once."""
        toml = self.scenario(minimise='["training_time_p50", "memory", "gpus"]', rungs="[{ fleets = 64, steps = 2 }, { fleets = 64000, steps = 2 }]")
        finished = self.run_program("search", toml, "--out", "study.h5", "--max-time", "8 s")
        self.assertEqual(finished.returncode, support.CALL_AGAIN, finished.stderr)
        counts = r"(\d+) excluded by their lower bounds, (\d+) evaluated, (\d+) open"
        lines = [tuple(map(int, found)) for found in re.findall(counts, finished.stderr.replace(",", "").replace("bounds ", "bounds, ").replace("evaluated ", "evaluated, "))]
        self.assertGreater(len(lines), 1, finished.stderr)
        for line in lines:
            self.assertEqual(sum(line), sum(lines[-1]), finished.stderr)
        for earlier, later in zip(lines, lines[1:]):
            self.assertLessEqual(earlier[1], later[1], finished.stderr)

    def test_evolution_has_no_share_of_the_space_to_tell(self):
        finished = self.run_program("search", self.scenario(), "--out", "study.h5", "--strategy", "nsga2")
        self.assertEqual(finished.returncode, DONE, finished.stderr)
        self.assertRegex(finished.stderr, r"(?m)\d+ excluded by their lower bounds, \d+ evaluated, 0 open, .* ETA 0 s$")
        self.assertRegex(finished.stdout, r"evolutionary search \(nsga2\), without proof: [\d,]+ plans checked, [\d,]+ of them feasible")


if __name__ == "__main__":
    support.main()
