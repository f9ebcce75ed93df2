"""Turns recorded calls into operators with counts for one sample. docs/captured-networks.md describes what they hold."""

import math

PRODUCTS = {"aten.mm": (0, 1), "aten.addmm": (1, 2), "aten.bmm": (0, 1), "aten.baddbmm": (1, 2), "aten.mv": (0, 1), "aten.addmv": (1, 2),
            "aten.dot": (0, 1), "aten.addbmm": (1, 2)}


def named(text):
    return {"aten." + name for name in text.split()}


CONVOLUTIONS = named("convolution _convolution")
LOOKUPS = named("embedding _embedding_bag embedding_bag")
SOFTMAX = named("_softmax _safe_softmax")
NORMS = named("""
    _batch_norm_with_update _fused_rms_norm _native_batch_norm_legit cudnn_batch_norm native_batch_norm native_group_norm
    native_layer_norm
""")
ACTIVATIONS = named("""
    _prelu_kernel celu elu gelu glu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid_forward mish prelu relu
    rrelu_with_noise sigmoid silu softplus tanh threshold
""")
# Kernels whose traffic is what they read and write, once.
STREAMS = SOFTMAX | named("""
    _adaptive_avg_pool2d _adaptive_avg_pool3d _log_softmax _to_copy _unique2 _weight_norm_interface abs acos add addcdiv
    addcmul all amax amin aminmax any arange argmax argmin argsort asin atan atan2 avg_pool1d avg_pool2d avg_pool3d
    bernoulli bincount bitwise_and bitwise_not bitwise_or bitwise_xor cat ceil clamp clamp_max clamp_min clone col2im
    complex constant_pad_nd contiguous copy cos cosh cumprod cumsum div eq erf erfc erfinv exp exp2 expm1 exponential
    eye fill flip floor floor_divide fmod frac full full_like gather ge gt im2col index index_add index_copy index_put
    index_select isfinite isinf isnan le lerp linalg_vector_norm log log10 log1p log2 logaddexp logical_and logical_not
    logical_or logical_xor logsumexp lt masked_fill masked_select max max_pool2d_with_indices max_pool3d_with_indices
    maximum mean min minimum mse_loss mul native_dropout ne neg new_full new_ones new_zeros nll_loss2d_forward
    nll_loss_forward nonzero norm normal one_hot ones ones_like pixel_shuffle pixel_unshuffle polar pow prod rand
    rand_like randint randn randn_like reciprocal reflection_pad1d reflection_pad2d remainder repeat repeat_interleave
    replication_pad1d replication_pad2d roll round rsqrt rsub scalar_tensor scatter scatter_add scatter_reduce sgn
    sigmoid sign sin sinh slice_scatter sort sqrt square stack std std_mean sub sum tan topk tril tril_indices triu
    triu_indices trunc unfold_copy uniform upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_trilinear3d var var_mean where xlogy zero zeros zeros_like
""")
# These read as many numbers of their first tensor as they write.
GATHERS = named("gather index index_select")


def plain(name):
    """Without the mark of operators that write in place."""
    return name.rstrip("_")


def numbers_and_bytes(views, of=lambda view: view.numbers):
    """Floating-point numbers count as such, for the precision of training is the scenario's; anything else by its bytes. Scalars are
    free."""
    views = [view for view in views if view.shape]
    return (sum(of(view) for view in views if view.floating), sum(of(view) * view.element_bytes for view in views if not view.floating))


class Operators:
    """Makes operators of calls, and knows which parameters earlier ones have."""

    def __init__(self, samples, parameters):
        """`parameters`: [name]: numbers."""
        self.samples = samples
        self.not_understood = []
        self._left = dict(parameters)  # what no operator has counted
        self._counted = {}  # [parameter]: {(offset, numbers)} that operators have counted
        self._owner = {}  # [parameter]: the operator that first used it

    def of(self, call):
        if call.name in PRODUCTS:
            operator = self._product(call)
        elif call.name in CONVOLUTIONS:
            operator = self._convolution(call)
        elif call.name in LOOKUPS:
            operator = self._lookup(call)
        elif call.name == "scaled_dot_product_attention":
            operator = self._attention(call)
        else:
            operator = self._stream(call)
        operator["name"] = call.name.removeprefix("aten.")
        if call.writes:
            operator["dtype"] = call.writes[0].dtype
        # A view keeps all of its memory.
        self._add("saved", *numbers_and_bytes(call.newly_kept, lambda view: view.storage.numbers), operator)
        self._add_parameters(call, operator)
        return operator

    def each(self, count):
        """Of one sample; whole where it comes out even."""
        share = count / self.samples
        return int(share) if share == int(share) else share

    def _add(self, key, numbers, other, operator):
        if numbers > 0:
            operator[key + "_numbers"] = self.each(numbers)
        if other > 0:
            operator[key + "_bytes"] = self.each(other)

    def _add_parameters(self, call, operator):
        own, tied = 0, 0
        weights = [read for read in call.reads if read.storage.parameter is not None]
        for read in weights:
            name = read.storage.parameter
            counted = self._counted.setdefault(name, set())
            part = (read.offset, read.numbers)
            new = 0 if part in counted else min(read.numbers, self._left[name])
            counted.add(part)
            self._left[name] -= new
            self._owner.setdefault(name, operator)
            own += new
            tied += read.numbers - new
        if own > 0:
            operator["parameters"] = own
        if tied > 0:
            operator["tied_parameters"] = tied
        if weights and not any(read.storage.trained for read in weights):
            operator["frozen"] = True

    def settle(self):
        """Gives what no operator read of a parameter (rows of a table of positions) to the first that read some of it. Returns the names of
        parameters that none read."""
        for name, owner in self._owner.items():
            if self._left[name] > 0:
                owner["parameters"] += self._left[name]
        return [name for name in self._left if name not in self._owner]

    def _product(self, call):
        left, right = (call.arguments[place] for place in PRODUCTS[call.name])
        groups = left.shape[0] if len(left.shape) == 3 else 1
        m = left.shape[-2] if len(left.shape) > 1 else 1
        k = left.shape[-1]
        n = right.shape[-1] if len(right.shape) > 1 else 1
        # Weights are the operand that does not follow from the network's inputs.
        weights = right if not right.storage.from_input else left if not left.storage.from_input else None
        if weights is left:  # the transpose is the same product
            m, n = n, m
        if weights is not None and groups > 1 and weights.numbers < groups * k * n:
            m, groups = m * groups, 1  # the same weights for each
        flops = 2 * groups * m * n * k
        if weights is None:
            shape = {"op": "batched_product", "groups": self.each(groups), "m": m, "k": k, "n": n}
            if groups % self.samples != 0:
                shape.update(groups=groups, m=self.each(m))
        else:
            shape = {"op": "product", "groups": groups, "m": self.each(m), "k": k, "n": n}
            if call.name in ("aten.addmm", "aten.baddbmm", "aten.addmv") and call.arguments[0].storage.parameter is not None:
                shape["bias"] = True
        return {**shape, "forward_flops": self.each(flops)}

    def _convolution(self, call):
        data, weight, _, stride, _, _, transposed, _, groups = call.arguments[:9]
        output = call.writes[0]
        kernel = list(weight.shape[2:])
        into, out = (data.shape[1], output.shape[1])
        positions = output.shape[0] * math.prod(output.shape[2:])
        input_positions = data.shape[0] * math.prod(data.shape[2:])
        at = input_positions if transposed else positions
        return {"op": "convolution", "in": into, "out": out, "kernel": kernel, "stride": list(stride), "groups": groups,
                "positions": self.each(positions), "input_positions": self.each(input_positions), "transposed": bool(transposed),
                "bias": call.arguments[2] is not None, "forward_flops": self.each(2 * at * into * out // groups * math.prod(kernel))}

    def _lookup(self, call):
        table, indices = call.reads[0], call.reads[1]
        rows, columns = table.shape[0], table.shape[-1]
        results = call.writes[0].numbers // columns
        return {"op": "lookup", "rows": rows, "columns": columns, "lookups": self.each(indices.numbers), "results": self.each(results)}

    def _attention(self, call):
        query, key, value = call.reads
        heads, key_heads = ((view.shape[-3] if len(view.shape) > 2 else 1) for view in (query, key))
        batch = math.prod(query.shape[:-3])
        return attention(heads=self.each(heads * batch), key_heads=self.each(key_heads * batch), queries=query.shape[-2],
                         keys=key.shape[-2], key_size=query.shape[-1], value_size=value.shape[-1],
                         causal=call.arguments[-1]["causal"], kernel="flash")

    def _stream(self, call):
        kind = "norm" if call.name in NORMS else "activation" if plain(call.name) in ACTIVATIONS else "elementwise"
        operator = {"op": kind}
        if kind == "elementwise" and plain(call.name) not in STREAMS:
            operator["understood"] = False
            name = call.name.removeprefix("aten.")
            if name not in self.not_understood:
                self.not_understood.append(name)
        # Weights are read once for all samples.
        reads = [read for read in call.reads if read.storage.parameter is None and not read.storage.constant]
        result, other = numbers_and_bytes(call.writes)
        if call.name in GATHERS and reads:
            first, *reads = reads
            read_numbers, read_other = numbers_and_bytes(reads)
            gathered = call.writes[0].numbers
            read_numbers += gathered if first.floating else 0
            read_other += 0 if first.floating else gathered * first.element_bytes
        else:
            read_numbers, read_other = numbers_and_bytes(reads)
        self._add("forward", read_numbers + result, read_other + other, operator)
        # Backward: gradients of results in, what was kept in, gradients of inputs out.
        if any(read.storage.from_input or read.storage.parameter is not None for read in call.reads):
            kept, kept_other = numbers_and_bytes(call.kept)
            self._add("backward", read_numbers + result + kept, kept_other, operator)
        return operator


def attention(heads, key_heads, queries, keys, key_size, value_size, causal, kernel):
    """A flash kernel skips the masked half of the scores; plain products compute it."""
    scores = heads * queries * keys * (0.5 if causal and kernel == "flash" else 1)
    return {"op": "attention", "heads": heads, "key_heads": key_heads, "queries": queries, "keys": keys, "key_size": key_size,
            "value_size": value_size, "causal": causal, "kernel": kernel,
            "forward_flops": int(2 * scores * (key_size + value_size))}
