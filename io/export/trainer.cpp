#include "io/export/trainer.hpp"

#include <algorithm>

namespace prismopt {

const std::vector<Trainer>& trainers()
{
    static const std::vector<Trainer> all{
        {"megatron", megatron_rules()},
        {"bridge", bridge_rules()},
        {"torchtitan", torchtitan_rules()},
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
    const auto found =
        std::find_if(trainers().begin(), trainers().end(), [trainer](const Trainer& t) { return t.name == trainer; });
    return found == trainers().end() ? none : found->rules;
}

std::vector<std::string> cannot_run(std::string_view trainer, const TrainedPlan& plan)
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
