"""Which plan is best, given the error of the model: `search`, `shortlist` and `learn`."""

import collections
import json
import pathlib
import re
import shutil

import h5py

import support
from support import CliTest


class Shortlist(CliTest):
    def setUp(self):
        super().setUp()
        self.searched(support.SMALL, "small.h5", "--seed", "7")

    def listed(self, *arguments, command="shortlist"):
        return json.loads(self.output(command, "small.h5", *arguments, "--json"))["shortlists"]

    def learned(self, rows, *arguments):
        self.write("point,step_time_s,peak_memory_gb\n" + "".join(row + "," * (2 - row.count(",")) + "\n" for row in rows), "measured.csv")
        return json.loads(self.output("learn", "small.h5", "--measured", "measured.csv", *arguments, "--json"))

    def test_results_of_a_version_with_other_predictions_are_refused(self):
        older = pathlib.Path(__file__).parents[1] / "fuzz" / "results" / "small.h5"  # of 0.1.0
        shutil.copy(older, self.folder / "older.h5")
        self.write("point,step_time_s\n1,0.0316 0.0317\n", "measured.csv")  # as that file predicted
        for words in (("shortlist", "older.h5"), ("learn", "older.h5", "--measured", "measured.csv", "--out", "learned.toml"),
                      ("export", "older.h5", "--shortlist", "--target", "json", "--out", "plans")):
            with self.subTest(words[0]):
                self.assertRegex(self.refusal(*words), r"plan 1 has a noise-free step of 0\.0307 s by prismopt 0\.1\.0 .* by prismopt .*init --from")
        self.assertFalse((self.folder / "learned.toml").exists())
        self.assertFalse((self.folder / "plans").exists())
        # What predicts nothing anew reads the file, and what predicts all anew does so, too.
        self.assertIn("prismopt 0.1.0", self.output("report", "older.h5"))
        self.output("predict", "older.h5", "--point", "1")

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
        self.assertIn("given the model error", self.output("report", "small.h5"))

    def test_without_a_posterior(self):
        self.output("search", support.SMALL, "--out", "without.h5", "--seed", "7", "--no-posterior")
        self.assertIsNone(json.loads(self.output("report", "without.h5", "--json"))["posterior"])
        self.assertNotIn("given the model error", self.output("report", "without.h5"))

    def test_more_cover_takes_more_plans(self):
        for few, many in zip(self.listed("--cover", "0.5"), self.listed("--cover", "0.99")):
            self.assertLessEqual(len(few["plans"]), len(many["plans"]))
            self.assertEqual(few["plans"], many["plans"][:len(few["plans"])])
            covers = [plan["cover"] for plan in many["plans"]]
            self.assertEqual(covers, sorted(covers))
            self.assertGreaterEqual(covers[-1], 0.99)
            self.assertTrue(all(plan["steps_to_measure"] >= 2 for plan in many["plans"]))
        # A tenth of the error takes a hundred times the steps.
        steps = [self.listed("--precision", precision)[0]["plans"][0]["steps_to_measure"] for precision in ("0.001", "0.0001")]
        self.assertGreater(steps[0], 2)
        self.assertAlmostEqual(steps[1] / steps[0], 100, delta=100 / steps[0] + 1)

    def test_measuring_more_plans_leaves_less_regret(self):
        for listed in self.listed("--most", "3"):
            regrets = [plan["regret_after_measuring"] for plan in listed["plans"]]
            self.assertEqual(len(regrets), min(3, listed["contenders"]))
            self.assertEqual(regrets, sorted(regrets, reverse=True))

    def test_learning_from_measurements(self):
        first = self.listed("--most", "2")[0]
        best, second = first["plans"]
        gpus = ("--gpus", str(first["gpus"]), "--cover", "0.999")
        before = self.predicted(best)
        other = self.predicted(second)
        # The second is measured to be far faster than predicted beside the first: now it is the best.
        found = self.learned([f"{best['point']},{before}", f"{second['point']},{0.5 * other} {0.5 * other}"], *gpus, "--accept")
        self.assertIn(second["point"], self.points_of(found["shortlists"][0]["plans"][0]))
        self.assertLess(found["constants"]["all_plans"][0]["factor"], 1)
        surprises = {row["point"]: row["surprise_sigma"] for row in found["measured"]}
        self.assertLess(surprises[second["point"]], -2)
        # A plan that ran out of memory is possible in no draw.
        self.write(f"point,step_time_s,peak_memory_gb\n{best['point']},,oom\n", "failed.csv")
        self.assertIn("--accept", self.refusal("learn", "small.h5", "--measured", "failed.csv"))  # it needs little by its prediction
        found = self.learned([f"{best['point']},,oom"], *gpus, "--accept")
        self.assertNotIn(best["point"], [plan["point"] for plan in found["shortlists"][0]["plans"]])
        text = self.output("learn", "small.h5", "--measured", "measured.csv", "--accept")
        self.assertIn("out of memory", text)
        self.assertRegex(text.splitlines()[-1], r"GPUs: use plan \d+, the best by .* with a probability of [\d.]+ %; it is [\d.]+ % above the "
                                                r"best in the mean, and at most [\d.]+ % with 95 %")
        self.assertGreater(found["measured"][0]["memory_surprise_sigma"], 2)
        # Later studies know that too.
        self.output("learn", "small.h5", "--measured", "measured.csv", "--accept", "--out", "failed.toml")
        text = pathlib.Path(support.SMALL).read_text()
        self.write(text.replace("[cluster]\n", '[cluster]\nlearned = "failed.toml"\n'), "later.toml")
        self.output("search", "later.toml", "--out", "later.h5")
        for plan in json.loads(self.output("shortlist", "later.h5", *gpus, "--json"))["shortlists"][0]["plans"]:
            self.assertNotEqual(plan["point"], best["point"])
        for memory in ('" "', "5 6", "out", "-3", "4000"):
            self.write(f"point,step_time_s,peak_memory_gb\n{best['point']},{before},{memory}\n", "memory.csv")
            self.refusal("learn", "small.h5", "--measured", "memory.csv")

    def test_a_measurement_beyond_the_model_interval_is_learned_on_request_only(self):
        plan = self.listed("--most", "1")[0]["plans"][0]
        wrong = self.write(f"point,step_time_s,peak_memory_gb\n{plan['point']},{plan['step_s'] / 3.3},\n", "wrong.csv")
        message = self.refusal("learn", "small.h5", "--measured", wrong, "--out", "wrong.toml")
        self.assertIn("--accept", message)
        self.assertFalse((self.folder / "wrong.toml").exists())
        accepted = json.loads(self.output("learn", "small.h5", "--measured", wrong, "--accept", "--json"))
        self.assertLess(accepted["measured"][0]["prior_sigma"], -3)
        self.assertLess(accepted["constants"]["all_plans"][0]["factor"], 0.8)

    def test_what_was_measured_stands_beside_the_prediction(self):
        plan = json.loads(self.output("report", "small.h5", "--json"))["front"][1]
        predicted = plan["estimates"]["step_time_mean"]["value"]
        self.assertIsNone(plan["numbers"]["measured_step_time"])
        self.learned([f"{plan['point']},{1.06 * predicted}"], "--out", "learned.toml")
        text = pathlib.Path(support.SMALL).read_text()
        self.write(text.replace("[cluster]\n", '[cluster]\nlearned = "learned.toml"\n'), "later.toml")
        self.output("search", "later.toml", "--out", "later.h5", "--seed", "7")
        later = json.loads(self.output("report", "later.h5", "--json"))["front"]
        measured = [point["numbers"]["measured_step_time"] for point in later if point["point"] == plan["point"]]
        self.assertEqual(len(measured), 1)
        self.assertAlmostEqual(measured[0] / (1.06 * predicted), 1, 5)
        self.assertRegex(self.output("report", "later.h5"), rf"\n +{plan['point']} .* {1060 * predicted:.4g}\n")
        other = re.sub(r"global_batch = \d+", "global_batch = 256", (self.folder / "later.toml").read_text())
        self.write(other, "other.toml")
        self.output("search", "other.toml", "--out", "other.h5", "--seed", "7")
        front = json.loads(self.output("report", "other.h5", "--json"))["front"]
        self.assertIn(plan["point"], [point["point"] for point in front])
        self.assertTrue(all(point["numbers"]["measured_step_time"] is None for point in front))

    @staticmethod
    def points_of(plan):
        return [plan["point"], *plan["equivalents"]]

    def predicted(self, plan):
        row = self.learned([f"{plan['point']},{plan['step_s']}"])["measured"][0]
        self.assertAlmostEqual(row["predicted_s"] / plan["step_s"], 1, 2)  # from fewer draws
        return row["predicted_s"]

    def test_a_measurement_that_contradicts_the_others_is_left_out(self):
        listed = self.listed("--most", "5", "--gpus", "64")[0]["plans"]
        plans = [plan["point"] for plan in listed]
        steps = {plan["point"]: self.predicted(plan) for plan in listed}
        wrong = plans[2]
        rows = {plan: f"{plan},{step * (4.5 if plan == wrong else 1)}" for plan, step in steps.items()}
        found = self.learned(list(rows.values()))
        self.assertEqual([row["point"] for row in found["measured"] if row["left_out"]], [wrong])
        self.assertIn("Excluded", self.output("learn", "small.h5", "--measured", "measured.csv"))
        # Confirmed by a second row, it counts for its own plan, but not for the others.
        again = self.learned([*rows.values(), rows[wrong]])
        self.assertEqual({row["point"] for row in again["measured"] if row["own_plan_only"]}, {wrong})
        self.assertFalse(any(row["left_out"] for row in again["measured"]))
        self.assertEqual(again["constants"], found["constants"])
        # Rows of one plan that contradict each other are to be checked.
        self.learned([f"{plans[0]},{steps[plans[0]] * factor}" for factor in (1, 1.6)])
        self.assertIn("Check them", self.output("learn", "small.h5", "--measured", "measured.csv"))
        # The rest is as without it, and does not depend on the order of the rows; repeated rows are one better measurement.
        without = self.learned([rows[plan] for plan in plans if plan != wrong])
        self.assertEqual(found["shortlists"], without["shortlists"])
        self.assertEqual(self.learned([rows[plan] for plan in reversed(plans) if plan != wrong])["shortlists"], without["shortlists"])
        right = [plan for plan in plans if plan != wrong]
        often = self.learned([rows[right[0]]] * 500 + [rows[plan] for plan in right[1:]])
        self.assertLess(often["constants"]["all_plans"][0]["deviation"], without["constants"]["all_plans"][0]["deviation"])

    def test_mistakes_are_refused(self):
        first = self.listed("--most", "1")[0]["plans"][0]
        plan, step = first["point"], first["step_s"]
        for text in (f"point,step_time_s\n{plan},{1000 * step}\n", f"point;step_time_s\n{plan};{step}\n", f"point,step_time\n{plan},{step}\n",
                     f"point,step_time_s,peak_memory_gb\n{plan},{step},\n{plan},,oom\n"):
            self.write(text, "wrong.csv")
            self.refusal("learn", "small.h5", "--measured", "wrong.csv")
        self.write(f"\ufeffpoint,step_time_s,peak_memory_gb\n{plan},{step},\n{plan},{step},\n", "marked.csv")  # as spreadsheets write it
        self.output("learn", "small.h5", "--measured", "marked.csv")
        for runs_before in ("", f"{plan},{step},\n"):
            self.write(f"point,step_time_s,peak_memory_gb\n{runs_before}{plan},{step},30\n", "peak.csv")
            self.assertRegex(self.refusal("learn", "small.h5", "--measured", "peak.csv"), r"the measured peak is [\d.]+ times the predicted one .*--accept")
        self.output("learn", "small.h5", "--measured", "peak.csv", "--accept")
        self.write(f"point,step_time_s,peak_memory_gb\n{plan},,OOM\n", "upper.csv")
        self.output("learn", "small.h5", "--measured", "upper.csv", "--accept")

    def test_learning_that_a_plan_needs_less_memory_than_predicted(self):
        """A plan that ran is not an error of the user if its predicted memory exceeds that of the accelerator."""
        gpus = ("--gpus", str(self.listed("--most", "1")[0]["gpus"]))
        first = self.listed("--most", "1")[0]["plans"][0]
        plan, step = first["point"], first["step_s"]
        text = pathlib.Path(support.SMALL).read_text()
        self.write(text.replace('accelerator = "a100-sxm-40gb"', 'accelerator = "a100-sxm-40gb"\naccelerator_override = { memory = "4 GB" }'), "tight.toml")
        self.output("search", "tight.toml", "--out", "tight.h5")
        found = json.loads(self.output("learn", "tight.h5", "--measured", self.write(f"point,step_time_s\n{plan},{step}\n", "ran.csv"), *gpus, "--json"))
        self.assertGreater(found["measured"][0]["predicted_memory_share"], 1)

    def test_only_plans_that_fit_are_recommended(self):
        """A measured peak above its prediction makes plans doubtful that the search accepted."""
        text = pathlib.Path(support.SMALL).read_text()
        self.write(text.replace('accelerator = "a100-sxm-40gb"', 'accelerator = "a100-sxm-40gb"\naccelerator_override = { memory = "4.2 GB" }'), "tight.toml")
        self.output("search", "tight.toml", "--out", "tight.h5")
        how = ("--gpus", "64", "--cover", "0.99")
        before = json.loads(self.output("shortlist", "tight.h5", *how, "--json"))["shortlists"][0]
        least = 0.9 - 3 * (0.9 * 0.1 / 1024) ** 0.5  # which draws show to be less than 90 %
        self.assertEqual((before["required_fit"], before["excluded_by_memory"], before["none_fits"]), (0.9, [], False))
        self.assertTrue(all(plan["chance_fits"] >= least for plan in before["plans"]))
        smallest = max(before["plans"], key=lambda plan: plan["chance_fits"])
        peak = json.loads(self.output("predict", "tight.h5", "--point", smallest["point"], "--json"))["peak_memory_bytes"]
        self.write(f"point,step_time_s,peak_memory_gb\n{smallest['point']},{smallest['step_s']},{1.08e-9 * peak}\n", "larger.csv")
        learn = ("learn", "tight.h5", *how, "--measured")
        after = json.loads(self.output(*learn, "larger.csv", "--json"))["shortlists"][0]
        self.assertTrue(all(plan["chance_fits"] >= least for plan in after["plans"]))
        doubtful = after["excluded_by_memory"]
        self.assertTrue(doubtful and all(plan["chance_fits"] < least for plan in doubtful))
        self.assertTrue({plan["point"] for plan in doubtful} <= {plan["point"] for plan in before["plans"]})
        printed = self.output(*learn, "larger.csv")
        self.assertRegex(printed, rf"64 GPUs: .*, without {len(doubtful)} that fits? into memory with less than 90 %: {doubtful[0]['point']} \(\d\d %\)")
        self.assertRegex(printed.splitlines()[-1], r"and fits into memory with >?\d\d %")
        self.write(f"point,step_time_s,peak_memory_gb\n{smallest['point']},,oom\n", "failed.csv")
        none = json.loads(self.output(*learn, "failed.csv", "--accept", "--json"))["shortlists"][0]
        self.assertTrue(none["none_fits"] and none["plans"] and all(plan["chance_fits"] < least for plan in none["plans"]))
        printed = self.output(*learn, "failed.csv", "--accept")
        self.assertIn("; none of them fits into memory with 90 %, so plans that may not fit are listed", printed)
        self.assertIn("(no plan near the best has the 90 % that the scenario asks for)", printed)

    def test_learning_from_a_log(self):
        first = self.listed("--most", "1")[0]["plans"][0]
        plan, step = first["point"], round(first["step_s"], 4)
        lines = "".join(f" iteration {i:8d}/     100 | consumed samples: {i} | elapsed time per iteration (ms): {1000 * step * (6 if i < 4 else 1):.1f} |\n"
                        for i in range(1, 61))
        self.write(lines, "job.log")
        self.write(f"point,log\n{plan},job.log\n", "logs.csv")
        found = json.loads(self.output("learn", "small.h5", "--measured", "logs.csv", "--json"))
        self.assertAlmostEqual(found["measured"][0]["measured_s"], step)  # without the warm-up
        # Steps that do not vary at all are not what the variability of the scenario gives; steps that vary as predicted are.
        self.assertIn(f"The steps of {plan} vary by 0.00 %", self.output("learn", "small.h5", "--measured", "logs.csv"))
        low, high = found["measured"][0]["predicted_variation"]
        spread = 0.5 * (low + high)
        steps = " ".join(str(step * (1 + sign * spread)) for sign in [-1, 1] * 20)
        self.write(f"point,step_time_s\n{plan},{steps}\n", "varying.csv")
        self.assertNotIn("vary by", self.output("learn", "small.h5", "--measured", "varying.csv"))
        self.write(f"point,log,step_time_s\n{plan},job.log,{step}\n", "both.csv")
        self.refusal("learn", "small.h5", "--measured", "both.csv")
        self.write("nothing\n", "job.log")
        self.refusal("learn", "small.h5", "--measured", "logs.csv")

    def test_later_studies_use_what_was_learned(self):
        """A cluster on which all takes 1.3 times as long, and one plan longer still."""
        listed = self.listed("--most", "3")[0]
        plans = [plan["point"] for plan in listed["plans"]]
        gpus = ("--gpus", str(listed["gpus"]), "--cover", "0.9")
        predicted = [self.predicted(plan) for plan in listed["plans"]]
        truth = [1.3 * step * (1.1 if i == 1 else 1) for i, step in enumerate(predicted)]
        rows = [f"{plan},{step}" for plan, step in zip(plans, truth)]
        first = self.learned(rows, *gpus, "--out", "own.toml")
        self.assertGreater(first["constants"]["all_plans"][0]["factor"], 1.1)
        text = pathlib.Path(support.SMALL).read_text()
        self.write(text.replace("[cluster]\n", '[cluster]\nlearned = "own.toml"\n'), "later.toml")
        self.output("search", "later.toml", "--out", "later.h5", "--seed", "7")
        again = json.loads(self.output("learn", "later.h5", "--measured", "measured.csv", *gpus, "--json"))
        later_steps = {row["point"]: row["predicted_s"] for row in again["measured"]}
        for plan, step, before in zip(plans, truth, predicted):
            self.assertLess(abs(later_steps[plan] / step - 1), 0.5 * abs(before / step - 1))
        # The same measurements are not counted twice: neither by learning them again, nor in the shortlist.
        for key in ("factor", "deviation"):
            self.assertAlmostEqual(again["constants"]["all_plans"][0][key], first["constants"]["all_plans"][0][key], 6)
        by_point = {point: plan["chance_best"] for plan in first["shortlists"][0]["plans"] for point in self.points_of(plan)}
        later = json.loads(self.output("shortlist", "later.h5", *gpus, "--json"))["shortlists"][0]["plans"]
        self.assertTrue(set(self.points_of(later[0])) & set(self.points_of(first["shortlists"][0]["plans"][0])))
        for plan in later:
            self.assertAlmostEqual(plan["chance_best"], by_point.get(plan["point"], 0), delta=0.1)
        # The overlay of both studies states both origins.
        self.output("learn", "later.h5", "--measured", "measured.csv", "--out", "both.toml")
        self.assertEqual((self.folder / "both.toml").read_text().count("[[origin]]"), 2)
        # The results say so, and another overlay is another study.
        with h5py.File(self.folder / "later.h5") as file:
            self.assertRegex(file.attrs["learned_digest"], "^[0-9a-f]{16}$")
            self.assertTrue(file.attrs["learned"].startswith(file.attrs["scenario_name"]))
        self.assertIn("learned from", self.output("report", "later.h5"))
        self.write((self.folder / "own.toml").read_text().replace('accelerator = "', 'accelerator = "another-'), "own.toml")
        self.assertIn("of another cluster", self.refusal("validate", "later.toml"))

    def test_a_shortlist_is_exported(self):
        listed = self.listed("--most", "2", "--gpus", "64", "--precision", "0.002")[0]["plans"]
        self.output("export", "small.h5", "--shortlist", "--most", "2", "--gpus", "64", "--precision", "0.002", "--target", "json",
                    "--out", "run")
        text = (self.folder / "run" / "README.md").read_text()
        for plan in listed:
            exported = json.loads((self.folder / "run" / f"point-{plan['point']}.json").read_text())
            self.assertEqual(exported["gpus"], 64)
            self.assertIn(f"| {plan['point']} | {plan['steps_to_measure']} |", text)
            self.assertIn(f"{plan['point']},,point-{plan['point']}.log,\n", text)
        self.assertEqual(len(list((self.folder / "run").iterdir())), 3)
        # What the target cannot run is said, and the others are exported.
        finished = self.run_program("export", "small.h5", "--shortlist", "--cover", "0.99", "--target", "megatron", "--out", "run")
        exported = list((self.folder / "run").glob("*.args"))
        self.assertEqual(finished.returncode, support.DONE if exported else support.WRONG_INPUT, finished.stderr)
        for line in (self.folder / "run" / "README.md").read_text().splitlines():
            if "| not exported |" in line:
                self.assertIn(f"point {line.split('|')[1].strip()} cannot be exported", finished.stderr)
        for wrong in (["--shortlist"], ["--shortlist", "--out", "small.h5"], ["--most", "2"], ["--shortlist", "--point", "0", "--out", "x"]):
            self.refusal("export", "small.h5", "--target", "json", *wrong)

    def test_plans_may_be_named_by_their_words(self):
        plan = self.listed("--most", "1")[0]["plans"][0]
        self.write(f"plan,step_time_s\n{plan['plan']},{plan['step_s']}\n", "words.csv")
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
        self.write("plan,step_time_s\ntp 3 dp 9,1\n", "wrong.csv")
        self.assertIn("wrong.csv:2: plan 'tp 3 dp 9'", self.refusal("learn", "small.h5", "--measured", "wrong.csv"))


if __name__ == "__main__":
    support.main()
