#include "io/scenario/sections/sections.hpp"
#include "model/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr Range tokens_range{"tokens to train on", 1, 1e18, "15.6e12"};
constexpr Range phase_steps_range{"optimizer steps to train, instead of tokens", 1, 1e12, "1e5"};
constexpr Range phase_samples_range{"samples to train on, instead of tokens", 1, 1e15, "1e6"};
constexpr Range epochs_range{"passes over the data set, instead of tokens; needs samples in [data]", 0, 1e6,
                             "3", Range::Ends::open_low};
constexpr Range sequence_range{"tokens per sequence", 1, 100'000'000, "8192"};
constexpr Range batch_range{"sequences per optimizer step", 1, 100'000'000, "2048"};

KeyInfo amount_key(std::string key, const Range& range)
{
    return {std::move(key),
            std::string(range.meaning),
            std::string(range.example),
            {{.kind = ValueShape::Kind::number, .range = range}}};
}

}  // namespace

const Fields<Phase>& phase_fields()
{
    // A later phase may have a plan of its own.
    const auto own = [](auto PhasePlan::*member) {
        return [member](Phase & phase) -> auto& { return phase.own.*member; };
    };
    static const auto fields =
        Fields<Phase>("[[phase]]", "a training phase; a later phase may change parts of the plan")
            .amount("tokens", &Phase::tokens, tokens_range)
            .custom(amount_key("steps", phase_steps_range),
                    [](const Value&, Phase&, Keys) {})  // with the batch and the sequence: read_amount()
            .custom(amount_key("samples", phase_samples_range), [](const Value&, Phase&, Keys) {})
            .custom(amount_key("epochs", epochs_range), [](const Value&, Phase&, Keys) {})
            .integer("sequence_length", &Phase::sequence, sequence_range)
            .required()
            .integer("global_batch", &Phase::global_batch, batch_range)
            .required()
            .integer("gpus", own(&PhasePlan::gpus), {"GPUs of a later phase", 1, 10'000'000, "2048"})
            .integer("tp", own(&PhasePlan::tp),
                     {"tensor-parallel degree of a later phase", 1, 10'000'000, "8"})
            .integer("cp", own(&PhasePlan::cp),
                     {"context-parallel degree of a later phase", 1, 10'000'000, "16"})
            .integer("pp", own(&PhasePlan::pp), {"pipeline stages of a later phase", 1, 10'000'000, "4"})
            .integer("v", own(&PhasePlan::chunks),
                     {"model chunks per pipeline rank of a later phase", 1, 10'000'000, "1"})
            .integer("microbatch", own(&PhasePlan::microbatch),
                     {"sequences per microbatch of a later phase", 1, 10'000'000, "1"})
            .custom({"schedule",
                     "pipeline schedule of a later phase, with its default group and number of chunks",
                     "\"1f1b\"",
                     {choice_shape(enum_names<Schedule>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.schedule =
                            parse<Schedule>(value.choice(enum_names<Schedule>(), "pipeline schedules"));
                    })
            .custom({"recompute",
                     "recomputation in a later phase",
                     "\"selective\"",
                     {choice_shape(enum_names<Recompute>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.recompute =
                            parse<Recompute>(value.choice(enum_names<Recompute>(), "kinds of recomputation"));
                    });
    return fields;
}

namespace {

/// The ways to give the length of a phase.
constexpr std::array amounts{"tokens", "steps", "samples", "epochs"};

/// Samples of whole epochs. Without lengths, a sample fills a sequence.
double samples_of_epochs(const Value& epochs, const DataSet& data)
{
    if (data.samples == 0.0) {
        epochs.fail({"needs the size of the data set", "an epoch is one pass over its samples",
                     "add [data] with samples = 52000, or give tokens, steps or samples"});
    }
    return epochs.number(epochs_range) * data.samples;
}

/// Tokens, or steps of the phase's batch, or samples; one step where none is given and needed.
void read_amount(Table& table, const DataSet& data, Keys keys, Phase& phase)
{
    const char* given = nullptr;
    for (const char* amount : amounts) {
        const auto value = table.find(amount);
        if (value && given != nullptr) {
            value->fail({fmt::format("is given beside {} in line {}", given, table.find(given)->line()),
                         "each gives the length of the phase", "remove one of the two"});
        }
        if (value) {
            given = amount;
        }
    }
    const double tokens_of_sample =
        phase.lengths ? mean_tokens(*phase.lengths, phase.sequence) : phase.sequence;
    if (given == nullptr) {
        table.find("tokens", keys, "tokens = 15.6e12, or steps, samples or epochs");
        phase.tokens = phase.tokens_of_step();
    } else if (const auto steps = table.find("steps")) {
        phase.tokens = steps->number(phase_steps_range) * phase.tokens_of_step();
    } else if (const auto samples = table.find("samples")) {
        phase.tokens = samples->number(phase_samples_range) * tokens_of_sample;
    } else if (const auto epochs = table.find("epochs")) {
        phase.tokens = samples_of_epochs(*epochs, data) * tokens_of_sample;
    }
}

void check_phase(Table& table, bool first, const Phase& phase)
{
    if (first) {
        for (const char* key : {"gpus", "tp", "cp", "pp", "v", "microbatch", "schedule", "recompute"}) {
            if (const auto value = table.find(key)) {
                value->fail({"is not allowed in the first phase",
                             "the first phase runs the plan of [space] unchanged",
                             "give it in [space] or in a later phase"});
            }
        }
    }
    const PhasePlan& own = phase.own;
    if (own.schedule && own.chunks > 0 && !runs_chunks(*own.schedule, own.chunks)) {
        const auto schedule = name(*own.schedule);
        const int chunks = facts_of(*own.schedule).chunks;
        const std::string needed = chunks > 0 ? fmt::format("v = {}", chunks) : "v = 2 or more";
        table.find("v")->fail({fmt::format("contradicts schedule = \"{}\" in line {}", schedule,
                                           table.find("schedule")->line()),
                               fmt::format("{} needs {}", schedule, needed),
                               "remove v, or change one of the two"});
    }
    const bool pipeline = own.chunks > 1 || (own.schedule && !facts_of(*own.schedule).one_stage);
    if (own.pp == 1 && pipeline) {
        const auto key = table.find(own.schedule ? "schedule" : "v");
        key->fail({fmt::format("contradicts pp = 1 in line {}", table.find("pp")->line()),
                   "a single stage is not a pipeline",
                   "give that phase more stages, or remove one of the two"});
    }
    if (phase.steps() < 1.0) {
        const auto* amount = std::find_if(amounts.begin(), amounts.end(),
                                          [&table](const char* key) { return table.find(key); });
        table.find(*amount)->fail(
            {"is less than one step",
             fmt::format("a step has {} sequences of {} tokens", phase.global_batch, phase.sequence),
             std::string_view(*amount) == "tokens" ? "write tokens as a plain count, as in 15.6e12"
                                                   : fmt::format("write more {}", *amount)});
    }
}

}  // namespace

std::vector<Phase> read_phases(const Value& phases, const DataSet& data, Keys keys)
{
    std::vector<Phase> result;
    for (const Value& element : phases.list("[[phase]] with tokens, sequence_length and global_batch")) {
        Table table = element.table("[[phase]] with tokens, sequence_length and global_batch");
        Phase phase;
        phase_fields().read_whole(table, Keys::all, phase);
        phase.lengths = data.lengths;
        phase.filled = data.lengths ? filled_share(*data.lengths, phase.sequence) : 1.0;
        read_amount(table, data, keys, phase);
        check_phase(table, result.empty(), phase);
        result.push_back(phase);
    }
    return result;
}

}  // namespace prismopt
