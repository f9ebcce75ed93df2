#pragma once

/// What training programs can run: one list of rules for each, by which exports refuse plans and searches leave them out.

#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A plan as it is in one phase, and what it trains on what.
struct TrainedPlan {
    const ParallelPlan& plan;
    const Workload& workload;
    const Phase& phase;
    const Cluster& cluster;
};

struct TrainerRule {
    std::string_view reason;                 // what a search counts the plans under
    std::string_view axis;                   // the last of the axes of a space on which the rule depends
    std::string (*why)(const TrainedPlan&);  // with values and what to try instead; empty: the trainer runs the plan
};

struct Trainer {
    std::string_view name;  // as --target and --runnable-by have it
    std::vector<TrainerRule> rules;
};

const std::vector<Trainer>& trainers();
std::vector<std::string> trainer_names();

/// The rules of a trainer of trainers(); none for an empty name.
const std::vector<TrainerRule>& trainer_rules(std::string_view trainer);

/// All that keeps the trainer from running the plan; empty: it runs.
std::vector<std::string> cannot_run(std::string_view trainer, const TrainedPlan& plan);

std::vector<TrainerRule> megatron_rules();
std::vector<TrainerRule> bridge_rules();
std::vector<TrainerRule> torchtitan_rules();

}  // namespace prismopt
