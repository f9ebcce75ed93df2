"""Even routing: the shapes and values that depend on which experts tokens choose, where each expert receives the same number of tokens.

A router chooses by topk(), max() or argmax() over its experts; networks then compare the choices with the number of an expert, count them, or
spread them to flags, and gather the rows of those tokens. Meta tensors have no values, so a capture follows how many elements of such tensors
are true.
"""

import math

import torch

# Their results have the elements of their argument, in another order, type or number.
SAME = frozenset("aten." + name for name in "_to_copy clone expand_copy flip index index_select select_copy slice_copy view_copy".split())
COMPARISONS = frozenset(["aten.eq"])
POSITIVE = frozenset(["aten.gt", "aten.ge", "aten.ne"])


class Choices:
    """What one call of a router chose, among `options` experts."""

    def __init__(self, options):
        self.options = options
        self.expected = 0.0
        self.given = 0


class Share:
    """Elements of a tensor that follows from choices: their mean, 0 to 1 for flags."""

    def __init__(self, choices, mean):
        self.choices = choices
        self.mean = mean
        self._rows = {}

    def rows(self, flags):
        """Number of true elements, the same for each use of the same flags. Those of all experts add up to the number of choices."""
        key = (flags.storage_offset(), tuple(flags.shape))
        if key not in self._rows:
            self.choices.expected += flags.numel() * self.mean
            self._rows[key] = round(self.choices.expected) - self.choices.given
            self.choices.given += self._rows[key]
        return self._rows[key]


class Routing:
    """Follows choices from tensor to tensor, by the memory that they lie in."""

    def __init__(self):
        self.used_in = []  # modules, for people

    def follow(self, call):
        """Marks the results of a call that ran."""
        dims = [argument for argument in call.arguments[1:3] if isinstance(argument, int)]
        if call.name == "aten.topk":
            call.writes[1].storage.routing = Choices(call.reads[0].shape[dims[1] if len(dims) > 1 else -1])
        elif call.name == "aten.max" and len(call.writes) == 2:
            call.writes[1].storage.routing = Choices(call.reads[0].shape[dims[0]])
        elif call.name == "aten.argmax" and dims:
            call.writes[0].storage.routing = Choices(call.reads[0].shape[dims[0]])
        else:
            marks = [read.storage.routing for read in call.reads if read.storage.routing is not None]
            passed_on = self._passed_on(call, marks[0]) if len(marks) == 1 and call.writes else None
            if passed_on is not None:
                call.writes[0].storage.routing = passed_on

    @staticmethod
    def _passed_on(call, mark):
        if isinstance(mark, Choices):
            if call.name in COMPARISONS:
                return Share(mark, 1.0 / mark.options)
            return mark if call.name in SAME else None
        whole = math.prod(call.reads[0].shape) / max(1, math.prod(call.writes[0].shape))  # elements that a result is made of
        if call.name == "aten.any":
            return Share(mark.choices, min(1.0, mark.mean * whole))
        if call.name == "aten.sum":
            return Share(mark.choices, mark.mean * whole)
        if call.name in POSITIVE:
            return Share(mark.choices, 1.0 if mark.mean >= 0.5 else 0.0)
        return Share(mark.choices, mark.mean) if call.name in SAME else None

    def result(self, name, args, mark_of, place):
        """What an operator returns whose result depends on values; None where it does not follow from choices."""
        tensors = [value for value in args if isinstance(value, torch.Tensor)]
        marks = [mark for mark in map(mark_of, tensors) if mark is not None]
        result = None
        if len(marks) == 1 and isinstance(marks[0], Share):
            result = self._of_share(name, tensors, marks[0])
        elif len(marks) == 1:
            result = self._of_choices(name, tensors[0], marks[0])
        if result is not None:
            self._note(place)
        return result

    def _note(self, place):
        if place not in self.used_in:
            self.used_in.append(place)

    @staticmethod
    def _of_share(name, tensors, mark):
        flags = tensors[-1]
        if name == "aten.nonzero" and mark.mean == 1.0:
            return torch.ones(flags.shape, device="cpu").nonzero()
        if name == "aten.nonzero":
            return torch.empty((mark.rows(flags), flags.dim()), dtype=torch.int64, device="meta")
        if name == "aten.masked_select":
            return torch.empty((mark.rows(flags),), dtype=tensors[0].dtype, device="meta")
        if name == "aten._local_scalar_dense":
            return mark.mean >= 0.5 if flags.dtype is torch.bool else round(mark.mean)
        return None

    @staticmethod
    def _of_choices(name, chosen, mark):
        """Tensors of values, which the network's own code may read."""
        ends = [round((expert + 1) * chosen.numel() / mark.options) for expert in range(mark.options)]
        counts = [end - begin for begin, end in zip([0, *ends], ends)]
        if name in ("aten._unique2", "aten.unique_dim", "aten.unique_consecutive"):
            inverse = torch.empty(chosen.shape, dtype=torch.int64, device="meta")
            return torch.arange(mark.options, device="cpu"), inverse, torch.tensor(counts, device="cpu")
        if name == "aten.bincount":
            return torch.tensor(counts, device="cpu")
        return None

    def places(self, args, mark_of, place):
        """Arguments of indexing with flags of choices as numbers of rows, so that its result has a fixed shape."""
        indices = []
        for index in args[1]:
            mark = mark_of(index) if isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8) else None
            if isinstance(mark, Share):
                self._note(place)
                rows = mark.rows(index)
                indices += [torch.empty((rows,), dtype=torch.int64, device="meta") for _ in range(index.dim())]
            else:
                indices.append(index)
        return [args[0], indices, *args[2:]]
