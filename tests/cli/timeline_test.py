"""`predict --timeline`: a file that Perfetto's JSON rules accept, and a picture."""

import collections
import json
import xml.etree.ElementTree as ElementTree

import support
from support import CliTest, result_of

DESIGN = "gpus=32 tp=2 pp=4 microbatch=1 "


class Timeline(CliTest):
    def trace(self, design, *options):
        path = self.folder / "step.json"
        p = json.loads(self.output("predict", support.SMALL, "--draws", 64, "--json", "--design", DESIGN + design, "--timeline", path,
                                   *options))
        return p, json.loads(path.read_text())

    def test_follows_the_trace_event_format(self):
        """Trace Event Format, JSON object form: complete events with ts and dur in microseconds that nest or are apart on a thread."""
        for design in ("schedule=1f1b", "schedule=zb_h2", "schedule=zb_v v=2", "schedule=dualpipe v=2",
                       "schedule=zb_h2 post_validation=on"):
            p, trace = self.trace(design)
            self.assertIsInstance(trace["traceEvents"], list)
            threads = collections.defaultdict(list)
            named = set()
            for event in trace["traceEvents"]:
                self.assertIn(event["ph"], ("X", "M"))
                for key in ("pid", "tid"):
                    self.assertIsInstance(event[key], int)
                self.assertIsInstance(event["name"], str)
                if event["ph"] == "X":
                    self.assertGreaterEqual(event["ts"], 0)
                    self.assertGreater(event["dur"], 0)
                    threads[event["pid"], event["tid"]].append(event)
                else:
                    self.assertIn(event["name"], ("process_name", "thread_name"))
                    named.add((event["pid"], event["tid"]))
            self.assertEqual({pid for pid, _ in threads}, {0, 1, 2, 3})
            self.assertTrue(set(threads) <= named)
            for events in threads.values():
                events.sort(key=lambda e: e["ts"])
                for before, after in zip(events, events[1:]):
                    self.assertLessEqual(before["ts"] + before["dur"], after["ts"] * (1 + 1e-9), design)
            end = max(e["ts"] + e["dur"] for e in trace["traceEvents"] if e["ph"] == "X")
            self.assertAlmostEqual(end * 1e-6, result_of(p, "noise_free_step_time"), delta=1e-6 * end)

    def test_shows_every_task_once(self):
        _, trace = self.trace("schedule=zb_h1")
        count = collections.Counter((e["pid"], e["cat"]) for e in trace["traceEvents"] if e["ph"] == "X")
        for stage in range(4):
            for kind in "FBW":
                self.assertEqual(count[stage, kind], 16)  # 64 sequences on 4 replicas

    def test_shows_one_draw(self):
        def end(*options):
            _, trace = self.trace("schedule=zb_h1", *options)
            return max(e["ts"] + e["dur"] for e in trace["traceEvents"] if e["ph"] == "X")

        self.assertEqual(end("--draw", 3), end("--draw", 3))
        self.assertEqual(len({end(), end("--draw", 0), end("--draw", 3)}), 3)
        for draw in (-1, 128):  # the scenario takes two steps of 64 fleets
            run = self.run_program("predict", support.SMALL, "--draws", 64, "--design", DESIGN, "--timeline", self.folder / "step.json",
                                   f"--draw={draw}")
            self.assertEqual(run.returncode, support.WRONG_INPUT)
            self.assertIn("out of range: there are 128 draws", run.stderr)
        run = self.run_program("predict", support.SMALL, "--draws", 64, "--design", DESIGN, "--draw", 0)
        self.assertEqual(run.returncode, support.WRONG_INPUT)
        self.assertIn("add --timeline", run.stderr)

    def test_says_that_an_infeasible_plan_has_no_step(self):
        for option in ("--timeline", "--write-orders"):
            path = self.folder / "none.json"
            run = self.run_program("predict", support.SMALL, "--draws", 64, "--design", DESIGN + "schedule=zb_v v=3", option, path)
            self.assertEqual(run.returncode, support.INFEASIBLE)
            self.assertIn("the plan is infeasible: schedule not defined", run.stderr)
            self.assertIn("infeasible: schedule not defined", run.stdout)
            self.assertFalse(path.exists())

    def test_draws_a_picture(self):
        path = self.folder / "step.svg"
        self.output("predict", support.SMALL, "--draws", 64, "--design", DESIGN + "schedule=dualpipe_v v=2", "--timeline", path)
        root = ElementTree.fromstring(path.read_text())
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertGreater(len(root.findall("{http://www.w3.org/2000/svg}rect")), 4 * 16)

    def test_refuses_another_ending(self):
        run = self.run_program("predict", support.SMALL, "--draws", 64, "--design", DESIGN, "--timeline", self.folder / "step.txt")
        self.assertEqual(run.returncode, support.WRONG_INPUT)
        self.assertIn("neither in .json", run.stderr)


if __name__ == "__main__":
    support.main()
