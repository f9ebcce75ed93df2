"""Which plan is best, given the error of the model: `search`, `shortlist` and `learn`."""

import collections
import json

import support
from support import CliTest


class Shortlist(CliTest):
    def setUp(self):
        super().setUp()
        self.output("search", support.SMALL, "--out", "small.h5", "--seed", "7")

    def listed(self, *arguments, command="shortlist"):
        return json.loads(self.output(command, "small.h5", *arguments, "--json"))["shortlists"]

    def learned(self, rows, *arguments):
        self.write("point,step_time_s,peak_memory_gb\n" + "".join(row + "," * (2 - row.count(",")) + "\n" for row in rows), "measured.csv")
        return json.loads(self.output("learn", "small.h5", "--measured", "measured.csv", *arguments, "--json"))

    def test_a_study_says_how_probable_each_plan_is(self):
        report = json.loads(self.output("report", "small.h5", "--json"))
        sums = collections.Counter()
        for plan in report["posterior"]["plans"]:
            sums[plan["objective"], plan["gpus"]] += plan["best"]
            self.assertTrue(0 <= plan["fits"] <= 1 and plan["regret"] >= 0)
        self.assertTrue(sums)
        for total in sums.values():
            self.assertAlmostEqual(total, 1)
        for point in report["front"]:
            self.assertTrue(0 <= point["numbers"]["chance_on_front"] <= 1)
        self.assertIn("given the error of the model", self.output("report", "small.h5"))

    def test_without_a_posterior(self):
        self.output("search", support.SMALL, "--out", "without.h5", "--seed", "7", "--no-posterior")
        self.assertIsNone(json.loads(self.output("report", "without.h5", "--json"))["posterior"])
        self.assertNotIn("given the error of the model", self.output("report", "without.h5"))

    def test_more_cover_takes_more_plans(self):
        for few, many in zip(self.listed("--cover", "0.5"), self.listed("--cover", "0.99")):
            self.assertLessEqual(len(few["plans"]), len(many["plans"]))
            self.assertEqual(few["plans"], many["plans"][:len(few["plans"])])
            covers = [plan["cover"] for plan in many["plans"]]
            self.assertEqual(covers, sorted(covers))
            self.assertGreaterEqual(covers[-1], 0.99)
            self.assertTrue(all(plan["steps_to_measure"] >= 2 for plan in many["plans"]))

    def test_measuring_more_plans_leaves_less_regret(self):
        for listed in self.listed("--most", "3"):
            regrets = [plan["regret_after_measuring"] for plan in listed["plans"]]
            self.assertEqual(len(regrets), min(3, listed["contenders"]))
            self.assertEqual(regrets, sorted(regrets, reverse=True))

    def test_learning_from_measurements(self):
        first = self.listed("--most", "2")[0]
        best, second = first["plans"]
        gpus = ("--gpus", str(first["gpus"]), "--cover", "0.999")
        before = self.learned([f"{best['point']},1"], *gpus)["measured"][0]["predicted_s"]
        other = self.learned([f"{second['point']},1"], *gpus)["measured"][0]["predicted_s"]
        # The second is measured to be far faster than predicted beside the first: now it is the best.
        found = self.learned([f"{best['point']},{before}", f"{second['point']},{0.5 * other} {0.5 * other}"], *gpus)
        self.assertEqual(found["shortlists"][0]["plans"][0]["point"], second["point"])
        self.assertLess(found["constants"]["all_plans"]["factor"], 1)
        self.assertLess(found["measured"][1]["surprise_sigma"], -2)
        # A plan that ran out of memory is possible in no draw.
        found = self.learned([f"{best['point']},,oom"], *gpus)
        self.assertNotIn(best["point"], [plan["point"] for plan in found["shortlists"][0]["plans"]])
        self.assertIn("out of memory", self.output("learn", "small.h5", "--measured", "measured.csv"))

    def test_learning_from_a_log(self):
        plan = self.listed("--most", "1")[0]["plans"][0]["point"]
        lines = "".join(f" iteration {i:8d}/     100 | consumed samples: {i} | elapsed time per iteration (ms): {9000 if i < 4 else 1500}.0 |\n"
                        for i in range(1, 61))
        self.write(lines, "job.log")
        self.write(f"point,log\n{plan},job.log\n", "logs.csv")
        found = json.loads(self.output("learn", "small.h5", "--measured", "logs.csv", "--json"))
        self.assertAlmostEqual(found["measured"][0]["measured_s"], 1.5)  # without the warm-up
        self.write(f"point,log,step_time_s\n{plan},job.log,1.5\n", "both.csv")
        self.refusal("learn", "small.h5", "--measured", "both.csv")
        self.write("nothing\n", "job.log")
        self.refusal("learn", "small.h5", "--measured", "logs.csv")

    def test_plans_may_be_named_by_their_words(self):
        plan = self.listed("--most", "1")[0]["plans"][0]
        self.write(f"plan,step_time_s\n{plan['plan']},1.5\n", "words.csv")
        found = json.loads(self.output("learn", "small.h5", "--measured", "words.csv", "--json"))
        self.assertEqual(found["measured"][0]["point"], plan["point"])

    def test_wrong_input(self):
        for arguments in (["--cover", "2"], ["--cover", "0"], ["--most", "0"], ["--cover", "0.5", "--most", "2"], ["--gpus", "7"],
                          ["--objective", "memory"], ["--precision", "0"]):
            self.refusal("shortlist", "small.h5", *arguments)
        self.refusal("learn", "small.h5")
        for text in ("point,step_time_s\n", "point,step_time_s\n999999999999,1\n", "point,step_time_s\nx,1\n", "point,step_time_s\n0,-1\n",
                     "point,step_time_s\n0,nan\n", "point,step_time_s\n0,\n", "point,step_time_s,peak_memory_gb\n0,1,oom\n",
                     "plan,step_time_s\ntp 3,1\n", "step_time_s\n1\n"):
            self.write(text, "wrong.csv")
            self.refusal("learn", "small.h5", "--measured", "wrong.csv")


if __name__ == "__main__":
    support.main()
