#include "optimizer/study/machine_table.hpp"

#include "io/scenario/variants.hpp"
#include "model/base/units.hpp"
#include "search/strategies/alternatives/judgement.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace prismopt {

namespace {

using namespace literals;

std::size_t cell_of(const StudyModel& model, const FrontPoint& plan)
{
    return model.cell(model.designs.variant(plan.point));
}

double gpu_price_usd_h(const StudyModel& model, std::size_t machine)
{
    std::size_t variant = 0;
    while (model.cell(variant) / model.scenario.workloads.size() != machine) {
        ++variant;
    }
    return variant_at(model.scenario, model.scenario.variants[variant])->cluster.gpu_price.si * (1_h).si;
}

/// Adds what the machines come to over their networks.
void judge(const AlternativeGoal& alternatives, MachineTable& table)
{
    std::vector<Judged> all = judged(table.least(), alternatives);
    for (std::size_t m = 0; m < table.machines.size(); ++m) {
        Machine& machine = table.machines[m];
        machine.weighted = all[m].weighted;
        machine.regret = all[m].regret;
        if (!machine.settled()) {  // others are dominated
            all[m].weighted.value = Known{}.value;
        }
    }
    const std::vector<bool> front = on_front(all);
    for (std::size_t m = 0; m < table.machines.size(); ++m) {
        table.machines[m].on_front = front[m];
    }
}

}  // namespace

AlternativeGoal alternatives_of(const StudyModel& model)
{
    AlternativeGoal result{.alternatives = model.machines().size(),
                           .tasks = model.scenario.workloads.size(),
                           .weights = model.scenario.served.weights,
                           .relative = model.scenario.served.by_share};
    for (std::size_t variant = 0; variant < model.scenario.variants.size(); ++variant) {
        result.cell_of_label.push_back(model.cell(variant));
    }
    return result;
}

MachineTable machine_table(const StudyModel& model, const Outcome& outcome, std::span<const FrontPoint> front)
{
    const AlternativeGoal alternatives = alternatives_of(model);
    MachineTable table{.weights = alternatives.weights, .by_share = alternatives.relative};
    for (const Workload& network : model.scenario.workloads) {
        table.networks.push_back(network.name);
    }
    if (outcome.cells.empty() || alternatives.tasks == 0) {
        return table;
    }
    for (std::size_t m = 0; m < alternatives.alternatives; ++m) {
        Machine& machine = table.machines.emplace_back();
        machine.name = model.machines()[m].empty() ? "machine" : model.machines()[m];
        machine.gpu_price_usd_h = gpu_price_usd_h(model, m);
        for (std::size_t n = 0; n < alternatives.tasks; ++n) {
            const CellOutcome& cell = outcome.cells[m * alternatives.tasks + n];
            machine.cells.push_back({.least = cell.least, .point = cell.point, .settled = cell.settled});
        }
    }
    for (const FrontPoint& plan : front) {
        const std::size_t at = cell_of(model, plan);
        MachineCell& cell = table.machines[at / alternatives.tasks].cells[at % alternatives.tasks];
        cell.confirmed = plan.objectives.front();
        cell.least.value = cell.confirmed.value;
    }
    judge(alternatives, table);
    return table;
}

void put_in_order(const StudyModel& model, const MachineTable& table, std::vector<FrontPoint>& front)
{
    const auto machine_of = [&](const FrontPoint& plan) {
        return cell_of(model, plan) / table.networks.size();
    };
    for (FrontPoint& plan : front) {
        plan.dominated = !table.machines[machine_of(plan)].on_front;
    }
    std::ranges::sort(front, {}, [&](const FrontPoint& plan) {
        return std::tuple(plan.dominated, table.machines[machine_of(plan)].weighted.value,
                          cell_of(model, plan));
    });
}

}  // namespace prismopt
