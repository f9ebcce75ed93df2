#pragma once

/// How the step times of plans depend on the fitted constants, on the hardware variants of a study.

#include "io/scenario/constants/fitted_model.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace prismopt {

/// By the constants of the catalog, also where the scenario has learned others. The
/// references given must outlive it.
class VariantGradients {
public:
    VariantGradients(const StudyModel& model, const FittedModel& fitted)
        : fitted_(fitted), bench_(model.scenario, model.problem)
    {
    }

    /// Of the first phase.
    StepGradients& of(std::size_t variant);
    /// How the scenario's prediction of a plan differs from the catalog's, as a logarithm.
    double shift(std::size_t variant, const ParallelPlan& plan);
    /// Logarithms of the step time with each software that the job may have over that with the
    /// assumed one; empty: it was given.
    std::vector<std::optional<double>> by_software(std::size_t variant, const ParallelPlan& plan);
    HardwareBench& bench() { return bench_; }
    const FittedModel& fitted() const { return fitted_; }
    const Phase& phase(std::size_t variant) { return bench_.problem(variant).phases.front(); }

private:
    const FittedModel& fitted_;
    HardwareBench bench_;
    std::deque<Problem> problems_;
    std::map<std::size_t, std::unique_ptr<StepGradients>> variants_;
    std::map<std::size_t, std::unique_ptr<StepsBySoftware>> software_;
};

}  // namespace prismopt
