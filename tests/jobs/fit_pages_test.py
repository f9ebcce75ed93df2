"""Pages of jobs/fit_pages.py. usage: fit_pages_test.py [unittest arguments]"""

import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
import fit_pages  # noqa: E402  pylint: disable=wrong-import-position
import study  # noqa: E402  pylint: disable=wrong-import-position

GROUP = {"source": "a", "job": "a: GPT", "one_node": True, "plans": 8, "covering": 2, "hit": True, "exact": False, "first_regret": 0.1,
         "first_strict": 0.12, "three_strict": 0.02, "three_regret": 0.0, "random_regret": 0.2, "error": 0.1, "error_after": 0.05, "error_hindsight": 0.02,
         "inside": [0.6, 0.8, 1.0]}
SHORTLIST = {
    "smallest_judged": 8,
    "smallest_fitted": 3,
    "groups": [GROUP, GROUP | {"hit": False, "covering": 4, "first_regret": 0.3},
               GROUP | {"exact": True, "plans": 3, "covering": 1, "error": 0.0, "error_after": 0.0, "error_hindsight": 0.0}, GROUP | {"one_node": False, "source": "b"}],
    "discrepancy": {"groups": 3, "by_plan": 0.1, "by_job": 0.2, "repeats": 0.03,
                    "lengths": [{"trait": "tp", "length": 0.7}, {"trait": "cp", "length": 4}]},
}
COMPONENTS = {
    "collectives": [{"collective": "all_reduce", "size": "from 64 MiB", "systems": 2, "rows": 5, "error": 0.063, "bias": -0.009, "left_out": 0.1}],
    "systems": [{"system": "8 x A100", "apart": True, "rows": 5, "error": 0.5, "bias": 0.5}],
    "kernels": [{"kernels": "products", "precision": "bf16", "accelerator": "h100-sxm", "rows": 3, "error": 0.02, "bias": 0.01, "left_out": 0.03}],
    "constants": [{"name": "nccl.start", "value": 1.26e-05, "deviation": 0.1}, {"name": "h100-sxm.gemm", "share": 0.8, "deviation": 0.02}],
}


class Pages(unittest.TestCase):
    def test_limits_are_those_of_clopper_and_pearson(self):
        # Exact in closed form: none and all of n; Clopper and Pearson (1934) for 46 of 50 and 3 of 5.
        for n in (1, 5, 44):
            self.assertAlmostEqual(fit_pages.share_limits(0, n)[1], 1 - 0.025 ** (1 / n), 9)
            self.assertAlmostEqual(fit_pages.share_limits(n, n)[0], 0.025 ** (1 / n), 9)
        self.assertEqual([round(limit, 3) for limit in fit_pages.share_limits(46, 50)], [0.808, 0.978])
        self.assertEqual([round(limit, 3) for limit in fit_pages.share_limits(3, 5)], [0.147, 0.947])

    def test_shortlists_are_summed_by_place_and_source(self):
        page = fit_pages.shortlist_page(SHORTLIST)
        self.assertIn("| one node | 3 | 33 | 1 to 91 | 67 | 16.7 | 0.0 | 20.0 | 12.0 | 2.0 | 0.38 | 0.50 | 0.20 | 60 | 80 | 100 |", page)
        self.assertIn("| several nodes: b | 1 | 0 | 0 to 97 | 100 |", page)
        self.assertIn("| a: GPT | 3 | 1 | yes | yes | 10.0 | 0.0 | 20.0 |  |  |", page)
        self.assertIn("| a: GPT | 8 | 4 | no | no | 30.0 | 0.0 | 20.0 | 10.0 | 5.0 |", page)
        self.assertIn("0.100 by plan, 0.200 by job and cluster, 0.030 between", page)
        self.assertIn("tp 0.7, cp 4.0.", page)

    def test_components_have_their_tables(self):
        page = fit_pages.components_page(COMPONENTS)
        for row in ("| all_reduce | from 64 MiB | 2 | 5 | 6.3 | -0.9 | 10.0 |", "| 8 x A100 (apart) | 5 | 50.0 | +50.0 |",
                    "| products | bf16 | h100-sxm | 3 | 2.0 | +1.0 | 3.0 |", "| nccl.start | 1.26e-05 | 10 |",
                    "| h100-sxm.gemm | 0.800 | 2 |"):
            self.assertIn(row, page)

    def test_a_folder_becomes_two_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, found in (("components", COMPONENTS), ("shortlist", SHORTLIST)):
                (pathlib.Path(folder) / f"{name}.json").write_text(json.dumps(found))
            with mock.patch("sys.argv", ["fit_pages.py", folder, folder]):
                self.assertEqual(fit_pages.main(), 0)
            text = (pathlib.Path(folder) / "shortlist.md").read_text()
            self.assertEqual(text, f"{fit_pages.shortlist_page(SHORTLIST)}\n{study.made_by()}\n")
            self.assertTrue((pathlib.Path(folder) / "components.md").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
