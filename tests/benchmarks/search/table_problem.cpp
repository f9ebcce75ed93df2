#include "tests/benchmarks/search/table_problem.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/parallel/work_scheduler.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/worker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt::bench {

namespace {

constexpr double reference = 1.1;

Scenario with_other_draws(const std::string& file, std::uint64_t other_draws)
{
    Scenario scenario = read_scenario(file);
    scenario.seed += other_draws;
    return scenario;
}

}  // namespace

TableProblem::TableProblem(const std::string& scenario_file, std::vector<Rung> rungs,
                           std::uint64_t other_draws)
    : scenario_(with_other_draws(scenario_file, other_draws)), model_(scenario_), rungs_(std::move(rungs))
{
    sweep_ = Worker(model_).sweep({0, space().size()});
    std::vector<Request> all;
    for (const Bound& bound : sweep_.feasible) {
        feasible_[bound.index] = bound;
        all.emplace_back(PointRequest{bound.index, 1});
    }
    Communicator alone;
    WorkScheduler scheduler(alone, Worker(model_));
    Evaluator evaluator(model_, scheduler, rungs_);
    evaluator.compare_at_once(all.size());
    for (int rung = 1; rung <= static_cast<int>(rungs_.size()); ++rung) {
        for (Request& request : all) {
            std::get<PointRequest>(request).rung = rung;
        }
        evaluator.submit(all);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Answer answer = evaluator.next()->answer;
            const auto& evaluation = std::get<Evaluation>(answer);
            table_[evaluation.index].push_back(evaluation);
        }
    }
}

std::vector<double> TableProblem::truth(std::uint64_t index) const
{
    std::vector<double> values;
    for (const Estimate& estimate : at(index, static_cast<int>(rungs_.size())).objectives) {
        values.push_back(estimate.value);
    }
    return values;
}

StudyGoal TableProblem::goal() const
{
    StudyGoal goal;
    goal.objectives = model_.objectives.size();
    goal.top_rung = static_cast<int>(rungs_.size());
    goal.bounded = model_.bounded;
    return goal;
}

PlayedProblem TableProblem::played() const
{
    return {&space(),
            [this](std::span<const int> point) {
                const auto found = feasible_.find(space().index(point));
                return found == feasible_.end() ? std::vector<double>{} : found->second.objectives;
            },
            [this](std::uint64_t index, int rung) { return at(index, rung); }};
}

std::vector<std::uint64_t> TableProblem::front() const
{
    std::vector<std::uint64_t> indices;
    std::vector<std::vector<double>> values;
    for (const auto& entry : feasible_) {
        indices.push_back(entry.first);
        values.push_back(truth(entry.first));
    }
    std::vector<std::uint64_t> front;
    for (const std::size_t position : non_dominated(values)) {
        front.push_back(indices[position]);
    }
    return front;
}

HypervolumeShare::HypervolumeShare(std::vector<std::vector<double>> front, bool logarithmic)
    : logarithmic_(logarithmic)
{
    ideal_.assign(front.front().size(), std::numeric_limits<double>::infinity());
    nadir_.assign(front.front().size(), -std::numeric_limits<double>::infinity());
    for (std::vector<double>& point : front) {
        for (std::size_t k = 0; k < point.size(); ++k) {
            const double value = logarithmic_ ? std::log(point[k]) : point[k];
            ideal_[k] = std::min(ideal_[k], value);
            nadir_[k] = std::max(nadir_[k], value);
        }
    }
    whole_ = (*this)(front);
}

std::vector<double> HypervolumeShare::scaled(const std::vector<double>& point) const
{
    std::vector<double> scaled;
    for (std::size_t k = 0; k < point.size(); ++k) {
        const double value = logarithmic_ ? std::log(point[k]) : point[k];
        scaled.push_back(nadir_[k] > ideal_[k] ? (value - ideal_[k]) / (nadir_[k] - ideal_[k])
                                               : value - ideal_[k]);
    }
    return scaled;
}

double HypervolumeShare::operator()(const std::vector<std::vector<double>>& points) const
{
    std::vector<std::vector<double>> all;
    for (const std::vector<double>& point : points) {
        all.push_back(scaled(point));
    }
    return hypervolume(all, std::vector<double>(ideal_.size(), reference)) / whole_;
}

}  // namespace prismopt::bench
