#include "optimizer/study/hardware_bench.hpp"

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/accuracy/model_intervals.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Each has its own noise tables and layer costs, and in the sweep of a large space up to 50 MB of paths.
constexpr std::size_t most_stands = 24;

LeastModelError error_of(const Problem& problem)
{
    const bool matters = problem.promise.includes_model_error();
    return matters ? least_error(setting_of(problem, problem.phases.front()), fitted_model())
                   : LeastModelError{};
}

}  // namespace

/// Forgets predictors until there is room for another one: in number, and for the paths of one.
void HardwareBench::make_room()
{
    const auto paths_fill = [this] {
        double fill = 0.0;
        for (const auto& [variant, stand] : stands_) {
            fill += stand.predictor.paths_fill();
        }
        return fill;
    };
    while (stands_.size() >= most_stands || paths_fill() > 1.0) {
        stands_.erase(
            std::ranges::min_element(stands_, {}, [](const auto& stand) { return stand.second.used; }));
    }
}

HardwareBench::Stand& HardwareBench::stand(std::size_t variant)
{
    if (const auto found = stands_.find(variant); found != stands_.end()) {
        found->second.used = ++calls_;
        return found->second;
    }
    make_room();
    auto problem = std::make_shared<Problem>(base_);
    apply_variant(*problem, *variant_at(scenario_, scenario_.variants[variant]));
    problem->memory_limit.probability = fit_probability_.value_or(base_.memory_limit.probability);
    if (!problem->promise_quantiles.empty()) {
        const LeastModelError error = error_of(*problem);
        for (const double quantile : problem->promise_quantiles) {
            problem->promise_factors.push_back(promise_factor(problem->promise, quantile, error));
        }
    }
    Predictor predictor(*problem);
    return stands_.emplace(variant, Stand{std::move(problem), std::move(predictor), ++calls_}).first->second;
}

void apply_variant(Problem& problem, Variant variant)
{
    problem.deviation = variant.deviation;
    problem.local = std::move(variant.local);
    static_cast<Job&>(problem) = std::move(variant);
}

Predictor& HardwareBench::of(std::size_t variant) { return stand(variant).predictor; }

const Problem& HardwareBench::problem(std::size_t variant) { return *stand(variant).problem; }

}  // namespace prismopt
