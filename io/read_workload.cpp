#include "io/sections.hpp"

#include "model/step/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace prismopt {

namespace {

constexpr Range layers_range{"transformer layers", 1, 10'000, "96"};
constexpr Range hidden_range{"the hidden size", 1, 1'000'000, "12288"};
constexpr Range heads_range{"attention heads", 1, 10'000, "96"};
constexpr Range kv_heads_range{"key and value heads; equal to heads without grouping", 1, 10'000, "8"};
constexpr Range feed_forward_range{"the inner size of the MLP", 1, 10'000'000, "49152"};
constexpr Range experts_range{"routed experts of a layer", 1, 100'000, "8"};
constexpr Range active_range{"experts that a token is routed to", 1, 100'000, "2"};
constexpr Range expert_size_range{"inner size of an expert", 1, 10'000'000, "14336"};
constexpr Range shared_range{"inner size of the experts that see every token, together", 1, 10'000'000, "2048"};
constexpr Range dense_layers_range{"first layers, which keep the dense MLP", 1, 10'000, "3"};
constexpr Range every_range{"of the layers behind the dense ones, the last of so many has experts", 1, 10'000, "2"};
constexpr Range capacity_range{"most tokens of an expert over the mean, beyond which tokens are dropped; unless given: none are",
                               1, 1000, "1.25"};
constexpr Range imbalance_range{"tokens of the fullest group of experts over the mean", 1, 1000, "1.2"};
constexpr Range vocabulary_range{"entries of the vocabulary", 1, 100'000'000, "51200"};
constexpr Range tokens_range{"tokens to train on", 1, 1e18, "15.6e12"};
constexpr Range sequence_range{"tokens in a sequence", 1, 100'000'000, "8192"};
constexpr Range batch_range{"sequences in an optimizer step", 1, 100'000'000, "2048"};

const Fields<Experts>& experts_fields()
{
    static const auto fields = Fields<Experts>("experts", "experts in place of the MLP")
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
                                   .number("capacity", &Experts::capacity, capacity_range);
    return fields;
}

const Fields<LatentAttention>& latent_fields()
{
    static const auto fields =
        Fields<LatentAttention>("latent", "multi-head latent attention (DeepSeek-V2, arXiv 2405.04434)")
            .integer("query_rank", &LatentAttention::query_rank, {"rank of the compressed queries", 1, 1'000'000, "1536"})
            .required()
            .integer("key_value_rank", &LatentAttention::key_value_rank,
                     {"rank of the compressed keys and values", 1, 1'000'000, "512"})
            .required()
            .integer("rotary", &LatentAttention::rotary,
                     {"size of the part of a key that carries the position, shared by all heads", 1, 1'000'000, "64"})
            .required()
            .integer("plain", &LatentAttention::plain, {"size of a head's key without position", 1, 1'000'000, "128"})
            .required()
            .integer("value", &LatentAttention::value, {"size of a head's value", 1, 1'000'000, "128"})
            .required();
    return fields;
}

void check_heads(Table& table, const Workload& workload)
{
    const auto refuse = [&table](std::string_view key, const Complaint& complaint) {
        const auto place = table.find(key);
        place ? place->fail(complaint) : table.fail(complaint);
    };
    if (workload.head == 0 && workload.hidden % workload.heads != 0) {
        refuse("heads", {fmt::format("gives {} attention heads for a hidden size of {}", workload.heads, workload.hidden),
                         "heads must divide hidden", "change one of the two"});
    }
    if (workload.heads % workload.kv_heads != 0) {
        refuse("kv_heads", {fmt::format("gives {} key and value heads for {} attention heads", workload.kv_heads, workload.heads),
                            "kv_heads must divide heads", fmt::format("write kv_heads = {} or a divisor", workload.heads)});
    }
}

}  // namespace

const Fields<Workload>& network_fields()
{
    static const auto fields =
        Fields<Workload>("a network", "the shape of a network")
            .integer("layers", &Workload::layers, layers_range)
            .complete()
            .integer("hidden", &Workload::hidden, hidden_range)
            .complete()
            .integer("heads", &Workload::heads, heads_range)
            .complete()
            .integer("kv_heads", &Workload::kv_heads, kv_heads_range)
            .complete()
            .integer("feed_forward", &Workload::feed_forward, feed_forward_range)
            .complete()
            .integer("vocabulary", &Workload::vocabulary, vocabulary_range)
            .complete()
            .choice("activation", &Workload::activation, "swiglu", "activation of the MLP")
            .complete()
            .choice("normalisation", &Workload::normalisation, "rms_norm", "normalisation")
            .complete()
            .choice("attention", &Workload::attention, "flash",
                    "attention kernel: plain writes the score matrix to memory, flash never does")
            .complete()
            .flag("causal", &Workload::causal, "whether a token attends only to those before it")
            .complete()
            .flag("tied_embedding", &Workload::tied_embedding, "whether input and output embedding share their weights")
            .complete()
            .flag("dropout", &Workload::dropout, "whether dropout masks are saved (GPT-3 era runs)")
            .complete()
            .choice("precision", &Workload::precision, "bf16", "precision of the products of linear layers")
            .integer("head", &Workload::head, {"size of an attention head; unless given: hidden / heads", 1, 1'000'000, "128"})
            .nested("experts", &Workload::experts, experts_fields)
            .nested("latent", &Workload::latent, latent_fields)
            .check(check_heads);
    return fields;
}

const Fields<Workload>& workload_fields()
{
    static const auto fields =
        Fields<Workload>("[workload]", "the network that is trained: one of the catalog, with changes, or its whole shape")
            .base("model", catalog_workloads, catalog_workload, "network of the catalog")
            .text("name", &Workload::name, "my-model", "name of the network in reports")
            .include(network_fields());
    return fields;
}

namespace {

/// Lines of models with layers that are no attention; the catalog cannot hold them.
void refuse_hybrids(const Value& model)
{
    constexpr std::array<std::string_view, 8> lines{"mamba", "nemotron-h", "nemotronh",  "jamba",
                                                    "zamba", "bamba",      "qwen3-next", "hybrid"};
    if (!model.is_text()) {
        return;
    }
    std::string text = model.text("llama3-70b");
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const std::string_view line : lines) {
        if (text.find(line) != std::string::npos) {
            model.fail({"has state-space layers", "they are not modelled",
                        "choose a transformer, or describe one of the same size: layers, hidden, heads, ... (docs/scenario.md)"});
        }
    }
}

}  // namespace

Workload read_workload(Table table)
{
    Workload workload;
    if (const auto model = table.find("model")) {
        refuse_hybrids(*model);
    }
    workload_fields().read_whole(table, Keys::all, workload);
    if (!table.find("name")) {
        const bool changed = table.keys().size() > 1;
        workload.name = !table.find("model") ? "custom" : workload.name + (changed ? " (changed)" : "");
    }
    return workload;
}

const Fields<Phase>& phase_fields()
{
    // A later phase may have a plan of its own.
    const auto own = [](auto PhasePlan::*member) {
        return [member](Phase & phase) -> auto& { return phase.own.*member; };
    };
    static const auto fields =
        Fields<Phase>("[[phase]]", "a phase of the training; later ones may have a plan of their own, in what they name")
            .amount("tokens", &Phase::tokens, tokens_range)
            .required()
            .integer("sequence_length", &Phase::sequence, sequence_range)
            .required()
            .integer("global_batch", &Phase::global_batch, batch_range)
            .required()
            .integer("gpus", own(&PhasePlan::gpus), {"GPUs of a later phase", 1, 10'000'000, "2048"})
            .integer("tp", own(&PhasePlan::tp), {"tensor-parallel degree of a later phase", 1, 10'000'000, "8"})
            .integer("cp", own(&PhasePlan::cp), {"context-parallel degree of a later phase", 1, 10'000'000, "16"})
            .integer("pp", own(&PhasePlan::pp), {"pipeline stages of a later phase", 1, 10'000'000, "4"})
            .integer("v", own(&PhasePlan::chunks), {"model chunks per pipeline rank of a later phase", 1, 10'000'000, "1"})
            .integer("microbatch", own(&PhasePlan::microbatch),
                     {"sequences in a microbatch of a later phase", 1, 10'000'000, "1"})
            .custom({"schedule",
                     "pipeline schedule of a later phase, with its usual group and number of chunks",
                     "\"1f1b\"",
                     {choice_shape(enum_names<Schedule>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.schedule = parse<Schedule>(value.choice(enum_names<Schedule>(), "pipeline schedules"));
                    })
            .custom({"recompute", "recompute of a later phase", "\"selective\"", {choice_shape(enum_names<Recompute>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.recompute = parse<Recompute>(value.choice(enum_names<Recompute>(), "kinds of recompute"));
                    });
    return fields;
}

namespace {

void check_phase(Table& table, bool first, const Phase& phase)
{
    if (first) {
        for (const char* key : {"gpus", "tp", "cp", "pp", "v", "microbatch", "schedule", "recompute"}) {
            if (const auto value = table.find(key)) {
                value->fail(
                    {"is of the first phase", "that one runs the plan as it is", "give it in [space], or to a later phase"});
            }
        }
    }
    const PhasePlan& own = phase.own;
    if (own.schedule && own.chunks > 0 && !runs_chunks(*own.schedule, own.chunks)) {
        const auto schedule = name(*own.schedule);
        const int chunks = chunks_of(*own.schedule);
        const std::string needed = chunks > 0 ? fmt::format("v = {}", chunks) : "v = 2 or more";
        table.find("v")->fail({fmt::format("contradicts schedule = \"{}\" in line {}", schedule, table.find("schedule")->line()),
                               fmt::format("{} has {}", schedule, needed), "leave v out, or change one of the two"});
    }
    const bool pipeline = own.chunks > 1 || (own.schedule && needs_stages(*own.schedule));
    if (own.pp == 1 && pipeline) {
        const auto key = table.find(own.schedule ? "schedule" : "v");
        key->fail({fmt::format("contradicts pp = 1 in line {}", table.find("pp")->line()), "one stage is no pipeline",
                   "give that phase more stages, or leave one of the two out"});
    }
    if (phase.steps() < 1.0) {
        table.find("tokens")->fail({"is less than one step",
                                    fmt::format("a step has {} sequences of {} tokens", phase.global_batch, phase.sequence),
                                    "write tokens as a plain count, as in 15.6e12"});
    }
}

}  // namespace

std::vector<Phase> read_phases(const Value& phases)
{
    std::vector<Phase> result;
    for (const Value& element : phases.list("[[phase]] with tokens, sequence_length and global_batch")) {
        Table table = element.table("[[phase]] with tokens, sequence_length and global_batch");
        Phase phase;
        phase_fields().read_whole(table, Keys::all, phase);
        check_phase(table, result.empty(), phase);
        result.push_back(phase);
    }
    return result;
}

}  // namespace prismopt
