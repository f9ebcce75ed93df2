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

std::vector<std::optional<double>> VariantGradients::by_software(std::size_t variant,
                                                                 const ParallelPlan& plan)
{
    if (bench_.problem(variant).cluster.possible.empty()) {
        return {};
    }
    auto& steps = software_[variant];
    if (!steps) {
        problems_.push_back(bench_.problem(variant));
        steps =
            std::make_unique<StepsBySoftware>(setting_of(problems_.back(), problems_.back().phases.front()));
    }
    return steps->log_ratios(plan);
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
