"""Correlations of jobs/pair_study. usage: pair_study_test.py [unittest arguments]"""

import importlib.machinery
import importlib.util
import math
import pathlib
import random
import statistics
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
LOADER = importlib.machinery.SourceFileLoader("pair_study", str(ROOT / "jobs/pair_study"))
pair_study = importlib.util.module_from_spec(importlib.util.spec_from_loader("pair_study", LOADER))
sys.modules["pair_study"] = pair_study
LOADER.exec_module(pair_study)

OF = {"by_job": 0.15, "by_plan": 0.1, "repeats": 0.03, "lengths": [{"trait": name, "length": 3.0} for name in "abcdefghi"]}


def simulated(correlation, families=40, pairs=10):
    """Independent pairs whose errors have the stated variance."""
    draw = random.Random(1)
    found = []
    for family in range(families):
        for _ in range(pairs):
            pair = pair_study.Pair(family=str(family), error=0.0, ratio=0.0, constants=0.002, widened=0.01, alone=0.08, kernel=0.5, repeats=0.0018)
            pair.error = draw.gauss(0.0, pair.variance(OF, correlation, pair.constants) ** 0.5)
            found.append(pair)
    return found


def row(**changed):
    return {"row": "t row 1: x", "job": "j", "network": "n", "precision": "bf16", "accelerator": "h100-sxm", "stack": "s", "gpus": 8, "sequence": 4096,
            "batch": 64, "kind": "dense", "widening": 4.0, "scatter": 0.1, "log_ratio": 0.1, "measured_s": 2.0, "degrees": [0.0] * 6, "kinds": [0] * 3} | changed


class Pairs(unittest.TestCase):
    def test_the_correlation_of_simulated_pairs_is_found(self):
        # The relative deviation of a variance from 400 normal numbers is 7 %: at a variance of at most 0.058, which falls by 0.055 per unit of
        # the correlation, 0.075 of that; three of them.
        for correlation in (0.2, 0.7):
            self.assertAlmostEqual(pair_study.fit(simulated(correlation), OF), correlation, delta=0.22)

    def test_intervals_of_excluded_families_hold(self):
        pairs = simulated(0.7, families=20)
        variances, fitted = pair_study.excluded(pairs, OF)
        share, low, high = pair_study.coverage(pairs, variances)
        self.assertEqual(len(fitted), 20)
        self.assertLess(abs(share - 0.95), 0.047)  # three deviations of a share of 200
        self.assertLess(low, share)
        self.assertLess(share, high)

    def test_pairs_are_distinguished_by_what_differs(self):
        rows = [row(), row(accelerator="b200-sxm", log_ratio=0.3), row(stack="t"), row(gpus=16, job="k"), row(row="t row 2: y", log_ratio=0.2),
                row(accelerator="b200-sxm", stack="t")]
        covariance = [0.01 if i == j else 0.004 for i in range(len(rows)) for j in range(i + 1)]
        found = pair_study.pairs_of([{"source": "a", "line": "b", "rows": rows, "covariance": covariance}], OF, {})
        # Row 5 measures the first configuration again: one pair of their mean.
        first = found["accelerator"][0]
        self.assertAlmostEqual(first.error, 0.3 - 0.15)
        self.assertAlmostEqual(first.constants, 2 * (0.01 - 0.004))
        self.assertAlmostEqual(first.widened, 4 * first.constants)
        self.assertAlmostEqual(first.alone, 2 * (4 * 0.01 + 0.1**2))
        self.assertAlmostEqual(first.repeats, 0.03**2 * 1.5)
        self.assertEqual({kind: len(pairs) for kind, pairs in found.items()}, {"accelerator": 3, "software": 3, "gpus": 1, "plan": 0})

    def test_rounds_of_mlperf_far_apart_are_no_pair(self):
        rows = [row(), row(row="t row 2: y", accelerator="b200-sxm")]
        family = {"source": "a", "line": "b", "rows": rows, "covariance": [0.01, 0.0, 0.01]}
        for last, pairs in ((4.1, 1), (5.0, 0)):
            found = pair_study.pairs_of([family], OF, {"t row 1": 3.1, "t row 2": last})
            self.assertEqual(len(found["accelerator"]), pairs)


def simulated_job(number, draw, plans=6):
    """A family with one job, whose plans are so far apart that their own deviations are independent."""
    rows, common = [], draw.gauss(0.0, OF["by_job"])
    for plan in range(plans):
        predicted = draw.gauss(0.0, 0.15)
        error = common + draw.gauss(0.0, OF["by_plan"]) + draw.gauss(0.0, OF["repeats"])
        rows.append(row(row=f"t row {plan}: x", measured_s=math.exp(predicted + error), log_ratio=error, degrees=[30.0 * plan] * 6, widening=1.0))
    return {"source": "s", "line": str(number), "rows": rows, "covariance": [0.0] * (plans * (plans + 1) // 2)}


class Improvements(unittest.TestCase):
    JOBS = 300

    def setUp(self):
        draw = random.Random(2)
        self.families = [simulated_job(number, draw) for number in range(self.JOBS)]

    def test_stated_probabilities_hold(self):
        for measured in (False, True):
            starts = [s for s in pair_study.starts_of(self.families, OF, {}, measured) if not math.isnan(s.chance)]
            stated = statistics.fmean(s.chance for s in starts)
            faster = statistics.fmean(s.chosen < 0 for s in starts)
            self.assertLess(abs(stated - faster), 3 * 0.5 / math.sqrt(self.JOBS))  # starts of one job are not independent

    def test_the_best_plan_is_found_by_exact_predictions(self):
        for family in self.families:
            for one in family["rows"]:
                one["log_ratio"] = 0.0
        starts = pair_study.starts_of(self.families, OF, {}, False)
        self.assertEqual(len(starts), 6 * self.JOBS)
        for start in starts:
            self.assertAlmostEqual(start.chosen, start.best)
        jobs, count, _, faster, gain, _, _ = pair_study.improvements(starts)
        self.assertEqual((jobs, count, faster, gain), (self.JOBS, 6 * self.JOBS, "100", "100"))

    def test_a_measured_start_shows_the_error_that_plans_share(self):
        """Of a start that took longer than predicted, other plans are expected to, too."""
        family = simulated_job(0, random.Random(3), plans=2)
        first, second = family["rows"]
        first.update(measured_s=1.2, log_ratio=math.log(1.2))  # predicted: 1
        second.update(measured_s=1.25, log_ratio=math.log(1.25 / 1.05))
        self.assertTrue(math.isnan(pair_study.starts_of([family], OF, {}, False)[0].chance))
        self.assertGreater(pair_study.starts_of([family], OF, {}, True)[0].chance, 0.5)


if __name__ == "__main__":
    unittest.main()
