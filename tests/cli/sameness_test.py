"""One study gives the same results file for any number of ranks and threads."""

import pathlib
import re

import h5py

import support
from support import CliTest


class Sameness(CliTest):
    def setUp(self):
        super().setUp()
        # Sequences of uneven length: plans differ enough in their noise for some to drop out between the rungs.
        uneven = 'profile = "hpc-2024"\nmicrobatch = { family = "lognormal", cv = 0.50, source = "test" }'
        text = pathlib.Path(support.SMALL).read_text()
        self.assertIn('profile = "hpc-2024"', text)
        self.scenario = self.folder / "uneven.toml"
        self.scenario.write_text(text.replace('profile = "hpc-2024"', uneven))

    def search(self, out, *more, **how):
        self.output("search", self.scenario, "--out", out, *more, **how)

    def test_ranks_and_threads(self):
        self.search("alone.h5")
        self.assertFalse((self.folder / "alone.h5.journal").exists())
        self.assert_worth_comparing("alone.h5")
        for ranks, threads in ((1, 2), (2, 2), (4, 1)):
            with self.subTest(ranks=ranks, threads=threads):
                out = f"{ranks}x{threads}.h5"
                self.search(out, ranks=ranks, threads=threads)
                self.assert_same_results("alone.h5", out)
                with h5py.File(self.folder / out) as file:
                    self.assertEqual(len(file["ranks/items"]), ranks)
                    self.assertTrue(all(file["ranks/items"][()] > 0), "a rank had nothing to do")
                    self.assertEqual(file["ranks"].attrs["threads"], threads)

    def test_plans_that_may_not_fit(self):
        text = pathlib.Path(support.SMALL).read_text().replace("[cluster]\n", '[cluster]\naccelerator_override = { memory = "4.4 GB" }\n')
        self.scenario.write_text(text)
        self.search("alone.h5")
        with h5py.File(self.folder / "alone.h5") as file:
            fits = file["may_not_fit/fit_probability"][()]
            self.assertGreater(len(fits), 0)
            self.assertTrue(all((fits >= 0.2) & (fits < 0.9)))
            self.assertTrue(all(file["front/fit_probability"][()] >= 0.9))
            self.assertEqual(file["may_not_fit"].attrs["proved"], 1)
        self.search("team.h5", ranks=3, threads=2)
        self.assert_same_results("alone.h5", "team.h5")

    def test_each_strategy(self):
        # No bound holds for a median, so none excludes a plan before the last evaluation.
        text, count = re.subn(r"(?m)^minimise = .*$", 'minimise = ["training_time_p50", "memory", "gpus"]', self.scenario.read_text())
        self.assertEqual(count, 1)
        self.scenario.write_text(text)
        for strategy in ("racing", "nsga2", "nsga3", "random"):
            with self.subTest(strategy):
                self.search(f"{strategy}.h5", "--strategy", strategy, "--max-evaluations", 60)
                self.search(f"{strategy}3.h5", "--strategy", strategy, "--max-evaluations", 60, ranks=3, threads=2)
                self.assert_same_results(f"{strategy}.h5", f"{strategy}3.h5")
                with h5py.File(self.folder / f"{strategy}.h5") as file:
                    self.assertEqual(file["study"].attrs["strategy"], strategy)
                    self.assertEqual(file["study"].attrs["proved"], 0)
                    self.assertEqual((file["evaluations/rung"][()] > 0).sum(), 60)

    def assert_worth_comparing(self, out):
        """The study uses all that could differ: pruning, several rungs, a front of several points."""
        with h5py.File(self.folder / out) as file:
            self.assertGreaterEqual(file["space"].attrs["feasible"], 100)
            self.assertEqual(file["study"].attrs["proved"], 1)
            self.assertGreater(file["study"].attrs["pruned"], 0)
            self.assertGreaterEqual(set(file["evaluations/rung"][()]), {0, 1, 2})
            self.assertGreaterEqual(len(file["front/front"]), 2)

    def test_another_seed_is_another_study(self):
        self.search("one.h5")
        self.search("two.h5", "--seed", 2)
        one, two = (support.contents_of(self.folder / out) for out in ("one.h5", "two.h5"))
        self.assertEqual(one["/space/rejected_count"], two["/space/rejected_count"])
        for name in ("/front/training_time_quantile", "/front/step_time_p99", "/progress/hypervolume"):
            self.assertNotEqual(one[name], two[name], name)


if __name__ == "__main__":
    support.main()
