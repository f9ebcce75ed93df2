"""Records the ATen operators of one forward pass of a PyTorch module on meta tensors, which have shapes and no values.

Recording below autograd (TorchDispatchMode) follows any control flow that Python takes, and sees the few hundred operators that all else is
made of. A symbolic trace (torch.fx.symbolic_trace) stops at control flow that reads shapes, and sees modules that it must then know. What
the backward pass keeps is what autograd itself packs for it.
"""

import contextlib
import functools
import math

import torch
import torch.nn.functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .routing import Routing

# Functions that make tensors; without a device they would make them in memory.
FACTORIES = frozenset("""
    arange bartlett_window blackman_window empty empty_strided eye full hamming_window hann_window kaiser_window linspace logspace
    ones rand randint randn randperm range scalar_tensor tensor tril_indices triu_indices zeros
""".split())
# One kernel of their own on a GPU, where autograd sees several operators. The second is PyTorch 1.13's.
FUSED_ATTENTION = ("scaled_dot_product_attention", "_scaled_dot_product_attention")
# Their results have the shape of their argument, and nothing else of it.
LIKE = frozenset("aten." + name for name in """
    empty_like full_like new_empty new_empty_strided new_full new_ones new_zeros ones_like rand_like randn_like zeros_like
""".split())
# Memory without a kernel.
ALLOCATIONS = frozenset("aten." + name for name in """
    alias detach empty empty_like empty_strided lift_fresh new_empty new_empty_strided resize_
""".split())
# Most numbers that an operator without a meta kernel may read, when it runs on the CPU to learn the shape of its result.
LARGEST_ON_CPU = 1 << 26


# Results that follow from the experts that tokens choose: routing.py.
OF_CHOICES = frozenset("aten." + name for name in """
    _local_scalar_dense _unique2 bincount masked_select nonzero unique_consecutive unique_dim
""".split())
INDEXED = frozenset(["aten.index", "aten.index_put", "aten.index_put_", "aten._index_put_impl_"])


class CannotCapture(Exception):
    """What is wrong with a network or its inputs, and what to do."""


def repeated(tensor, repeats, dim=None, *, output_size=None):
    """repeat_interleave() of a fixed shape, as one copy. PyTorch's own makes a tensor of a number of repetitions and reads their sum from
    it. Nothing where the shape depends on values."""
    if dim is None:
        tensor, dim = tensor.flatten(), 0
    dim %= tensor.dim()
    if isinstance(repeats, int):
        shape = [*tensor.shape[:dim + 1], repeats, *tensor.shape[dim + 1:]]
        return tensor.unsqueeze(dim + 1).expand(shape).flatten(dim, dim + 1)
    if output_size is not None:
        return tensor.index_select(dim, torch.empty(output_size, dtype=torch.int64, device="meta"))
    return None


def flags_of(tensor, num_classes=-1):
    """one_hot() of a fixed shape. PyTorch's own reads the values, to check them. Nothing where the shape depends on values."""
    if num_classes < 1:
        return None
    return (tensor.unsqueeze(-1) == torch.arange(num_classes, device=tensor.device)).to(torch.int64)


class OnMeta(TorchFunctionMode):
    """Makes tensors without a device on the meta device. torch.device("meta") does the same from PyTorch 2.0 on."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in (torch.repeat_interleave, torch.Tensor.repeat_interleave) and len(args) + len(kwargs) > 1:
            names = {"input": "tensor", "self": "tensor"}
            result = repeated(*args, **{names.get(key, key): value for key, value in kwargs.items()})
            if result is not None:
                return result
        if getattr(function, "__name__", "") == "one_hot":
            result = flags_of(*args, **kwargs)
            if result is not None:
                return result
        if getattr(function, "__name__", "") in FACTORIES and kwargs.get("device") is None:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


class View:
    """A tensor as an operator reads or writes it: memory, shape, and how much of the memory."""

    def __init__(self, tensor, storage):
        self.storage = storage
        self.shape = tuple(tensor.shape)
        self.offset = tensor.storage_offset()
        self.floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        self.element_bytes = tensor.element_size()
        self.dtype = str(tensor.dtype).removeprefix("torch.")
        # Numbers in memory: a dimension of stride 0 repeats them.
        self.numbers = math.prod(size for size, stride in zip(tensor.shape, tensor.stride()) if stride != 0)


class Storage:
    """Memory that tensors are views of."""

    def __init__(self, tensor, numbers):
        self.tensor = tensor  # keeps it alive: addresses of memory that is freed are used again
        self.numbers = numbers
        self.parameter = None  # name of the parameter that it is, or is a copy in another type of
        self.trained = False  # of a parameter
        self.constant = False  # a buffer
        self.given = False  # an input of the network
        self.from_input = False  # that, or computed from it
        self.causal = False  # a constant that comes of a triangle
        self.writer = None  # index of the last call that wrote it
        self.saved = False
        self.routing = None  # what routing.py knows of its values


class Call:
    """One operator as it ran."""

    def __init__(self, name, module, layer, arguments, writes, sources):
        self.name = name
        self.module = module
        self.layer = layer  # number of the visit to a layer, or None
        self.arguments = arguments  # as given, with views for tensors
        self.reads = list(found(View, arguments))
        self.writes = writes
        self.sources = sources  # [read]: index of the call that wrote it, or None
        self.trained = torch.is_grad_enabled()  # whether autograd follows it
        self.kept = []  # what its backward pass reads: views
        self.newly_kept = []  # of these, what no call before it keeps: one view of each memory


def found(kind, values):
    if isinstance(values, kind):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from found(kind, value)
    elif isinstance(values, dict):
        yield from found(kind, list(values.values()))


def tensors_in(values):
    return found(torch.Tensor, values)


def mapped(values, change):
    if isinstance(values, torch.Tensor):
        return change(values)
    if isinstance(values, (list, tuple)):
        return type(values)(mapped(value, change) for value in values)
    if isinstance(values, dict):
        return {key: mapped(value, change) for key, value in values.items()}
    return values


def in_place(function):
    schema = getattr(function, "_schema", None)  # operators of higher order have none
    return schema is not None and any(argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments)


def depends_on_values(function, args, kwargs):
    tags = getattr(function, "tags", ())
    if torch.Tag.data_dependent_output in tags:
        return True
    if torch.Tag.dynamic_output_shape not in tags or kwargs.get("output_size") is not None:
        return False
    # Indexing has a fixed shape, except by a mask.
    if function.overloadpacket is not torch.ops.aten.index:
        return True
    masks = [tensor for tensor in tensors_in(args[1:]) if tensor.dtype in (torch.bool, torch.uint8)]
    return bool(masks)


def first_sentence(error):
    return str(error).splitlines()[0].split(". ")[0]


class Recorder(TorchDispatchMode):
    """Calls in the order that they ran."""

    def __init__(self):
        super().__init__()
        self.calls = []
        self.storages = {}
        self.without_meta_kernel = []
        self.visits = []  # [visit]: path of the layer
        self.routing = Routing()
        self.recording = False
        self._modules = [""]
        self._layers = []
        self._pending = []  # kept by the next call
        self._fused = None  # the call that stands for all until it ends

    # -- memory

    def storage_of(self, tensor):
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        key = storage._cdata
        if key not in self.storages:
            self.storages[key] = Storage(tensor, storage.nbytes() // tensor.element_size())
        return self.storages[key]

    def view_of(self, tensor):
        return View(tensor, self.storage_of(tensor))

    def restart(self):
        """Forgets a forward pass; what memory holds stays known."""
        self.calls, self.visits, self.without_meta_kernel, self._pending = [], [], [], []
        self.routing = Routing()
        for storage in self.storages.values():
            storage.from_input = storage.saved = False
            storage.writer = storage.routing = None

    def without_gradients(self):
        """Modules whose calls read weights that are trained, but without gradients; and whether all such calls are."""
        calls = [call for call in self.calls if any(read.storage.trained for read in call.reads)]
        modules = list(dict.fromkeys(call.module or "forward()" for call in calls if not call.trained))
        return modules, bool(calls) and not any(call.trained for call in calls)

    # -- operators

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        arguments = mapped([*args, kwargs], self.view_of)
        sources = [read.storage.writer for read in found(View, arguments)]
        result = self._run(function, args, kwargs)
        if isinstance(result, (bool, int, float)):
            return result  # a value that the network's code reads
        writes = [self.view_of(tensor) for tensor in tensors_in(result)]
        call = Call(str(getattr(function, "overloadpacket", function)), self._modules[-1], self._layer(), arguments, writes, sources)
        self.routing.follow(call)
        given = {id(read.storage) for read in call.reads}
        shares = bool(writes) and all(id(write.storage) in given for write in writes)
        if torch.Tag.inplace_view not in getattr(function, "tags", ()) and not (shares and not in_place(function)):
            self._follow(call)
        return result

    def _routing_of(self, tensor):
        return self.storage_of(tensor).routing

    def _run(self, function, args, kwargs):
        name = str(getattr(function, "overloadpacket", function))
        if name in INDEXED:
            args = self.routing.places(args, self._routing_of, self.place())
        known = self.routing.result(name, args, self._routing_of, self.place()) if name in OF_CHOICES else None
        if known is not None:
            return known
        if depends_on_values(function, args, kwargs):
            if all(tensor.device.type == "cpu" for tensor in tensors_in([args, kwargs])):
                return function(*args, **kwargs)
            raise CannotCapture(f"{function} in {self.place()} has a result whose shape or use depends on values, which a capture does not "
                                "have (it has those that follow from experts which topk, max or argmax choose: even routing); replace it by an "
                                "operator with a fixed shape (torch.where, repeat_interleave with a number or an output_size, or experts "
                                "with a capacity)")
        try:
            return function(*args, **kwargs)
        except (NotImplementedError, TypeError):  # none; one in Python that does not take all arguments
            return self._run_on_cpu(function, args, kwargs)

    def _run_on_cpu(self, function, args, kwargs):
        """Learns the shapes of results from zeros, which one number in memory repeats where nothing writes them."""
        numbers = sum(tensor.numel() for tensor in tensors_in([args, kwargs]))
        if numbers > LARGEST_ON_CPU:
            raise CannotCapture(f"{function} in {self.place()} has no meta kernel in PyTorch {torch.__version__}, and its inputs of "
                                f"{numbers} numbers are too large to run it on the CPU (most: {LARGEST_ON_CPU}); capture with a smaller "
                                "--input, or with a newer PyTorch")

        def on_cpu(tensor):
            zeros = torch.zeros((), dtype=tensor.dtype, device="cpu").expand(tensor.shape)
            return zeros.contiguous() if in_place(function) else zeros

        def device(value):
            return torch.device("cpu") if isinstance(value, torch.device) else value

        try:
            result = function(*mapped(args, on_cpu), **{key: device(value) for key, value in mapped(kwargs, on_cpu).items()})
        except (RuntimeError, NotImplementedError) as error:
            raise CannotCapture(f"{function} in {self.place()} runs neither on meta tensors nor, with zeros, on the CPU: "
                                f"{first_sentence(error)}; replace it, or capture with a newer PyTorch") from error
        if str(function) not in self.without_meta_kernel:
            self.without_meta_kernel.append(str(function))
        if in_place(function):
            return next(tensors_in([args, kwargs]))
        return mapped(result, lambda tensor: torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta"))

    def _follow(self, call):
        """A call that is no view."""
        from_input = call.name not in LIKE and any(read.storage.from_input for read in call.reads)
        causal = call.name in ("aten.tril", "aten.triu") or any(read.storage.causal for read in call.reads)
        for write in call.writes:
            write.storage.from_input |= from_input
            write.storage.causal |= causal and not from_input
            write.storage.writer = None if call.name in ALLOCATIONS else len(self.calls)
        if call.name == "aten._to_copy" and not from_input and call.reads[0].storage.parameter is not None:
            copy, original = call.writes[0].storage, call.reads[0].storage  # the same weights in another type
            copy.parameter, copy.trained = original.parameter, original.trained
        elif self.recording and self._fused is None and call.name not in ALLOCATIONS:
            self._append(call)

    def _layer(self):
        return self._layers[-1] if self._layers else None

    def place(self):
        """Where the forward pass is, for messages."""
        return self._modules[-1] or "forward()"

    def _append(self, call):
        """Autograd packs inputs before an operator runs and results after. What the last call wrote and this one reads belongs to this one,
        unless it was packed twice."""
        last = self.calls[-1] if self.calls else None
        self.calls.append(call)
        waiting, self._pending = self._pending, []
        for place, view in enumerate(waiting):
            written = last is not None and any(write.storage is view.storage for write in last.writes)
            read = any(read.storage is view.storage for read in call.reads)
            again = any(later.storage is view.storage for later in waiting[place + 1:])
            self._keep(last if written and (again or not read) else call, view)

    # -- what the backward pass keeps

    def pack(self, tensor):
        """Called by autograd with each tensor that it keeps."""
        view = self.view_of(tensor)
        if self._fused is None and view.shape and view.storage.parameter is None and not view.storage.constant:
            self._pending.append(view)
        return tensor

    def _keep(self, call, view):
        call.kept.append(view)
        if not view.storage.saved:
            view.storage.saved = True
            call.newly_kept.append(view)

    # -- attention that is one kernel

    def fused_attention(self, function, query, key, value, args, kwargs):
        if not self.recording or self._fused is not None:
            return function(query, key, value, *args, **kwargs)
        with_weights = function.__name__ == FUSED_ATTENTION[1]
        places = ("attn_mask", "dropout_p", "need_attn_weights", "is_causal") if with_weights else ("attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(places, args)), **kwargs}
        mask = given.get("attn_mask")
        reads = [self.view_of(tensor) for tensor in (query, key, value)]
        causal = bool(given.get("is_causal")) or (mask is not None and self.storage_of(mask).causal)
        call = Call("scaled_dot_product_attention", self._modules[-1], self._layer(), [*reads, {"causal": causal}], [],
                    [read.storage.writer for read in reads])
        self._fused = call
        try:
            result = function(query, key, value, *args, **kwargs)
        finally:
            self._fused = None
        output = result[0] if with_weights else result
        call.writes = [self.view_of(output)]
        call.writes[0].storage.writer = len(self.calls)
        self._append(call)
        for view in (*reads, *call.writes):
            self._keep(call, view)
        return result

    # -- modules

    @contextlib.contextmanager
    def following(self, model, layers):
        """Records forward passes of `model`; `layers`: paths of the modules that are layers."""
        hooks = []

        def enter(path, *_):
            self._modules.append(path)
            if path in layers and not self._layers:
                self._layers.append(len(self.visits))
                self.visits.append(path)

        def leave(path, *_):
            self._modules.pop()
            if path in layers and self._layers and self.visits[self._layers[-1]] == path:
                self._layers.pop()

        for path, module in model.named_modules():
            hooks.append(module.register_forward_pre_hook(functools.partial(enter, path)))
            hooks.append(module.register_forward_hook(functools.partial(leave, path)))
        for name, parameter in model.named_parameters():
            storage = self.storage_of(parameter)
            storage.parameter = storage.parameter or name
            storage.trained = storage.trained or parameter.requires_grad
        for buffer in model.buffers():
            self.storage_of(buffer).constant = True
        self.recording = True
        try:
            with torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor):
                yield
        finally:
            self.recording = False
            for hook in hooks:
                hook.remove()
        for view in self._pending:  # results of the last call
            self._keep(self.calls[-1], view)


@contextlib.contextmanager
def watching_fused_attention(recorder):
    """Replaces the functions by which modules call fused attention; before modules are imported, which may keep a name of their own."""
    functions = {name: getattr(torch.nn.functional, name) for name in FUSED_ATTENTION if hasattr(torch.nn.functional, name)}

    def watched(function):
        @functools.wraps(function)
        def call(query, key, value, *args, **kwargs):
            return recorder.fused_attention(function, query, key, value, args, kwargs)
        return call

    for name, function in functions.items():
        setattr(torch.nn.functional, name, watched(function))
    try:
        yield
    finally:
        for name, function in functions.items():
            setattr(torch.nn.functional, name, function)
