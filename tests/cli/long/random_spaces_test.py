"""Fronts of random spaces against brute force: `exact` must find what drawing every plan finds.

Both draw plans on the same random stream, so values of a plan are equal bit for bit. Fronts may differ only by plans whose 95 % intervals overlap.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import support  # noqa: E402
from support import h5py, np  # noqa: E402

SPACES = 60  # with feasible plans

AXES = {
    "gpus": [8, 16, 24, 32, 64],
    "tp": [1, 2, 4],
    "cp": [1, 2],
    "pp": [1, 2, 4, 8],
    "v": [1, 2, 4],
    "microbatch": [1, 2, 4],
    "schedule": ["gpipe", "1f1b", "interleaved", "zb_h1", "zb_v", "v_half"],
    "recompute": ["none", "selective", "full"],
    "sharding": ["none", "zero1", "zero2"],
    "split": ["layers", "slots", "balanced"],
    "dp_overlap": ["on", "off"],
    "order": ["tp-pp-dp", "tp-dp-pp"],
    "checkpoint_interval": ["10 min", "30 min", "2 h"],
}
OBJECTIVES = ["training_time_p99", "training_time_p95", "training_time_mean", "step_time_mean", "step_time_p99", "cost", "gpus", "memory",
              "energy"]
PHASE = """
[[phase]]
tokens = 2e9
sequence_length = 2048
global_batch = 32
"""
KNOB = """
[[knob]]
of = "bandwidth"
tier = "cluster"
values = ["12.5 GB/s", "25 GB/s"]
price = { per = "25 GB/s", cost = "0.15 USD/h" }
"""


def scenario_of(seed, text):
    """small.toml with a random choice of axes, objectives, failures, phases and hardware."""
    choose = random.Random(seed)
    head, rest = text.split("[space]")
    space = "[space]\n"
    for axis, values in AXES.items():
        chosen = sorted(choose.sample(range(len(values)), choose.randint(1, 2 if axis != "schedule" else 3)))
        space += f"{axis} = [{', '.join(repr(values[i]).replace(chr(39), chr(34)) for i in chosen)}]\n"
    head = head.replace('"6.5e-3 /day"', f'"{choose.choice(["0", "6.5e-3", "0.2"])} /day"')
    if choose.random() < 0.3:
        head = head.replace("\n[cluster]", PHASE + "\n[cluster]")
    if choose.random() < 0.3:
        space += KNOB
    objectives = choose.sample(OBJECTIVES, choose.randint(1, 3))
    search = rest[rest.index("[search]"):]
    minimise = ", ".join(f'"{name}"' for name in objectives)
    return f"{head}{space}\n[objectives]\nminimise = [{minimise}]\n\n{search}", objectives


class Plan:
    """Values of a drawn plan with their 95 % intervals, [objective]; all are minimised."""

    def __init__(self, value, low, high):
        self.value, self.low, self.high = value, low, high

    def dominates(self, other):
        return np.all(self.value <= other.value) and np.any(self.value < other.value)

    def surely_dominates(self, other):
        return np.all(self.high <= other.low) and np.any(self.high < other.low)

    def may_be_as_good(self, other):
        return np.all(self.low <= other.high)


def drawn_plans(results, objectives):
    """The plans drawn to the last rung, by index."""
    rows = results["evaluations"]
    rung = rows["rung"][:]
    columns = [np.array([rows[f"objective_{name}{end}"][:] for name in objectives]).T for end in ("", "_low", "_high")]
    return {int(rows["evaluation"][i]): Plan(*(column[i] for column in columns)) for i in np.flatnonzero(rung == rung.max())}


class RandomSpacesTest(support.CliTest):
    def results(self, name, *options):
        finished = self.run_program("search", f"{name}.toml", "--force", "--no-posterior", *options, timeout=900)
        if finished.returncode == support.WRONG_INPUT:
            self.assertIn("feasible", finished.stderr)
            return None
        self.assertEqual(finished.returncode, support.DONE, finished.stderr)
        return h5py.File(self.folder / f"{name}.h5")

    def test_exact_finds_the_front_of_brute_force(self):
        text = pathlib.Path(support.SMALL).read_text()
        searched = 0
        for seed in range(4 * SPACES):
            if searched == SPACES:
                break
            scenario, objectives = scenario_of(seed, text)
            (self.folder / "exact.toml").write_text(scenario)
            # By brute force, all plans are drawn to the last rung.
            (self.folder / "brute.toml").write_text(scenario.replace("{ fleets = 64, steps = 2 }, ", ""))
            with self.subTest(seed=seed, objectives=objectives):
                exact = self.results("exact", "--strategy", "exact")
                brute = self.results("brute", "--strategy", "random", "--max-evaluations", "100000")
                self.assertEqual(brute is None, exact is None)
                if brute is None:
                    continue
                searched += 1
                plans = drawn_plans(brute, objectives)
                self.assertEqual(len(plans), len(brute["evaluations/evaluation"]), "brute force leaves a plan out")
                for index, plan in drawn_plans(exact, objectives).items():
                    self.assertTrue(np.array_equal(plan.value, plans[index].value), f"values of plan {index}")
                found = {int(index): plans[int(index)] for index in exact["front/evaluation"][:]}
                for index, plan in plans.items():
                    for other, member in found.items():
                        self.assertFalse(plan.surely_dominates(member), f"plan {index} dominates {other} of the front")
                    if index not in found and not any(other.dominates(plan) for other in plans.values()):
                        self.assertTrue(any(member.may_be_as_good(plan) for member in found.values()), f"plan {index} is missing")
        self.assertEqual(searched, SPACES)


if __name__ == "__main__":
    support.main()
