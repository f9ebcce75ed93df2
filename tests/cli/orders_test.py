"""`predict --orders` and `--write-orders`: tables of pipeline actions, as PyTorch has them."""

import json

import support
from support import CliTest, result_of

DESIGN = "gpus=32 tp=2 pp=4 microbatch=1 "
SCHEDULES = ("gpipe", "1f1b", "interleaved v=2", "zb_h1", "zb_h2", "zb_v v=2", "v_half v=2", "v_min v=2", "dualpipe v=2", "dualpipe_v v=2")


class Orders(CliTest):
    def arguments(self, schedule):
        return ("predict", support.SMALL, "--draws", 256, "--json", "--design", DESIGN + "schedule=" + schedule)

    def test_a_schedule_written_and_read_gives_the_same_numbers(self):
        for schedule in SCHEDULES:
            path, again = self.folder / "orders.csv", self.folder / "again.csv"
            own = self.output(*self.arguments(schedule), "--write-orders", path)
            self.assertEqual(len(path.read_text().splitlines()), 4)
            self.assertEqual(self.output(*self.arguments(schedule), "--orders", path, "--write-orders", again), own, schedule)
            self.assertEqual(path.read_text(), again.read_text())

    def test_another_order_is_another_step(self):
        path = self.folder / "orders.csv"
        self.output(*self.arguments("gpipe"), "--write-orders", path)
        gpipe = json.loads(self.output(*self.arguments("gpipe")))
        as_1f1b = json.loads(self.output(*self.arguments("1f1b"), "--orders", path, "--timeline", self.folder / "step.json"))
        self.assertEqual(gpipe["quantiles"], as_1f1b["quantiles"])
        self.assertEqual(gpipe["peak_memory_bytes"], as_1f1b["peak_memory_bytes"])
        own = json.loads(self.output(*self.arguments("1f1b")))
        self.assertLess(own["peak_memory_bytes"], as_1f1b["peak_memory_bytes"])
        trace = json.loads((self.folder / "step.json").read_text())
        first = sorted((e["ts"], e["name"]) for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 0 and e["cat"] in ("F", "B+W"))
        self.assertEqual([name for _, name in first[:16]], [f"F {k}" for k in range(16)])

    def test_a_searched_order_keeps_to_its_limit(self):
        """As many microbatches as 1F1B holds, and as ZB-H2 does: no longer than the rules that hold as many."""
        steps, activations = {}, {}
        for schedule, held in (("zb_h1", 4), ("zb_h1", 7), ("zb_h1", 1)):
            p = json.loads(self.output(*self.arguments(schedule), "--search-order", held))
            steps[held], activations[held] = result_of(p, "noise_free_step_time"), [s["memory_bytes"]["activations"] for s in p["stages"]]
        for schedule, held in (("zb_h1", 4), ("zb_h2", 7)):
            rule = json.loads(self.output(*self.arguments(schedule)))
            self.assertLessEqual(steps[held], result_of(rule, "noise_free_step_time"))
            for of_stage, of_one in zip(activations[held], activations[1]):
                self.assertLessEqual(of_stage, held * of_one * (1 + 1e-12))
        self.assertLess(activations[1][0], activations[4][0])
        self.assertGreater(steps[1], steps[4])

    def test_refuses_what_cannot_be_searched(self):
        for schedule, held, why in (("1f1b", 4, "zb_h1, zb_h2, zb_v, v_half, v_min), not 1f1b"),
                                    ("zb_h1", 0, "needs at least 1"), ("zb_v v=2", 1, "raise the limit")):
            self.assertIn(why, self.refusal(*self.arguments(schedule), "--search-order", held))
        self.assertIn("give only one of them", self.refusal(*self.arguments("zb_h1"), "--search-order", 4, "--orders", "orders.csv"))

    def test_refuses_what_cannot_run(self):
        path = self.folder / "orders.csv"
        self.output(*self.arguments("1f1b"), "--write-orders", path)
        lines = path.read_text().splitlines()
        for changed, why in (
            ([lines[0] + ",0F3", *lines[1:]], "rank 0: 0F3 is listed twice"),
            ([*lines[:2], lines[2].replace(",2B7", ""), lines[3]], "rank 2: 2I7 is missing"),
            ([lines[0].replace("0F0,0F1", "0B0,0F1").replace(",0B0", ",0F0"), *lines[1:]], "rank 0's 0B0 waits for rank 0's 0F0"),
            ([*lines[:3], lines[3] + ",what"], "orders.csv:4: column 33, 'what'"),
            (lines[:3], "orders of 3 ranks, but pp=4"),
        ):
            path.write_text("\n".join(changed) + "\n")
            self.assertIn(why, self.refusal(*self.arguments("1f1b"), "--orders", path))


if __name__ == "__main__":
    support.main()
