#pragma once

/// What all ranks of a study evaluate points with.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/space/design_map.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Tables for every plan of the scenario's space.
NoiseTables tables_of(const Scenario& scenario);
/// Tables for some plans, in all phases.
NoiseTables tables_of(const Scenario& scenario, const std::vector<ParallelPlan>& plans);

/// Input of the evaluation of points; identical on all ranks. The scenario must outlive it.
struct StudyModel {
    explicit StudyModel(const Scenario& of) : StudyModel(of, tables_of(of)) {}
    /// `tables`: from tables_of() on another rank, so that all ranks have the same bits.
    StudyModel(const Scenario& of, NoiseTables tables);

    const Scenario& scenario;
    Problem problem;
    DesignMap designs;
    std::vector<const Objective*> objectives;
    // [objective]: has a lower bound that is valid under the distributions of the scenario
    std::vector<bool> bounded;
    double skewness = 0.0;                      // of its most skewed distribution
    std::optional<std::size_t> near_objective;  // the first with a bound that follows the step
    /// What plans may have at most of an objective, whether the study minimises it or not. Objectives are
    /// rows of the static table of model/objective.hpp.
    struct Limit {
        const Objective* objective;
        double most;
        bool bounded;  // has a lower bound that is valid
    };
    std::vector<Limit> limits;

    /// Plans of one region are alternatives to each other: those on the same number of GPUs of the same
    /// cluster or, if machines serve several networks, those of the same network on the same machine.
    std::uint64_t region(const ParallelPlan& plan, std::size_t variant) const;
    /// Of the plan of a point.
    std::uint64_t region(std::uint64_t index) const;
    /// Which of several clusters a point is for; zero: the only one.
    std::size_t cluster(std::span<const int> point) const
    {
        return at_variant_[designs.variant(point)].cluster;
    }
    /// Machines of the study, in words: the values of its choices of hardware; "" if it has none.
    const std::vector<std::string>& machines() const { return machines_; }
    /// Place of a variant in a table of machines by networks.
    std::size_t cell(std::size_t variant) const;

    /// [objective]: minus infinity without a valid lower bound.
    std::vector<double> bounds_of(const NoiseFree& bound) const;
    /// Position of an objective of the study.
    std::size_t position_of(std::string_view objective) const;
    bool is_limited() const { return !limits.empty(); }
    /// Whether one of the limits is of the promised time.
    bool limits_promise() const;
    /// Whether all plans with this bound have more of something than they may.
    bool beyond_limits(const NoiseFree& bound) const;
    /// Whether a plan keeps the limits.
    Keeping keeping(const Prediction& prediction) const;
    SamplerOptions sampler(const DrawSource& source) const;
    /// Objectives from a prediction.
    std::vector<Estimate> values(const Prediction& prediction) const;
    /// Confidence level of this job: the parts of a space share the error probability of the study.
    double confidence() const
    {
        return 1.0 - (1.0 - scenario.search.confidence) / scenario.search.space_parts;
    }

private:
    /// What a variant is for, by number; zero: there is one.
    struct Place {
        std::size_t cluster = 0;
        std::size_t machine = 0;  // cluster and values of [[knob]]s
        std::size_t network = 0;
    };
    void name_machines();

    std::vector<Place> at_variant_;
    std::vector<std::string> machines_;
};

}  // namespace prismopt
