#pragma once

/// Training programs and what each can run: a list of rules by which exports refuse
/// plans and searches exclude them.

#include "model/job.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Who cannot do it: the training program, or only the export to it, which has no setting for it.
enum class RuleOf { trainer, exports };

struct TrainerRule {
    std::string_view reason;                  // name under which a search counts the rejected plans
    std::string_view axis;                    // the last axis of a space on which the rule depends
    std::string (*why)(const PlannedPhase&);  // with values and a remedy; empty: the trainer runs the plan
    RuleOf of = RuleOf::trainer;
    // of exports, on an axis that software lists: the values with a setting, as
    // [space] has them, separated by blanks
    std::string_view exported = {};
};

struct Trainer {
    std::string_view name;  // as in --target and --runnable-by
    std::vector<TrainerRule> rules;
    std::vector<ModuleSet> (*module_sets)(const Workload&);  // of recomputed_sets()
};

const std::vector<Trainer>& trainers();
std::vector<std::string> trainer_names();

/// The rules of a trainer of trainers(); none for an empty name.
const std::vector<TrainerRule>& trainer_rules(std::string_view trainer);

/// Whether the training program runs the plan, also where the export to it does not write that.
bool runs(std::string_view trainer, const PlannedPhase& plan);

/// Whether the export to a trainer has no setting for some values of an axis of [space].
bool is_limited_by_export(std::string_view trainer, std::string_view axis);
/// Whether it has one for a value, as [space] has it: `"deepep"`.
bool is_exported(std::string_view trainer, std::string_view axis, std::string_view value);

/// All reasons why the trainer cannot run the plan as exported; empty: it can.
std::vector<std::string> cannot_run(std::string_view trainer, const PlannedPhase& plan);

/// Sets of modules among which the selective recomputation of a trainer has a choice for this network, for
/// recompute_modules of [space]; empty: the trainer is unknown, or has none.
std::vector<ModuleSet> recomputed_sets(std::string_view trainer, const Workload& workload);
/// `[["mlp"], ["layernorm", "moe_act"]]`, as [space] has them.
std::string toml_text(const std::vector<ModuleSet>& sets);

std::vector<ModuleSet> megatron_module_sets(const Workload& workload);
std::vector<ModuleSet> torchtitan_module_sets(const Workload& workload);

std::vector<TrainerRule> megatron_rules();
std::vector<TrainerRule> bridge_rules();
std::vector<TrainerRule> torchtitan_rules();

}  // namespace prismopt
