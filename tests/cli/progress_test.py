"""What a running search says of itself in a batch log."""

import re

import support
from support import DONE, CliTest


class Progress(CliTest):
    def test_lines_say_how_far_it_is(self):
        for ranks in (0, 2):
            finished = self.run_program("search", self.scenario(), "--out", "study.h5", "--force", ranks=ranks)
            self.assertEqual(finished.returncode, DONE, finished.stderr)
            self.assertRegex(finished.stderr, r"info: 0 s: \d+ found feasible, \d+ of 256 parts of the space looked at, "
                                              r"idle \d+\.\d %, ETA ")
            last = r"info: \d+ s: 272 found feasible, (\d+) evaluated, (\d+) pruned, 0 left, front \d+, " \
                   r"hypervolume 0\.\d{4}, [\d.e+]+ draws/s, idle \d+\.\d %, ETA 0 s"
            self.assertRegex(finished.stderr, last)
            evaluated, pruned = map(int, re.search(last, finished.stderr).groups())
            self.assertEqual(evaluated + pruned, 272)
            self.assertLess(evaluated, 272 / 10)  # bounds exclude most

    def test_evolution_has_no_share_of_the_space_to_tell(self):
        finished = self.run_program("search", self.scenario(), "--out", "study.h5", "--strategy", "nsga2")
        self.assertEqual(finished.returncode, DONE, finished.stderr)
        self.assertRegex(finished.stderr, r"(?m)evaluated, \d+ pruned, 0 left, .* ETA 0 s$")
        self.assertRegex(finished.stdout, r"evolved \(nsga2\), which proves nothing: [\d,]+ plans looked at, [\d,]+ of them feasible")


if __name__ == "__main__":
    support.main()
