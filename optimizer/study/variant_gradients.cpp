#include "optimizer/study/variant_gradients.hpp"

#include "io/scenario/reading/scaled_cluster.hpp"

namespace prismopt {

StepGradients& VariantGradients::of(std::size_t variant)
{
    auto& gradients = variants_[variant];
    if (!gradients) {
        problems_.push_back(bench_.problem(variant));
        Problem& problem = problems_.back();
        problem.cluster = without_learned(std::move(problem.cluster));
        gradients = std::make_unique<StepGradients>(setting_of(problem, problem.phases.front()), fitted_);
    }
    return *gradients;
}

double VariantGradients::shift(std::size_t variant, const ParallelPlan& plan)
{
    const Problem& problem = bench_.problem(variant);
    if (problem.cluster.learned.empty() && problem.cluster.learned_time == 1.0) {
        return 0.0;
    }
    const auto here = log_noise_free_step(setting_of(problem, problem.phases.front()), plan);
    const auto there = of(variant).log_step(plan);
    return here && there ? *here - *there : 0.0;
}

}  // namespace prismopt
