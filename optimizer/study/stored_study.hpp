#pragma once

/// A results file with its study, reconstructed from the scenario in the file.

#include "io/results/results.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

class StoredStudy {
public:
    /// Throws InputError if this version reads the scenario differently from the
    /// version that wrote the results.
    explicit StoredStudy(const Results& results);
    StoredStudy(const StoredStudy&) = delete;
    StoredStudy& operator=(const StoredStudy&) = delete;
    ~StoredStudy() = default;

    const Scenario& scenario() const { return scenario_; }
    const StudyModel& model() const { return model_; }
    /// Its points have the same numbers as in the results.
    const Space& space() const { return model_.designs.space(); }
    ParallelPlan plan(std::span<const int> point) const { return model_.designs.plan(point); }
    SamplerOptions sampler(const DrawSource& source) const { return model_.sampler(source); }
    /// Values of the [[knob]]s at a point, in SI units; empty if there are none.
    const ChosenValues& chosen_values(std::span<const int> point) const;
    /// The phases of the training at a point.
    std::vector<Phase> phases(std::span<const int> point) const;
    /// The problem with the hardware of a point; valid until the next call.
    const Problem& problem(std::span<const int> point)
    {
        return bench_.problem(model_.designs.variant(point));
    }

private:
    Scenario scenario_;
    StudyModel model_;
    HardwareBench bench_;
};

/// Returns the number of a plan of the study, which may be infeasible; nothing asked: of the first plan of
/// the front. Throws InputError if the space does not have it, or if it names no plan of its own or one that
/// the study's trainer cannot run.
std::uint64_t point_number(const Results& results, const StoredStudy& study,
                           std::optional<std::int64_t> asked);

}  // namespace prismopt
