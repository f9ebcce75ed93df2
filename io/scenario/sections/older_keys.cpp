#include "io/scenario/sections/network_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

constexpr Range layers_range{"transformer layers", 1, 10'000, "96"};
constexpr Range heads_range{"attention heads", 1, 10'000, "96"};
constexpr Range kv_heads_range{"key/value heads; equal to heads without grouped-query attention", 1, 10'000,
                               "8"};
constexpr Range feed_forward_range{"intermediate size of the MLP", 1, 10'000'000, "49152"};
constexpr Range experts_range{"routed experts per layer", 1, 100'000, "8"};
constexpr Range active_range{"experts per token (top-k)", 1, 100'000, "2"};
constexpr Range expert_size_range{"intermediate size of an expert", 1, 10'000'000, "14336"};
constexpr Range shared_range{"intermediate size of all shared experts together", 1, 10'000'000, "2048"};
constexpr Range dense_layers_range{"number of leading layers with a dense MLP", 1, 10'000, "3"};
constexpr Range every_range{
    "period of layers with experts: after the dense layers, the last layer of each period has experts", 1,
    10'000, "2"};
constexpr Range node_limit_range{
    "most nodes to which a token is sent (group-limited routing); default: no limit", 1, 100'000, "4"};
constexpr Range capacity_range{
    "capacity factor: tokens of an expert beyond this multiple of the mean are dropped; default: none", 1,
    1000, "1.25"};
constexpr Range imbalance_range{
    "load imbalance: tokens of the busiest expert-parallel rank relative to the mean", 1, 1000, "1.2"};

const Fields<Experts>& experts_fields()
{
    static const auto fields =
        Fields<Experts>("experts",
                        "mixture of experts in place of the MLP; use block = \"experts\" in new files")
            .integer("count", &Experts::count, experts_range)
            .required()
            .integer("active", &Experts::active, active_range)
            .required()
            .integer("feed_forward", &Experts::feed_forward, expert_size_range)
            .required()
            .integer("shared", &Experts::shared, shared_range)
            .integer("dense_layers", &Experts::dense_layers, dense_layers_range)
            .integer("every", &Experts::every, every_range)
            .number("imbalance", &Experts::imbalance, imbalance_range)
            .number("capacity", &Experts::capacity, capacity_range)
            .integer("node_limit", &Experts::node_limit, node_limit_range)
            .choice("weights", &Experts::weights, "activations",
                    "what routing weights multiply: the results of experts, which are then saved, or their "
                    "activations");
    return fields;
}

const Fields<LatentAttention>& latent_fields()
{
    static const auto fields =
        Fields<LatentAttention>("latent",
                                "multi-head latent attention; use block = \"latent_attention\" in new files")
            .integer("query_rank", &LatentAttention::query_rank,
                     {"rank of the query compression (q_lora_rank)", 1, 1'000'000, "1536"})
            .integer("key_value_rank", &LatentAttention::key_value_rank,
                     {"rank of the key/value compression (kv_lora_rank)", 1, 1'000'000, "512"})
            .required()
            .integer("rotary", &LatentAttention::rotary,
                     {"rotary part of the head dimension, shared by all heads (qk_rope_head_dim)", 1,
                      1'000'000, "64"})
            .required()
            .integer("plain", &LatentAttention::plain,
                     {"part of the head dimension without positions (qk_nope_head_dim)", 1, 1'000'000, "128"})
            .required()
            .integer("value", &LatentAttention::value,
                     {"value head dimension (v_head_dim)", 1, 1'000'000, "128"})
            .required();
    return fields;
}

struct OlderKey {
    std::string_view key;
    std::string_view now;  // what to write
};
constexpr auto older_keys = std::to_array<OlderKey>({
    {"layers", R"(sequence = [{ layer = "dense", count = ... }])"},
    {"heads", R"(heads of { block = "attention" })"},
    {"kv_heads", R"(kv_heads of { block = "attention" })"},
    {"feed_forward", R"(inner of { block = "mlp" })"},
    {"activation", R"(activation of { block = "mlp" })"},
    {"attention", R"(kernel of { block = "attention" })"},
    {"causal", R"(causal of { block = "attention" })"},
    {"head", R"(head of { block = "attention" })"},
    {"experts", R"({ block = "experts" })"},
    {"latent", R"({ block = "latent_attention" })"},
});

void check_older_heads(Table& table, const Transformer& t)
{
    const auto refuse = [&table](std::string_view key, const Complaint& complaint) {
        const auto place = table.find(key);
        place ? place->fail(complaint) : table.fail(complaint);
    };
    if (t.head == 0 && t.hidden % t.heads != 0) {
        refuse("heads", {fmt::format("gives {} attention heads for a hidden size of {}", t.heads, t.hidden),
                         "heads must divide hidden", "change one of the two"});
    }
    if (t.heads % t.kv_heads != 0) {
        refuse("kv_heads",
               {fmt::format("gives {} key/value heads for {} attention heads", t.kv_heads, t.heads),
                "kv_heads must divide heads", fmt::format("write kv_heads = {} or a divisor", t.heads)});
    }
}

}  // namespace

const Fields<NetworkReading>& older_fields()
{
    static const auto fields =
        Fields<NetworkReading>("a network", "decoders with equal layers")
            .integer("layers", of(&Transformer::layers), layers_range)
            .integer("heads", of(&Transformer::heads), heads_range)
            .integer("kv_heads", of(&Transformer::kv_heads), kv_heads_range)
            .integer("feed_forward", of(&Transformer::feed_forward), feed_forward_range)
            .choice("activation", of(&Transformer::activation), "swiglu", "activation of the MLP")
            .choice("attention", of(&Transformer::attention), "flash",
                    "attention kernel: plain writes the score matrix to memory, flash never does")
            .flag("causal", of(&Transformer::causal), "causal mask")
            .integer("head", of(&Transformer::head),
                     {"head dimension; default: hidden / heads", 1, 1'000'000, "128"})
            .nested("experts", of(&Transformer::experts), experts_fields)
            .nested("latent", of(&Transformer::latent), latent_fields);
    return fields;
}

bool is_older_key(std::string_view key)
{
    return std::any_of(older_keys.begin(), older_keys.end(),
                       [key](const OlderKey& own) { return own.key == key; });
}

std::optional<Value> older_key(Table& table, std::string_view but, std::string_view* now)
{
    std::optional<Value> first;
    for (const OlderKey& older : older_keys) {
        const auto found = but == older.key ? std::nullopt : table.find(std::string(older.key));
        if (found && (!first || found->line() < first->line())) {
            first = found;
            if (now != nullptr) {
                *now = older.now;
            }
        }
    }
    return first;
}

Workload with_older_keys(Table& table, NetworkReading& reading, bool based, bool older)
{
    Workload& w = reading.workload;
    Transformer& t = reading.transformer;
    if (!reading.has_transformer) {
        const auto layers = table.find("layers");
        const auto other = older_key(table, "layers");
        if (other) {
            other->fail({"does not apply to this network", "its layers consist of different blocks",
                         "redefine layer.NAME with the block's new values (docs/networks.md)"});
        }
        const int count = layers->count(layers_range);
        if (count > w.layers()) {
            layers->fail({fmt::format("is more than the {} layers of {}", w.layers(), w.name),
                          "a network whose layers have different blocks can only be cut",
                          "give fewer layers, or describe all of them in sequence (docs/networks.md)"});
        }
        w.cut(count);
        return w;
    }
    if (!based && !older) {
        table.at("sequence",
                 R"(sequence = [{ layer = "dense", count = 32 }], with layer.dense = { blocks = [...] })");
    }
    if (!based) {
        for (const auto& [key, line] : {std::pair{"layers", "layers = 96"},
                                        {"heads", "heads = 96"},
                                        {"kv_heads", "kv_heads = 8"},
                                        {"feed_forward", "feed_forward = 49152"},
                                        {"vocabulary", "vocabulary = 51200"},
                                        {"activation", "activation = \"swiglu\""},
                                        {"normalisation", "normalisation = \"rms_norm\""},
                                        {"attention", "attention = \"flash\""},
                                        {"causal", "causal = true"},
                                        {"tied_embedding", "tied_embedding = true"},
                                        {"dropout", "dropout = true"}}) {
            table.at(key, line);
        }
    }
    copy_common_keys(w, t);
    check_older_heads(table, t);
    const Workload rebuilt = workload_of(t);
    std::vector<LayerRun> prediction;
    for (const LayerRun& run : w.prediction) {
        for (std::size_t kind = 0; kind < rebuilt.kinds.size(); ++kind) {
            if (rebuilt.kinds[kind].name == w.kinds[run.kind].name) {
                prediction.push_back({static_cast<int>(kind), run.count});
            }
        }
    }
    w.prediction = std::move(prediction);
    w.kinds = rebuilt.kinds;
    w.sequence = rebuilt.sequence;
    return w;
}

std::string older_keys_text(Table table)
{
    std::string_view now;
    const auto older = older_key(table, table.find("model") ? "layers" : "", &now);
    return older ? fmt::format(
                       "line {}: this key of [workload] is deprecated and will be rejected by the next "
                       "release; write {} in "
                       "layer.NAME = "
                       "{{ blocks = [...] }} (docs/networks.md, Older keys)",
                       older->line(), now)
                 : "";
}

}  // namespace prismopt
