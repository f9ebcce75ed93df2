#include "model/noise/chain_law.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

double deviation_of(const Segment& kernels, const ResidualLaws& residual)
{
    double variance = 0.0;
    for (const Kernel& kernel : kernels) {
        const double deviation = kernel.seconds * residual[static_cast<std::size_t>(kernel.kind)].cv();
        variance += deviation * deviation;
    }
    return std::sqrt(variance);
}

GridLaw sum_of(const std::vector<GridLaw>& laws)
{
    std::vector<const GridLaw*> list;
    list.reserve(laws.size());
    for (const GridLaw& law : laws) {
        list.push_back(&law);
    }
    return sum_of(list);
}

/// Adds what sums to `count` repetitions to `terms`; `powers` grows to the largest power of two needed.
void add_repetitions(std::vector<GridLaw>& powers, int count, std::vector<GridLaw>& terms)
{
    for (std::size_t k = 0; count >> k != 0; ++k) {
        if (k == powers.size()) {
            powers.push_back(sum_of(std::vector<GridLaw>{powers.back(), powers.back()}));
        }
        if ((count >> k) % 2 == 1) {
            terms.push_back(powers[k]);
        }
    }
}

}  // namespace

double segment_cv(const PartCost& part, const ResidualLaws& residual)
{
    double deviations = 0.0;
    for (const PassCost* pass : {&part.forward, &part.backward}) {
        for (const Segment& segment : pass->segments) {
            deviations += deviation_of(segment, residual);
        }
    }
    const double compute_s = part.forward.compute_s + part.backward.compute_s;
    return compute_s > 0.0 ? deviations / compute_s : 0.0;
}

const ComposedPass& ChainLaws::compose(const ChunkPass& pass, int width)
{
    PassKey key{{}, width};
    pass.for_parts([&key](int count, const PassCost& cost) { key.first.emplace_back(&cost, count); });
    const auto found = passes_.find(key);
    if (found != passes_.end()) {
        return found->second;
    }
    std::vector<GridLaw> compute;
    std::vector<GridLaw> communication;
    pass.for_parts([&](int count, const PassCost& cost) {
        PartLaws& laws = part(cost, width);
        add_repetitions(laws.compute, count, compute);
        add_repetitions(laws.communication, count, communication);
    });
    return passes_.emplace(key, ComposedPass{composed(compute), composed(communication)}).first->second;
}

/// Equal laws are one object: ops that share a law up to scale share its draws.
ComposedDuration ChainLaws::composed(const std::vector<GridLaw>& terms)
{
    const GridLaw sum = sum_of(terms);
    const double cv = sum.mean > 0.0 ? sum.deviation() / sum.mean : 0.0;
    const StandardLaw law(standardised(sum), node_probability_);
    auto known = std::find_if(shapes_.begin(), shapes_.end(), [&law](const auto& shape) { return *shape == law; });
    if (known == shapes_.end()) {
        known = shapes_.insert(shapes_.end(), std::make_shared<const StandardLaw>(law));
    }
    return {sum.mean, cv, *known};
}

ChainLaws::PartLaws& ChainLaws::part(const PassCost& cost, int width)
{
    const auto [at, missing] = parts_.try_emplace(std::make_tuple(&cost, width));
    PartLaws& laws = at->second;
    if (missing) {
        std::vector<GridLaw> segments;
        for (const Segment& kernels : cost.segments) {
            segments.push_back(longest_of(segment(kernels), width));
        }
        laws.compute = {sum_of(segments)};
        Segment collectives;
        for (const double seconds : cost.collectives_s) {
            collectives.push_back({KernelClass::tp_collective, seconds});
        }
        laws.communication = {segment(collectives)};
    }
    return laws;
}

GridLaw ChainLaws::segment(const Segment& kernels) const
{
    double core = 0.0;
    for (const Kernel& kernel : kernels) {
        const double own = kernel.seconds * residual_[static_cast<std::size_t>(kernel.kind)].core();
        core += own * own;
    }
    std::vector<GridLaw> laws;
    for (const Kernel& kernel : kernels) {
        laws.push_back(kernel_duration(residual_[static_cast<std::size_t>(kernel.kind)], kernel.seconds, std::sqrt(core)));
    }
    return sum_of(laws);
}

}  // namespace prismopt
