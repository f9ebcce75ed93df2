#include "io/scenario/sections/sections.hpp"
#include "model/schedule/schedule.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr Range tokens_range{"tokens to train on", 1, 1e18, "15.6e12"};
constexpr Range phase_steps_range{"optimizer steps to train, instead of tokens", 1, 1e12, "1e5"};
constexpr Range sequence_range{"tokens per sequence", 1, 100'000'000, "8192"};
constexpr Range batch_range{"sequences per optimizer step", 1, 100'000'000, "2048"};

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
            .custom({"steps",
                     std::string(phase_steps_range.meaning),
                     std::string(phase_steps_range.example),
                     {{.kind = ValueShape::Kind::number, .range = phase_steps_range}}},
                    [](const Value&, Phase&, Keys) {})  // with the batch and the sequence: read_amount()
            .integer("sequence_length", &Phase::sequence, sequence_range)
            .required()
            .integer("global_batch", &Phase::global_batch, batch_range)
            .required()
            .integer("gpus", own(&PhasePlan::gpus), {"GPUs of a later phase", 1, 10'000'000, "2048"})
            .integer("tp", own(&PhasePlan::tp), {"tensor-parallel degree of a later phase", 1, 10'000'000, "8"})
            .integer("cp", own(&PhasePlan::cp), {"context-parallel degree of a later phase", 1, 10'000'000, "16"})
            .integer("pp", own(&PhasePlan::pp), {"pipeline stages of a later phase", 1, 10'000'000, "4"})
            .integer("v", own(&PhasePlan::chunks), {"model chunks per pipeline rank of a later phase", 1, 10'000'000, "1"})
            .integer("microbatch", own(&PhasePlan::microbatch), {"sequences per microbatch of a later phase", 1, 10'000'000, "1"})
            .custom({"schedule",
                     "pipeline schedule of a later phase, with its default group and number of chunks",
                     "\"1f1b\"",
                     {choice_shape(enum_names<Schedule>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.schedule = parse<Schedule>(value.choice(enum_names<Schedule>(), "pipeline schedules"));
                    })
            .custom({"recompute", "recomputation in a later phase", "\"selective\"", {choice_shape(enum_names<Recompute>)}},
                    [](const Value& value, Phase& phase, Keys) {
                        phase.own.recompute = parse<Recompute>(value.choice(enum_names<Recompute>(), "kinds of recomputation"));
                    });
    return fields;
}

namespace {

/// Tokens, or steps of the phase's batch.
void read_amount(Table& table, Phase& phase)
{
    const auto steps = table.find("steps");
    if (!steps) {
        table.at("tokens", "tokens = 15.6e12");
        return;
    }
    if (const auto tokens = table.find("tokens")) {
        steps->fail({fmt::format("is given beside tokens in line {}", tokens->line()), "each gives the length of the phase",
                     "remove one of the two"});
    }
    phase.tokens = steps->number(phase_steps_range) * phase.global_batch * phase.sequence;
}

void check_phase(Table& table, bool first, const Phase& phase)
{
    if (first) {
        for (const char* key : {"gpus", "tp", "cp", "pp", "v", "microbatch", "schedule", "recompute"}) {
            if (const auto value = table.find(key)) {
                value->fail({"is not allowed in the first phase", "the first phase runs the plan of [space] unchanged",
                             "give it in [space] or in a later phase"});
            }
        }
    }
    const PhasePlan& own = phase.own;
    if (own.schedule && own.chunks > 0 && !runs_chunks(*own.schedule, own.chunks)) {
        const auto schedule = name(*own.schedule);
        const int chunks = facts_of(*own.schedule).chunks;
        const std::string needed = chunks > 0 ? fmt::format("v = {}", chunks) : "v = 2 or more";
        table.find("v")->fail({fmt::format("contradicts schedule = \"{}\" in line {}", schedule, table.find("schedule")->line()),
                               fmt::format("{} needs {}", schedule, needed), "remove v, or change one of the two"});
    }
    const bool pipeline = own.chunks > 1 || (own.schedule && !facts_of(*own.schedule).one_stage);
    if (own.pp == 1 && pipeline) {
        const auto key = table.find(own.schedule ? "schedule" : "v");
        key->fail({fmt::format("contradicts pp = 1 in line {}", table.find("pp")->line()), "a single stage is not a pipeline",
                   "give that phase more stages, or remove one of the two"});
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
        read_amount(table, phase);
        check_phase(table, result.empty(), phase);
        result.push_back(phase);
    }
    return result;
}

}  // namespace prismopt
