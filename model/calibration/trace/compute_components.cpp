#include "model/calibration/trace/compute_components.hpp"

#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

/// Neighbouring steps that the jackknife excludes together: as many blocks as it makes groups.
Partition blocks_of_steps(std::size_t observations, std::size_t steps)
{
    constexpr std::size_t most_blocks = 20;
    const std::size_t blocks = std::min(most_blocks, steps);
    Partition result{std::vector<int>(observations), static_cast<int>(blocks)};
    for (std::size_t i = 0; i < observations; ++i) {
        result.level[i] = static_cast<int>(i % steps * blocks / steps);
    }
    return result;
}

/// The partition of [slot * steps + step] by a key of the slot.
template <class Key>
Partition partition_over_steps(const std::vector<SlotPlace>& places, std::size_t steps, const Key& key)
{
    std::vector<std::int64_t> keys;
    keys.reserve(places.size() * steps);
    for (const SlotPlace& place : places) {
        keys.insert(keys.end(), steps, key(place));
    }
    return partition_by(keys);
}

/// The partition of [slot * steps + step] by a key of the slot, and the step.
template <class Key>
Partition partition_in_steps(const std::vector<SlotPlace>& places, std::size_t steps, const Key& key)
{
    std::vector<std::int64_t> keys;
    keys.reserve(places.size() * steps);
    for (const SlotPlace& place : places) {
        const auto of_slot = static_cast<std::int64_t>(key(place)) << 31;
        for (std::size_t t = 0; t < steps; ++t) {
            keys.push_back(of_slot + static_cast<std::int64_t>(t));
        }
    }
    return partition_by(keys);
}

/// The analysis of variance of a job. A microbatch is recognised by how it differs from the others of
/// its replica in the step; a stage in one step by how it differs from the replica's other stages,
/// less what it always does; where there is but one stage, or one microbatch, by how the replica
/// differs from the others in the step.
ComponentModel component_model(const OperationGroups& groups, std::size_t steps, bool exponents,
                               std::vector<double> y)
{
    enum Index {
        one,
        cell,
        stage,
        replica,
        worker,
        step,
        replica_step,
        stage_step,
        microbatch,
        each,
        cell_step
    };
    Partition singles{std::vector<int>(y.size()), static_cast<int>(y.size())};
    std::iota(singles.level.begin(), singles.level.end(), 0);
    ComponentModel model;
    model.partitions = {Partition{std::vector<int>(y.size(), 0), 1},
                        groups.cells,
                        groups.stages,
                        groups.replicas,
                        groups.workers,
                        groups.steps,
                        groups.replica_steps,
                        groups.stage_steps,
                        groups.microbatches,
                        singles,
                        both(groups.replica_steps, groups.cells)};
    const bool stages = groups.stages.levels > 1;
    const bool one_microbatch = groups.microbatches.levels == groups.replica_steps.levels;
    const std::vector<SumOfSquares> replica_in_step{
        {1.0, replica_step, one}, {-1.0, replica, one}, {-1.0, step, one}, {1.0, one, one}};
    const std::vector<SumOfSquares> stage_in_step{
        {1.0, stage_step, stage}, {-1.0, worker, stage}, {-1.0, replica_step, one}, {1.0, replica, one}};
    const std::vector<SumOfSquares> microbatch_in_replica{{1.0, microbatch, one}, {-1.0, replica_step, one}};
    const std::vector<SumOfSquares> residual_of_one_exponent{
        {1.0, each, cell}, {-1.0, stage_step, stage}, {-1.0, microbatch, one}, {1.0, replica_step, one}};
    // The mean microbatch of a replica in a step enters each kind and stage with another exponent.
    const std::vector<SumOfSquares> residual_of_exponents{
        {1.0, each, cell}, {-1.0, cell_step, cell}, {-1.0, microbatch, one}, {1.0, replica_step, one}};
    model.effects = {{"step", step, {{1.0, step, one}}},
                     {"gpu", worker, {{1.0, worker, stage}}},
                     {"stage", stage_step, stages ? stage_in_step : replica_in_step},
                     {"microbatch", microbatch,
                      one_microbatch && stages ? replica_in_step : microbatch_in_replica},
                     {"residual", each, exponents ? residual_of_exponents : residual_of_one_exponent}};
    model.blocks = blocks_of_steps(y.size(), steps);
    model.y = std::move(y);
    return model;
}

/// Observations of evenly spaced steps, where there are more than thin_trace leaves: the
/// jackknife looks at them forty times.
ComponentModel thinned(const ComponentModel& all, std::size_t steps)
{
    constexpr std::size_t most = 500'000;
    const std::size_t every = 1 + all.y.size() / most;
    if (every == 1) {
        return all;
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < all.y.size(); ++i) {
        if (i % steps % every == 0) {
            chosen.push_back(i);
        }
    }
    const auto chosen_of = [&](const Partition& partition) {
        std::vector<std::int64_t> keys;
        for (const std::size_t i : chosen) {
            keys.push_back(partition.level[i]);
        }
        return partition_by(keys);
    };
    ComponentModel some{{}, {}, all.effects, chosen_of(all.blocks)};
    for (const Partition& partition : all.partitions) {
        some.partitions.push_back(chosen_of(partition));
    }
    for (const std::size_t i : chosen) {
        some.y.push_back(all.y[i]);
    }
    return some;
}

/// Widens the residual component: the effects of microbatches that exponents multiply are estimated from the
/// residuals, too. Of C kinds and stages, sum (e - 1)^2 / sum e^2 of C - 1 degrees of freedom.
void widen_residual(const std::vector<MicrobatchExponent>& exponents, Component& residual)
{
    double beyond = 0.0;
    double squares = 0.0;
    for (const MicrobatchExponent& e : exponents) {
        beyond += (e.exponent - 1.0) * (e.exponent - 1.0);
        squares += e.exponent * e.exponent;
    }
    if (squares > 0.0) {
        const double freedom = static_cast<double>(exponents.size()) - 1.0;
        for (double* variance : {&residual.variance, &residual.low, &residual.high}) {
            *variance *= freedom / (freedom - beyond / squares);
        }
    }
}

/// Where a stage's exponent is not one, it is longer in the steps in which its microbatches are.
/// This is no effect of the stage: with n microbatches of variance v, stages with exponents e vary
/// by v / n times the variance of e.
void subtract_exponents(const std::vector<MicrobatchExponent>& exponents, double microbatches,
                        const Component& microbatch, Component& stage)
{
    std::map<int, std::vector<double>> of_stage;
    for (const MicrobatchExponent& exponent : exponents) {
        of_stage[exponent.stage].push_back(exponent.exponent);
    }
    if (of_stage.size() < 2) {
        return;
    }
    std::vector<double> means;
    for (const auto& [number, of_kinds] : of_stage) {
        means.push_back(mean_of(of_kinds));
    }
    const double subtracted = variance_of(means) * microbatch.variance / microbatches;
    for (double* variance : {&stage.variance, &stage.low, &stage.high}) {
        *variance = std::max(0.0, *variance - subtracted);
    }
    stage.present = stage.present && stage.low > 0.0;
}

}  // namespace

std::vector<SlotPlace> places_of(const Trace& trace, const StepGraph& graph, const std::vector<int>& slots)
{
    std::vector<SlotPlace> places;
    for (const int slot : slots) {
        const StepSlot& s = graph.slots[static_cast<std::size_t>(slot)];
        places.push_back({s.kind, s.worker, trace.workers[static_cast<std::size_t>(s.worker)], s.microbatch});
    }
    return places;
}

OperationGroups groups_of(const std::vector<SlotPlace>& places, std::size_t steps)
{
    const auto stage = [](const SlotPlace& p) { return p.replica_and_stage.stage; };
    const auto replica = [](const SlotPlace& p) { return p.replica_and_stage.dp; };
    const auto worker = [](const SlotPlace& p) { return p.worker; };
    const auto nothing = [](const SlotPlace&) { return 0; };
    const auto cell = [&](const SlotPlace& p) {
        return (static_cast<std::int64_t>(p.kind) << 32) + stage(p);
    };
    const auto worker_kind = [](const SlotPlace& p) {
        return (static_cast<std::int64_t>(p.kind) << 32) + p.worker;
    };
    const auto microbatch = [&](const SlotPlace& p) {
        return (static_cast<std::int64_t>(replica(p)) << 16) + p.microbatch;
    };
    return {.cells = partition_over_steps(places, steps, cell),
            .stages = partition_over_steps(places, steps, stage),
            .replicas = partition_over_steps(places, steps, replica),
            .workers = partition_over_steps(places, steps, worker),
            .worker_kinds = partition_over_steps(places, steps, worker_kind),
            .steps = partition_in_steps(places, steps, nothing),
            .replica_steps = partition_in_steps(places, steps, replica),
            .stage_steps = partition_in_steps(places, steps, worker),
            .microbatches = partition_in_steps(places, steps, microbatch)};
}

ExponentFit fit_exponents(const std::vector<SlotPlace>& places, std::size_t steps,
                          const OperationGroups& groups, const std::vector<double>& y)
{
    const bool one_microbatch = groups.microbatches.levels == groups.replica_steps.levels;
    const MicrobatchTimes times{y, groups.cells, groups.microbatches,
                                one_microbatch ? groups.steps : groups.replica_steps,
                                blocks_of_steps(y.size(), steps)};
    ExponentFit fit{microbatch_exponents(times), std::vector<double>(y.size(), 0.0)};
    if (fit.exponents.empty()) {
        return fit;
    }
    fit.beyond = beyond_exponent_one(times, fit.exponents);
    for (std::size_t k = 0; k < places.size(); ++k) {
        MicrobatchExponent& exponent = fit.exponents[static_cast<std::size_t>(groups.cells.level[k * steps])];
        exponent.kind = places[k].kind;
        exponent.stage = places[k].replica_and_stage.stage;
    }
    return fit;
}

ComputeComponents compute_components(const OperationGroups& groups, std::size_t steps,
                                     const std::vector<MicrobatchExponent>& exponents, std::vector<double> y)
{
    const ComponentModel model = component_model(groups, steps, !exponents.empty(), std::move(y));
    const std::vector<Component> found = variance_components(thinned(model, steps));
    ComputeComponents components{found[0], found[1], found[2], found[3], found[4]};
    widen_residual(exponents, components.residual);
    const double microbatches = static_cast<double>(groups.microbatches.levels) / groups.replica_steps.levels;
    subtract_exponents(exponents, microbatches, components.microbatch, components.stage);
    return components;
}

}  // namespace prismopt
