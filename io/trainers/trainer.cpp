#include "io/trainers/trainer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
        {"megatron", and_for_all(megatron_rules()), megatron_module_sets},
        {"bridge", and_for_all(bridge_rules()), megatron_module_sets},
        {"torchtitan", and_for_all(torchtitan_rules()), torchtitan_module_sets},
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

namespace {

/// nullptr: of another name.
const Trainer* find_trainer(std::string_view name)
{
    const auto found = std::find_if(trainers().begin(), trainers().end(),
                                    [name](const Trainer& trainer) { return trainer.name == name; });
    return found == trainers().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<TrainerRule>& trainer_rules(std::string_view trainer)
{
    static const std::vector<TrainerRule> none;
    const Trainer* found = find_trainer(trainer);
    return found == nullptr ? none : found->rules;
}

std::vector<ModuleSet> recomputed_sets(std::string_view trainer, const Workload& workload)
{
    const Trainer* found = find_trainer(trainer);
    return found == nullptr ? std::vector<ModuleSet>{} : found->module_sets(workload);
}

std::string toml_text(const std::vector<ModuleSet>& sets)
{
    std::vector<std::string> texts;
    for (const ModuleSet& set : sets) {
        std::vector<std::string> modules;
        for (const Module module : recomputable_modules) {
            if (set.has(module)) {
                modules.push_back(fmt::format("\"{}\"", name(module)));
            }
        }
        texts.push_back(fmt::format("[{}]", fmt::join(modules, ", ")));
    }
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

bool runs(std::string_view trainer, const PlannedPhase& plan)
{
    const std::vector<TrainerRule>& rules = trainer_rules(trainer);
    return std::all_of(rules.begin(), rules.end(), [&plan](const TrainerRule& rule) {
        return rule.of == RuleOf::exports || rule.why(plan).empty();
    });
}

bool is_limited_by_export(std::string_view trainer, std::string_view axis)
{
    const std::vector<TrainerRule>& rules = trainer_rules(trainer);
    return std::any_of(rules.begin(), rules.end(), [axis](const TrainerRule& rule) {
        return rule.of == RuleOf::exports && rule.axis == axis;
    });
}

bool is_exported(std::string_view trainer, std::string_view axis, std::string_view value)
{
    const std::vector<TrainerRule>& rules = trainer_rules(trainer);
    return std::none_of(rules.begin(), rules.end(), [&](const TrainerRule& rule) {
        const bool lists = rule.exported.find(value) != std::string_view::npos;
        return rule.of == RuleOf::exports && rule.axis == axis && !lists;
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
