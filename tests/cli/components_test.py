"""Times of collectives, and what nccl-tests printed beside them."""

import json
import pathlib
import re

import support
from support import CliTest

SIZES = [2**k for k in range(16, 33, 2)]


def log(seconds, ranks=16, program="all_reduce_perf"):
    """What nccl-tests print: `seconds` by size."""
    lines = [f"# {program}", "# nThread 1 nGpus 1 minBytes 65536"]
    lines += [f"#  Rank {rank} Group 0 Pid {rank} on node-{rank // 8} device {rank % 8} [0x0f] a GPU" for rank in range(ranks)]
    lines.append("#       size         count      type   redop    root     time   algbw   busbw #wrong")
    for size, time in seconds.items():
        algorithm = size / time * 1e-9
        lines.append(f"{size:12} {size // 4:12} float sum -1 {time * 1e6:.2f} {algorithm:.2f} {algorithm * 2 * (ranks - 1) / ranks:.2f} 0")
    return "\n".join(lines) + "\n"


class Components(CliTest):
    def times(self, scenario, members):
        """All-gather by size, in seconds: set by the adapters where it leaves nodes."""
        tables = json.loads(self.output("components", scenario, "--json"))["collectives"]
        table = next(t for t in tables if t["collective"] == "all_gather" and t["members"] == members)
        return {int(row["bytes"]): row["seconds"] for row in table["rows"]}

    def test_tables_are_those_of_nccl_tests(self):
        printed = self.output("components", support.SMALL)
        self.assertIn("all_to_all", printed)
        for row in re.findall(r"(?m)^ +\S+ [KMG]iB +([\d.]+) +([\d.]+) +([\d.]+)  [a-z ]+$", printed):
            self.assertGreater(float(row[0]), 0)
        tables = json.loads(self.output("components", support.SMALL, "--json"))["collectives"]
        for table in tables:
            times = [row["seconds"] for row in table["rows"]]
            self.assertEqual(times, sorted(times))

    def test_values_that_explain_a_file_are_found(self):
        """The predictions of a cluster with other links, as a log."""
        text = pathlib.Path(support.SMALL).read_text()
        slow = self.write(text.replace('link = "ib-hdr"', 'link = "ib-hdr"\nefficiency = 0.4'), "slow.toml")
        times = {size: seconds for size, seconds in self.times(slow, 16).items() if size >= SIZES[0]}
        self.write(log(times, program="all_gather_perf"), "nccl.log")
        printed = self.output("components", support.SMALL, "--measured", "nccl.log", "--svg", "nccl.svg")
        self.assertIn("16 GPUs: 8 in each of 2 nodes", printed)
        self.assertRegex(printed, r'(?m)^  bandwidth = "[\d.]+ GB/s"   # tier "cluster')
        found = dict(re.findall(r'(?m)^  (\w+) = ([\d.]+)   # tier "cluster', printed))
        self.assertAlmostEqual(float(found["efficiency"]), 0.4, delta=0.04)
        self.assertIn("<svg", (self.folder / "nccl.svg").read_text())

    def test_labels_of_launchers_do_not_matter(self):
        plain = log(self.times(support.SMALL, 16), program="all_gather_perf")
        self.write(plain, "nccl.log")
        expected = self.output("components", support.SMALL, "--measured", "nccl.log")
        for label in (" 0: ", "[1,0]<stdout>: "):
            self.write("".join(label + line for line in plain.splitlines(keepends=True)), "nccl.log")
            self.assertEqual(self.output("components", support.SMALL, "--measured", "nccl.log"), expected)

    def test_tables_of_the_osu_benchmarks_are_read(self):
        times = self.times(support.SMALL, 16)  # by the whole message, of which OSU prints each member's part
        rows = "".join(f"{size // 16} {seconds * 1e6:.3f}\n" for size, seconds in times.items())
        self.write("# OSU MPI-CUDA Allgather Latency Test v7.5\n# Size       Avg Latency(us)\n" + rows, "osu.txt")
        printed = self.output("components", support.SMALL, "--measured", "osu.txt", "--members", 16)
        errors = [float(error) for error in re.findall(r"(?m)iB +[\d.]+ +[\d.]+ +([+-][\d.]+)", printed)]
        self.assertGreater(len(errors), 8)
        self.assertLess(max(map(abs, errors)), 0.2)

    def kernels(self, *design):
        return json.loads(self.output("components", support.SMALL, "--json", *design))["kernels"]

    def test_kernels_of_the_network_reach_a_share_of_the_peak(self):
        kernels = self.kernels()
        self.assertEqual({"forward", "backward"}, {row["pass"] for row in kernels})
        for row in kernels:
            self.assertGreater(row["seconds"], 0.0)
            self.assertLess(row["share"], 1.0)
        self.assertRegex(self.output("components", support.SMALL), r"(?m)^\S+ \(\d+\) +forward +product +\d+ x \d+ x \d+ ")

    def test_kernels_are_those_of_a_plan(self):
        """Tensor parallelism divides the operations of the layers' products, but for those of the head."""
        work = lambda rows: sum(row["flops"] for row in rows if row["kernel"] == "product" and row["layers"] > 1)
        self.assertAlmostEqual(work(self.kernels("--design", "tp=2")) / work(self.kernels()), 0.5, places=6)
        self.assertRegex(self.refusal("components", support.SMALL, "--design", "tp=banana"), "tp")

    def test_files_that_do_not_fit_are_refused(self):
        self.write(log({1 << 20: 1e-4}, ranks=72), "many.log")
        self.write(log({1 << 20: 1e-4}, program="sendrecv_perf"), "other.log")
        self.write("size,time\n1,2\n", "no.log")
        self.write(log({1 << 20: 1e-4}, ranks=1), "single.log")
        for name, reason in (("many.log", "do not fit|nodes"), ("other.log", "not among"), ("no.log", "nccl-tests"), ("single.log", "single rank")):
            self.assertRegex(self.refusal("components", support.SMALL, "--measured", name), reason)


if __name__ == "__main__":
    support.main()
