#include "io/scenario/files/captured_network.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/network_reading.hpp"
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

constexpr Range hidden_range{"hidden size", 1, 1'000'000, "12288"};
constexpr Range vocabulary_range{"vocabulary size", 1, 100'000'000, "51200"};
constexpr Range network_imbalance_range{
    "load imbalance of all mixtures of experts: tokens of the busiest expert-parallel rank relative to the "
    "mean; default: that of each block",
    1, 1000, "1.1"};

const Fields<OptimizerSettings>& optimizer_fields()
{
    static const auto fields =
        Fields<OptimizerSettings>("optimizer", "the optimizer, and the number types of its states")
            .choice("kind", &OptimizerSettings::kind, "muon",
                    "adamw; sgd with momentum; lion; adafactor without momentum; or, with adamw for "
                    "embedding and head, muon or "
                    "galore")
            .choice("states", &OptimizerSettings::states, "bf16",
                    "number type of the optimizer states (moments, momentum)")
            .choice("master", &OptimizerSettings::master, "fp32",
                    "number type of the master weights; none: 16-bit parameters are updated themselves "
                    "(there is none with 32-bit "
                    "parameters)")
            .choice("gradients", &OptimizerSettings::gradients, "bf16",
                    "number type in which gradients are accumulated")
            .integer("rank", &OptimizerSettings::rank,
                     {"rank of the projected gradients of galore", 1, 100'000, "128"})
            .flag("fused", &OptimizerSettings::fused,
                  "whether one kernel updates a tensor, without temporaries")
            .flag("paged", &OptimizerSettings::paged,
                  "whether states that do not fit on the accelerator are in host memory; the time to move "
                  "them is not modelled")
            .flag(
                "in_backward", &OptimizerSettings::in_backward,
                "whether a layer is updated as soon as it has its gradients, which needs a single microbatch")
            .custom({"reduction",
                     "number type in which gradients are reduced over data-parallel replicas; default: as "
                     "the software stack does",
                     in_quotes("bf16"),
                     {choice_shape(enum_names<NumberType>)}},
                    [](const Value& value, OptimizerSettings& optimizer, Keys) {
                        optimizer.reduction =
                            parse<NumberType>(value.choice(enum_names<NumberType>(), "number types"));
                    })
            .check([](Table& table, const OptimizerSettings& optimizer) {
                if (const auto rank = table.find("rank"); rank && optimizer.kind != Optimizer::galore) {
                    rank->fail({"has no effect", "only galore projects gradients",
                                "remove it, or write kind = \"galore\""});
                }
                if (const auto states = table.find("states");
                    states && optimizer.kind == Optimizer::adafactor) {
                    states->fail({"has no effect",
                                  "of adafactor's moments only sums of rows and columns are kept, which are "
                                  "not counted",
                                  "remove it"});
                }
            });
    return fields;
}

const Fields<NetworkReading>& reading_fields()
{
    static const auto section = [](const SectionTable& (*table)(), bool list, bool by_name) {
        return std::vector<ValueShape>{
            {.kind = ValueShape::Kind::section, .section = table, .list = list, .by_name = by_name}};
    };
    static const auto fields =
        Fields<NetworkReading>("a network", "the shape of a network")
            .integer("hidden", of(&Workload::hidden), hidden_range)
            .complete()
            .integer("vocabulary", of(&Workload::vocabulary), vocabulary_range)
            .integer("positions", of(&Workload::positions),
                     {"learned position embeddings (rows)", 1, 100'000'000, "2048"})
            .choice("normalisation", of(&Workload::normalisation), "rms_norm", "normalisation")
            .choice("norms", of(&Workload::norms), "pre",
                    "where blocks normalise: their input (pre), their output (post), or both (sandwich)")
            .flag("tied_embedding", of(&Workload::tied_embedding),
                  "whether input and output embedding share their weights")
            .flag("dropout", of(&Workload::dropout),
                  "whether dropout masks are saved for the backward pass (GPT-3 era runs)")
            .number("imbalance", &NetworkReading::imbalance, network_imbalance_range)
            .choice("precision", of(&Workload::precision), "bf16",
                    "precision of the products of linear layers; parameters have 32 bits with fp32 and tf32, "
                    "else 16")
            .flag("wide_stream", of(&Workload::wide_stream),
                  "whether the stream between layers has 32 bits, as with norms and embeddings in 32 bits "
                  "(PEFT, "
                  "prepare_model_for_kbit_training)")
            .choice("loss", of(&Workload::loss), "fused-linear",
                    "how the loss over the vocabulary is computed: as the software stack does, by separate "
                    "kernels, by one fused or "
                    "compiled kernel, in chunks of tokens, or in chunks together with the head, which leaves "
                    "no logits in memory")
            .choice("activation_storage", of(&Workload::activation_storage), "fp8",
                    "type in which inputs of linear layers and activations are saved for the backward pass")
            .custom(
                {"layer", "kinds of layers, by name",
                 R"({ dense = { blocks = [{ block = "attention", heads = 32 }, { block = "mlp", inner = 14336 }] } })",
                 section(layer_table, false, true)},
                [](const Value& value, NetworkReading& reading, Keys) {
                    read_layers(value, reading.workload);
                })
            .custom({"sequence", "the layers, in order",
                     R"([{ layer = "dense", count = 3 }, { layer = "moe", count = 58 }])",
                     section(run_table, true, false)},
                    [](const Value& value, NetworkReading& reading, Keys) {
                        read_sequence(value, reading.workload);
                    })
            .custom({"pattern",
                     "the layers in order, one character each, in place of sequence",
                     in_quotes("MEMEM*E"),
                     {{}}},
                    [](const Value& value, NetworkReading& reading, Keys) {
                        read_pattern(value, reading.workload);
                    })
            .custom({"prediction", prediction_table().help(), R"({ layer = "moe" })",
                     section(prediction_table, false, false)},
                    [](const Value&, NetworkReading&, Keys) {})  // when its layers are known
            .integer("predictions", of(&Workload::predictions),
                     {"multi-token prediction modules that are trained", 1, 16, "1"})
            .choice("task", of(&Workload::task), "training", "inference runs forward passes only")
            .nested("optimizer", of(&Workload::optimizer), optimizer_fields)
            .flag("frozen_ends", of(&Workload::frozen_ends), "whether embedding and output head are frozen")
            .integer("adapter_rank", of(&Workload::adapter_rank),
                     {"rank of LoRA adapters on the linear layers of frozen layers; default: no adapters", 1,
                      100'000, "16"})
            .choice("method", of(&Workload::method), "lora",
                    "full; or lora: all layers, embedding and head are frozen, and adapters of adapter_rank "
                    "trained")
            .choice(
                "adapter_targets", of(&Workload::adapter_targets), "attention",
                "linear layers beside which adapters stand: all but routed experts, or those of attention")
            .choice("frozen_storage", of(&Workload::frozen_storage), "nf4",
                    "how the weights of frozen layers' products are stored (QLoRA: nf4, or nf4-double with "
                    "scales in 8 bits; "
                    "GPTQ: int4)")
            .include(older_fields());
    return fields;
}

bool describes_layers(Table& table)
{
    return table.find("layer") || table.find("sequence") || table.find("pattern");
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
            table.find("pattern")->fail({"cannot be combined with sequence",
                                         "both give the order of the layers", "remove one of the two"});
        }
        if (w.sequence.empty()) {
            table.at("sequence", R"(sequence = [{ layer = "dense", count = 32 }])");
        }
        return w;
    }
    if (based && !older) {
        return w;
    }
    return with_older_keys(table, reading, based, older.has_value());
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
                      fmt::format("with precision = \"{}\" the parameters have 32 bits and no master copy",
                                  name(w.precision)),
                      "remove master"});
    }
}

/// Keys of training where nothing is trained.
void refuse_without_training(Table& table, const Workload& w)
{
    if (!w.trains()) {
        for (const char* key : {"optimizer", "predictions", "dropout", "frozen_ends", "adapter_rank",
                                "method", "adapter_targets"}) {
            if (const auto value = table.find(key)) {
                value->fail({"has no effect", "task = \"inference\" runs forward passes of the network only",
                             fmt::format("remove {}, or write task = \"training\"", key)});
            }
        }
        return;
    }
    const bool layers_frozen = std::all_of(w.sequence.begin(), w.sequence.end(),
                                           [&w](const LayerRun& run) { return w.kinds[run.kind].frozen; });
    const bool ends_frozen = w.frozen_ends || w.vocabulary == 0;
    if (layers_frozen && ends_frozen && w.adapter_rank == 0) {
        const Complaint nothing{"leaves nothing to train",
                                "all layers, embedding and head are frozen, and there are no adapters",
                                "give adapter_rank, keep a layer unfrozen, or write task = \"inference\""};
        const auto ends = table.find("frozen_ends");
        ends ? ends->fail(nothing) : table.fail(nothing);
    }
}

/// Adapters in one word: what they stand beside is frozen.
void read_method(Table& table, Workload& w)
{
    if (w.method != Method::lora) {
        return;
    }
    if (w.adapter_rank == 0) {
        table.find("method")->fail({"needs adapter_rank", "adapters have a rank", "write adapter_rank = 16"});
    }
    w.frozen_ends = w.frozen_ends || !table.find("frozen_ends");
    for (LayerDescription& kind : w.kinds) {
        kind.frozen = true;
    }
}

/// One imbalance for all blocks of experts.
void set_imbalance(Table& table, double imbalance, Workload& w)
{
    const auto key = table.find("imbalance");
    if (!key) {
        return;
    }
    bool any = false;
    for (LayerDescription& kind : w.kinds) {
        for (BlockDescription& block : kind.blocks) {
            if (auto* experts = std::get_if<ExpertsBlock>(&block)) {
                experts->imbalance = imbalance;
                any = true;
            }
        }
    }
    if (!any) {
        key->fail({"has no effect", "no layer of the network has experts", "remove it"});
    }
}

/// Keys of frozen layers where there are none, or whose parameters have no 16 bits.
void refuse_idle_storage(Table& table, const Workload& w, bool frozen)
{
    if (const auto storage = table.find("frozen_storage"); storage && !frozen) {
        storage->fail({"has no effect", "no layer is frozen",
                       "write method = \"lora\", or frozen = true in layer.NAME"});
    } else if (storage && (w.precision == Precision::fp32 || w.precision == Precision::tf32)) {
        storage->fail({"has no effect",
                       fmt::format("with precision = \"{}\" all parameters have 32 bits", name(w.precision)),
                       "remove it, or write precision = \"bf16\""});
    }
    if (const auto targets = table.find("adapter_targets"); targets && w.adapter_rank == 0) {
        targets->fail({"has no effect", "there are no adapters", "write adapter_rank = 16"});
    }
}

/// Ranks that no matrix has, and adapters beside nothing.
void refuse_odd_ranks(Table& table, const Workload& w)
{
    if (w.adapter_rank > w.hidden && w.hidden > 0) {
        table.find("adapter_rank")
            ->fail({"is larger than the network",
                    fmt::format("{} has {} columns", w.name.empty() ? "it" : w.name, w.hidden),
                    "write a smaller rank, as in adapter_rank = 16"});
    }
    if (w.optimizer.kind == Optimizer::galore && w.optimizer.rank > w.hidden && w.hidden > 0) {
        table.find("optimizer")
            ->fail({"has a rank that is larger than the network",
                    fmt::format("gradients have {} columns", w.hidden),
                    "write a smaller rank, as in rank = 128"});
    }
    if (w.method == Method::lora && w.frozen_ends && w.adapter_targets == AdapterTargets::attention &&
        !w.has_attention()) {
        table.find("adapter_targets")
            ->fail({"leaves nothing to train", "the network has no attention",
                    "write adapter_targets = \"all\""});
    }
}

Workload finished(Table& table, NetworkReading& reading, bool based)
{
    Workload w = with_layers(table, reading, based);
    read_method(table, w);
    set_imbalance(table, reading.imbalance, w);
    const bool frozen = std::any_of(w.kinds.begin(), w.kinds.end(),
                                    [](const LayerDescription& layer) { return layer.frozen; });
    if (w.adapter_rank > 0 && !frozen) {
        table.find("adapter_rank")
            ->fail({"has no effect", "adapters are added to frozen layers only",
                    "write method = \"lora\", or frozen = true in layer.NAME"});
    }
    refuse_idle_storage(table, w, frozen);
    refuse_odd_ranks(table, w);
    read_prediction(table, w);
    refuse_unused_layers(table, w);
    refuse_without_training(table, w);
    refuse_idle_master(table, w);
    if (w.vocabulary == 0) {
        for (const char* key : {"predictions", "positions", "tied_embedding", "frozen_ends"}) {
            if (const auto value = table.find(key); value && (!w.captured)) {
                value->fail({"has no effect",
                             "the network has no vocabulary, so it has neither embedding nor output head",
                             "give vocabulary, or remove the key"});
            }
        }
    }
    return w;
}

NetworkReading catalog_reading(const std::string& name, const Catalog& catalog)
{
    NetworkReading reading{catalog_workload(name, catalog), {}};
    const auto transformer = transformer_of(reading.workload);
    reading.has_transformer = transformer.has_value();
    reading.transformer = transformer.value_or(Transformer{});
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
    static const auto fields = Fields<NetworkReading>("a captured network", "a network from its PyTorch code")
                                   .custom({"captured",
                                            "file written by jobs/capture_network.py, as a path relative to "
                                            "the scenario; replaces the description of "
                                            "the network (docs/captured-networks.md); only name, precision "
                                            "and optimizer may be given as well",
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
                    "precision of the products of linear layers; parameters have 32 bits with fp32 and tf32, "
                    "else 16")
            .nested("optimizer", of(&Workload::optimizer), optimizer_fields);
    return fields;
}

const Fields<NetworkReading>& scenario_network_fields()
{
    static const auto fields =
        Fields<NetworkReading>(
            "[workload]",
            "the network to train: from the catalog, with changes if any, or described by its layers")
            .base("model", workloads_kind, catalog_reading, "network from the catalog")
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
        SectionTable networks("[networks.NAME]",
                              "networks that workload in [space] chooses from, with the keys of [workload]");
        for (const KeyInfo& key : scenario_network_fields().keys()) {
            if (key.key != "name" && key.key != "captured" &&
                (!is_older_key(key.key) || key.key == "layers")) {
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
            older->fail({"is a deprecated key of [workload]",
                         "[networks] describes layers by their blocks only",
                         "write layer.NAME and sequence (docs/networks.md), or model for a network from the "
                         "catalog"});
        }
        if (!is_word(name)) {
            value.fail({fmt::format("is called \"{}\"", name), "reports and --design need names of one word",
                        "choose a name without spaces or ="});
        }
        if (table.catalog().has(workloads_kind, name)) {
            value.fail({fmt::format("is called \"{}\"", name), "the catalog has a network of that name",
                        "choose another name"});
        }
        networks.push_back(read_workload(std::move(own)));
        networks.back().name = name;
    }
    return networks;
}

}  // namespace prismopt
