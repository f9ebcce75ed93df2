"""jobs/capture_network.py against counts by hand, and what autograd keeps on real tensors.

usage: capture_network_test.py [unittest arguments]
Exit code 77: PyTorch is missing, so nothing was checked.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; install python3-torch")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "jobs" / "capture_network.py"
sys.path[:0] = [str(PROGRAM.parent), str(HERE)]

import capture_network  # noqa: E402
import networks  # noqa: E402


def capture(name, *inputs, **arguments):
    options = [f"networks:{name}", "--arguments", json.dumps(arguments)]
    for shape in inputs:
        options += shape if isinstance(shape, list) else ["--input", shape]
    return capture_network.captured(capture_network.parse_arguments(options))


def operators(network, kind):
    """Of all layers and ends, once each."""
    parts = [network["embedding"], *network["layers"].values(), network["head"]]
    return [operator for part in parts for operator in part["operators"] if operator["op"] == kind]


def kept_on_cpu(model, *inputs):
    """Floating-point numbers that autograd keeps for a backward pass, by the memory that they lie in."""
    own = {tensor.data_ptr() for tensor in [*model.parameters(), *model.buffers()]}
    kept = {}

    def pack(tensor):
        storage = tensor.storage()
        if tensor.dim() > 0 and tensor.dtype.is_floating_point and storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (tensor, storage.nbytes() // tensor.element_size())  # alive, so that its address stays its own
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = model(*inputs)
    del result
    return sum(numbers for _, numbers in kept.values())


class Counts(unittest.TestCase):
    def check_kept(self, network, model, *inputs):
        self.assertAlmostEqual(network["totals"]["saved_numbers"] * network["samples"], kept_on_cpu(model.train(), *inputs), delta=0.5)

    def check_parameters(self, network, model):
        self.assertEqual(network["totals"]["parameters"], sum(parameter.numel() for parameter in model.parameters()))

    def test_gpt(self):
        L, h, a, p, V, s = 3, 32, 4, 64, 500, 48
        network = capture("GPT")  # 48 tokens, by its example_inputs
        self.assertEqual(network["tokens"], s)
        self.assertEqual(network["sequence"], [{"layer": "Block", "count": L}])
        # Layer norms 4h; projections 3h^2 + 3h and h^2 + h; MLP 8h^2 + 5h. The head's matrix is the embedding's; positions beyond s are not
        # read.
        self.assertEqual(network["totals"]["parameters"], L * (12 * h * h + 13 * h) + V * h + p * h + 2 * h)
        self.check_parameters(network, networks.GPT())
        self.assertEqual(network["totals"]["forward_flops"], L * (24 * s * h * h + 4 * s * s * h) + 2 * s * h * V)
        head, = (operator for operator in network["head"]["operators"] if operator["op"] == "product")
        self.assertEqual((head["m"], head["k"], head["n"], head["tied_parameters"]), (s, h, V, V * h))
        # Each: inputs and statistics of norms, inputs of products, queries with keys and values, probabilities, input of the activation.
        block = s * h * (1 + 1 + 3 + 1 + 1 + 1 + 4 + 4) + 4 * s + a * s * s
        saved = sum(operator.get("saved_numbers", 0) for operator in network["layers"]["Block"]["operators"])
        self.assertEqual(saved, block)
        self.assertEqual(network["totals"]["saved_numbers"], L * block + 2 * s * h + 2 * s)
        self.check_kept(network, networks.GPT(), torch.zeros(1, s, dtype=torch.int64))
        attention, = operators(network, "attention")
        expected = {"heads": a, "queries": s, "keys": s, "key_size": h // a, "value_size": h // a, "causal": True, "kernel": "plain"}
        self.assertEqual(expected, {key: attention[key] for key in expected})
        self.assertEqual(network["layers"]["Block"]["width"], s * h)
        self.assertEqual(network["head"]["width"], s * h)
        self.assertEqual(network["not_understood"] + network["without_meta_kernel"] + network["unused_parameters"], [])

    def test_counts_are_of_one_sample(self):
        one, four = (capture("GPT", f"int64[{samples}, 48]") for samples in (1, 4))
        self.assertEqual((one["samples"], four["samples"]), (1, 4))
        for key in ("parameters", "forward_flops", "saved_numbers"):
            self.assertEqual(one["totals"][key], four["totals"][key], key)

    def test_dropout_is_kept_and_belongs_to_attention(self):
        network = capture("GPT", dropout=0.1)
        self.check_kept(network, networks.GPT(dropout=0.1), torch.zeros(1, 48, dtype=torch.int64))
        self.assertEqual(len(operators(network, "attention")), 1)
        self.assertEqual([operator["name"] for operator in operators(network, "elementwise")
                          if operator.get("forward_numbers", 0) > 4 * 48 * 48], [])

    def test_networks_of_any_size_need_no_memory(self):
        network = capture("GPT", "int64[1, 2048]", layers=96, hidden=12288, heads=96, positions=2048, vocabulary=50257)
        self.assertAlmostEqual(network["totals"]["parameters"] / 1e9, 174.6, delta=0.05)  # Brown et al., arXiv 2005.14165, table 2.1

    def test_fused_attention(self):
        s, h = 24, 32
        for causal in (True, False):
            network = capture("FusedAttention", ["--input", f"float32[2, {s}, {h}]", "--tokens", f"{s}"], causal=causal)
            attention, = operators(network, "attention")
            self.assertEqual((attention["heads"], attention["causal"], attention["kernel"]), (4, causal, "flash"))
            self.assertEqual(attention["forward_flops"], 4 * s * s * h // (2 if causal else 1))
            # Projections are one memory, from which queries, keys and values are read; the input; the result.
            self.assertEqual(network["totals"]["saved_numbers"], s * h * (3 + 1 + 1))
            self.assertEqual(len(network["layers"]["FusedAttention"]["operators"]), 2)

    def test_repeated_keys(self):
        s, h = 24, 32
        for how in ("function", "method", "sizes"):
            network = capture("GroupedQueries", ["--input", f"float32[2, {s}, {h}]", "--tokens", f"{s}"], how=how)
            self.assertEqual(network["totals"]["forward_flops"], 2 * s * h * (h + h // 2 + h // 2) + 4 * s * s * h, how)
            attention, = operators(network, "attention")
            self.assertEqual((attention["heads"], attention["queries"], attention["keys"]), (4, s, s), how)
            self.check_kept(network, networks.GroupedQueries(how), torch.zeros(2, s, h))
            self.assertEqual(network["not_understood"] + network["without_meta_kernel"], [], how)
        with self.assertRaisesRegex(capture_network.CannotCapture, "depends on values.*repeat_interleave with a number"):
            capture("GroupedQueries", ["--input", f"float32[2, {s}, {h}]", "--tokens", f"{s}"], how="tensor")

    def test_resnet(self):
        network = capture("ResNet", "float32[2, 3, 64, 64]")
        model = networks.ResNet()

        def bottleneck(c, i, w, before, after):
            """Parameters and multiply-adds of a block, of so many positions."""
            numbers = c * i + 9 * i * i + i * w + 2 * (i + i + w)
            multiplied = c * i * before + 9 * i * i * after + i * w * after
            return (numbers, multiplied) if c == w else (numbers + c * w + 2 * w, multiplied + c * w * after)

        first, second = 16 * 16, 8 * 8
        blocks = [bottleneck(16, 8, 32, first, first), *2 * [bottleneck(32, 8, 32, first, first)], bottleneck(32, 16, 64, first, second),
                  bottleneck(64, 16, 64, second, second)]
        self.assertEqual(network["totals"]["parameters"], 3 * 49 * 16 + 16 + sum(numbers for numbers, _ in blocks) + 64 * 10 + 10)
        self.check_parameters(network, model)
        self.assertEqual(network["totals"]["forward_flops"], 2 * (3 * 49 * 16 * 32 * 32 + sum(work for _, work in blocks) + 64 * 10))
        self.check_kept(network, model, torch.zeros(2, 3, 64, 64))
        self.assertEqual([(entry["layer"], entry["count"]) for entry in network["sequence"]],
                         [("Bottleneck", 1), ("Bottleneck-2", 2), ("Bottleneck-3", 1), ("Bottleneck-4", 1)])
        self.assertEqual([network["layers"][entry["layer"]]["width"] for entry in network["sequence"]],
                         [16 * first, 32 * first, 32 * first, 64 * second])
        stem, = (operator for operator in network["embedding"]["operators"] if operator["op"] == "convolution")
        expected = {"in": 3, "out": 16, "kernel": [7, 7], "stride": [2, 2], "positions": 32 * 32, "input_positions": 64 * 64, "bias": True}
        self.assertEqual(expected, {key: stem[key] for key in expected})

    def test_dlrm(self):
        network = capture("DLRM", "float32[4, 13]", "int64[4, 3, 5]")
        model = networks.DLRM()
        products = [(13, 32), (32, 16), (22, 32), (32, 1)]
        self.assertEqual(network["totals"]["parameters"], 16 * (1000 + 200 + 30) + sum(k * n + n for k, n in products))
        self.check_parameters(network, model)
        pairs = 2 * 4 * 4 * 16  # all of them, of which the lower triangle is used
        self.assertEqual(network["totals"]["forward_flops"], 2 * sum(k * n for k, n in products) + pairs)
        self.assertEqual([(table["rows"], table["columns"], table["lookups"], table["results"]) for table in operators(network, "lookup")],
                         [(rows, 16, 5, 1) for rows in (1000, 200, 30)])
        self.check_kept(network, model, torch.zeros(4, 13), torch.zeros(4, 3, 5, dtype=torch.int64))
        self.assertEqual((network["tokens"], network["samples"]), (1, 4))
        self.assertEqual(network["sequence"], [{"layer": "DLRM", "count": 1}])

    def test_results_that_later_layers_read_cross_the_stages_between(self):
        network = capture("UNet", "float32[1, 4, 10]")
        widths = [network["layers"][entry["layer"]]["width"] for entry in network["sequence"] for _ in range(entry["count"])]
        # The input; one result, read by both the next layer and the way up; the two sums on the way up, the first of which stands before
        # its level and counts to the level below.
        self.assertEqual(widths, [40, 40, 80, 40])
        rise, = (operator for operator in operators(network, "convolution") if operator["transposed"])
        self.assertEqual(rise["forward_flops"], 2 * 10 * 4 * 8 // 2 * 2)
        self.assertEqual(rise["parameters"], 4 * 8 // 2 * 2 + 8)

    def test_what_a_loop_runs_between_layers_belongs_to_them(self):
        for sums in ("after", "before"):
            network = capture("Looped", "float32[1, 4, 10]", sums=sums)
            self.assertEqual(network["sequence"], [{"layer": "Level", "count": 4}], sums)
            names = [[operator["name"] for operator in network[end]["operators"]] for end in ("embedding", "head")]
            self.assertEqual(names, [["convolution", "silu", "arange"], ["tanh"]], sums)

    def test_shared_layers_count_their_parameters_once(self):
        network = capture("SharedLayers", ["--input", "float32[1, 4, 6]", "--layers", "layer"])
        self.assertEqual(network["totals"]["parameters"], 4 * 4 * 3 + 4 + 2 * 4 * 8)
        self.assertEqual([entry["count"] for entry in network["sequence"]], [1, 2])
        self.assertEqual(network["totals"]["forward_flops"], 3 * 2 * 6 * 4 * 4 * 3 + 2 * 2 * 6 * 4 * 8)
        self.assertEqual(network["unused_parameters"], ["idle"])

    def test_frozen_weights(self):
        network = capture("Adapted", "float32[1, 5, 16]")
        self.assertEqual([operator.get("frozen", False) for operator in operators(network, "product")], [True, False, False])
        self.assertEqual(network["frozen_parameters"], 16 * 16 + 16)
        self.check_kept(network, networks.Adapted(), torch.zeros(1, 5, 16))

    def test_gradients_that_forward_disables(self):
        for how in ("no_grad", "inference_mode", "set_grad_enabled"):
            network = capture("WithoutGradients", "float32[1, 5, 16]", how=how)
            self.assertEqual(network["totals"]["forward_flops"], 2 * 2 * 5 * 16 * 16)
            self.assertEqual(network["totals"]["saved_numbers"], 3 * 5 * 16)  # inputs of both layers, and the result
            self.assertEqual(len(network["captured"]["assumed"]), 1)
            part = capture("WithoutGradients", "float32[1, 5, 16]", how=how, part=True)
            self.assertEqual(part["totals"]["forward_flops"], 2 * 2 * 5 * 16 * 16)
            self.assertEqual(part["totals"]["saved_numbers"], 2 * 5 * 16)
            self.assertIn("first", part["captured"]["assumed"][0])
        self.assertNotIn("assumed", capture("Adapted", "float32[1, 5, 16]")["captured"])

    def test_routed_experts_receive_equal_numbers_of_tokens(self):
        tokens, width, active = 10, 8, 2
        for how in ("where", "counts", "unique", "flags", "hits", "mask"):
            with self.subTest(how=how):
                for experts in (4, 7):  # 5 tokens each, and 20 / 7
                    network = capture("RoutedExperts", f"float32[1, {tokens}, {width}]", how=how, experts=experts)
                    products = [operator["m"] for operator in operators(network, "product")]
                    self.assertEqual(sum(products), tokens + tokens * active)
                    self.assertEqual(len(products), 1 + experts)
                    self.assertLessEqual(max(products[1:]) - min(products[1:]), 1)
                    self.assertEqual(network["totals"]["forward_flops"],
                                     2 * tokens * width * experts + tokens * active * 2 * width * width)
                    self.assertEqual(network["not_understood"], [])
                    self.assertIn("even routing", network["captured"]["assumed"][0])

    def test_what_is_not_understood_is_named_and_counts_as_traffic(self):
        network = capture("Unusual", "float32[2, 6, 8]")
        self.assertIn("_fft_r2c", network["not_understood"])
        transform, = (operator for operator in operators(network, "elementwise") if operator["name"] == "_fft_r2c")
        self.assertEqual(transform["forward_numbers"], 6 * 8 + 6 * 5)
        self.assertFalse(transform["understood"])
        if torch.__version__.startswith("1.13"):
            self.assertEqual(network["without_meta_kernel"], ["aten._cdist_forward.default", "aten.histc.default"])
        distances, = (operator for operator in operators(network, "elementwise") if operator["name"] == "_cdist_forward")
        self.assertEqual(distances["forward_numbers"], 2 * 6 * 8 + 6 * 6)


STORED = {
    "gpt": ["GPT"],
    "resnet": ["ResNet", "float32[1, 3, 64, 64]"],
    "dlrm": ["DLRM", "float32[1, 13]", "int64[1, 3, 5]"],
}


class Stored(unittest.TestCase):
    """What the tests of the reader read is what the program writes."""

    def test_files(self):
        for name, arguments in STORED.items():
            stored = json.loads((HERE / "stored" / f"{name}.json").read_text())
            if stored["captured"]["torch"] != torch.__version__:
                self.skipTest(f"stored by PyTorch {stored['captured']['torch']}, this is {torch.__version__}")
            self.assertEqual(stored, capture(*arguments), "capture it again")


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments):
        return subprocess.run([sys.executable, "-B", PROGRAM, *arguments], cwd=self.folder, text=True, capture_output=True, timeout=100)

    def refusal(self, *arguments):
        with self.assertRaises(capture_network.CannotCapture) as caught:
            capture_network.captured(capture_network.parse_arguments([str(argument) for argument in arguments]))
        return str(caught.exception)

    def test_a_file_and_a_summary(self):
        finished = self.run_program(f"{HERE / 'networks.py'}:GPT", "--arguments", '{"layers": 2}', "--name", "small", "--out", "gpt.json")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        network = json.loads((self.folder / "gpt.json").read_text())
        self.assertEqual((network["format"], network["version"], network["name"]), ("prismopt captured network", 1, "small"))
        self.assertEqual(network, {**capture("GPT", layers=2), "name": "small"})
        self.assertIn("2 x Block", finished.stdout)
        self.assertIn(f"{network['totals']['parameters']:,} parameters", finished.stdout)

    def test_refusals_end_with_code_2(self):
        finished = self.run_program("no_such_module:GPT")
        self.assertEqual(finished.returncode, 2)
        self.assertIn("capture_network.py: cannot import no_such_module", finished.stderr)
        self.assertIn("PYTHONPATH", finished.stderr)
        finished = self.run_program(f"{HERE / 'networks.py'}:GPT", "--input", "int64[1, 8]", "--out", "no/folder/gpt.json")
        self.assertEqual(finished.returncode, 2, finished.stderr)
        self.assertIn("cannot write no/folder/gpt.json", finished.stderr)

    def test_refusals_say_what_to_do(self):
        gpt = "networks:GPT"
        self.assertIn("does not exist", self.refusal("no/such/file.py:GPT"))
        self.assertIn("write models.gpt:GPT", self.refusal("GPT"))
        self.assertIn("its modules: Adapted, Block, Bottleneck", self.refusal("networks:GTP"))
        self.assertIn("--arguments '{\"layers\": 4}'", self.refusal("networks:ReadsValues", "--input", "float32[1]"))
        self.assertIn("is no JSON", self.refusal(gpt, "--arguments", "layers=4"))
        self.assertIn("by name", self.refusal(gpt, "--arguments", "[4]"))
        self.assertIn("unexpected keyword argument 'depth'", self.refusal(gpt, "--arguments", '{"depth": 4}'))
        self.assertIn("write 'int64[1, 2048]'", self.refusal(gpt, "--input", "int64(1, 2048)"))
        self.assertIn("write 'int64[1, 2048]'", self.refusal(gpt, "--input", "integer[1, 2048]"))
        self.assertIn("GPT.forward(tokens)", self.refusal(gpt, "--input", "words: int64[1, 8]"))
        self.assertIn("inputs by place come first",
                      self.refusal("networks:DLRM", "--input", "dense: float32[1, 13]", "--input", "int64[1, 3, 5]"))
        self.assertIn("missing a required argument: 'indices'", self.refusal("networks:DLRM", "--input", "float32[1, 13]"))
        self.assertIn("stops in bottom.0", self.refusal("networks:DLRM", "--input", "float32[1, 14]", "--input", "int64[1, 3, 5]"))
        self.assertIn("has a dimension of 0", self.refusal(gpt, "--input", "int64[1, 0]"))
        self.assertIn("--samples -3 is not positive", self.refusal(gpt, "--input", "int64[1, 8]", "--samples", "-3"))
        self.assertIn("--tokens 0 is not positive", self.refusal(gpt, "--input", "int64[1, 8]", "--tokens", "0"))
        self.assertIn("matches no module", self.refusal(gpt, "--layers", "layers.*"))
        self.assertIn("makes a dict", self.refusal("networks:example_inputs"))
        for how in ("condition", "mask", "nonzero"):
            self.assertIn("depends on values", self.refusal("networks:ReadsValues", "--arguments", json.dumps({"how": how}),
                                                            "--input", "float32[2, 3]"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
