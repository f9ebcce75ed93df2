#pragma once

/// A real space of which every feasible plan has been drawn, so that searches can be replayed on
/// it and compared with the truth.

#include "optimizer/study/study_model.hpp"
#include "search/archive.hpp"
#include "tests/search/textbook.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace prismopt::bench {

class TableProblem {
public:
    /// Draws all plans at all of these rungs; `other_draws` is added to the scenario's seed.
    TableProblem(const std::string& scenario_file, std::vector<Rung> rungs, std::uint64_t other_draws = 0);

    const Scenario& scenario() const { return scenario_; }
    const StudyModel& model() const { return model_; }
    const Space& space() const { return model_.designs.space(); }
    const std::vector<Rung>& rungs() const { return rungs_; }
    const std::map<std::uint64_t, Bound>& feasible() const { return feasible_; }
    const Sweep& sweep() const { return sweep_; }
    const Evaluation& at(std::uint64_t index, int rung) const
    {
        return table_.at(index)[static_cast<std::size_t>(rung - 1)];
    }
    /// Values at the top rung.
    std::vector<double> truth(std::uint64_t index) const;
    StudyGoal goal() const;
    /// As a strategy meets it; the table must outlive it.
    PlayedProblem played() const;

    /// Indices of the plans that no other dominates at the top rung.
    std::vector<std::uint64_t> front() const;

private:
    Scenario scenario_;
    StudyModel model_;
    std::vector<Rung> rungs_;
    Sweep sweep_;
    std::map<std::uint64_t, Bound> feasible_;
    std::map<std::uint64_t, std::vector<Evaluation>> table_;
};

/// Hypervolume as a share of that of the whole front: objectives on a logarithmic scale
/// (those that are positive), the box from the ideal point to the nadir of the front, reference 1.1.
class HypervolumeShare {
public:
    HypervolumeShare(std::vector<std::vector<double>> front, bool logarithmic);
    double operator()(const std::vector<std::vector<double>>& points) const;

private:
    std::vector<double> scaled(const std::vector<double>& point) const;

    bool logarithmic_;
    std::vector<double> ideal_;
    std::vector<double> nadir_;
    double whole_ = 1.0;
};

}  // namespace prismopt::bench
