#pragma once

/// Blocks of layers. A block is a struct with the keys by which users describe it, and a function that
/// returns its operators (in model/network/blocks/). Readers, schema and reference page follow from the keys.
/// Formulas: docs/methods/README.md.

#include "model/network/operators.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace prismopt {

using Block = std::vector<Operator>;

/// Residual stream that the blocks of a layer read and add to.
struct ResidualStream {
    double hidden = 0.0;
    Normalisation normalisation = Normalisation::layer_norm;
    NormPlace norms = NormPlace::pre;
    bool dropout = false;  // masks are saved
};

/// Key of a block's description. `low` and `high` bound numeric values.
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
constexpr BlockKey<Owner, Value> needed_key(std::string_view name, Value Owner::*member,
                                            std::string_view help, std::string_view example)
{
    return {name, member, help, example, true};
}
template <class Owner, class Value>
constexpr BlockKey<Owner, Value> key(std::string_view name, Value Owner::*member, std::string_view help,
                                     std::string_view example, double low = 1.0, double high = 1e7)
{
    return {name, member, help, example, false, low, high};
}

/// What a degree of parallelism cannot divide in a block: quantities, and properties of the whole block.
enum class Undivided {
    heads,
    key_value_heads,
    key_heads,
    value_heads,
    groups,
    columns,
    columns_of_shared_experts,
    columns_of_experts,
    experts,
    convolutions,
    whole_sequences
};
template <>
inline constexpr auto names_of<Undivided> =
    std::to_array<Named<Undivided>>({{Undivided::heads, "heads"},
                                     {Undivided::key_value_heads, "key/value heads"},
                                     {Undivided::key_heads, "key heads"},
                                     {Undivided::value_heads, "value heads"},
                                     {Undivided::groups, "groups"},
                                     {Undivided::columns, "columns"},
                                     {Undivided::columns_of_shared_experts, "columns of shared experts"},
                                     {Undivided::columns_of_experts, "columns of an expert"},
                                     {Undivided::experts, "experts"},
                                     {Undivided::convolutions, "convolutions"},
                                     {Undivided::whole_sequences, "whole sequences"}});

/// Reason why a degree of parallelism cannot divide a block.
struct Obstacle {
    Undivided what;
    int count = 0;  // of the quantity; 0: a property

    bool operator==(const Obstacle&) const = default;
};
/// Returns the first of the quantities that `degree` does not divide.
inline std::optional<Obstacle> undivided_of(int degree, std::initializer_list<Obstacle> quantities)
{
    for (const Obstacle& quantity : quantities) {
        if (quantity.count % degree != 0) {
            return quantity;
        }
    }
    return std::nullopt;
}
/// Returns the obstacle to context parallelism in attention with so many heads: those that it divides among
/// `ulysses` GPUs beside tensor parallelism. Key/value heads are replicated where there are fewer. No
/// training framework exchanges keys for a kernel that writes its scores.
inline std::optional<Obstacle> unshared_attention(AttentionKernel kernel, int heads, int key_heads,
                                                  const ParallelPlan& plan)
{
    if (kernel == AttentionKernel::plain && plan.ring_gpus() > 1) {
        return Obstacle{Undivided::whole_sequences};
    }
    const int divisor = plan.tp * plan.head_gpus();
    return undivided_of(divisor, {{Undivided::heads, heads},
                                  {Undivided::key_value_heads, divisor % key_heads == 0 ? 0 : key_heads}});
}
/// Returns the obstacle to tensor parallelism in convolutions over positions.
inline std::optional<Obstacle> undivided_convolution(int tp)
{
    return tp > 1 ? std::optional(Obstacle{Undivided::convolutions}) : std::nullopt;
}

// Keys that blocks with top-k sparse attention share.
inline constexpr std::string_view index_keys_help =
    "top-k sparse attention: most keys that a query attends to, which an indexer chooses; default: all";
inline constexpr std::string_view index_heads_help =
    "heads of that indexer, which scores all keys; default: the keys are those that an earlier layer chose";
inline constexpr std::string_view index_head_help = "head dimension of that indexer";

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
    int value = 0;
    int query_rank = 0;
    bool keys_as_values = false;
    int index_keys = 0;
    int index_heads = 0;
    int index_head = 128;

    static constexpr std::string_view name = "attention";
    static constexpr std::string_view help =
        "multi-head attention: full, causal, sliding-window, chunked, or cross attention";
    static constexpr auto keys = std::tuple{
        needed_key("heads", &AttentionBlock::heads, "attention heads (query heads)", "32"),
        key("kv_heads", &AttentionBlock::kv_heads,
            "key/value heads (grouped-query attention); default: heads", "8"),
        key("head", &AttentionBlock::head, "head dimension; default: hidden / heads", "128"),
        key("causal", &AttentionBlock::causal, "causal mask", "true"),
        key("kernel", &AttentionBlock::kernel, "plain writes the score matrix to memory, flash never does",
            "flash"),
        key("positions", &AttentionBlock::positions, "rotary position embedding of queries and keys, or none",
            "rotary"),
        key("bias", &AttentionBlock::bias, "which projections have biases", "qkv"),
        key("query_key_norm", &AttentionBlock::query_key_norm,
            "normalisation of queries and keys: per head, or over all heads", "head"),
        key("window", &AttentionBlock::window,
            "sliding window: maximum number of keys that a query attends to, itself included; default: no "
            "window",
            "128"),
        key("chunk", &AttentionBlock::chunk,
            "chunked attention: chunk length in tokens, within which tokens attend to each other; default: "
            "not chunked",
            "8192"),
        key("sinks", &AttentionBlock::sinks,
            "learned attention sinks: one logit per head in the softmax denominator (gpt-oss)", "true"),
        key("gate", &AttentionBlock::gate, "output gate, as wide as the queries (Qwen3-Next)", "true"),
        key("context", &AttentionBlock::context,
            "cross attention: length in tokens of the sequence that keys and values come from", "512"),
        key("context_width", &AttentionBlock::context_width,
            "cross attention: hidden size of that sequence; default: hidden", "4096"),
        key("value", &AttentionBlock::value, "value head dimension; default: head", "128"),
        key("query_rank", &AttentionBlock::query_rank,
            "rank of a query compression with a norm (multi-matrix factorization attention, Step-3); "
            "default: none",
            "2048"),
        key("keys_as_values", &AttentionBlock::keys_as_values,
            "keys before their norm are the values, which need no projection (Gemma 4)", "true"),
        key("index_keys", &AttentionBlock::index_keys, index_keys_help, "2048"),
        key("index_heads", &AttentionBlock::index_heads, index_heads_help, "4"),
        key("index_head", &AttentionBlock::index_head, index_head_help, "128")};

    int key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
    /// Key/value heads are replicated where there are fewer of them than GPUs.
    std::optional<Obstacle> undivided(int tp) const
    {
        return undivided_of(tp, {{Undivided::heads, heads},
                                 {Undivided::key_value_heads, tp % key_heads() == 0 ? 0 : key_heads()}});
    }
    std::optional<Obstacle> unshared(const ParallelPlan& plan) const
    {
        return unshared_attention(kernel, heads, key_heads(), plan);
    }

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
    int index_keys = 0;
    int index_heads = 0;
    int index_head = 128;

    static constexpr std::string_view name = "latent_attention";
    static constexpr std::string_view help =
        "multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)";
    static constexpr auto keys = std::tuple{
        needed_key("heads", &LatentAttentionBlock::heads, "attention heads", "128"),
        key("query_rank", &LatentAttentionBlock::query_rank,
            "rank of the query compression (q_lora_rank); default: queries are not compressed", "1536"),
        needed_key("key_value_rank", &LatentAttentionBlock::key_value_rank,
                   "rank of the key/value compression (kv_lora_rank)", "512"),
        needed_key("rotary", &LatentAttentionBlock::rotary,
                   "rotary part of the head dimension, shared by all heads (qk_rope_head_dim)", "64"),
        needed_key("plain", &LatentAttentionBlock::plain,
                   "part of the head dimension without positions (qk_nope_head_dim)", "128"),
        needed_key("value", &LatentAttentionBlock::value, "value head dimension (v_head_dim)", "128"),
        key("causal", &LatentAttentionBlock::causal, "causal mask", "true"),
        key("kernel", &LatentAttentionBlock::kernel,
            "plain writes the score matrix to memory, flash never does", "flash"),
        key("index_keys", &LatentAttentionBlock::index_keys, index_keys_help, "2048"),
        key("index_heads", &LatentAttentionBlock::index_heads, index_heads_help, "64"),
        key("index_head", &LatentAttentionBlock::index_head, index_head_help, "128")};

    std::optional<Obstacle> undivided(int tp) const { return undivided_of(tp, {{Undivided::heads, heads}}); }
    std::optional<Obstacle> unshared(const ParallelPlan& plan) const
    {
        return unshared_attention(kernel, heads, heads, plan);
    }

    bool operator==(const LatentAttentionBlock&) const = default;
};
Block operators_of(const LatentAttentionBlock& block, const ResidualStream& stream);

struct MlpBlock {
    int inner = 0;
    Activation activation = Activation::gelu;
    bool bias = false;

    static constexpr std::string_view name = "mlp";
    static constexpr std::string_view help =
        "feed-forward network: two linear layers and an activation, three with a gated activation";
    static constexpr auto keys =
        std::tuple{needed_key("inner", &MlpBlock::inner, "intermediate size", "14336"),
                   key("activation", &MlpBlock::activation, "activation function", "swiglu"),
                   key("bias", &MlpBlock::bias, "whether its linear layers have biases", "true")};

    std::optional<Obstacle> undivided(int tp) const
    {
        return undivided_of(tp, {{Undivided::columns, inner}});
    }

    bool operator==(const MlpBlock&) const = default;
};
Block operators_of(const MlpBlock& block, const ResidualStream& stream);

/// Mixture of experts (Lepikhin et al., arXiv 2006.16668, section 2.2; groups and order of
/// messages as in Megatron-Core).
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
    int node_limit = 0;
    RoutingWeights weights = RoutingWeights::results;

    static constexpr std::string_view name = "experts";
    static constexpr std::string_view help = "mixture of experts: a router sends each token to some of them";
    static constexpr auto keys = std::tuple{
        needed_key("count", &ExpertsBlock::count, "routed experts", "128"),
        needed_key("active", &ExpertsBlock::active, "experts per token (top-k)", "8"),
        needed_key("inner", &ExpertsBlock::inner, "intermediate size of an expert", "2048"),
        key("shared", &ExpertsBlock::shared,
            "intermediate size of all shared experts together; default: none", "2048"),
        key("shared_gate", &ExpertsBlock::shared_gate, "sigmoid gate on the output of the shared experts",
            "true"),
        key("latent", &ExpertsBlock::latent,
            "hidden size of routed experts behind a down-projection (latent experts); default: hidden",
            "1024"),
        key("activation", &ExpertsBlock::activation, "activation function", "swiglu"),
        key("bias", &ExpertsBlock::bias, "whether experts and router have biases", "true"),
        key("imbalance", &ExpertsBlock::imbalance,
            "load imbalance: tokens of the busiest expert-parallel rank relative to the mean", "1.2", 1.0,
            1000.0),
        key("capacity", &ExpertsBlock::capacity,
            "capacity factor: tokens of an expert beyond this multiple of the mean are dropped; default: "
            "none",
            "1.25", 1.0, 1000.0),
        key("node_limit", &ExpertsBlock::node_limit,
            "most nodes to which a token is sent (group-limited routing); default: no limit", "4"),
        key("weights", &ExpertsBlock::weights,
            "what routing weights multiply: the results of experts, which are then saved, or their "
            "activations",
            "activations")};

    std::optional<Obstacle> undivided(int tp) const
    {
        return undivided_of(tp, {{Undivided::columns_of_shared_experts, shared}});
    }
    Routing routing() const
    {
        return {static_cast<double>(count), static_cast<double>(active), imbalance, capacity,
                static_cast<double>(node_limit)};
    }

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
    static constexpr std::string_view help = "Mamba-2 state-space layer (Dao and Gu, arXiv 2405.21060)";
    static constexpr auto keys =
        std::tuple{needed_key("heads", &Mamba2Block::heads, "heads", "128"),
                   needed_key("head", &Mamba2Block::head, "head dimension", "64"),
                   key("groups", &Mamba2Block::groups, "groups of heads that share B and C", "8"),
                   key("state", &Mamba2Block::state, "state size", "128"),
                   key("convolution", &Mamba2Block::convolution,
                       "kernel size of the short convolution before the scan", "4"),
                   key("chunk", &Mamba2Block::chunk, "chunk length of the scan, in tokens", "128")};

    /// Groups are not replicated (Megatron-Core, ssm/mamba_mixer.py).
    std::optional<Obstacle> undivided(int tp) const
    {
        return undivided_of(tp, {{Undivided::heads, heads}, {Undivided::groups, groups}});
    }
    /// Ranks exchange tokens for whole heads (operators.hpp, Scan).
    std::optional<Obstacle> unshared(const ParallelPlan& plan) const
    {
        return undivided_of(plan.tp * plan.cp, {{Undivided::heads, heads}});
    }

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
        "linear attention with the gated delta rule (Gated DeltaNet, arXiv 2412.06464; Kimi delta attention, "
        "arXiv 2510.26692)";
    static constexpr auto keys = std::tuple{
        needed_key("key_heads", &GatedDeltaBlock::key_heads, "query and key heads", "16"),
        needed_key("value_heads", &GatedDeltaBlock::value_heads, "value heads", "32"),
        prismopt::key("key", &GatedDeltaBlock::key, "key head dimension (linear_key_head_dim)", "128"),
        prismopt::key("value", &GatedDeltaBlock::value, "value head dimension (linear_value_head_dim)",
                      "128"),
        prismopt::key("convolution", &GatedDeltaBlock::convolution,
                      "kernel size of the short convolution before the scan", "4"),
        prismopt::key("chunk", &GatedDeltaBlock::chunk, "chunk length of the scan, in tokens", "64"),
        prismopt::key("by_channel", &GatedDeltaBlock::by_channel,
                      "decay per key channel (Kimi delta attention) instead of per head", "true")};

    std::optional<Obstacle> undivided(int tp) const
    {
        return undivided_of(tp, {{Undivided::key_heads, key_heads}, {Undivided::value_heads, value_heads}});
    }
    std::optional<Obstacle> unshared(const ParallelPlan& plan) const
    {
        return undivided_of(plan.tp * plan.cp, {{Undivided::value_heads, value_heads}});
    }

    bool operator==(const GatedDeltaBlock&) const = default;
};
Block operators_of(const GatedDeltaBlock& block, const ResidualStream& stream);

struct GatedConvolutionBlock {
    int taps = 3;

    static constexpr std::string_view name = "gated_convolution";
    static constexpr std::string_view help = "gated short convolution (LFM2, arXiv 2511.23404)";
    static constexpr auto keys = std::tuple{key("taps", &GatedConvolutionBlock::taps, "kernel size", "3")};

    bool operator==(const GatedConvolutionBlock&) const = default;
};
Block operators_of(const GatedConvolutionBlock& block, const ResidualStream& stream);

/// Linear layer without norm and residual connection: patch embeddings, projectors,
/// layers of recommendation networks.
struct LinearBlock {
    int from = 0;
    int to = 0;
    bool bias = true;
    bool activated = false;
    Activation activation = Activation::relu;
    int rows = 0;

    static constexpr bool branches = false;
    static constexpr std::string_view name = "linear";
    static constexpr std::string_view help = "linear layer without normalisation and residual connection";
    static constexpr auto keys = std::tuple{
        key("from", &LinearBlock::from, "input features; default: hidden", "13"),
        key("to", &LinearBlock::to, "output features; default: hidden", "512"),
        key("bias", &LinearBlock::bias, "whether it has a bias", "true"),
        key("activated", &LinearBlock::activated, "whether an activation function follows", "true"),
        key("activation", &LinearBlock::activation, "that activation function, which is not gated", "relu"),
        key("rows", &LinearBlock::rows, "vectors per sample that it is applied to; default: one per token",
            "1")};

    bool operator==(const LinearBlock&) const = default;
};
Block operators_of(const LinearBlock& block, const ResidualStream& stream);

/// Scales, shifts and gates of a layer's blocks from a vector of the sample (adaptive norms:
/// Peebles and Xie, arXiv 2212.09748).
struct ModulationBlock {
    int vectors = 6;

    static constexpr bool branches = false;
    static constexpr bool leads = true;
    static constexpr std::string_view name = "modulation";
    static constexpr std::string_view help =
        "adaptive normalisation: scales, shifts and gates from the conditioning vector (adaLN, arXiv "
        "2212.09748)";
    static constexpr auto keys = std::tuple{
        key("vectors", &ModulationBlock::vectors, "vectors of hidden size that it computes per sample", "6")};

    bool operator==(const ModulationBlock&) const = default;
};
Block operators_of(const ModulationBlock& block, const ResidualStream& stream);

/// Residual block of a U-Net: norm, activation and convolution, twice (Ho et al.,
/// arXiv 2006.11239, appendix B).
struct ResidualConvolutionBlock {
    int from = 0;
    int to = 0;
    int kernel = 3;
    int dimensions = 2;
    int time = 0;

    static constexpr bool branches = false;
    static constexpr std::string_view name = "residual_convolution";
    static constexpr std::string_view help =
        "residual block of a U-Net: norm, activation and convolution, twice (arXiv 2006.11239)";
    static constexpr auto keys = std::tuple{
        key("from", &ResidualConvolutionBlock::from,
            "input channels, those of skip connections included; default: hidden", "640"),
        key("to", &ResidualConvolutionBlock::to, "output channels; default: hidden", "320"),
        key("kernel", &ResidualConvolutionBlock::kernel, "kernel size", "3"),
        key("dimensions", &ResidualConvolutionBlock::dimensions,
            "spatial dimensions: 2 for images, 3 for video", "2", 1, 3),
        key("time", &ResidualConvolutionBlock::time,
            "size of the time embedding that is added between the convolutions; default: none", "1280")};

    static std::optional<Obstacle> undivided(int tp) { return undivided_convolution(tp); }

    bool operator==(const ResidualConvolutionBlock&) const = default;
};
Block operators_of(const ResidualConvolutionBlock& block, const ResidualStream& stream);

/// Convolution without norm and residual connection: to another resolution, or to other channels.
struct ConvolutionBlock {
    int from = 0;
    int to = 0;
    int kernel = 3;
    int dimensions = 2;
    int stride = 1;

    static constexpr bool branches = false;
    static constexpr std::string_view name = "convolution";
    static constexpr std::string_view help = "convolution without normalisation and residual connection";
    static constexpr auto keys =
        std::tuple{key("from", &ConvolutionBlock::from, "input channels; default: hidden", "4"),
                   key("to", &ConvolutionBlock::to, "output channels; default: hidden", "320"),
                   key("kernel", &ConvolutionBlock::kernel, "kernel size", "3"),
                   key("dimensions", &ConvolutionBlock::dimensions,
                       "spatial dimensions: 1 for sequences, 2 for images, 3 for video", "2", 1, 3),
                   key("stride", &ConvolutionBlock::stride, "stride in each dimension", "2")};

    static std::optional<Obstacle> undivided(int tp) { return undivided_convolution(tp); }

    bool operator==(const ConvolutionBlock&) const = default;
};
Block operators_of(const ConvolutionBlock& block, const ResidualStream& stream);

/// Embedding tables of a recommendation network, sharded over the expert-parallel GPUs.
struct TablesBlock {
    int tables = 0;
    double rows = 0.0;
    int columns = 0;
    double lookups = 0.0;
    double number_bytes = 4.0;

    static constexpr bool branches = false;
    static constexpr std::string_view name = "tables";
    static constexpr std::string_view help =
        "embedding tables, sharded over the expert-parallel GPUs (arXiv 2310.02784)";
    static constexpr auto keys =
        std::tuple{needed_key("tables", &TablesBlock::tables, "number of tables", "26"),
                   BlockKey<TablesBlock, double>{"rows", &TablesBlock::rows, "rows of all tables together",
                                                 "204184588", true, 1.0, 1e15},
                   needed_key("columns", &TablesBlock::columns, "embedding dimension", "128"),
                   BlockKey<TablesBlock, double>{"lookups", &TablesBlock::lookups,
                                                 "lookups per sample, of all tables", "214", true, 1.0, 1e9},
                   key("number_bytes", &TablesBlock::number_bytes, "bytes per element", "4.0", 1.0, 8.0)};

    bool operator==(const TablesBlock&) const = default;
};
Block operators_of(const TablesBlock& block, const ResidualStream& stream);

/// Feature interaction of a recommendation network: dot products of all pairs (DLRM, arXiv 1906.00091), or
/// low-rank cross layers (DCN-V2: Wang et al., arXiv 2008.13535).
struct InteractionBlock {
    int vectors = 0;
    int size = 0;
    int layers = 0;
    int rank = 0;

    static constexpr bool branches = false;
    static constexpr std::string_view name = "interaction";
    static constexpr std::string_view help =
        "feature interaction: dot products of all pairs (DLRM), or low-rank cross layers (DCN-V2, arXiv "
        "2008.13535)";
    static constexpr auto keys = std::tuple{
        needed_key("vectors", &InteractionBlock::vectors, "feature vectors per sample", "27"),
        needed_key("size", &InteractionBlock::size, "size of a feature vector", "128"),
        key("layers", &InteractionBlock::layers, "cross layers; default: dot products of all pairs", "3"),
        key("rank", &InteractionBlock::rank, "rank of a cross layer", "512")};

    bool operator==(const InteractionBlock&) const = default;
};
Block operators_of(const InteractionBlock& block, const ResidualStream& stream);

/// All kinds of blocks, in the order in which messages show them.
using BlockDescription =
    std::variant<AttentionBlock, LatentAttentionBlock, MlpBlock, ExpertsBlock, Mamba2Block, GatedDeltaBlock,
                 GatedConvolutionBlock, LinearBlock, ModulationBlock, ResidualConvolutionBlock,
                 ConvolutionBlock, TablesBlock, InteractionBlock>;

/// Returns the name of the kind of a block.
inline std::string_view kind_name(const BlockDescription& block)
{
    return std::visit([]<class Kind>(const Kind&) { return Kind::name; }, block);
}

/// Whether this kind of block is a branch of the residual stream: it has a norm and an addition of its own.
template <class Kind>
constexpr bool branches()
{
    if constexpr (requires { Kind::branches; }) {
        return Kind::branches;
    } else {
        return true;
    }
}

/// Whether this kind of block may stand before parallel blocks, whose input it scales.
template <class Kind>
constexpr bool leads()
{
    if constexpr (requires { Kind::leads; }) {
        return Kind::leads;
    } else {
        return false;
    }
}
inline bool leads_parallel(const BlockDescription& block)
{
    return std::visit([]<class Kind>(const Kind&) { return leads<Kind>(); }, block);
}

/// Returns the obstacle to tensor parallelism of this degree in the block, or nothing.
inline std::optional<Obstacle> undivided(const BlockDescription& block, int tp)
{
    return std::visit(
        [tp]<class Kind>(const Kind& kind) -> std::optional<Obstacle> {
            if constexpr (requires { kind.undivided(tp); }) {
                return kind.undivided(tp);
            } else {
                return std::nullopt;
            }
        },
        block);
}

/// Returns the obstacle to the context parallelism of a plan in the block, or nothing.
inline std::optional<Obstacle> unshared(const BlockDescription& block, const ParallelPlan& plan)
{
    return std::visit(
        [&plan]<class Kind>(const Kind& kind) -> std::optional<Obstacle> {
            if constexpr (requires { kind.unshared(plan); }) {
                return kind.unshared(plan);
            } else {
                return std::nullopt;
            }
        },
        block);
}

/// Returns the embedding. `positions`: learned positions, or 0.
Block embedding_block(const ResidualStream& stream, double vocabulary, double positions);
/// Returns final norm, logits and loss. `tied`: the head's matrix is the embedding's table.
Block head_block(const ResidualStream& stream, double vocabulary, bool tied);
/// Returns the operators before the layer of a multi-token prediction module (DeepSeek-AI, arXiv 2412.19437,
/// section 2.2): the embedding of a later token, two norms, and their product. Its head is the network's.
Block prediction_block(const ResidualStream& stream, double vocabulary);

}  // namespace prismopt
