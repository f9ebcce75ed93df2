#include "io/trainers/trainer.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Before the rules of a trainer, what holds for each of them.
std::vector<TrainerRule> and_for_all(std::vector<TrainerRule> rules)
{
    const auto captured = [](const PlannedPhase& of) -> std::string {
        return of.job.workload.captured ? "it has no settings for a captured network; run the network's own "
                                          "code with the plan from "
                                          "--target json or slurm"
                                        : "";
    };
    rules.insert(rules.begin(), {"captured network", "tp", captured, RuleOf::exports});
    return rules;
}

}  // namespace

const std::vector<Trainer>& trainers()
{
    static const std::vector<Trainer> all{
        {"megatron", and_for_all(megatron_rules())},
        {"bridge", and_for_all(bridge_rules())},
        {"torchtitan", and_for_all(torchtitan_rules())},
    };
    return all;
}

std::vector<std::string> trainer_names()
{
    std::vector<std::string> names;
    for (const Trainer& trainer : trainers()) {
        names.emplace_back(trainer.name);
    }
    return names;
}

const std::vector<TrainerRule>& trainer_rules(std::string_view trainer)
{
    static const std::vector<TrainerRule> none;
    const auto found = std::find_if(trainers().begin(), trainers().end(),
                                    [trainer](const Trainer& t) { return t.name == trainer; });
    return found == trainers().end() ? none : found->rules;
}

bool runs(std::string_view trainer, const PlannedPhase& plan)
{
    const std::vector<TrainerRule>& rules = trainer_rules(trainer);
    return std::all_of(rules.begin(), rules.end(), [&plan](const TrainerRule& rule) {
        return rule.of == RuleOf::exports || rule.why(plan).empty();
    });
}

std::vector<std::string> cannot_run(std::string_view trainer, const PlannedPhase& plan)
{
    std::vector<std::string> reasons;
    for (const TrainerRule& rule : trainer_rules(trainer)) {
        if (std::string why = rule.why(plan); !why.empty()) {
            reasons.push_back(std::move(why));
        }
    }
    return reasons;
}

}  // namespace prismopt
