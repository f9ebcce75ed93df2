#!/usr/bin/env python3
"""Writes the operators of a PyTorch module, with their shapes, as a JSON file that `[workload] captured = "FILE"` reads.

The module runs once, forward, on meta tensors: nothing is computed, and a network of any size needs no memory. docs/captured-networks.md
describes the file and what a capture omits.
"""

import argparse
import importlib
import importlib.util
import inspect
import json
import pathlib
import re
import sys

try:
    import torch
except ImportError as missing:
    sys.exit(f"capture_network.py: {missing}; install python3-torch (`apt-get install python3-torch`, or `pip install torch`)")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from capture.gradients import gradient_modes  # noqa: E402
from capture.layers import layer_paths, sequence_of  # noqa: E402
from capture.operators import Operators  # noqa: E402
from capture.recorder import CannotCapture, OnMeta, Recorder, first_sentence, watching_fused_attention  # noqa: E402

FORMAT = "prismopt captured network"
VERSION = 1
INPUT = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)\s*:\s*)?(?P<type>\w+)\s*\[(?P<shape>[\d\s,]*)\]")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="capture_network.py", description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""example:
  jobs/capture_network.py my_models/gpt.py:GPT --arguments '{"layers": 12}' --input 'tokens: int64[1, 2048]' --out gpt.json

Without --input, MODULE must have a function example_inputs(), which returns the inputs: a tensor, a tuple of them, or a dictionary by name.
The first dimension of the first input counts samples. A sample is what a scenario calls a sequence.""")
    parser.add_argument("network", metavar="MODULE:CLASS",
                        help="class of a module, or function that returns one; MODULE is a name (models.gpt) or a file (models/gpt.py)")
    parser.add_argument("--arguments", metavar="JSON", default="{}", help="arguments of CLASS by name: '{\"layers\": 4}'")
    parser.add_argument("--input", metavar="SHAPE", action="append", default=[],
                        help="an input, in the order of forward() or by name: 'float32[1, 3, 224, 224]' or 'tokens: int64[1, 2048]'; may "
                        "be repeated")
    parser.add_argument("--samples", type=int, metavar="N", help="samples in the inputs; default: the first dimension of the first input")
    parser.add_argument("--tokens", type=int, metavar="N",
                        help="tokens in a sample, sequence_length in scenarios; default: the second dimension of a first input that is "
                        "int64[samples, tokens], else 1")
    parser.add_argument("--layers", metavar="PATTERN", action="append", default=[],
                        help="modules that are the layers between which a pipeline may be cut, such as 'blocks.*'; may be repeated; "
                        "default: the elements of the outermost ModuleList or Sequential that are made of modules themselves")
    parser.add_argument("--name", help="name of the network in reports; default: CLASS")
    parser.add_argument("--out", metavar="FILE", help="default: CLASS.json")
    return parser.parse_args(arguments)


def imported(name):
    if name.endswith(".py") or "/" in name:
        path = pathlib.Path(name)
        if not path.is_file():
            raise CannotCapture(f"{name} does not exist; MODULE:CLASS needs a Python file or the name of an importable module")
        sys.path.insert(0, str(path.resolve().parent))
        name = path.stem
    else:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CannotCapture(f"cannot import {name} ({error}); run from the folder that holds it, set PYTHONPATH, or give its file: "
                            f"folder/{name}.py:CLASS") from error


def built(module, name, text):
    """The network on the meta device."""
    try:
        arguments = json.loads(text)
    except json.JSONDecodeError as error:
        raise CannotCapture(f"--arguments is no JSON ({error}); write it as '{{\"layers\": 4}}', in single quotes for the shell") from error
    if not isinstance(arguments, dict):
        raise CannotCapture("--arguments must be an object, by name: '{\"layers\": 4}'")
    make = getattr(module, name, None)
    if make is None:
        known = sorted(key for key, value in vars(module).items() if inspect.isclass(value) and issubclass(value, torch.nn.Module))
        raise CannotCapture(f"{module.__name__} has no {name}; its modules: {', '.join(known) or 'none'}")
    try:
        inspect.signature(make).bind(**arguments)
    except TypeError as error:
        raise CannotCapture(f"{name}{inspect.signature(make)}: {error}; give arguments by name, as in --arguments "
                            "'{\"layers\": 4}'") from error
    with OnMeta():
        model = make(**arguments)
    if not isinstance(model, torch.nn.Module):
        raise CannotCapture(f"{name} makes a {type(model).__name__}, not a torch.nn.Module")
    return model.to("meta").train()


def made_inputs(module, texts):
    """Inputs by place and by name, on the meta device."""
    if not texts:
        if not hasattr(module, "example_inputs"):
            raise CannotCapture(f"no inputs: give --input 'int64[1, 2048]', or a function example_inputs() in {module.__name__}")
        with OnMeta():
            given = module.example_inputs()
        if isinstance(given, dict):
            return [], on_meta(given)
        return on_meta(list(given) if isinstance(given, (list, tuple)) else [given]), {}
    places, names = [], {}
    for text in texts:
        match = INPUT.fullmatch(text.strip())
        kind = getattr(torch, match["type"], None) if match else None
        if not isinstance(kind, torch.dtype):
            raise CannotCapture(f"--input '{text}' is no type and shape; write 'int64[1, 2048]' or 'x: float32[1, 3, 224, 224]'")
        shape = [int(size) for size in match["shape"].split(",") if size.strip()]
        if 0 in shape:
            raise CannotCapture(f"--input '{text}' has a dimension of 0; give the sizes of a real input")
        tensor = torch.empty(shape, dtype=kind, device="meta")
        if match["name"]:
            names[match["name"]] = tensor
        elif names:
            raise CannotCapture(f"--input '{text}' has no name, after one that has; inputs by place come first")
        else:
            places.append(tensor)
    return places, names


def on_meta(values):
    if isinstance(values, torch.Tensor):
        return values.to("meta")
    if isinstance(values, list):
        return [on_meta(value) for value in values]
    if isinstance(values, dict):
        return {key: on_meta(value) for key, value in values.items()}
    return values


def shape_text(name, tensor):
    text = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    return f"{name}: {text}" if name else text


def record(recorder, model, layers, places, names, gradients):
    for tensor in [*places, *names.values()]:
        if isinstance(tensor, torch.Tensor):
            storage = recorder.storage_of(tensor)
            storage.given = storage.from_input = True
    try:
        inspect.signature(model.forward).bind(*places, **names)
    except TypeError as error:
        raise CannotCapture(f"{type(model).__name__}.forward{inspect.signature(model.forward)}: {error}; give each tensor by --input, in "
                            "this order or by name: 'x: float32[1, 3, 224, 224]'") from error
    try:
        with gradient_modes(always=gradients), OnMeta(), recorder, recorder.following(model, layers):
            model(*places, **names)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise CannotCapture(f"the forward pass stops in {recorder.place()}: {first_sentence(error)}; check the shapes of --input") from error


def recorded_as_trained(recorder, model, layers, places, names):
    """Records a pass of training. Returns what it assumes, in words."""
    record(recorder, model, layers, places, names, gradients=False)
    modules, everywhere = recorder.without_gradients()
    assumed = []
    if everywhere:
        recorder.restart()
        record(recorder, model, layers, places, names, gradients=True)
        assumed.append("gradients, which the forward pass disables (torch.no_grad or torch.inference_mode)")
    elif modules:
        assumed.append(f"no gradients of trainable weights in {', '.join(modules[:8])}{', ...' if len(modules) > 8 else ''}, where the "
                       "forward pass disables them: their backward pass keeps nothing")
    if recorder.routing.used_in:
        assumed.append(f"even routing: each expert receives the same number of tokens, in {', '.join(recorder.routing.used_in[:8])}"
                       + (", ..." if len(recorder.routing.used_in) > 8 else ""))
    return assumed


def captured(options):
    recorder = Recorder()
    with watching_fused_attention(recorder):
        return described(options, recorder)


def described(options, recorder):
    """What the file holds."""
    module_name, _, class_name = options.network.rpartition(":")
    if not module_name:
        raise CannotCapture(f"'{options.network}' is not MODULE:CLASS; write models.gpt:GPT or models/gpt.py:GPT")
    module = imported(module_name)
    with recorder:  # knows then which buffers are masks
        model = built(module, class_name, options.arguments)
    places, names = made_inputs(module, options.input)
    tensors = [*((None, tensor) for tensor in places), *names.items()]
    tensors = [(name, tensor) for name, tensor in tensors if isinstance(tensor, torch.Tensor)]
    if not tensors or not tensors[0][1].shape:
        raise CannotCapture("the first input must be a tensor whose first dimension counts samples")
    first = tensors[0][1]
    for name, count in (("samples", options.samples), ("tokens", options.tokens)):
        if count is not None and count < 1:
            raise CannotCapture(f"--{name} {count} is not positive; leave it out for the first dimensions of the first input")
    samples = options.samples or first.shape[0]
    tokens = options.tokens or (first.shape[1] if first.dim() == 2 and not first.dtype.is_floating_point else 1)
    layers = layer_paths(model, options.layers)
    if options.layers and not layers:
        raise CannotCapture(f"--layers {' '.join(options.layers)} matches no module; there are: "
                            + ", ".join(path for path, _ in list(model.named_modules())[1:13]) + ", ...")
    assumed = recorded_as_trained(recorder, model, layers, places, names)
    parameters = {name: parameter.numel() for name, parameter in model.named_parameters()}
    operators = Operators(samples, parameters)
    layers, unused = sequence_of(model, recorder.calls, recorder.visits, operators)
    frozen = sum(parameter.numel() for parameter in model.parameters() if not parameter.requires_grad)
    return {
        "format": FORMAT, "version": VERSION, "name": options.name or class_name,
        "captured": {"torch": torch.__version__, "arguments": json.loads(options.arguments),
                     "inputs": [shape_text(name, tensor) for name, tensor in tensors], **({"assumed": assumed} if assumed else {})},
        "samples": samples, "tokens": tokens, "totals": totals(layers),
        "not_understood": operators.not_understood, "without_meta_kernel": recorder.without_meta_kernel,
        "unused_parameters": unused, "frozen_parameters": frozen, **layers,
    }


def totals(network):
    """Of the whole network; the reader checks its own sums against these."""
    sums = {"parameters": 0, "forward_flops": 0, "saved_numbers": 0, "saved_bytes": 0}
    counts = {entry["layer"]: 0 for entry in network["sequence"]}
    for entry in network["sequence"]:
        counts[entry["layer"]] += entry["count"]
    for kind, count in [(network["embedding"], 1), (network["head"], 1), *((network["layers"][name], n) for name, n in counts.items())]:
        for operator in kind["operators"]:
            for key in sums:
                sums[key] += count * operator.get(key, 0)
    return sums


def to_json(network):
    """An operator a line."""
    def kind(described, indent):
        lines = ",\n".join(f"{indent}    {json.dumps(operator)}" for operator in described["operators"])
        lines = f"\n{lines}\n{indent}  " if lines else ""
        return f'{{\n{indent}  "width": {described["width"]},\n{indent}  "operators": [{lines}]\n{indent}}}'

    parts = []
    for key, value in network.items():
        if key in ("embedding", "head"):
            text = kind(value, "  ")
        elif key == "layers":
            text = "{\n" + ",\n".join(f'    {json.dumps(name)}: {kind(described, "    ")}' for name, described in value.items()) + "\n  }"
        else:
            text = json.dumps(value)
        parts.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def summary(network, path):
    sums = network["totals"]
    lines = [f"{network['name']}: {sums['parameters']:,} parameters, {sums['forward_flops'] / 1e9:.6g} GFLOP in the forward pass, "
             f"per sample of {network['tokens']} token{'s' if network['tokens'] > 1 else ''}"]
    lines.append("  layers: " + ", ".join(f"{entry['count']} x {entry['layer']}" for entry in network["sequence"]))
    for key, text in (("not_understood", "counted as the memory traffic of their tensors, without FLOPs"),
                      ("without_meta_kernel", "ran on the CPU to learn the shapes of their results"),
                      ("unused_parameters", "parameters that the forward pass does not read, and that are not counted")):
        if network[key]:
            lines.append(f"  {text}: {', '.join(network[key])}")
    lines += [f"  assumed: {text}" for text in network["captured"].get("assumed", [])]
    if network["frozen_parameters"]:
        lines.append(f"  {network['frozen_parameters']:,} parameters are frozen")
    return "\n".join([*lines, f"wrote {path}"])


def main(arguments):
    options = parse_arguments(arguments)
    try:
        network = captured(options)
    except CannotCapture as error:
        print(f"capture_network.py: {error}", file=sys.stderr)
        return 2
    path = pathlib.Path(options.out or f"{network['name']}.json")
    try:
        path.write_text(to_json(network), encoding="utf-8")
    except OSError as error:
        print(f"capture_network.py: cannot write {path} ({error.strerror}); name another file with --out", file=sys.stderr)
        return 2
    print(summary(network, path))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
