"""Divides recorded calls into layers: what runs before the first, kinds of layers in their order, and what runs after the last."""

import fnmatch

import torch

from .operators import ACTIVATIONS, PRODUCTS, SOFTMAX, STREAMS, attention, plain

CONTAINERS = (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict)


def layer_paths(model, patterns):
    """Paths of the modules that are layers: those that `patterns` name, else the elements of the outermost lists of modules, where
    they are made of modules themselves."""
    modules = dict(model.named_modules())
    if patterns:
        return {path for path in modules if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)}
    paths = set()

    def descend(path, module):
        for name, child in module.named_children():
            below = f"{path}.{name}" if path else name
            if isinstance(child, CONTAINERS) or not isinstance(module, CONTAINERS):
                descend(below, child)
            elif any(child.children()):
                paths.add(below)

    descend("", model)
    return paths


def divided(calls, visits):
    """Indices of calls: [layer in its order], before the first, after the last. What a loop runs between layers belongs to the next one where
    it also ran before the first, else to the one before, as what ran after the last."""
    layers = [[] for _ in visits]
    gaps = [[] for _ in range(len(visits) + 1)]  # [layer]: before it
    latest = -1
    for index, call in enumerate(calls):
        if call.layer is None:
            gaps[latest + 1].append(index)
        else:
            latest = call.layer
            layers[latest].append(index)
    before, *between, after = gaps if visits else (gaps[0], [])

    def same(some, others):
        def looks(indices):
            return [(calls[index].name, [write.shape for write in calls[index].writes]) for index in indices]
        return looks(some) == looks(others)

    if between and between[0] and same(before[-len(between[0]):], between[0]):
        between.insert(0, before[-len(between[0]):])
        before = before[:-len(between[0])]
        layers = [gap + layer for gap, layer in zip(between, layers)]
    elif between:
        ends = after[:len(between[-1])]
        between.append(ends if same(ends, between[-1]) else [])
        after = after[len(between[-1]):]
        layers = [layer + gap for layer, gap in zip(layers, between)]
    return layers, before, after


def crossing(calls, first):
    """Floating-point numbers that come of the inputs, given or made before call `first` and read from there on: what stages of a
    pipeline send."""
    made = {id(write.storage) for call in calls[:first] for write in call.writes}
    read = {}
    for call in calls[first:]:
        for view in call.reads:
            if view.floating and view.storage.from_input and (view.storage.given or id(view.storage) in made):
                read[id(view.storage)] = max(view.numbers, read.get(id(view.storage), 0))
        made -= {id(write.storage) for write in call.writes}
    return sum(read.values())


class Attentions:
    """Finds softmax(Q K') V among calls, whatever scales, masks and dropout are between."""

    def __init__(self, calls):
        self.calls = calls
        self.readers = [[] for _ in calls]
        for index, call in enumerate(calls):
            for source in call.sources:
                if source is not None:
                    self.readers[source].append(index)

    def all(self):
        """[index of the second product]: (index of the first, indices of all)."""
        found = {}
        for index, call in enumerate(self.calls):
            if call.name in SOFTMAX:
                first, second = self._scores(index), self._values(index)
                if first is not None and second is not None:
                    found[second] = (first, self._between(first, second, call.writes[0].numbers))
        return found

    def _is_product(self, index):
        call = self.calls[index]
        return call.name in PRODUCTS and all(call.arguments[place].storage.from_input for place in PRODUCTS[call.name])

    def _streams(self, index, numbers):
        call = self.calls[index]
        return plain(call.name) in STREAMS | ACTIVATIONS and call.writes[0].numbers == numbers

    def _scores(self, index):
        numbers = self.calls[index].writes[0].numbers
        while self._streams(index, numbers):
            call = self.calls[index]
            sources = [source for read, source in zip(call.reads, call.sources)
                       if source is not None and read.numbers == numbers and read.storage.from_input]
            if not sources:
                return None
            index = sources[0]
        return index if self._is_product(index) else None

    def _values(self, index):
        numbers = self.calls[index].writes[0].numbers
        todo = [index]
        while todo:
            for reader in self.readers[todo.pop()]:
                if self._is_product(reader) and self.calls[reader].arguments[PRODUCTS[self.calls[reader].name][0]].numbers == numbers:
                    return reader
                if self._streams(reader, numbers):
                    todo.append(reader)
        return None

    def _between(self, first, second, numbers):
        """Also what makes the mask of dropout."""
        return [first, *(index for index in range(first + 1, second) if self._streams(index, numbers)), second]


def merged(first, second, parts, causal):
    """One operator for the products of attention and what is between them. `parts`: their operators."""
    one = attention(heads=first["groups"], key_heads=first["groups"], queries=first["m"], keys=first["n"], key_size=first["k"],
                               value_size=second["n"], causal=causal, kernel="plain")
    one["name"] = "softmax"
    one["dtype"] = second["dtype"]
    one["module"] = second["module"]
    for key in ("parameters", "tied_parameters", "forward_numbers", "forward_bytes", "backward_numbers", "backward_bytes", "saved_numbers",
                "saved_bytes"):
        total = sum(part.get(key, 0) for part in parts)
        if total > 0:
            one[key] = total
    if any("parameters" in part for part in parts) and all(part.get("frozen", "parameters" not in part) for part in parts):
        one["frozen"] = True
    return one


def operators_of(calls, visits, operators):
    """[call]: its operator; products of attention stand as one, in the place of the last, and None in those of the others. Also the
    parameters that none has."""
    result = [operators.of(call) for call in calls]
    for call, operator in zip(calls, result):
        operator["module"] = call.module if call.layer is None else call.module.removeprefix(visits[call.layer]).removeprefix(".")
    unused = operators.settle()
    for second, (first, indices) in Attentions(calls).all().items():
        if result[first] is None or result[second] is None:
            continue  # they are of another attention already
        parts = [result[index] for index in indices if result[index] is not None]
        causal = any(read.storage.causal for index in indices for read in calls[index].reads)
        whole = merged(result[first], result[second], parts, causal)
        for index in indices:
            result[index] = None
        result[second] = whole
    return result, unused


def sequence_of(model, calls, visits, operators):
    """Kinds of layers by name, and the sequence [(name, count)]; `embedding` and `head` are what runs before and after the layers."""
    made, unused = operators_of(calls, visits, operators)
    layers, before, after = divided(calls, visits)
    modules = dict(model.named_modules())
    if not visits:  # one layer
        layers, before = [before], []
        visits = [""]
    kinds, sequence = {}, []

    def kind_of(indices):
        return {"width": operators.each(crossing(calls, indices[0])) if indices else 0,
                "operators": [made[index] for index in indices if made[index] is not None]}

    for path, indices in zip(visits, layers):
        kind = kind_of(indices)
        base = type(modules[path]).__name__
        name = next((known for known, same in kinds.items() if same == kind), None)
        if name is None:
            number = 1 + sum(known.split("-")[0] == base for known in kinds)
            name = base if number == 1 else f"{base}-{number}"
            kinds[name] = kind
        if sequence and sequence[-1]["layer"] == name:
            sequence[-1]["count"] += 1
        else:
            sequence.append({"layer": name, "count": 1})
    return {"embedding": kind_of(before), "layers": kinds, "sequence": sequence, "head": kind_of(after)}, unused
