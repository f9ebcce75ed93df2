#include "model/network/network.hpp"

#include "model/hardware/kernel_time.hpp"
#include "model/network/passes.hpp"

#include <algorithm>
#include <iterator>

namespace prismopt {

namespace {

LayerShape whole(int sequence)
{
    LayerShape shape;
    shape.sequence = sequence;
    return shape;
}

/// Blocks beside each other: the first has the norm and the gather of all, the last the sum. `leading`:
/// number of blocks before them, which stay whole.
std::vector<Operator> side_by_side(const std::vector<Block>& blocks, std::size_t leading)
{
    std::vector<Operator> operators;
    for (std::size_t b = 0; b < leading; ++b) {
        operators.insert(operators.end(), blocks[b].begin(), blocks[b].end());
    }
    for (std::size_t b = leading; b < blocks.size(); ++b) {
        const bool first = b == leading;
        const bool last = b + 1 == blocks.size();
        for (std::size_t i = first ? 0 : 1; i + (last ? 0 : 1) < blocks[b].size(); ++i) {
            Operator op = blocks[b][i];
            if (auto* linear = std::get_if<Linear>(&op)) {
                const bool enters = linear->split == Linear::Split::columns;
                linear->alone = enters ? first : last;
                linear->keeps_input = linear->keeps_input && (first || !enters);
            }
            operators.push_back(op);
        }
    }
    return operators;
}

/// Operators of a layer with a second stream of so many tokens: attention joins the streams, everything else
/// is there for each, with weights of its own.
std::vector<Operator> with_second_stream(const std::vector<Operator>& operators, double second)
{
    std::vector<Operator> result;
    const auto add = [&result, second](auto from, auto to, LayerStream::Of stream) {
        std::transform(from, to, std::back_inserter(result), [stream, second](Operator op) {
            std::visit(
                [stream, second](auto& own) {
                    if constexpr (requires { own.stream; }) {
                        own.stream = {stream, second};
                    }
                },
                op);
            return op;
        });
    };
    const auto joins = [](const Operator& op) { return std::holds_alternative<Attention>(op); };
    for (auto from = operators.begin(); from != operators.end();) {
        const auto to = std::find_if(from, operators.end(), joins);
        add(from, to, LayerStream::Of::first);
        add(from, to, LayerStream::Of::second);
        from = to;
        if (to != operators.end()) {
            result.push_back(*to);
            ++from;
        }
    }
    return result;
}

void freeze(std::vector<Operator>& operators, FrozenStorage storage)
{
    for (Operator& op : operators) {
        std::visit(
            [storage](auto& own) {
                if constexpr (requires { own.frozen; }) {
                    own.frozen = true;
                }
                if constexpr (requires { own.stored_bytes; }) {
                    own.stored_bytes = storage == FrozenStorage::bf16 ? 0.0 : bytes_of(storage);
                }
            },
            op);
    }
}

/// Gives all products 16 bits, and what is saved or sent for them.
void widen(std::vector<Operator>& operators)
{
    for (Operator& op : operators) {
        std::visit(
            [](auto& own) {
                if constexpr (requires { own.wide; }) {
                    own.wide = true;
                }
                if constexpr (requires { own.keeps_low; }) {
                    own.keeps_low = false;
                    own.of_experts = false;
                }
                if constexpr (requires { own.low; }) {
                    own.low = false;
                }
            },
            op);
    }
}

void attend_in_8_bits(std::vector<Operator>& operators)
{
    for (Operator& op : operators) {
        if (auto* attention = std::get_if<Attention>(&op)) {
            attention->low = attention->kernel == AttentionKernel::flash;
        }
    }
}

bool is_wide(std::string_view block, const WideLayers& wide)
{
    return std::find(wide.blocks.begin(), wide.blocks.end(), block) != wide.blocks.end();
}

template <std::size_t... Is>
std::vector<std::string> kind_names(std::index_sequence<Is...>)
{
    return {std::string(std::variant_alternative_t<Is, BlockDescription>::name)...};
}

/// Beside each product of a frozen layer two narrow ones, x A B (Hu et al., arXiv 2106.09685, section 4.1).
std::vector<Operator> with_adapters(const std::vector<Operator>& operators, double rank,
                                    AdapterTargets targets)
{
    std::vector<Operator> result;
    for (const Operator& op : operators) {
        result.push_back(op);
        const auto* linear = std::get_if<Linear>(&op);
        if (linear == nullptr ||
            (targets == AdapterTargets::attention && !linear->modules.has(Module::attn))) {
            continue;
        }
        Linear down = *linear;
        down.out = rank;
        down.bias = false;
        down.alone = false;  // the base's input is there, and its sum takes the adapter's result in
        down.frozen = false;
        down.stored_bytes = 0.0;
        Linear up = down;
        up.in = rank;
        up.out = linear->out;
        // Where the base divides its columns A is whole on each member, where it divides its rows B is.
        down.split = linear->split == Linear::Split::rows ? Linear::Split::rows : Linear::Split::none;
        up.split = linear->split == Linear::Split::columns ? Linear::Split::columns : Linear::Split::none;
        result.emplace_back(down);
        result.emplace_back(up);
    }
    return result;
}

/// Features of an input that is not the residual stream, which the first block of a layer
/// names; 0: it reads the stream.
double data_width(const LayerDescription& layer)
{
    return std::visit(
        []<class Kind>(const Kind& first) {
            if constexpr (requires { first.from; }) {
                return static_cast<double>(first.from);
            } else {
                return 0.0;
            }
        },
        layer.blocks.front());
}

}  // namespace

LayerKind layer_kind(const LayerDescription& layer, const Workload& w)
{
    const double hidden = layer.hidden > 0 ? layer.hidden : w.hidden;
    const ResidualStream stream{hidden, w.normalisation, w.norms, w.drops()};
    std::vector<Block> blocks;
    for (const BlockDescription& block : layer.blocks) {
        blocks.push_back(std::visit([&stream](const auto& own) { return operators_of(own, stream); }, block));
        if (w.attention_precision == AttentionPrecision::fp8) {
            attend_in_8_bits(blocks.back());
        }
        if (is_wide(kind_name(block), w.wide)) {
            widen(blocks.back());
        }
    }
    const double from = data_width(layer);
    LayerKind kind{layer.name, from > 0.0 ? from : hidden, {}, layer.tokens};
    if (layer.parallel) {
        const auto beside = std::find_if_not(layer.blocks.begin(), layer.blocks.end(), leads_parallel);
        kind.operators = side_by_side(blocks, static_cast<std::size_t>(beside - layer.blocks.begin()));
    } else {
        for (const Block& block : blocks) {
            kind.operators.insert(kind.operators.end(), block.begin(), block.end());
        }
    }
    if (layer.second_stream > 0) {
        kind.operators = with_second_stream(kind.operators, layer.second_stream);
    }
    if (layer.frozen) {
        freeze(kind.operators, w.frozen_storage);
        if (w.adapter_rank > 0) {
            kind.operators = with_adapters(kind.operators, w.adapter_rank, w.adapter_targets);
        }
    }
    return kind;
}

namespace {

/// Layers before the first that is trained need no gradients, and so no backward pass.
void omit_backward(const Workload& w, Network& network)
{
    const bool adapted = w.adapter_rank > 0;
    const bool embeds = w.trains() && !w.frozen_ends && !network.embedding.operators.empty();
    network.embedding.backward = embeds;
    // A tower reads data; the embedded tokens join it where all tokens are
    // there, in the width of the network.
    const bool tower = !w.sequence.empty() && data_width(w.kinds[w.sequence.front().kind]) > 0.0;
    bool trained = false;
    for (LayerKind& kind : network.kinds) {
        kind.backward = false;
    }
    for (const int layer : network.layers) {
        const LayerDescription& kind = w.kinds[layer];
        const bool joined = !tower || (kind.tokens == 1.0 && (kind.hidden == 0 || kind.hidden == w.hidden));
        trained = trained || (embeds && joined) || (w.trains() && (!kind.frozen || adapted));
        network.kinds[layer].backward = network.kinds[layer].backward || trained;
    }
    network.head.backward = w.trains() && (trained || !w.frozen_ends);
}

/// The first and last layers become kinds of their own.
void widen_ends(const WideLayers& wide, Network& network)
{
    const int layers = static_cast<int>(network.layers.size());
    std::vector<int> widened(network.kinds.size(), -1);  // [kind]: the kind of its layers at the ends
    for (int layer = 0; layer < layers; ++layer) {
        if (layer >= wide.first && layer < layers - wide.last) {
            continue;
        }
        int& kind = network.layers[layer];
        int& copy = widened[kind];
        if (copy < 0) {
            copy = static_cast<int>(network.kinds.size());
            network.kinds.push_back(network.kinds[kind]);
            widen(network.kinds.back().operators);
        }
        kind = copy;
    }
}

/// Bytes that the kernels of a loss move per logit, forward and backward; 0: as much as those of the software
/// stack. PyTorch's on 32-bit logits: cast (2 + 4), log-softmax (4 + 4 + 4), its gradient (4 + 4 + 4) after
/// that of the chosen ones (4), cast back (4 + 2). Fused kernels have the default of stacks: 6 bytes, for
/// 16-bit logits that are read twice and written once, leave 117 measured runs of MPT
/// 4.4 % off in the mean, 24 bytes 3.7 %.
double loss_traffic(LossKernel kernel)
{
    constexpr double unfused = 6.0 + 12.0 + 12.0 + 4.0 + 6.0;
    switch (kernel) {
        case LossKernel::of_stack: break;
        case LossKernel::unfused:
        case LossKernel::chunked: return unfused;
        case LossKernel::fused:
        case LossKernel::fused_linear: return SoftwareStack{}.loss_traffic;
    }
    return 0.0;
}

/// Products in 8 and 4 bits cast 16-bit parameters.
NumberType stored_as(Precision precision)
{
    return precision == Precision::fp32 || precision == Precision::tf32 ? NumberType::fp32 : NumberType::bf16;
}

Network described_network(const Workload& w)
{
    const ResidualStream stream{static_cast<double>(w.hidden), w.normalisation, w.norms, w.drops()};
    Network network;
    for (const LayerDescription& kind : w.kinds) {
        network.kinds.push_back(layer_kind(kind, w));
    }
    for (const LayerRun& run : w.sequence) {
        network.layers.insert(network.layers.end(), run.count, run.kind);
    }
    network.embedding = {"embedding", stream.hidden, {}};
    network.head = {"head", stream.hidden, {}};
    if (w.vocabulary > 0) {
        network.embedding.operators = embedding_block(stream, w.vocabulary, w.positions);
        network.head.operators = head_block(stream, w.vocabulary, w.tied_embedding);
    }
    for (int depth = 0; depth < w.predictions; ++depth) {
        std::vector<Operator> module = prediction_block(stream, w.vocabulary);
        for (const LayerRun& run : w.prediction) {
            for (int i = 0; i < run.count; ++i) {
                const std::vector<Operator>& layer = network.kinds[run.kind].operators;
                module.insert(module.end(), layer.begin(), layer.end());
            }
        }
        if (is_wide(prediction_modules, w.wide)) {
            widen(module);
        }
        Block head = head_block(stream, w.vocabulary, true);
        std::get<Linear>(head[1]).counted = false;
        module.insert(module.end(), head.begin(), head.end());
        network.head.operators.insert(network.head.operators.end(), module.begin(), module.end());
    }
    if (w.frozen_ends) {
        freeze(network.embedding.operators, FrozenStorage::bf16);
        freeze(network.head.operators, FrozenStorage::bf16);
    }
    omit_backward(w, network);
    widen_ends(w.wide, network);
    return network;
}

}  // namespace

Network network_of(const Workload& w)
{
    Network network = w.captured ? *w.captured : described_network(w);
    network.optimizer = w.optimizer;
    network.activation_storage = w.activation_storage;
    network.loss = w.loss;
    for (Operator& op : network.head.operators) {
        if (auto* loss = std::get_if<Loss>(&op)) {
            loss->bytes = loss_traffic(w.loss);
        }
    }
    network.wide_stream = w.wide_stream;
    network.optimizer.parameters = stored_as(w.precision);
    if (!w.trains()) {  // no pass needs them in 16 bits
        network.optimizer.product_bytes = operand_bytes(w.precision);
    }
    return network;
}

std::vector<std::string> wide_block_names()
{
    std::vector<std::string> names =
        kind_names(std::make_index_sequence<std::variant_size_v<BlockDescription>>());
    names.emplace_back(prediction_modules);
    return names;
}

bool has_narrow_products(const Network& network)
{
    const auto narrow = [](const Operator& op) {
        return std::visit(
            [](const auto& own) {
                if constexpr (requires { own.wide, own.in; }) {
                    return !own.wide;
                } else {
                    return false;
                }
            },
            op);
    };
    return std::any_of(network.layers.begin(), network.layers.end(), [&](int layer) {
        const std::vector<Operator>& operators = network.kinds[layer].operators;
        return std::any_of(operators.begin(), operators.end(), narrow);
    });
}

Parameters parameters_of(const LayerKind& kind, const LayerShape& shape)
{
    const Extent extent(shape, kind.tokens);
    Parameters sum;
    for (const Operator& op : kind.operators) {
        sum += parameters_of(op, extent);
    }
    if (!kind.backward) {
        sum.frozen = sum.all - sum.expert - sum.rows;
        sum.frozen_expert = sum.expert;
    }
    return sum;
}

double parameters_of(const Network& network)
{
    double sum = 0.0;
    network.for_kinds([&](const LayerKind& kind, int count) {
        const Parameters own = parameters_of(kind, whole(1));
        sum += count * (own.all - own.tied);
    });
    return sum;
}

double active_parameters_of(const Network& network)
{
    const LayerShape shape = whole(1);
    const Extent extent(shape);
    double idle = 0.0;
    network.for_kinds([&](const LayerKind& kind, int count) {
        for (const Operator& op : kind.operators) {
            if (const auto* experts = std::get_if<GroupedLinear>(&op)) {
                const Routing& routing = experts->routing;
                idle += count * (1.0 - routing.active / routing.experts) * experts->parameters(extent).all;
            } else if (const auto* tables = std::get_if<Tables>(&op)) {
                idle += count * (tables->rows - tables->lookups) * tables->columns;
            }
        }
    });
    return parameters_of(network) - idle;
}

double trained_parameters_of(const Network& network)
{
    double frozen = 0.0;
    network.for_kinds([&](const LayerKind& kind, int count) {
        const Parameters own = parameters_of(kind, whole(1));
        frozen += count * (own.frozen + own.frozen_expert - (own.frozen > 0.0 ? own.tied : 0.0));
    });
    return parameters_of(network) - frozen;
}

double model_flops_per_sequence(const Network& network, int sequence, const LengthMix* lengths)
{
    double sum = 0.0;
    LayerShape shape = whole(sequence);
    shape.lengths = lengths;
    network.for_kinds([&](const LayerKind& kind, int count) {
        sum += count * (forward_calls(kind, shape).needed_flops() +
                        backward_calls(kind, shape, Gradients::both).needed_flops());
    });
    return sum;
}

double attention_flops(const Network& network, int tokens)
{
    const auto of_calls = [](const Calls& calls) {
        double sum = 0.0;
        for (const AnyCall& call : calls.list()) {
            const auto* kernel = std::get_if<KernelCall>(&call);
            sum += kernel != nullptr && kernel->kind == KernelClass::attention ? kernel->flops : 0.0;
        }
        return sum;
    };
    double sum = 0.0;
    const LayerShape shape = whole(tokens);
    network.for_kinds([&](const LayerKind& kind, int count) {
        sum += count * (of_calls(forward_calls(kind, shape)) +
                        of_calls(backward_calls(kind, shape, Gradients::both)));
    });
    return sum;
}

}  // namespace prismopt
