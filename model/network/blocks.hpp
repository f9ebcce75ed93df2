#pragma once

/// The blocks that layers are made of. A block is a struct with the keys by which users describe it, and a function that returns its
/// operators (in model/network/blocks/). Readers, schema and reference page follow from the keys.

#include "model/network/operators.hpp"

#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace prismopt {

using Block = std::vector<Operator>;

/// What the blocks of a layer share: the stream that they read and add to.
struct ResidualStream {
    double hidden = 0.0;
    Normalisation normalisation = Normalisation::layer_norm;
    NormPlace norms = NormPlace::pre;
    bool dropout = false;  // masks are kept
};

/// A key of a block's description. The range is of numbers.
template <class Owner, class Value>
struct BlockKey {
    std::string_view name;
    Value Owner::*member;
    std::string_view help;
    std::string_view example;
    bool required = false;
    double low = 1.0;
    double high = 1e7;
};
template <class Owner, class Value>
constexpr BlockKey<Owner, Value> needed_key(std::string_view name, Value Owner::*member, std::string_view help,
                                            std::string_view example)
{
    return {name, member, help, example, true};
}
template <class Owner, class Value>
constexpr BlockKey<Owner, Value> key(std::string_view name, Value Owner::*member, std::string_view help, std::string_view example,
                                     double low = 1.0, double high = 1e7)
{
    return {name, member, help, example, false, low, high};
}

struct AttentionBlock {
    int heads = 0;
    int kv_heads = 0;  // 0: as many as heads (multi-head); fewer: grouped-query attention
    int head = 0;      // size; 0: hidden / heads
    bool causal = true;
    AttentionKernel kernel = AttentionKernel::flash;
    Positions positions = Positions::rotary;
    Biases bias = Biases::none;
    QueryKeyNorm query_key_norm = QueryKeyNorm::none;
    int window = 0;
    int chunk = 0;
    bool sinks = false;
    bool gate = false;
    int context = 0;  // tokens
    int context_width = 0;

    static constexpr std::string_view name = "attention";
    static constexpr std::string_view help = "attention with many heads: full, causal, in a window, or to another sequence";
    static constexpr auto keys = std::tuple{
        needed_key("heads", &AttentionBlock::heads, "attention heads", "32"),
        key("kv_heads", &AttentionBlock::kv_heads, "key and value heads; unless given: heads", "8"),
        key("head", &AttentionBlock::head, "size of a head; unless given: hidden / heads", "128"),
        key("causal", &AttentionBlock::causal, "whether a token attends only to those before it", "true"),
        key("kernel", &AttentionBlock::kernel, "plain writes the score matrix to memory, flash never does", "flash"),
        key("positions", &AttentionBlock::positions, "whether queries and keys are turned by their positions", "rotary"),
        key("bias", &AttentionBlock::bias, "biases of the projections", "qkv"),
        key("query_key_norm", &AttentionBlock::query_key_norm, "norms of queries and keys", "head"),
        key("window", &AttentionBlock::window, "keys that a query sees at most, its own among them; unless given: all", "128"),
        key("chunk", &AttentionBlock::chunk, "tokens of a chunk outside of which a query sees none; unless given: all", "8192"),
        key("sinks", &AttentionBlock::sinks, "a weight for each head in the denominator of its softmax (gpt-oss)", "true"),
        key("gate", &AttentionBlock::gate, "a gate on the result, as wide as the queries (Qwen3-Next)", "true"),
        key("context", &AttentionBlock::context, "cross attention: tokens of the other sequence whose keys and values are read",
            "512"),
        key("context_width", &AttentionBlock::context_width, "columns of the other sequence; unless given: hidden", "4096")};

    int key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
    bool splits(int tp) const { return heads % tp == 0 && (key_heads() % tp == 0 || tp % key_heads() == 0); }

    bool operator==(const AttentionBlock&) const = default;
};
Block operators_of(const AttentionBlock& block, const ResidualStream& stream);

struct LatentAttentionBlock {
    int heads = 0;
    int query_rank = 0;
    int key_value_rank = 0;
    int rotary = 0;
    int plain = 0;
    int value = 0;
    bool causal = true;
    AttentionKernel kernel = AttentionKernel::flash;

    static constexpr std::string_view name = "latent_attention";
    static constexpr std::string_view help = "multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)";
    static constexpr auto keys = std::tuple{
        needed_key("heads", &LatentAttentionBlock::heads, "attention heads", "128"),
        key("query_rank", &LatentAttentionBlock::query_rank, "rank of the compressed queries; unless given: they are not",
            "1536"),
        needed_key("key_value_rank", &LatentAttentionBlock::key_value_rank, "rank of the compressed keys and values", "512"),
        needed_key("rotary", &LatentAttentionBlock::rotary,
                   "size of the part of a key that carries the position, shared by all heads", "64"),
        needed_key("plain", &LatentAttentionBlock::plain, "size of a head's key without position", "128"),
        needed_key("value", &LatentAttentionBlock::value, "size of a head's value", "128"),
        key("causal", &LatentAttentionBlock::causal, "whether a token attends only to those before it", "true"),
        key("kernel", &LatentAttentionBlock::kernel, "plain writes the score matrix to memory, flash never does", "flash")};

    bool splits(int tp) const { return heads % tp == 0; }

    bool operator==(const LatentAttentionBlock&) const = default;
};
Block operators_of(const LatentAttentionBlock& block, const ResidualStream& stream);

struct MlpBlock {
    int inner = 0;
    Activation activation = Activation::gelu;
    bool bias = false;

    static constexpr std::string_view name = "mlp";
    static constexpr std::string_view help = "two products with an activation between them; three with a gated one";
    static constexpr auto keys = std::tuple{needed_key("inner", &MlpBlock::inner, "its inner size", "14336"),
                                            key("activation", &MlpBlock::activation, "activation", "swiglu"),
                                            key("bias", &MlpBlock::bias, "whether its products have biases", "true")};

    bool operator==(const MlpBlock&) const = default;
};
Block operators_of(const MlpBlock& block, const ResidualStream& stream);

/// Mixture of experts (Lepikhin et al., arXiv 2006.16668, section 2.2; groups and order as in Megatron-Core).
struct ExpertsBlock {
    int count = 0;
    int active = 0;
    int inner = 0;
    int shared = 0;
    bool shared_gate = false;
    int latent = 0;
    Activation activation = Activation::swiglu;
    bool bias = false;
    double imbalance = 1.0;
    double capacity = 0.0;

    static constexpr std::string_view name = "experts";
    static constexpr std::string_view help = "a mixture of experts: each token goes to some of them";
    static constexpr auto keys = std::tuple{
        needed_key("count", &ExpertsBlock::count, "routed experts", "128"),
        needed_key("active", &ExpertsBlock::active, "experts that a token goes to", "8"),
        needed_key("inner", &ExpertsBlock::inner, "inner size of an expert", "2048"),
        key("shared", &ExpertsBlock::shared, "inner size of the experts that see every token, together", "2048"),
        key("shared_gate", &ExpertsBlock::shared_gate, "a gate on what the shared experts give", "true"),
        key("latent", &ExpertsBlock::latent,
            "columns of what routed experts see, between a projection down and one up; unless given: hidden", "1024"),
        key("activation", &ExpertsBlock::activation, "activation", "swiglu"),
        key("bias", &ExpertsBlock::bias, "whether experts' products and the router have biases", "true"),
        key("imbalance", &ExpertsBlock::imbalance, "tokens of the fullest group of experts over the mean", "1.2", 1.0, 1000.0),
        key("capacity", &ExpertsBlock::capacity,
            "most tokens of an expert over the mean, beyond which tokens are dropped; unless given: none are", "1.25", 1.0,
            1000.0)};

    Routing routing() const { return {static_cast<double>(count), static_cast<double>(active), imbalance, capacity}; }

    bool operator==(const ExpertsBlock&) const = default;
};
Block operators_of(const ExpertsBlock& block, const ResidualStream& stream);

struct Mamba2Block {
    int heads = 0;
    int head = 0;
    int groups = 1;
    int state = 128;
    int convolution = 4;
    int chunk = 256;

    static constexpr std::string_view name = "mamba2";
    static constexpr std::string_view help = "a state space with scalar decays (Mamba-2: Dao and Gu, arXiv 2405.21060)";
    static constexpr auto keys =
        std::tuple{needed_key("heads", &Mamba2Block::heads, "heads", "128"),
                   needed_key("head", &Mamba2Block::head, "size of a head", "64"),
                   key("groups", &Mamba2Block::groups, "groups of heads that share B and C", "8"),
                   key("state", &Mamba2Block::state, "size of the state", "128"),
                   key("convolution", &Mamba2Block::convolution, "taps of the convolution before the scan", "4"),
                   key("chunk", &Mamba2Block::chunk, "tokens that the scan takes at a time", "128")};

    /// Groups are not copied (Megatron-Core, ssm/mamba_mixer.py).
    bool splits(int tp) const { return heads % tp == 0 && groups % tp == 0; }

    bool operator==(const Mamba2Block&) const = default;
};
Block operators_of(const Mamba2Block& block, const ResidualStream& stream);

struct GatedDeltaBlock {
    int key_heads = 0;
    int value_heads = 0;
    int key = 128;
    int value = 128;
    int convolution = 4;
    int chunk = 64;
    bool by_channel = false;

    static constexpr std::string_view name = "gated_delta";
    static constexpr std::string_view help =
        "linear attention by the gated delta rule (Yang et al., arXiv 2412.06464), or with a decay for each channel (Kimi delta "
        "attention, arXiv 2510.26692)";
    static constexpr auto keys = std::tuple{
        needed_key("key_heads", &GatedDeltaBlock::key_heads, "heads of queries and keys", "16"),
        needed_key("value_heads", &GatedDeltaBlock::value_heads, "heads of values", "32"),
        prismopt::key("key", &GatedDeltaBlock::key, "size of a head's key", "128"),
        prismopt::key("value", &GatedDeltaBlock::value, "size of a head's value", "128"),
        prismopt::key("convolution", &GatedDeltaBlock::convolution, "taps of the convolution before the scan", "4"),
        prismopt::key("chunk", &GatedDeltaBlock::chunk, "tokens that the scan takes at a time", "64"),
        prismopt::key("by_channel", &GatedDeltaBlock::by_channel, "a decay for each channel of a key, not each head", "true")};

    bool splits(int tp) const { return key_heads % tp == 0 && value_heads % tp == 0; }

    bool operator==(const GatedDeltaBlock&) const = default;
};
Block operators_of(const GatedDeltaBlock& block, const ResidualStream& stream);

struct GatedConvolutionBlock {
    int taps = 3;

    static constexpr std::string_view name = "gated_convolution";
    static constexpr std::string_view help = "a short convolution between two gates (LFM2, arXiv 2511.23404)";
    static constexpr auto keys = std::tuple{key("taps", &GatedConvolutionBlock::taps, "tokens that a result reads", "3")};

    bool operator==(const GatedConvolutionBlock&) const = default;
};
Block operators_of(const GatedConvolutionBlock& block, const ResidualStream& stream);

/// A product on its own, without norm and sum: patches to columns, towers to decoders, layers of recommendation networks.
struct LinearBlock {
    int from = 0;
    int to = 0;
    bool bias = true;
    bool activated = false;
    Activation activation = Activation::relu;
    int rows = 0;

    static constexpr std::string_view name = "linear";
    static constexpr std::string_view help = "a product on its own, without norm and sum";
    static constexpr auto keys =
        std::tuple{key("from", &LinearBlock::from, "columns of its input; unless given: hidden", "13"),
                   key("to", &LinearBlock::to, "columns of its result; unless given: hidden", "512"),
                   key("bias", &LinearBlock::bias, "whether it has a bias", "true"),
                   key("activated", &LinearBlock::activated, "whether an activation follows", "true"),
                   key("activation", &LinearBlock::activation, "the activation that follows", "relu"),
                   key("rows", &LinearBlock::rows, "rows that it multiplies for each sample; unless given: a token each", "1")};

    bool splits(int tp) const { return tp == 1; }

    bool operator==(const LinearBlock&) const = default;
};
Block operators_of(const LinearBlock& block, const ResidualStream& stream);

/// Scales, shifts and gates of a layer's blocks by a vector of the sample (adaptive norms: Peebles and Xie, arXiv 2212.09748).
struct ModulationBlock {
    int vectors = 6;

    static constexpr std::string_view name = "modulation";
    static constexpr std::string_view help = "scales, shifts and gates of a layer by a vector of the sample (arXiv 2212.09748)";
    static constexpr auto keys =
        std::tuple{key("vectors", &ModulationBlock::vectors, "vectors as wide as hidden that it makes of the sample's", "6")};

    bool operator==(const ModulationBlock&) const = default;
};
Block operators_of(const ModulationBlock& block, const ResidualStream& stream);

/// Norm, activation and convolution, twice, with a sum round them (Ho et al., arXiv 2006.11239, appendix B).
struct ResidualConvolutionBlock {
    int from = 0;
    int to = 0;
    int kernel = 3;
    int dimensions = 2;
    int time = 0;

    static constexpr std::string_view name = "residual_convolution";
    static constexpr std::string_view help = "norm, activation and convolution, twice, with a sum round them (arXiv 2006.11239)";
    static constexpr auto keys = std::tuple{
        key("from", &ResidualConvolutionBlock::from,
            "channels of its input, those that come past lower levels among them; unless given: hidden", "640"),
        key("to", &ResidualConvolutionBlock::to, "channels of its result; unless given: hidden", "320"),
        key("kernel", &ResidualConvolutionBlock::kernel, "width of the convolutions", "3"),
        key("dimensions", &ResidualConvolutionBlock::dimensions, "of the positions: 2 for images, 3 for video", "2", 1, 3),
        key("time", &ResidualConvolutionBlock::time, "columns of the sample's vector that is added between; unless given: none",
            "1280")};

    bool splits(int tp) const { return tp == 1; }

    bool operator==(const ResidualConvolutionBlock&) const = default;
};
Block operators_of(const ResidualConvolutionBlock& block, const ResidualStream& stream);

/// One convolution without norm and sum: to another resolution, or to other channels.
struct ConvolutionBlock {
    int from = 0;
    int to = 0;
    int kernel = 3;
    int dimensions = 2;
    int stride = 1;

    static constexpr std::string_view name = "convolution";
    static constexpr std::string_view help = "a convolution on its own";
    static constexpr auto keys = std::tuple{
        key("from", &ConvolutionBlock::from, "channels of its input; unless given: hidden", "4"),
        key("to", &ConvolutionBlock::to, "channels of its result; unless given: hidden", "320"),
        key("kernel", &ConvolutionBlock::kernel, "its width", "3"),
        key("dimensions", &ConvolutionBlock::dimensions, "of the positions: 1 for sequences, 2 for images, 3 for video", "2", 1,
            3),
        key("stride", &ConvolutionBlock::stride, "positions of the input for each of the result, in each dimension", "2")};

    bool splits(int tp) const { return tp == 1; }

    bool operator==(const ConvolutionBlock&) const = default;
};
Block operators_of(const ConvolutionBlock& block, const ResidualStream& stream);

/// Embedding tables of a recommendation network, shared out over the expert parallel GPUs.
struct TablesBlock {
    int tables = 0;
    double rows = 0.0;
    int columns = 0;
    double lookups = 0.0;
    double number_bytes = 4.0;

    static constexpr std::string_view name = "tables";
    static constexpr std::string_view help = "embedding tables, shared out over the expert parallel GPUs (arXiv 2310.02784)";
    static constexpr auto keys = std::tuple{
        needed_key("tables", &TablesBlock::tables, "tables", "26"),
        BlockKey<TablesBlock, double>{"rows", &TablesBlock::rows, "rows of all tables together", "204184588", true, 1.0, 1e15},
        needed_key("columns", &TablesBlock::columns, "numbers of a row", "128"),
        BlockKey<TablesBlock, double>{"lookups", &TablesBlock::lookups, "rows that a sample reads, of all tables", "214", true,
                                      1.0, 1e9},
        key("number_bytes", &TablesBlock::number_bytes, "bytes of a number in a row", "4.0", 1.0, 8.0)};

    bool operator==(const TablesBlock&) const = default;
};
Block operators_of(const TablesBlock& block, const ResidualStream& stream);

/// What the features of a recommendation network have to do with each other: products of all pairs, or cross layers of low rank (Wang
/// et al., arXiv 2008.13535).
struct InteractionBlock {
    int vectors = 0;
    int size = 0;
    int layers = 0;
    int rank = 0;

    static constexpr std::string_view name = "interaction";
    static constexpr std::string_view help =
        "products of all pairs of a sample's vectors, or cross layers of low rank (arXiv 2008.13535)";
    static constexpr auto keys =
        std::tuple{needed_key("vectors", &InteractionBlock::vectors, "vectors of a sample", "27"),
                   needed_key("size", &InteractionBlock::size, "numbers of a vector", "128"),
                   key("layers", &InteractionBlock::layers, "cross layers; unless given: products of all pairs", "3"),
                   key("rank", &InteractionBlock::rank, "rank of a cross layer", "512")};

    bool splits(int tp) const { return tp == 1; }

    bool operator==(const InteractionBlock&) const = default;
};
Block operators_of(const InteractionBlock& block, const ResidualStream& stream);

/// Every kind of block, in the order in which messages show them.
using BlockDescription = std::variant<AttentionBlock, LatentAttentionBlock, MlpBlock, ExpertsBlock, Mamba2Block, GatedDeltaBlock,
                                      GatedConvolutionBlock, LinearBlock, ModulationBlock, ResidualConvolutionBlock,
                                      ConvolutionBlock, TablesBlock, InteractionBlock>;

/// Whether tensor parallelism of that degree can divide it.
inline bool splits(const BlockDescription& block, int tp)
{
    return std::visit(
        [tp]<class Kind>(const Kind& kind) {
            if constexpr (requires { kind.splits(tp); }) {
                return kind.splits(tp);
            } else {
                return true;
            }
        },
        block);
}

/// The first and the last of a network, and what predicts tokens behind the next one.
Block embedding_block(const ResidualStream& stream, double vocabulary, double positions);
/// Final norm, logits, loss. `tied`: the embedding's table is the head's matrix.
Block head_block(const ResidualStream& stream, double vocabulary, bool tied);
/// What a module of multi-token prediction (DeepSeek-AI, arXiv 2412.19437, section 2.2) has before its layer: the embedding of a
/// later token, two norms, and their product. Its head is the network's.
Block prediction_block(const ResidualStream& stream, double vocabulary);

}  // namespace prismopt
