#include "io/report/placement_text.hpp"

#include "model/plan/straddling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace prismopt {

namespace {

std::string straddling_text(const Straddling& of, const Cluster& cluster, int job_gpus)
{
    const std::string& tier = cluster.tiers[of.tier].name;
    std::string text = fmt::format(
        "{} groups of {} GPUs straddle units of {} in tier \"{}\" for {} of {} sets of replicas, which wait "
        "for the "
        "slowest: at worst {} units, {} members in one of them",
        row_of(of.kind).name, of.size, of.unit, tier, of.sets, of.of_sets, of.worst.units, of.worst.fewest);
    if (of.fitting_unit > 0) {
        text +=
            fmt::format("; with group = {} in tier \"{}\" (jobs that use {} of each {} GPUs{}) none would",
                        of.fitting_unit, tier, of.fitting_unit, of.unit,
                        job_gpus > of.fitting_gpus
                            ? fmt::format(", at most {} instead of {}", of.fitting_gpus, job_gpus)
                            : "");
    }
    return text;
}

/// Why no training program that prismopt knows places ranks in this order; empty: one does.
std::string order_problem(const PlannedPhase& plan)
{
    std::string first;
    for (const Trainer& trainer : trainers()) {
        std::string why;
        for (const TrainerRule& rule : trainer.rules) {
            if (rule.axis == "order" && why.empty()) {
                why = rule.why(plan);
            }
        }
        if (why.empty()) {
            return "";
        }
        if (first.empty()) {
            first = fmt::format("{}: {}", trainer.name, why);
        }
    }
    return first;
}

/// Groups that the network has no use for are of no interest.
bool has_use(GroupKind kind, const Workload& network)
{
    return kind != GroupKind::tables || network.find<TablesBlock>() != nullptr;
}

std::string assumed_order_text(PlacementOrder order)
{
    return fmt::format("the scenario gives no order; \"{}\" is assumed{}", name(order),
                       order == ParallelPlan{}.order ? ", as most training programs place ranks" : "");
}

}  // namespace

std::string assumed_order_text(const Scenario& scenario)
{
    const std::vector<int>& stages = scenario.space.pp;
    const bool matters = *std::max_element(stages.begin(), stages.end()) > 1;
    return scenario.gives_order || !matters || scenario.space.order.size() != 1
               ? ""
               : assumed_order_text(scenario.space.order.front());
}

std::string placement_text(const PlannedPhase& trained, OrderOrigin origin)
{
    const ParallelPlan& plan = trained.plan;
    std::vector<std::string> notes;
    if (origin == OrderOrigin::assumed && plan.pp > 1 && plan.dp > 1) {
        notes.push_back(assumed_order_text(plan.order));
    }
    const std::string refused = order_problem(trained);
    if (!refused.empty()) {
        notes.push_back(
            fmt::format("no training program that prismopt knows runs order = \"{}\" with these degrees ({})",
                        name(plan.order), refused));
    }
    for (const Straddling& straddling : straddling_groups(plan, trained.job.cluster)) {
        if (has_use(straddling.kind, trained.job.workload)) {
            notes.push_back(straddling_text(straddling, trained.job.cluster, plan.gpus()));
        }
    }
    return fmt::format("{}", fmt::join(notes, "; "));
}

}  // namespace prismopt
