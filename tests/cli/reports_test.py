"""What the commands print of scenarios and results: validate, report, inspect, help."""

import csv
import json
import pathlib
import re

import h5py

import support
from support import CliTest

COMMANDS = ("search", "resume", "predict", "validate", "report", "inspect", "check-model", "export", "compare")


class Reports(CliTest):
    def test_validate_counts_every_tuple(self):
        counts = json.loads(self.output("validate", support.SMALL, "--json"))
        self.assertIs(counts["valid"], True)
        self.assertEqual((counts["format"], counts["format_version"]), ("prismopt validate", 1))
        self.assertEqual(counts["combinations"], 3 * 3 * 3 * 2 * 2 * 3 * 2)  # gpus tp pp v microbatch schedule recompute
        self.assertEqual(counts["feasible"] + counts["not_plans"] + sum(counts["rejected"].values()), counts["combinations"])
        self.assertNotIn(0, counts["rejected"].values())
        text = self.output("validate", support.SMALL)
        self.assertRegex(text, rf"small\.toml: valid\nnetwork .*\nSpace: {counts['combinations']} combinations of values: {counts['feasible']} feasible plans \(")
        network, = counts["networks"]
        self.assertIn(f"network {network['name']}: {network['parameters']:.4g} parameters; {network['flops_per_token']:.4g} FLOPs per token", text)
        predicted = json.loads(self.output("predict", support.SMALL, "--design", "gpus=16", "--draws", "256", "--json"))
        self.assertEqual(predicted["network"], network)
        reported = {reason: int(count) for count, reason in re.findall(r"\n +(\d+) +[\d.]+ % +(.*)", text)}
        self.assertEqual(reported, counts["rejected"])
        self.assertRegex(text, rf" {counts['not_plans']} duplicate or undefined \(")

    UNMET = '\n[question]\ndeadline = "1 min"\nbudget = "1 USD"\n'

    def test_validate_counts_feasible_plans_whatever_the_question(self):
        toml = self.write(self.scenario().read_text() + self.UNMET)
        without, counts = (json.loads(self.output("validate", file, "--json")) for file in (support.SMALL, toml))
        self.assertNotIn("unmet_question", without)
        unmet = counts.pop("unmet_question")
        self.assertEqual(counts, without)
        self.assertEqual([(limit["objective"], limit["most"]) for limit in unmet], [("promised_time", 60), ("cost", 1)])
        self.assertTrue(all(limit["least"] > limit["most"] for limit in unmet), unmet)
        text = self.output("validate", toml)
        self.assertIn(f"{counts['combinations']} combinations of values: {counts['feasible']} feasible plans (", text)
        self.assertRegex(text, r"\nno feasible plan can meet \[question\]: training time .* is at least .*, and deadline or done_by allows 60 s; cost .* is at least .*, "
                               r"and budget allows 1 USD; a search goes on without its limits, for what comes nearest\n$")
        met = self.write(toml.read_text().replace('"1 min"', '"1000 day"').replace('"1 USD"', '"1 M USD"'))
        self.assertEqual(json.loads(self.output("validate", met, "--json")), without)

    def test_init_warns_of_a_question_that_no_plan_can_meet(self):
        options = ("--workload", "llama3-8b", "--accelerator", "h100-sxm", "--gpus", "64", "--tokens", "15T", "--software", "megatron-bridge")
        for deadline, warns in (("100 day", True), ("1000 day", False)):
            finished = self.run_program("init", *options, "--deadline", deadline)
            self.assertEqual(finished.returncode, support.DONE, finished.stderr)
            self.assertEqual("no feasible plan can meet [question]: training time" in finished.stderr, warns, finished.stderr)
            self.assertNotIn("[space]", finished.stderr)

    def test_validate_estimates_a_large_space(self):
        """By places spread over it; tests of the dry run compare its own estimate with this one."""
        numbers = lambda last: str(list(range(1, last + 1)))
        toml = self.scenario(tp="[1, 2, 4, 8, 16]", pp=numbers(24), v=numbers(24), microbatch=numbers(4096))
        raw = 3 * 5 * 24 * 24 * 4096 * 3 * 2
        counts = json.loads(self.output("validate", toml, "--json"))
        self.assertEqual(counts["combinations"], raw)
        self.assertLess(counts["examined"], 2e6)
        all_counts = [counts["feasible"], counts["not_plans"], *counts["rejected"].values()]
        self.assertAlmostEqual(sum(all_counts), raw, delta=0.5 * len(all_counts))  # each is rounded
        text = self.output("validate", toml)
        self.assertRegex(text, rf"valid\nnetwork .*\nSpace: {raw} combinations of values, of which \d+ were examined: \d+ feasible plans")
        self.assertRegex(text, r"in the whole space: about [\d.e+]+ feasible plans\n")

    def test_outputs_do_not_overwrite_each_other(self):
        self.searched(support.SMALL, "small.h5")
        self.assertIn("name the same file", self.refusal("report", "small.h5", "--csv", "x", "--html", "./x"))
        self.assertFalse((self.folder / "x").exists())
        self.assertIn("/dev/stdout", self.refusal("report", "small.h5", "--csv", "-"))
        self.assertFalse((self.folder / "-").exists())

    def knobs(self):
        """Results of a small space with a knob: 25 and 50 GB/s of the network between nodes."""
        small = pathlib.Path(support.SMALL).read_text()
        for axis, values in (("tp", "[1, 2]"), ("pp", "[1]"), ("v", "[1]"), ("schedule", '["gpipe"]'), ("recompute", '["none"]')):
            small = re.sub(rf"(?m)^{axis} = .*$", f"{axis} = {values}", small)
        self.write(small + """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["25 GB/s", "50 GB/s"]
price = { per = "25 GB/s", cost = "0.05 USD/h" }
""")
        self.searched(self.folder / "study.toml", "knobs.h5")
        return "knobs.h5"

    def test_figures_draw_what_their_csv_holds(self):
        results = self.knobs()
        self.output("report", results, "--svg", "front.svg", "--csv", "front.csv", "--x", "cost", "--y", "training_time_p99",
                    "--colour", "cluster.bandwidth")
        with open(self.folder / "front.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        front = {str(p["point"]): p for p in json.loads(self.output("report", results, "--json"))["front"]}
        self.assertEqual({row["point"] for row in rows}, set(front))
        for row in rows:
            cost = front[row["point"]]["estimates"]["cost"]
            self.assertAlmostEqual(float(row["cost (USD)"]), cost["value"])
            self.assertAlmostEqual(float(row["cost_low (USD)"]), cost["low"])
            self.assertIn(row["cluster.bandwidth"], ("25 GB/s", "50 GB/s"))
            self.assertIn("training_time_p99_high (min)", row)
        svg = (self.folder / "front.svg").read_text()
        self.assertIn('width="85mm"', svg)
        self.assertIn(">cluster.bandwidth:<", svg)
        for figure in ("front", "training-times", "step-times", "progress", "break-even"):
            self.output("report", results, "--svg", f"{figure}.svg", "--figure", figure)
            self.assertNotIn("nan", (self.folder / f"{figure}.svg").read_text())

    def test_figures_refuse_unknown_names(self):
        results = self.knobs()
        for options, message in (
                (("--x", "cots"), r"--x cots is not an objective.*did you mean 'cost'.*choose from training_time_p99, cost, gpus, "),
                (("--colour", "bandwidth"), r"--colour bandwidth is not .*choose from .*cluster\.bandwidth"),
                (("--figure", "fronts"), r"--figure fronts is not a figure.*choose from front, training-times"),
                (("--figure", "progress", "--x", "cost"), r"--x cost has no effect on --figure progress")):
            with self.subTest(options):
                self.assertRegex(self.refusal("report", results, "--svg", "f.svg", *options), message)
        self.assertIn("add --svg FILE", self.refusal("report", results, "--x", "cost"))

    def test_report_states_break_evens_of_knobs(self):
        results = self.knobs()
        text = self.output("report", results)
        self.assertRegex(text, r"Break-even of knobs, with the cheapest plan of each machine.*\n +cluster\.bandwidth +25 GB/s +base: value of \[cluster\], at 1\.5 USD per GPU-hour\n"
                               r" +50 GB/s +worth \S+ \(\S+ to \S+\); costs \+0\.05  (does not pay|undecided|pays)\n")
        self.output("report", results, "--csv", "worth.csv", "--figure", "break-even")
        rows = list(csv.DictReader((self.folder / "worth.csv").open()))
        points = json.loads(self.output("report", results, "--json", "-"))["knobs"]["curves"][0]["points"]
        for row, point in zip(rows, points, strict=True):
            self.assertEqual(row["best_plan"], point["best_plan"])
            self.assertEqual(row["base_choice"], "cluster")
            for limit in ("low", "high"):
                self.assertEqual(float(row[f"worth_{limit}_usd_per_hour"]), point["worth"][limit])
        self.searched(support.SMALL, "small.h5")
        self.assertNotIn("Break-even", self.output("report", "small.h5"))
        self.assertIn("no [[knob]]", self.refusal("report", "small.h5", "--svg", "b.svg", "--figure", "break-even"))

    def test_a_search_that_was_killed_is_pointed_to(self):
        (self.folder / "killed.h5.journal").touch()
        self.assertIn("prismopt resume killed.h5", self.refusal("report", "killed.h5"))

    def test_sensitivities_must_be_of_the_front(self):
        self.searched(support.SMALL, "small.h5")
        self.assertIn("add --html", self.refusal("report", "small.h5", "--sensitivity", "x.json"))
        page = ("report", "small.h5", "--html", "page.html", "--sensitivity", "effects.json")
        self.assertIn("cannot be read", self.refusal(*page))
        self.write('{"design": 3}', "effects.json")
        self.assertIn("is not an output of sensitivity --json", self.refusal(*page))
        of = ("sensitivity", support.SMALL, "--draws", "128", "--pairs", "0", "--only", "gemm", "--json", "--design")
        self.write(self.output(*of, "gpus=64 tp=4 pp=4 schedule=1f1b"), "effects.json")
        self.assertIn("describes a plan that is not on the front", self.refusal(*page))
        design = json.loads(self.output("export", "small.h5", "--target", "json"))["design"]
        self.write(self.output(*of, design), "effects.json")
        self.output(*page)
        self.assertIn("faster_percent", (self.folder / "page.html").read_text())
        self.write(self.output(*of, design, "--seed", "2"), "effects.json")
        self.assertIn("belongs to another scenario or seed than these results", self.refusal(*page))
        other = ("sensitivity", self.scenario("other.toml", tokens="2e10"), *of[2:], design)
        self.write(self.output(*other), "effects.json")
        self.assertIn("belongs to another scenario or seed than these results", self.refusal(*page))

    def test_sensitivities_are_not_of_studies_of_hardware(self):
        knob = '\n[[knob]]\nof = "bandwidth"\ntier = "cluster"\nvalues = ["25 GB/s", "50 GB/s"]\n'
        text = self.scenario(tp="[1]", pp="[1]", v="[1]", schedule='["1f1b"]').read_text() + knob
        self.write(text, "knob.toml")
        self.output("search", "knob.toml", "--out", "knob.h5")
        self.write(self.output("sensitivity", "knob.toml", "--design", "gpus=64 tp=1 pp=1 schedule=1f1b", "--draws", "128", "--pairs", "0",
                               "--only", "gemm", "--json"), "effects.json")
        text = self.refusal("report", "knob.h5", "--html", "page.html", "--sensitivity", "effects.json")
        self.assertIn("write the plan's hardware into [cluster]", text)
        self.assertNotIn("write one with", text)

    def test_excluded_variants_are_counted(self):
        knob = '\n[[knob]]\nof = "bandwidth"\ntier = "cluster"\nvalues = ["25 GB/s", "50 GB/s", "100 GB/s"]\n' \
               'price = { per = "1 GB/s", cost = "0.01 USD/h" }\n'
        text = self.scenario(tp="[1]", pp="[1]", v="[1]", schedule='["1f1b"]').read_text()
        self.write(text.replace("[search]\n", '[search]\ngpu_price_limit = "1.60 USD/h"\n') + knob, "knob.toml")
        counted = self.output("validate", "knob.toml")
        self.assertIn("Variants: 3 combinations of the study's choices, of which 2 are excluded and not searched:\n", counted)
        row = re.search(r"  2  66.7 %  price above gpu_price_limit \(cluster.bandwidth=50GB/s\): a GPU costs .* USD/h, and the limit is 1.6; "
                        r"raise gpu_price_limit in \[search\], or list cheaper values\n", counted)
        self.assertIn(row.group(), self.output("search", "knob.toml", "--out", "knob.h5"))
        self.assertIn(row.group(), self.output("report", "knob.h5", "--json=knob.json"))
        variants = json.loads(self.output("validate", "knob.toml", "--json"))["variants"]
        self.assertEqual(variants, json.loads((self.folder / "knob.json").read_text())["variants"])
        self.assertEqual([(of["conflict"], of["count"], of["first"]) for of in variants["excluded"]],
                         [("price_over_limit", 2, "cluster.bandwidth=50GB/s")])
        refused = self.refusal("predict", "knob.toml", "--design", "gpus=64 tp=1 pp=1 schedule=1f1b cluster.bandwidth=100GB/s")
        self.assertIn("this variant is excluded: price above gpu_price_limit", refused)

    def test_results_are_reported_as_they_are(self):
        printed = self.output("search", support.SMALL)
        self.assertIn("results: small.h5", printed)
        report = self.output("report", "small.h5", "--csv", "front.csv")
        counted = self.output("validate", support.SMALL)
        self.assertIn(counted[counted.index("Space: "):], report)
        self.assertTrue(printed.startswith(report))
        counts = json.loads(self.output("validate", support.SMALL, "--json"))
        with h5py.File(self.folder / "small.h5") as file:
            self.assertEqual(file["space"].attrs["raw_tuples"], counts["combinations"])
            self.assertEqual(file["space"].attrs["feasible"], counts["feasible"])
            rejected = dict(zip(file["space/rejected"].asstr()[()], file["space/rejected_count"][()].tolist()))
            self.assertEqual({reason: rejected[reason] for reason in counts["rejected"]}, counts["rejected"])
            self.assertEqual(sum(rejected.values()), counts["not_plans"] + sum(counts["rejected"].values()))
            points = file["front/evaluation"][()].tolist()
            p99 = file["front/training_time_p99"][()].tolist()
            front = {name: file[f"front/{name}"][()].tolist() for name in ("tp", "pp", "total_gpus")}
        with open(self.folder / "front.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(points))
        self.assertEqual([int(row["tp"]) for row in rows], front["tp"])
        self.assertEqual([int(row["pp"]) for row in rows], front["pp"])
        column = next(name for name in rows[0] if name.startswith("training_time_p99") and "low" not in name and "high" not in name)
        self.assertEqual([float(row[column]) for row in rows], p99)
        self.assertEqual({(row["study"], row["file"], row["seed"], row["hardware"]) for row in rows}, {("small", "small.h5", "1", "a100-sxm-40gb")})
        self.assertIn("no software in particular", rows[0]["software"])
        for point in points:
            self.assertRegex(report, rf"(?m)^ *\*?{point} ")
        summary = self.output("inspect", "small.h5")
        self.assertRegex(summary, rf"Study small \(seed 1, .*{counts['combinations']} combinations of values, {counts['feasible']} feasible plans, .*"
                                  rf"Front of {len(points)} points.* Outcome: proved complete")

    def test_older_results_keep_the_order_that_was_the_default(self):
        self.searched(support.SMALL, "small.h5")
        older = self.folder / "older.h5"
        older.write_bytes((self.folder / "small.h5").read_bytes()[512:])  # without the header, whose checksum ends here
        with h5py.File(older, "r+") as file:
            del file.attrs["default_order"]
        reported = self.output("compare", "small.h5", "older.h5")
        self.assertIn('order = "tp-dp-pp" where none is given', reported)
        self.assertIn('order = "tp-pp-dp" where none is given', reported)

    def test_older_results_lack_what_they_do_not_say(self):
        older = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "results" / "small.h5"
        with h5py.File(older) as file:
            self.assertNotIn("method", file["study"].attrs)
        search = json.loads(self.output("report", older, "--json"))["search"]
        self.assertEqual([search[fact] for fact in ("method", "complete", "end", "stopped_by")], 4 * [None])
        self.assertIs(search["proved"], True)

    def test_json_has_what_the_file_has(self):
        self.searched(support.SMALL, "small.h5")
        printed = self.output("report", "small.h5", "--json")
        reported = json.loads(printed)
        with h5py.File(self.folder / "small.h5") as file:
            self.assertEqual([point["point"] for point in reported["front"]], file["front/evaluation"][()].tolist())
            for name in ("training_time_p99", "energy", "cost"):
                self.assertEqual([point["estimates"][name]["value"] for point in reported["front"]], file[f"front/{name}"][()].tolist())
                self.assertEqual(reported["columns"][name]["units"], file[f"front/{name}"].attrs["units"])
            self.assertEqual([point["plan"]["tp"] for point in reported["front"]], file["front/tp"][()].tolist())
            for point in reported["front"]:  # what is lost is the rest of the training time
                numbers = point["numbers"]
                lost = sum(numbers[name] for name in ("checkpoint_time", "rework_time", "restart_time", "waiting_time"))
                self.assertAlmostEqual(lost / point["estimates"]["training_time_mean"]["value"], 1 - numbers["ettr"])
                self.assertIsNone(point["estimates"]["miss_probability"]["value"])  # no deadline
        self.assertEqual(reported["provenance"]["seed"], 1)
        self.assertEqual(reported["job"]["tokens"], 1e10)
        self.assertEqual(self.output("report", "small.h5", "--json=-"), printed)
        self.assertTrue(self.output("report", "small.h5", "--json=front.json").startswith("Study small"))
        self.assertEqual((self.folder / "front.json").read_text(), printed)
        self.assertFalse((self.folder / "-").exists())
        summary = json.loads(self.output("inspect", "small.h5", "--json"))
        self.assertEqual(summary["space"], reported["space"])
        self.assertEqual(summary["front_points"], len(reported["front"]))

    def test_a_question_is_answered_first(self):
        """Of the front, by brute force: the least cost within the budget of time, and what is cheaper but not enough."""
        self.searched(support.SMALL, "small.h5")
        front = json.loads(self.output("report", "small.h5", "--json"))["front"]
        value = lambda point, name: point["estimates"][name]["value"]
        slow, fast = max(value(p, "training_time_p99") for p in front), min(value(p, "training_time_p99") for p in front)
        between = (slow * fast) ** 0.5
        asked = f'deadline = "{between} s", model_error = false, probability = 0.95'
        reported = json.loads(self.output("report", "small.h5", "--json", "--question", asked))["question"]
        quick = [p for p in front if value(p, "training_time_p95") <= between]
        self.assertEqual(reported["answer"]["point"], min(quick, key=lambda p: value(p, "cost"))["point"])
        self.assertGreaterEqual(reported["answer"]["probability"], 0.95)
        self.assertLess(reported["not_enough"]["cost_usd"], reported["answer"]["cost_usd"])
        self.assertIsNone(reported["budget_usd"])
        limits = json.loads(self.output("report", "small.h5", "--json", "--question", asked + ', budget = "1 M USD", gpus_at_most = 100000'))["question"]
        self.assertEqual([limits[key] for key in ("limit_s", "budget_usd", "gpus_at_most", "power_limit_w")], [reported["limit_s"], 1e6, 100000, None])
        self.assertGreater(limits["answer"]["budget_probability"], 0.5)
        text = self.output("report", "small.h5", "--question", asked)
        self.assertRegex(text, r"\n\nQuestion: least cost, done within .* with 95 % \(assuming the model is exact\)\n  answer  ")
        self.assertIn("needs a start", self.refusal("report", "small.h5", "--question", "done_by = 2027-04-15"))
        self.assertIn("unknown key 'by'", self.refusal("report", "small.h5", "--question", "by = 1"))

    def test_a_report_is_about_the_plan_asked_for(self):
        """Of the front, and off it: drawn as the front was."""
        self.searched(support.SMALL, "small.h5")
        reported = json.loads(self.output("report", "small.h5", "--json"))
        self.assertEqual(reported["subject"], {"point": reported["named"]["best"], "reason": "best", "on_front": True, "plan": None})
        last = reported["front"][-1]["point"]
        self.assertRegex(self.output("report", "small.h5", "--point", last), rf"\n\nPlan asked for: point {last} on ")
        with h5py.File(self.folder / "small.h5") as file:
            other = next(int(i) for i in file["evaluations/evaluation"] if i not in [p["point"] for p in reported["front"]])
        text = self.output("report", "small.h5", "--point", other, "--html", "page.html", "--json=reported.json")
        self.assertRegex(text, rf"\n\nPlan asked for: point {other} on \d+ GPUs, off the front\n")
        page = (self.folder / "page.html").read_text()
        self.assertIn(f'"subject":{{"id":"{other}","reason":"asked"', page)
        subject = json.loads((self.folder / "reported.json").read_text())["subject"]
        predicted = json.loads(self.output("predict", "small.h5", "--point", other, "--json"))
        p99 = lambda plan: plan["estimates"]["training_time_p99"]["value"]
        self.assertAlmostEqual(p99(subject["plan"]) / p99(predicted), 1)
        refused = self.refusal("report", "small.h5", "--point", "999999")
        self.assertIn("is out of range: the space has points 0 to", refused)
        self.assertIn(f"the points of the front are {reported['front'][0]['point']}", refused)

    def test_infeasible_plans_have_an_exit_code_of_their_own(self):
        self.scenario(tp="[1]", pp="[1]", v="[1]", schedule='["1f1b"]', microbatch="[1, 3]", recompute='["none"]')
        self.output("search", "study.toml", "--out", "study.h5")
        self.write(" iteration 1/ 9 | elapsed time per iteration (ms): 9.0 |\n" * 9, "job.log")
        for command in (("predict", "study.h5"), ("report", "study.h5"), ("export", "study.h5", "--target", "json", "--out", "plan.json"),
                        ("watch", "study.h5", "job.log")):
            runs = [self.run_program(*command, "--point", str(point)) for point in range(6)]
            infeasible = [run for run in runs if run.returncode == support.INFEASIBLE]
            self.assertEqual(len(infeasible), 3, command)
            for run in infeasible:
                self.assertIn("global batch not divisible by dp*microbatch", run.stdout + run.stderr)

    def test_the_answer_is_what_the_report_is_about(self):
        self.searched(support.SMALL, "small.h5")
        asked = 'minimise = "gpus", deadline = "3 h"'
        reported = json.loads(self.output("report", "small.h5", "--json", "--question", asked))
        answer = reported["question"]["answer"]["point"]
        self.assertEqual((reported["subject"]["point"], reported["subject"]["reason"]), (answer, "answer"))
        self.assertNotEqual(answer, reported["named"]["best"])
        text = self.output("report", "small.h5", "--question", asked, "--csv", "front.csv")
        self.assertRegex(text, rf"\nAnswer: point {answer} on \d+ GPUs\n.*with the model error\n.*assuming the model is exact\n")
        with open(self.folder / "front.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["question_probability"]) for row in rows], [plan["question_probability"] for plan in reported["front"]])
        for row in rows:
            self.assertLess(float(row["training_time_p99_s"]), float(row["training_time_p99_with_model_error_s"]))
            late = float(row["miss_probability_with_model_error"])  # than the question allows
            self.assertAlmostEqual(late, 1.0 - float(row["question_probability"]))

    def test_a_scenario_may_ask(self):
        toml = self.folder / "asks.toml"
        toml.write_text(pathlib.Path(support.SMALL).read_text() + '\n[question]\nminimise = "gpus"\n')
        self.searched(toml, "asks.h5")
        self.output("report", "asks.h5", "--html", "asks.html")
        self.assertIn("fewest GPUs", (self.folder / "asks.html").read_text())
        self.assertRegex(self.output("report", "asks.h5"), r"\n\nQuestion: fewest GPUs[^\n]*\n  answer  ")

    def test_json_of_a_journal(self):
        self.output("search", support.SMALL, "--max-time", "0.05 s", code=support.CALL_AGAIN)
        reported = json.loads(self.output("inspect", "small.h5.journal", "--json"))
        self.assertEqual((reported["format"], reported["scenario_name"], reported["damage"]), ("prismopt journal", "small", None))

    def test_help(self):
        overview = self.output("--help")
        for name in COMMANDS:
            self.assertRegex(overview, rf"(?m)^  {name} ")
            text = self.output(name, "--help")
            self.assertRegex(text, rf"^Usage: prismopt {name} ")
            self.assertRegex(text, rf"Example:\n  .*prismopt {name}")
            self.assertEqual(text, self.output(name, "-h"))
        self.assertEqual(overview, self.output("--help", ranks=2))

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            finished = support.subprocess.run(support.command(["--help"], 0), stdout=full, stderr=support.subprocess.PIPE, text=True,
                                              env=support.environment(1), timeout=30)
        self.assertEqual(finished.returncode, 1)
        self.assertIn("prismopt: rank 0: ", finished.stderr)


if __name__ == "__main__":
    support.main()
