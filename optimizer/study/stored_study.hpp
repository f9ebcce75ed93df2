#pragma once

/// A results file together with its study, made again from the scenario that the file holds.

#include "io/results/results.hpp"
#include "optimizer/study/evaluator.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The results in a file, as read_results() reads them; warns of one without a checksum.
Results open_results(const std::string& path);

class StoredStudy {
public:
    /// Throws InputError where this program does not read the scenario as the one that wrote the results did.
    explicit StoredStudy(const Results& results);
    StoredStudy(const StoredStudy&) = delete;
    StoredStudy& operator=(const StoredStudy&) = delete;
    ~StoredStudy() = default;

    const Scenario& scenario() const { return scenario_; }
    /// Points have the numbers that the results give them.
    const Space& space() const { return model_.designs.space(); }
    ParallelPlan plan(std::span<const int> point) const { return model_.designs.plan(point); }
    SamplerOptions sampler(Purpose purpose) const { return model_.sampler(purpose); }
    /// At what the scenario's knobs stand for a point, SI; empty where there are none.
    std::vector<double> knob_values(std::span<const int> point) const;
    /// What the plans of a point's hardware are judged against; valid until that of another point is asked for.
    const Problem& problem(std::span<const int> point) { return bench_.problem(model_.designs.hardware(point)); }

private:
    Scenario scenario_;
    StudyModel model_;
    HardwareBench bench_;
};

}  // namespace prismopt
