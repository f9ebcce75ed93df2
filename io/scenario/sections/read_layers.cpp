#include "io/scenario/sections/block_fields.hpp"
#include "io/scenario/sections/network_reading.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

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
                     R"([{ block = "attention", heads = 32 }, { block = "mlp", inner = 14336 }])",
                     block_shapes(), Need::required},
                    [](const Value& value, LayerKeys& keys, Keys) {
                        const int hidden = keys.layer.hidden > 0 ? keys.layer.hidden : keys.network_hidden;
                        for (const Value& block : value.list(R"([{ block = "mlp", inner = 14336 }])")) {
                            keys.layer.blocks.push_back(read_block(block, hidden, keys.layer.name));
                        }
                    })
            .flag("parallel", own(&LayerDescription::parallel),
                  "whether its blocks run in parallel on the same input; a modulation comes before them")
            .integer("second_stream", own(&LayerDescription::second_stream),
                     {"tokens per sample, of those of the layer, of a second stream with weights of its own, "
                      "which attention joins "
                      "(text beside an image: MMDiT, arXiv 2403.03206); default: one stream",
                      1, 1'000'000, "512"})
            .number("tokens", own(&LayerDescription::tokens),
                    {"tokens in this layer per token of the phase's sequence", 0.0, 1e6, "0.25",
                     Range::Ends::open_low})
            .flag("frozen", own(&LayerDescription::frozen),
                  "whether its parameters are frozen; adapters are still trained");
    return fields;
}

/// An element of `sequence`.
struct RunKeys {
    std::string layer;
    std::string pattern;
    int count = 1;
};

const Fields<RunKeys>& run_fields()
{
    static const auto fields =
        Fields<RunKeys>("layers", "consecutive layers")
            .text("layer", &RunKeys::layer, "dense", "kind of layer")
            .text("pattern", &RunKeys::pattern, "SF",
                  "layers in order, one character each: names of layer kinds with a single character")
            .integer("count", &RunKeys::count, {"number of repetitions", 1, 100'000, "32"});
    return fields;
}

/// A module of multi-token prediction.
struct PredictionKeys {
    std::string layer;
    std::string pattern;
};

const Fields<PredictionKeys>& prediction_fields()
{
    static const auto fields =
        Fields<PredictionKeys>(
            "prediction", "the layers of a multi-token prediction module (arXiv 2412.19437, section 2.2)")
            .text("layer", &PredictionKeys::layer, "moe", "kind of the layer")
            .text("pattern", &PredictionKeys::pattern, "*E",
                  "its layers in order, one character each, if there are several");
    return fields;
}

/// The kind of layer of that name; refuses others.
int kind_of(const Value& value, const std::string& name, const Workload& w)
{
    const auto found = std::find_if(w.kinds.begin(), w.kinds.end(),
                                    [&name](const LayerDescription& kind) { return kind.name == name; });
    if (found == w.kinds.end()) {
        std::vector<std::string> names;
        for (const LayerDescription& kind : w.kinds) {
            names.push_back(kind.name);
        }
        const bool bare = std::all_of(name.begin(), name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
        });
        value.fail(
            {fmt::format("names an undefined layer \"{}\"", name),
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

void add_pattern(const Value& value, const std::string& pattern, const Workload& w,
                 std::vector<LayerRun>& runs)
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
        table.fail({layer ? "has both layer and pattern" : "has neither layer nor pattern",
                    "exactly one of the two is needed", R"(write layer = "dense", or pattern = "SF")"});
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
    const auto beside = std::find_if_not(layer.blocks.begin(), layer.blocks.end(), leads_parallel);
    if (norms != NormPlace::pre) {
        table.find("parallel")
            ->fail({fmt::format("cannot be combined with norms = \"{}\"", name(norms)),
                    "parallel blocks share the norm of their input", "remove one of the two"});
    }
    if (beside == layer.blocks.end() || std::any_of(beside, layer.blocks.end(), alone)) {
        table.find("parallel")
            ->fail({"needs blocks with a norm and a residual connection",
                    fmt::format("parallel blocks share these; possible with {}, after a modulation",
                                listed(branching_blocks())),
                    "remove parallel, or the other blocks"});
    }
}

/// Attention joins two streams; products and modulations have weights for each.
void refuse_second_stream(Table& table, const LayerDescription& layer)
{
    const auto other =
        std::find_if_not(layer.blocks.begin(), layer.blocks.end(), [](const BlockDescription& block) {
            const auto* attention = std::get_if<AttentionBlock>(&block);
            return (attention != nullptr && attention->context == 0) ||
                   std::holds_alternative<MlpBlock>(block) ||
                   std::holds_alternative<ModulationBlock>(block) ||
                   std::holds_alternative<LinearBlock>(block);
        });
    if (layer.second_stream > 0 && other != layer.blocks.end()) {
        table.find("second_stream")
            ->fail({fmt::format("does not apply to {}", block_text(layer, *other)),
                    "two streams are possible with modulation, linear, self-attention and mlp",
                    "remove second_stream, or put the block into a layer of its own"});
    }
}

void refuse_too_many(const Value& value, const Workload& w)
{
    if (w.layers() > most_layers) {
        value.fail({fmt::format("gives {} layers", w.layers()),
                    fmt::format("at most {} are allowed", most_layers), "give fewer layers"});
    }
}

}  // namespace

const SectionTable& layer_table() { return layer_fields(); }
const SectionTable& run_table() { return run_fields(); }
const SectionTable& prediction_table() { return prediction_fields(); }

void read_layers(const Value& value, Workload& w)
{
    Table table = value.table(R"(layer.dense = { blocks = [...] })");
    for (const std::string& name : table.keys()) {
        LayerKeys keys;
        keys.network_hidden = w.hidden;
        keys.layer.name = name;
        Table own = table.find(name)->table(layer_fields().example());
        own.call(fmt::format("layer \"{}\"", name));
        layer_fields().read_whole(own, Keys::all, keys);
        refuse_parallel(own, keys.layer, w.norms);
        refuse_second_stream(own, keys.layer);
        const auto known = std::find_if(w.kinds.begin(), w.kinds.end(),
                                        [&name](const LayerDescription& kind) { return kind.name == name; });
        if (known == w.kinds.end()) {
            w.kinds.push_back(keys.layer);
        } else {
            *known = keys.layer;  // of the catalog's network
        }
    }
}

void read_sequence(const Value& value, Workload& w)
{
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

void read_pattern(const Value& value, Workload& w)
{
    w.sequence.clear();
    add_pattern(value, value.text("MEMEM*E"), w, w.sequence);
    refuse_too_many(value, w);
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
            defined.find(name)->fail({"is not used",
                                      "neither sequence, pattern nor prediction contains this layer",
                                      "correct its name, add it to the sequence, or remove it"});
        }
    }
}

}  // namespace prismopt
