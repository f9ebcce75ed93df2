#include "io/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr Range layers_range{"transformer layers", 1, 10'000, "96"};
constexpr Range hidden_range{"the hidden size", 1, 1'000'000, "12288"};
constexpr Range heads_range{"attention heads", 1, 10'000, "96"};
constexpr Range kv_heads_range{"key and value heads; equal to heads without grouping", 1, 10'000, "8"};
constexpr Range feed_forward_range{"the inner size of the MLP", 1, 10'000'000, "49152"};
constexpr Range experts_range{"experts of a layer", 1, 100'000, "8"};
constexpr Range imbalance_range{"tokens of the fullest group of experts over the mean", 1, 1000, "1.2"};
constexpr Range vocabulary_range{"entries of the vocabulary", 1, 100'000'000, "51200"};
constexpr Range tokens_range{"tokens to train on", 1, 1e18, "15.6e12"};
constexpr Range own_range{"GPUs, degrees, chunks or sequences of a phase", 1, 10'000'000, "16"};
constexpr Range sequence_range{"tokens in a sequence", 1, 100'000'000, "8192"};
constexpr Range batch_range{"sequences in an optimizer step", 1, 100'000'000, "2048"};

template <class Enum>
using Named = std::vector<std::pair<std::string, Enum>>;

const Named<Activation> activations{
    {"gelu", Activation::gelu}, {"swiglu", Activation::swiglu}, {"squared_relu", Activation::squared_relu}};
const Named<Normalisation> normalisations{{"layer_norm", Normalisation::layer_norm}, {"rms_norm", Normalisation::rms_norm}};
const Named<AttentionKernel> attentions{{"plain", AttentionKernel::plain}, {"flash", AttentionKernel::flash}};

const Named<Precision> precisions{{"fp32", Precision::fp32},
                                  {"tf32", Precision::tf32},
                                  {"bf16", Precision::bf16},
                                  {"fp8", Precision::fp8},
                                  {"nvfp4", Precision::nvfp4}};

template <class Enum>
Enum chosen(const Value& value, const Named<Enum>& named, std::string_view why)
{
    std::vector<std::string> names;
    for (const auto& row : named) {
        names.push_back(row.first);
    }
    const std::string choice = value.choice(names, why);
    return std::find_if(named.begin(), named.end(), [&](const auto& row) { return row.first == choice; })->second;
}

void read_experts(Table table, Experts& experts)
{
    experts.count = table.at("count", "count = 8").count(experts_range);
    experts.active = table.at("active", "active = 2").count(experts_range);
    experts.feed_forward = table.at("feed_forward", "feed_forward = 14336").count(feed_forward_range);
    if (const auto value = table.find("shared")) {
        experts.shared = value->count(feed_forward_range);
    }
    if (const auto value = table.find("dense_layers")) {
        experts.dense_layers = value->count(layers_range);
    }
    if (const auto value = table.find("imbalance")) {
        experts.imbalance = value->number(imbalance_range);
    }
    if (const auto value = table.find("capacity")) {
        experts.capacity = value->number(imbalance_range);
    }
    table.refuse_unknown_keys();
}

void read_latent(Table table, LatentAttention& latent)
{
    const auto size = [&table](const char* key) { return table.at(key, std::string(key) + " = 512").count(hidden_range); };
    latent = {size("query_rank"), size("key_value_rank"), size("rotary"), size("plain"), size("value")};
    table.refuse_unknown_keys();
}

}  // namespace

void read_workload_fields(Table& table, Keys keys, Workload& workload)
{
    if (const auto value = table.find("layers", keys, "layers = 96")) {
        workload.layers = value->count(layers_range);
    }
    const auto hidden = table.find("hidden", keys, "hidden = 12288");
    if (hidden) {
        workload.hidden = hidden->count(hidden_range);
    }
    const auto heads = table.find("heads", keys, "heads = 96");
    if (heads) {
        workload.heads = heads->count(heads_range);
    }
    const auto kv_heads = table.find("kv_heads", keys, "kv_heads = 96 (fewer than heads for grouped-query attention)");
    if (kv_heads) {
        workload.kv_heads = kv_heads->count(kv_heads_range);
    }
    if (const auto value = table.find("feed_forward", keys, "feed_forward = 49152")) {
        workload.feed_forward = value->count(feed_forward_range);
    }
    if (const auto value = table.find("vocabulary", keys, "vocabulary = 51200")) {
        workload.vocabulary = value->count(vocabulary_range);
    }
    if (const auto value = table.find("activation", keys, "activation = \"swiglu\"")) {
        workload.activation = chosen(*value, activations, "activations of the MLP");
    }
    if (const auto value = table.find("normalisation", keys, "normalisation = \"rms_norm\"")) {
        workload.normalisation = chosen(*value, normalisations, "normalisations");
    }
    if (const auto value = table.find("attention", keys, "attention = \"flash\"")) {
        workload.attention = chosen(*value, attentions, "attention kernels");
    }
    if (const auto value = table.find("causal", keys, "causal = true")) {
        workload.causal = value->boolean();
    }
    if (const auto value = table.find("tied_embedding", keys, "tied_embedding = false")) {
        workload.tied_embedding = value->boolean();
    }
    if (const auto value = table.find("dropout", keys, "dropout = false")) {
        workload.dropout = value->boolean();
    }
    if (const auto value = table.find("precision")) {
        workload.precision = chosen(*value, precisions, "precisions of the linear layers");
    }
    if (const auto value = table.find("head")) {
        workload.head = value->count(hidden_range);
    }
    if (const auto value = table.find("experts")) {
        read_experts(value->table("{count = 8, active = 2, feed_forward = 14336}"), workload.experts);
    }
    if (const auto value = table.find("latent")) {
        read_latent(value->table("{query_rank = 1536, ...}"), workload.latent);
    }
    if (workload.head == 0 && workload.hidden % workload.heads != 0) {
        const Complaint complaint{fmt::format("gives {} attention heads for a hidden size of {}", workload.heads,
                                              workload.hidden),
                                  "heads must divide hidden", "change one of the two"};
        heads ? heads->fail(complaint) : table.fail(complaint);
    }
    if (workload.heads % workload.kv_heads != 0) {
        const Complaint complaint{fmt::format("gives {} key and value heads for {} attention heads", workload.kv_heads,
                                              workload.heads),
                                  "kv_heads must divide heads", fmt::format("write kv_heads = {} or a divisor", workload.heads)};
        kv_heads ? kv_heads->fail(complaint) : table.fail(complaint);
    }
}

Workload read_workload(Table table)
{
    Workload workload;
    const auto model = table.find("model");
    if (model) {
        workload = catalog_workload(model->choice(catalog_workloads(), "workloads of the catalog"));
        if (table.keys().size() > 1) {
            workload.name += " (changed)";
        }
    } else {
        workload.name = "custom";
    }
    if (const auto name = table.find("name")) {
        workload.name = name->text("my-model");
    }
    read_workload_fields(table, model ? Keys::some : Keys::all, workload);
    table.refuse_unknown_keys();
    return workload;
}

namespace {

/// What a later phase has instead of the plan's; the first runs the plan as it is.
void read_own_plan(Table& table, bool is_first, PhasePlan& own)
{
    const auto found = [&](const char* key) {
        const auto value = table.find(key);
        if (value && is_first) {
            value->fail({"is of the first phase", "that one runs the plan as it is", "give it in [space], or to a later phase"});
        }
        return value;
    };
    for (const auto& [key, choice] : {std::pair{"gpus", &own.gpus},
                                      {"tp", &own.tp},
                                      {"cp", &own.cp},
                                      {"pp", &own.pp},
                                      {"v", &own.chunks},
                                      {"microbatch", &own.microbatch}}) {
        if (const auto value = found(key)) {
            *choice = value->count(own_range);
        }
    }
    const auto take_name = [&](const char* key, auto& choice, const char* example) {
        if (const auto value = found(key)) {
            using Enum = typename std::remove_reference_t<decltype(choice)>::value_type;
            choice = parse<Enum>(value->text(example));
            if (!choice) {
                value->fail({fmt::format("is not one of {}", choices<Enum>()), "choices of this axis", "write one of these"});
            }
        }
    };
    take_name("schedule", own.schedule, "1f1b");
    take_name("recompute", own.recompute, "selective");
}

}  // namespace

std::vector<Phase> read_phases(const Value& phases)
{
    std::vector<Phase> result;
    for (const Value& element : phases.list("[[phase]] with tokens, sequence_length and global_batch")) {
        Table table = element.table("[[phase]] with tokens, sequence_length and global_batch");
        Phase phase;
        const Value tokens = table.at("tokens", "tokens = 15.6e12");
        phase.tokens = tokens.amount(tokens_range);
        phase.sequence = table.at("sequence_length", "sequence_length = 8192 (tokens)").count(sequence_range);
        phase.global_batch = table.at("global_batch", "global_batch = 2048 (sequences)").count(batch_range);
        read_own_plan(table, result.empty(), phase.own);
        table.refuse_unknown_keys();
        if (phase.steps() < 1.0) {
            tokens.fail({"is less than one step",
                         fmt::format("a step has {} sequences of {} tokens", phase.global_batch, phase.sequence),
                         "write tokens as a plain count, as in 15.6e12"});
        }
        result.push_back(phase);
    }
    return result;
}

}  // namespace prismopt
