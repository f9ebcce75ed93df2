#include "io/report/study_accuracy.hpp"

#include "io/base/input_error.hpp"
#include "io/results/stored_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace prismopt {

namespace {

bool has_machine(const HeldOutErrors& family, const std::string& accelerator, const std::string& stack)
{
    const std::string begin = accelerator + " ";
    return std::any_of(family.machines.begin(), family.machines.end(), [&](const std::string& machine) {
        return stack.empty() ? machine.starts_with(begin) : machine == begin + stack;
    });
}

}  // namespace

KindAccuracy kind_accuracy(const FittedModel& model, RunKind kind, const std::string& accelerator,
                           const std::string& stack)
{
    KindAccuracy accuracy;
    accuracy.kind = name(kind);
    accuracy.machine = fmt::format("{} with {}", accelerator, stack.empty() ? "any software" : stack);
    accuracy.accelerator = accelerator;
    accuracy.stack = stack;
    for (const HeldOutErrors& family : model.held_out) {
        if (family.kind != kind) {
            continue;
        }
        if (has_machine(family, accelerator, stack)) {
            accuracy.on_machine.push_back(family);
            continue;
        }
        accuracy.other_rows += family.rows;
        accuracy.others.error += family.rows * family.held_out.error;
        accuracy.others.inside += family.rows * family.held_out.inside;
        accuracy.others.half_width += family.rows * family.held_out.half_width;
    }
    if (accuracy.other_rows > 0) {
        accuracy.others.error /= accuracy.other_rows;
        accuracy.others.inside /= accuracy.other_rows;
        accuracy.others.half_width /= accuracy.other_rows;
    }
    return accuracy;
}

std::vector<KindAccuracy> study_accuracy(const Results& results)
{
    try {
        const Scenario scenario = scenario_of(results.study);
        const FittedModel model = fitted_model();
        std::vector<KindAccuracy> all;
        for (const Cluster* cluster : clusters(scenario)) {
            const std::string& stack = cluster->stack.name;
            std::set<RunKind> kinds;
            for (const Workload* network : networks(scenario)) {
                kinds.insert(kind_of(*network, *cluster));
            }
            for (const RunKind kind : kinds) {
                all.push_back(kind_accuracy(model, kind, cluster->accelerator.catalog_entry,
                                            stack == SoftwareStack{}.name ? "" : stack));
            }
        }
        return all;
    } catch (const InputError&) {
        return {};  // written for another version of this program
    }
}

}  // namespace prismopt
