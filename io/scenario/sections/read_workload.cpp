#include "io/scenario/captured_network.hpp"
#include "io/scenario/sections/block_fields.hpp"
#include "io/scenario/sections/sections.hpp"
#include "io/toml/nearest.hpp"
#include "model/network/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

constexpr Range layers_range{"transformer layers", 1, 10'000, "96"};
constexpr Range hidden_range{"hidden size", 1, 1'000'000, "12288"};
constexpr Range heads_range{"attention heads", 1, 10'000, "96"};
constexpr Range kv_heads_range{"key/value heads; equal to heads without grouped-query attention", 1, 10'000, "8"};
constexpr Range feed_forward_range{"intermediate size of the MLP", 1, 10'000'000, "49152"};
constexpr Range experts_range{"routed experts per layer", 1, 100'000, "8"};
constexpr Range active_range{"experts per token (top-k)", 1, 100'000, "2"};
constexpr Range expert_size_range{"intermediate size of an expert", 1, 10'000'000, "14336"};
constexpr Range shared_range{"intermediate size of all shared experts together", 1, 10'000'000, "2048"};
constexpr Range dense_layers_range{"number of leading layers with a dense MLP", 1, 10'000, "3"};
constexpr Range every_range{"period of layers with experts: after the dense layers, the last layer of each period has experts", 1,
                            10'000, "2"};
constexpr Range node_limit_range{"most nodes to which a token is sent (group-limited routing); default: no limit", 1, 100'000,
                                 "4"};
constexpr Range capacity_range{"capacity factor: tokens of an expert beyond this multiple of the mean are dropped; default: none",
                               1, 1000, "1.25"};
constexpr Range imbalance_range{"load imbalance: tokens of the busiest expert-parallel rank relative to the mean", 1, 1000,
                                "1.2"};
constexpr Range vocabulary_range{"vocabulary size", 1, 100'000'000, "51200"};

/// What a file says of a network, in whichever way: by the keys of a decoder whose layers are alike, or by layers made of blocks.
struct NetworkReading {
    Workload workload;
    Transformer alike;      // the same by the older keys
    bool has_alike = true;  // false: the catalog's network has no such keys
};

auto of(auto Workload::*member)
{
    return [member](NetworkReading & reading) -> auto& { return reading.workload.*member; };
}

auto of(auto Transformer::*member)
{
    return [member](NetworkReading & reading) -> auto& { return reading.alike.*member; };
}

const Fields<Experts>& experts_fields()
{
    static const auto fields =
        Fields<Experts>("experts", "mixture of experts in place of the MLP; use block = \"experts\" in new files")
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
                    "what routing weights multiply: the results of experts, which are then saved, or their activations");
    return fields;
}

const Fields<LatentAttention>& latent_fields()
{
    static const auto fields =
        Fields<LatentAttention>("latent", "multi-head latent attention; use block = \"latent_attention\" in new files")
            .integer("query_rank", &LatentAttention::query_rank,
                     {"rank of the query compression (q_lora_rank)", 1, 1'000'000, "1536"})
            .integer("key_value_rank", &LatentAttention::key_value_rank,
                     {"rank of the key/value compression (kv_lora_rank)", 1, 1'000'000, "512"})
            .required()
            .integer("rotary", &LatentAttention::rotary,
                     {"rotary part of the head dimension, shared by all heads (qk_rope_head_dim)", 1, 1'000'000, "64"})
            .required()
            .integer("plain", &LatentAttention::plain,
                     {"part of the head dimension without positions (qk_nope_head_dim)", 1, 1'000'000, "128"})
            .required()
            .integer("value", &LatentAttention::value, {"value head dimension (v_head_dim)", 1, 1'000'000, "128"})
            .required();
    return fields;
}

struct LayerKeys {
    LayerDescription layer;
    int network_hidden = 0;
};

const Fields<LayerKeys>& layer_fields()
{
    static const auto own = [](auto LayerDescription::*member) {
        return [member](LayerKeys & keys) -> auto& { return keys.layer.*member; };
    };
    static const auto fields =
        Fields<LayerKeys>("layer", "a kind of layer, as a list of blocks")
            .integer("hidden", own(&LayerDescription::hidden),
                     {"hidden size of this layer; default: hidden of the network", 1, 1'000'000, "320"})
            .custom({"blocks", "its blocks, in order",
                     R"([{ block = "attention", heads = 32 }, { block = "mlp", inner = 14336 }])", block_shapes(),
                     Need::required},
                    [](const Value& value, LayerKeys& keys, Keys) {
                        const int hidden = keys.layer.hidden > 0 ? keys.layer.hidden : keys.network_hidden;
                        for (const Value& block : value.list(R"([{ block = "mlp", inner = 14336 }])")) {
                            keys.layer.blocks.push_back(read_block(block, hidden, keys.layer.name));
                        }
                    })
            .flag("parallel", own(&LayerDescription::parallel), "whether its blocks run in parallel on the same input")
            .number("tokens", own(&LayerDescription::tokens),
                    {"tokens in this layer per token of the phase's sequence", 0.0, 1e6, "0.25", Range::Ends::open_low})
            .flag("frozen", own(&LayerDescription::frozen), "whether its parameters are frozen; adapters are still trained");
    return fields;
}

const SectionTable& layer_table() { return layer_fields(); }

/// An element of `sequence`.
struct RunKeys {
    std::string layer;
    std::string pattern;
    int count = 1;
};

const Fields<RunKeys>& run_fields()
{
    static const auto fields = Fields<RunKeys>("layers", "consecutive layers")
                                   .text("layer", &RunKeys::layer, "dense", "kind of layer")
                                   .text("pattern", &RunKeys::pattern, "SF",
                                         "layers in order, one character each: names of layer kinds with a single character")
                                   .integer("count", &RunKeys::count, {"number of repetitions", 1, 100'000, "32"});
    return fields;
}

const SectionTable& run_table() { return run_fields(); }

/// A module of multi-token prediction.
struct PredictionKeys {
    std::string layer;
    std::string pattern;
};

const Fields<PredictionKeys>& prediction_fields()
{
    static const auto fields =
        Fields<PredictionKeys>("prediction", "the layers of a multi-token prediction module (arXiv 2412.19437, section 2.2)")
            .text("layer", &PredictionKeys::layer, "moe", "kind of the layer")
            .text("pattern", &PredictionKeys::pattern, "*E", "its layers in order, one character each, if there are several");
    return fields;
}

/// The kind of layer of that name; refuses others.
int kind_of(const Value& value, const std::string& name, const Workload& w)
{
    const auto found =
        std::find_if(w.kinds.begin(), w.kinds.end(), [&name](const LayerDescription& kind) { return kind.name == name; });
    if (found == w.kinds.end()) {
        std::vector<std::string> names;
        for (const LayerDescription& kind : w.kinds) {
            names.push_back(kind.name);
        }
        const bool bare = std::all_of(name.begin(), name.end(),
                                      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; });
        value.fail({fmt::format("names an undefined layer \"{}\"", name),
                    fmt::format("[workload] defines {}", names.empty() ? "no layers" : listed(names)),
                    fmt::format("define it: layer.{} = {{ blocks = [...] }}", bare ? name : "\"" + name + "\"")});
    }
    return static_cast<int>(found - w.kinds.begin());
}

void add_run(int kind, int count, std::vector<LayerRun>& runs)
{
    if (!runs.empty() && runs.back().kind == kind) {
        runs.back().count += count;
    } else {
        runs.push_back({kind, count});
    }
}

/// The code points of a UTF-8 text, each as a text.
std::vector<std::string> characters(const std::string& text)
{
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; };
    std::vector<std::string> result;
    for (const char byte : text) {
        if (result.empty() || !continues(byte)) {
            result.emplace_back();
        }
        result.back() += byte;
    }
    return result;
}

void add_pattern(const Value& value, const std::string& pattern, const Workload& w, std::vector<LayerRun>& runs)
{
    for (const std::string& name : characters(pattern)) {
        add_run(kind_of(value, name, w), 1, runs);
    }
}

/// What `layer` or `pattern` of a section says.
template <class Keys>
std::vector<LayerRun> runs_of(Table& table, const Keys& keys, int count, const Workload& w)
{
    const auto layer = table.find("layer");
    const auto pattern = table.find("pattern");
    if (layer.has_value() == pattern.has_value()) {
        table.fail({layer ? "has both layer and pattern" : "has neither layer nor pattern", "exactly one of the two is needed",
                    R"(write layer = "dense", or pattern = "SF")"});
    }
    std::vector<LayerRun> runs;
    for (int i = 0; i < (pattern ? count : 1); ++i) {
        if (pattern) {
            add_pattern(*pattern, keys.pattern, w, runs);
        } else {
            add_run(kind_of(*layer, keys.layer, w), count, runs);
        }
    }
    return runs;
}

constexpr int most_layers = 100'000;

/// Blocks beside each other share their norm and their sum.
void refuse_parallel(Table& table, const LayerDescription& layer, NormPlace norms)
{
    if (!layer.parallel) {
        return;
    }
    const auto alone = [](const BlockDescription& block) {
        return std::visit([]<class Kind>(const Kind&) { return !branches<Kind>(); }, block);
    };
    if (norms != NormPlace::pre) {
        table.find("parallel")
            ->fail({fmt::format("cannot be combined with norms = \"{}\"", name(norms)),
                    "parallel blocks share the norm of their input", "remove one of the two"});
    }
    if (std::any_of(layer.blocks.begin(), layer.blocks.end(), alone)) {
        table.find("parallel")
            ->fail({"needs blocks with a norm and a residual connection",
                    fmt::format("parallel blocks share these; possible with {}", listed(branching_blocks())),
                    "remove parallel, or the other blocks"});
    }
}

void read_layers(const Value& value, NetworkReading& reading)
{
    Workload& w = reading.workload;
    Table table = value.table(R"(layer.dense = { blocks = [...] })");
    for (const std::string& name : table.keys()) {
        LayerKeys keys;
        keys.network_hidden = w.hidden;
        keys.layer.name = name;
        Table own = table.find(name)->table(layer_fields().example());
        own.call(fmt::format("layer \"{}\"", name));
        layer_fields().read_whole(own, Keys::all, keys);
        refuse_parallel(own, keys.layer, w.norms);
        const auto known =
            std::find_if(w.kinds.begin(), w.kinds.end(), [&name](const LayerDescription& kind) { return kind.name == name; });
        if (known == w.kinds.end()) {
            w.kinds.push_back(keys.layer);
        } else {
            *known = keys.layer;  // of the catalog's network
        }
    }
}

void refuse_too_many(const Value& value, const Workload& w)
{
    if (w.layers() > most_layers) {
        value.fail({fmt::format("gives {} layers", w.layers()), fmt::format("at most {} are allowed", most_layers),
                    "give fewer layers"});
    }
}

void read_sequence(const Value& value, NetworkReading& reading)
{
    Workload& w = reading.workload;
    w.sequence.clear();
    for (const Value& element : value.list(R"([{ layer = "dense", count = 32 }])")) {
        RunKeys keys;
        Table table = element.table(R"({ layer = "dense", count = 32 })");
        run_fields().read_whole(table, Keys::all, keys);
        for (const LayerRun& run : runs_of(table, keys, keys.count, w)) {
            add_run(run.kind, run.count, w.sequence);
        }
        refuse_too_many(value, w);
    }
}

void read_pattern(const Value& value, NetworkReading& reading)
{
    reading.workload.sequence.clear();
    add_pattern(value, value.text("MEMEM*E"), reading.workload, reading.workload.sequence);
    refuse_too_many(value, reading.workload);
}

void read_prediction(Table& network, Workload& w)
{
    if (const auto value = network.find("prediction")) {
        PredictionKeys keys;
        Table table = value->table(R"({ layer = "moe" })");
        prediction_fields().read_whole(table, Keys::all, keys);
        w.prediction = runs_of(table, keys, 1, w);
    }
    if (w.predictions > 0 && w.prediction.empty()) {
        network.find("predictions")
            ->fail({"needs the layers of a prediction module", "this network defines none",
                    R"(add prediction = { layer = "dense" }, with the name of a layer)"});
    }
}

/// Keys of decoders whose layers are alike, which blocks and sequences replace.
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

void check_heads(Table& table, const Transformer& t)
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
        refuse("kv_heads", {fmt::format("gives {} key/value heads for {} attention heads", t.kv_heads, t.heads),
                            "kv_heads must divide heads", fmt::format("write kv_heads = {} or a divisor", t.heads)});
    }
}

const Fields<OptimizerSettings>& optimizer_fields()
{
    static const auto fields =
        Fields<OptimizerSettings>("optimizer", "the optimizer, and the number types of its states")
            .choice("kind", &OptimizerSettings::kind, "muon",
                    "adamw; sgd with momentum; or muon, with adamw for embedding and head")
            .choice("states", &OptimizerSettings::states, "bf16", "number type of the optimizer states (moments, momentum)")
            .choice("master", &OptimizerSettings::master, "fp32",
                    "number type of the master weights (none with 32-bit parameters)")
            .choice("gradients", &OptimizerSettings::gradients, "bf16", "number type in which gradients are accumulated")
            .custom(
                {"reduction",
                 "number type in which gradients are reduced over data-parallel replicas; default: as the software stack does",
                 in_quotes("bf16"),
                 {choice_shape(enum_names<NumberType>)}},
                [](const Value& value, OptimizerSettings& optimizer, Keys) {
                    optimizer.reduction = parse<NumberType>(value.choice(enum_names<NumberType>(), "number types"));
                });
    return fields;
}

const SectionTable& prediction_table() { return prediction_fields(); }

const Fields<NetworkReading>& reading_fields()
{
    static const auto section = [](const SectionTable& (*table)(), bool list, bool by_name) {
        return std::vector<ValueShape>{{.kind = ValueShape::Kind::section, .section = table, .list = list, .by_name = by_name}};
    };
    static const auto fields =
        Fields<NetworkReading>("a network", "the shape of a network")
            .integer("hidden", of(&Workload::hidden), hidden_range)
            .complete()
            .integer("vocabulary", of(&Workload::vocabulary), vocabulary_range)
            .integer("positions", of(&Workload::positions), {"learned position embeddings (rows)", 1, 100'000'000, "2048"})
            .choice("normalisation", of(&Workload::normalisation), "rms_norm", "normalisation")
            .choice("norms", of(&Workload::norms), "pre",
                    "where blocks normalise: their input (pre), their output (post), or both (sandwich)")
            .flag("tied_embedding", of(&Workload::tied_embedding), "whether input and output embedding share their weights")
            .flag("dropout", of(&Workload::dropout), "whether dropout masks are saved for the backward pass (GPT-3 era runs)")
            .choice("precision", of(&Workload::precision), "bf16",
                    "precision of the products of linear layers; parameters have 32 bits with fp32 and tf32, else 16")
            .choice("activation_storage", of(&Workload::activation_storage), "fp8",
                    "type in which inputs of linear layers and activations are saved for the backward pass")
            .custom({"layer", "kinds of layers, by name",
                     R"({ dense = { blocks = [{ block = "attention", heads = 32 }, { block = "mlp", inner = 14336 }] } })",
                     section(layer_table, false, true)},
                    [](const Value& value, NetworkReading& reading, Keys) { read_layers(value, reading); })
            .custom({"sequence", "the layers, in order", R"([{ layer = "dense", count = 3 }, { layer = "moe", count = 58 }])",
                     section(run_table, true, false)},
                    [](const Value& value, NetworkReading& reading, Keys) { read_sequence(value, reading); })
            .custom({"pattern", "the layers in order, one character each, in place of sequence", in_quotes("MEMEM*E"), {{}}},
                    [](const Value& value, NetworkReading& reading, Keys) { read_pattern(value, reading); })
            .custom({"prediction", prediction_fields().help(), R"({ layer = "moe" })", section(prediction_table, false, false)},
                    [](const Value&, NetworkReading&, Keys) {})  // when its layers are known
            .integer("predictions", of(&Workload::predictions), {"multi-token prediction modules that are trained", 1, 16, "1"})
            .choice("task", of(&Workload::task), "training", "inference runs forward passes only")
            .nested("optimizer", of(&Workload::optimizer), optimizer_fields)
            .flag("frozen_ends", of(&Workload::frozen_ends), "whether embedding and output head are frozen")
            .integer("adapter_rank", of(&Workload::adapter_rank),
                     {"rank of LoRA adapters on the linear layers of frozen layers; default: no adapters", 1, 100'000, "16"})
            // Older keys, for one release.
            .integer("layers", of(&Transformer::layers), layers_range)
            .integer("heads", of(&Transformer::heads), heads_range)
            .integer("kv_heads", of(&Transformer::kv_heads), kv_heads_range)
            .integer("feed_forward", of(&Transformer::feed_forward), feed_forward_range)
            .choice("activation", of(&Transformer::activation), "swiglu", "activation of the MLP")
            .choice("attention", of(&Transformer::attention), "flash",
                    "attention kernel: plain writes the score matrix to memory, flash never does")
            .flag("causal", of(&Transformer::causal), "causal mask")
            .integer("head", of(&Transformer::head), {"head dimension; default: hidden / heads", 1, 1'000'000, "128"})
            .nested("experts", of(&Transformer::experts), experts_fields)
            .nested("latent", of(&Transformer::latent), latent_fields);
    return fields;
}

bool describes_layers(Table& table) { return table.find("layer") || table.find("sequence") || table.find("pattern"); }

/// The key that a file with one of the older keys has first, or nothing. `now`: takes what to write in its place.
std::optional<Value> older_key(Table& table, std::string_view but = "", std::string_view* now = nullptr)
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

/// `based`: on a network of the catalog.
Workload with_layers(Table& table, NetworkReading& reading, bool based)
{
    Workload& w = reading.workload;
    const auto older = older_key(table);
    if (describes_layers(table)) {
        if (older) {
            older->fail({"cannot be combined with layer, sequence or pattern", "layers are described once",
                         "move it to the block that it describes (docs/networks.md)"});
        }
        if (table.find("sequence") && table.find("pattern")) {
            table.find("pattern")->fail(
                {"cannot be combined with sequence", "both give the order of the layers", "remove one of the two"});
        }
        if (w.sequence.empty()) {
            table.at("sequence", R"(sequence = [{ layer = "dense", count = 32 }])");
        }
        return w;
    }
    if (based && !older) {
        return w;
    }
    Transformer& t = reading.alike;
    if (!reading.has_alike) {
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
        table.at("sequence", R"(sequence = [{ layer = "dense", count = 32 }], with layer.dense = { blocks = [...] })");
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
    check_heads(table, t);
    const Workload alike = workload_of(t);
    std::vector<LayerRun> prediction;
    for (const LayerRun& run : w.prediction) {
        for (std::size_t kind = 0; kind < alike.kinds.size(); ++kind) {
            if (alike.kinds[kind].name == w.kinds[run.kind].name) {
                prediction.push_back({static_cast<int>(kind), run.count});
            }
        }
    }
    w.prediction = std::move(prediction);
    w.kinds = alike.kinds;
    w.sequence = alike.sequence;
    return w;
}

/// Refuses layers of the file that neither the sequence nor the prediction module has.
void refuse_unused_layers(Table& table, const Workload& w)
{
    const auto layers = table.find("layer");
    if (!layers) {
        return;
    }
    Table defined = layers->table("layer.dense = { blocks = [...] }");
    for (const std::string& name : defined.keys()) {
        const auto uses = [&](const LayerRun& run) { return w.kinds[run.kind].name == name; };
        if (std::none_of(w.sequence.begin(), w.sequence.end(), uses) &&
            std::none_of(w.prediction.begin(), w.prediction.end(), uses)) {
            defined.find(name)->fail({"is not used", "neither sequence, pattern nor prediction contains this layer",
                                      "correct its name, add it to the sequence, or remove it"});
        }
    }
}

/// 32-bit parameters are updated in place.
void refuse_idle_master(Table& table, const Workload& w)
{
    const auto optimizer = table.find("optimizer");
    if (!optimizer || (w.precision != Precision::fp32 && w.precision != Precision::tf32)) {
        return;
    }
    if (const auto master = optimizer->table("{}").find("master")) {
        master->fail({"has no effect",
                      fmt::format("with precision = \"{}\" the parameters have 32 bits and no master copy", name(w.precision)),
                      "remove master"});
    }
}

/// Keys of training where nothing is trained.
void refuse_without_training(Table& table, const Workload& w)
{
    if (w.task == WorkloadTask::inference) {
        for (const char* key : {"optimizer", "predictions", "dropout", "frozen_ends", "adapter_rank"}) {
            if (const auto value = table.find(key)) {
                value->fail({"has no effect", "task = \"inference\" runs forward passes of the network only",
                             fmt::format("remove {}, or write task = \"training\"", key)});
            }
        }
        return;
    }
    const bool layers_frozen =
        std::all_of(w.sequence.begin(), w.sequence.end(), [&w](const LayerRun& run) { return w.kinds[run.kind].frozen; });
    const bool ends_frozen = w.frozen_ends || w.vocabulary == 0;
    if (layers_frozen && ends_frozen && w.adapter_rank == 0) {
        const Complaint nothing{"leaves nothing to train", "all layers, embedding and head are frozen, and there are no adapters",
                                "give adapter_rank, keep a layer unfrozen, or write task = \"inference\""};
        const auto ends = table.find("frozen_ends");
        ends ? ends->fail(nothing) : table.fail(nothing);
    }
}

Workload finished(Table& table, NetworkReading& reading, bool based)
{
    Workload w = with_layers(table, reading, based);
    const bool frozen = std::any_of(w.kinds.begin(), w.kinds.end(), [](const LayerDescription& layer) { return layer.frozen; });
    if (w.adapter_rank > 0 && !frozen) {
        table.find("adapter_rank")
            ->fail({"has no effect", "adapters are added to frozen layers only", "write frozen = true in layer.NAME"});
    }
    read_prediction(table, w);
    refuse_unused_layers(table, w);
    refuse_without_training(table, w);
    refuse_idle_master(table, w);
    if (w.vocabulary == 0) {
        for (const char* key : {"predictions", "positions", "tied_embedding", "frozen_ends"}) {
            if (const auto value = table.find(key); value && (!w.captured)) {
                value->fail({"has no effect", "the network has no vocabulary, so it has neither embedding nor output head",
                             "give vocabulary, or remove the key"});
            }
        }
    }
    return w;
}

NetworkReading catalog_reading(const std::string& name)
{
    NetworkReading reading{catalog_workload(name), {}};
    const auto alike = transformer_of(reading.workload);
    reading.has_alike = alike.has_value();
    reading.alike = alike.value_or(Transformer{});
    return reading;
}

void read_captured(const Value& value, NetworkReading& reading, Keys)
{
    const std::string text = value.text("gpt.json");
    if (!is_written_out(text)) {
        value.fail({"names a file", "only a scenario that is read from a file can refer to others",
                    "describe the network in the scenario"});
    }
    CapturedNetwork captured = parse_captured_network(text, "[workload] captured");
    reading.workload.name = captured.name;
    reading.workload.captured_tokens = captured.tokens;
    reading.workload.captured = std::make_shared<const Network>(std::move(captured.network));
}

const Fields<NetworkReading>& captured_fields()
{
    static const auto fields =
        Fields<NetworkReading>("a captured network", "a network from its PyTorch code")
            .custom({"captured",
                     "file written by jobs/capture_network.py, as a path relative to the scenario; replaces the description of "
                     "the network (docs/captured-networks.md); only name, precision and optimizer may be given as well",
                     "\"gpt.json\"",
                     {{.kind = ValueShape::Kind::text}}},
                    read_captured);
    return fields;
}

/// Keys beside a captured network.
const Fields<NetworkReading>& captured_workload_fields()
{
    static const auto fields =
        Fields<NetworkReading>("[workload]", "a captured network")
            .include(captured_fields())
            .text("name", of(&Workload::name), "my-model", "name of the network in reports")
            .choice("precision", of(&Workload::precision), "bf16",
                    "precision of the products of linear layers; parameters have 32 bits with fp32 and tf32, else 16")
            .nested("optimizer", of(&Workload::optimizer), optimizer_fields);
    return fields;
}

const Fields<NetworkReading>& scenario_network_fields()
{
    static const auto fields =
        Fields<NetworkReading>("[workload]",
                               "the network to train: from the catalog, with changes if any, or described by its layers")
            .base("model", catalog_workloads, catalog_reading, "network from the catalog")
            .include(captured_fields())
            .text("name", of(&Workload::name), "my-model", "name of the network in reports")
            .include(reading_fields());
    return fields;
}

}  // namespace

const SectionTable& workload_table() { return scenario_network_fields(); }

/// The same keys, under a name in place of `name`.
const SectionTable& networks_table()
{
    static const SectionTable table = [] {
        SectionTable networks("[networks.NAME]", "networks that workload in [space] chooses from, with the keys of [workload]");
        for (const KeyInfo& key : scenario_network_fields().keys()) {
            const bool older =
                std::any_of(older_keys.begin(), older_keys.end(), [&key](const OlderKey& own) { return own.key == key.key; });
            if (key.key != "name" && key.key != "captured" && (!older || key.key == "layers")) {
                networks.add(key);
            }
        }
        return networks;
    }();
    return table;
}

Workload read_network(Table& table)
{
    NetworkReading reading;
    const bool by_blocks = describes_layers(table);
    reading_fields().read_whole(table, by_blocks ? Keys::some : Keys::all, reading);
    return finished(table, reading, false);
}

Workload read_workload(Table table)
{
    NetworkReading reading;
    if (table.find("captured")) {
        captured_workload_fields().read_whole(table, Keys::all, reading);
        refuse_idle_master(table, reading.workload);
        return reading.workload;
    }
    scenario_network_fields().read_whole(table, Keys::all, reading);
    Workload workload = finished(table, reading, table.find("model").has_value());
    if (!table.find("name")) {
        const bool changed = table.keys().size() > 1;
        workload.name = !table.find("model") ? "custom" : workload.name + (changed ? " (changed)" : "");
    }
    return workload;
}

std::vector<Workload> read_networks(Table table)
{
    std::vector<Workload> networks;
    for (const std::string& name : table.keys()) {
        const Value value = *table.find(name);
        Table own = value.table(R"({ model = "llama3-8b" })");
        if (const auto captured = own.find("captured")) {
            captured->fail({"is allowed in [workload] only", "a captured network cannot be one of several",
                            "search the captured network alone"});
        }
        if (const auto older = older_key(own, own.find("model") ? "layers" : "")) {
            older->fail({"is a deprecated key of [workload]", "[networks] describes layers by their blocks only",
                         "write layer.NAME and sequence (docs/networks.md), or model for a network from the catalog"});
        }
        if (name.find_first_of(" =\t\n") != std::string::npos) {
            value.fail({fmt::format("is called \"{}\"", name), "reports and --design need names of one word",
                        "choose a name without spaces or ="});
        }
        const std::vector<std::string> catalog = catalog_workloads();
        if (std::find(catalog.begin(), catalog.end(), name) != catalog.end()) {
            value.fail({fmt::format("is called \"{}\"", name), "the catalog has a network of that name", "choose another name"});
        }
        networks.push_back(read_workload(std::move(own)));
        networks.back().name = name;
    }
    return networks;
}

std::string older_keys_text(Table table)
{
    std::string_view now;
    const auto older = older_key(table, table.find("model") ? "layers" : "", &now);
    return older ? fmt::format(
                       "line {}: this key of [workload] is deprecated and will be rejected by the next release; write {} in "
                       "layer.NAME = "
                       "{{ blocks = [...] }} (docs/networks.md, Older keys)",
                       older->line(), now)
                 : "";
}

}  // namespace prismopt
