#include "optimizer/study/variant_gradients.hpp"

namespace prismopt {

StepGradients& VariantGradients::of(std::size_t variant)
{
    auto& gradients = variants_[variant];
    if (!gradients) {
        problems_.push_back(bench_.problem(variant));
        const Problem& problem = problems_.back();
        gradients = std::make_unique<StepGradients>(Setting{problem.workload, problem.phases.front(), problem.cluster,
                                                            problem.noise, problem.memory_headroom, problem.orders},
                                                    fitted_);
    }
    return *gradients;
}

}  // namespace prismopt
