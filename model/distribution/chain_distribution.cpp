#include "model/distribution/chain_distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

namespace prismopt {

namespace {

double variance_of(const Segment& kernels, const ResidualDistributions& residual)
{
    double variance = 0.0;
    for (const Kernel& kernel : kernels) {
        const double deviation = kernel.seconds * residual[static_cast<std::size_t>(kernel.kind)].cv();
        variance += deviation * deviation;
    }
    return variance;
}

Meeting end_of(const PassCost& pass, std::size_t segment)
{
    return segment < pass.ends.size() ? pass.ends[segment] : Meeting::tensor;
}

/// Sum over what lies between barriers of its deviation; a part's end leads to the beginning of the next.
double sum_of_deviations(const PassCost& pass, const ResidualDistributions& residual,
                         const BarrierWidths& widths)
{
    const std::array<bool, 3> synchronises{widths.tensor > 1, widths.tensor * widths.context > 1,
                                           widths.tensor * widths.context * widths.experts > 1};
    std::vector<double> variances{0.0};
    for (std::size_t i = 0; i < pass.segments.size(); ++i) {
        variances.back() += variance_of(pass.segments[i], residual);
        if (synchronises[static_cast<std::size_t>(end_of(pass, i))]) {
            variances.push_back(0.0);
        }
    }
    if (variances.size() > 1) {
        variances.front() += variances.back();
        variances.pop_back();
    }
    double sum = 0.0;
    for (const double variance : variances) {
        sum += std::sqrt(variance);
    }
    return sum;
}

GridDistribution sum_of(const std::vector<GridDistribution>& distributions)
{
    std::vector<const GridDistribution*> list;
    list.reserve(distributions.size());
    for (const GridDistribution& distribution : distributions) {
        list.push_back(&distribution);
    }
    return sum_of(list);
}

/// A distribution of mean one, and the mean of what it scales.
struct Term {
    const KernelDistribution* distribution;
    double seconds;
};

GridDistribution sum_of(const std::vector<Term>& terms)
{
    double core = 0.0;
    for (const Term& term : terms) {
        const double own = term.seconds * term.distribution->core();
        core += own * own;
    }
    std::vector<GridDistribution> distributions;
    distributions.reserve(terms.size());
    for (const Term& term : terms) {
        distributions.push_back(kernel_duration(*term.distribution, term.seconds, std::sqrt(core)));
    }
    return sum_of(distributions);
}

/// Adds what sums to `count` repetitions to `terms`; `powers` grows to the largest power of two needed.
void add_repetitions(std::vector<GridDistribution>& powers, int count, std::vector<GridDistribution>& terms)
{
    for (std::size_t k = 0; count >> k != 0; ++k) {
        if (k == powers.size()) {
            powers.push_back(sum_of(std::vector<GridDistribution>{powers.back(), powers.back()}));
        }
        if ((count >> k) % 2 == 1) {
            terms.push_back(powers[k]);
        }
    }
}

SurplusTime surplus_of(const PassCost& cost)
{
    SurplusTime surplus{cost.surplus_s, cost.surplus_most};
    for (const Exposed& message : cost.exposed) {
        if (message.surplus.share > 0.0) {
            surplus.seconds += message.surplus.share * message.seconds;
            surplus.most = std::max(surplus.most, message.surplus.most);
        }
    }
    return surplus;
}

}  // namespace

double segment_cv(const LayerCost& layer_cost, const ResidualDistributions& residual,
                  const BarrierWidths& widths)
{
    double deviations = 0.0;
    for (const PassCost* pass : {&layer_cost.forward, &layer_cost.backward}) {
        deviations += sum_of_deviations(*pass, residual, widths);
    }
    const double compute_s = layer_cost.forward.compute_s + layer_cost.backward.compute_s;
    return compute_s > 0.0 ? deviations / compute_s : 0.0;
}

const ComposedPass& ChainDistributions::compose(const ChunkPass& pass, const BarrierWidths& widths)
{
    PassKey key{{}, widths};
    pass.for_each_pass([&key](int count, const PassCost& cost) { key.first.emplace_back(&cost, count); });
    const auto found = passes_.find(key);
    if (found != passes_.end()) {
        return found->second;
    }
    std::vector<GridDistribution> compute;
    std::vector<GridDistribution> communication;
    SurplusTime surplus;
    pass.for_each_pass([&](int count, const PassCost& cost) {
        const SurplusTime own = surplus_of(cost);
        surplus = {surplus.seconds + count * own.seconds, std::max(surplus.most, own.most)};
        PassDistributions& distributions = distributions_of(cost, widths);
        add_repetitions(distributions.compute, count, compute);
        add_repetitions(distributions.communication, count, communication);
    });
    const GridDistribution messages = sum_of(communication);
    const GridDistribution loaded =
        with_surplus(sum_of(compute), surplus, imbalance_.correlation, widths.layer);
    const GridDistribution own = with_operation(loaded, messages.mean, widths);
    return passes_.emplace(key, ComposedPass{composed(longest_of(own, widths.pass)), composed(messages)})
        .first->second;
}

GridDistribution ChainDistributions::with_operation(const GridDistribution& compute, double communication_s,
                                                    const BarrierWidths& widths) const
{
    if (operation_.cv() == 0.0) {
        return compute;
    }
    constexpr double finer = 0.25;  // than the product's grid
    const GridDistribution factor = longest_of(kernel_duration(operation_, 1.0, finer * operation_.core()),
                                               widths.experts * widths.layer);
    return shifted(product_of(shifted(compute, communication_s), factor), -communication_s);
}

GridDistribution ChainDistributions::with_surplus(const GridDistribution& compute, const SurplusTime& surplus,
                                                  double correlation, int members) const
{
    const double seconds = std::sqrt(correlation) * surplus.seconds;
    if (seconds == 0.0 || imbalance_.distribution.cv() == 0.0) {
        return compute;
    }
    const KernelDistribution distribution =
        std::isfinite(surplus.most) ? imbalance_.distribution.limited(surplus.most) : imbalance_.distribution;
    const double core = std::hypot(seconds * distribution.core(), std::sqrt(compute.core));
    return shifted(sum_of(std::vector<GridDistribution>{
                       compute, longest_of(kernel_duration(distribution, seconds, core), members)}),
                   -seconds);
}

/// Equal distributions are one object: ops that share a distribution up to scale share its draws.
ComposedDuration ChainDistributions::composed(const GridDistribution& sum)
{
    const double cv = sum.mean > 0.0 ? sum.deviation() / sum.mean : 0.0;
    StandardDistribution distribution(standardised(sum), node_probability_);
    distribution.standardise(node_probability_);
    auto known = std::find_if(shapes_.begin(), shapes_.end(),
                              [&distribution](const auto& shape) { return *shape == distribution; });
    if (known == shapes_.end()) {
        known = shapes_.insert(shapes_.end(), std::make_shared<const StandardDistribution>(distribution));
    }
    return {sum.mean, cv, *known};
}

ChainDistributions::PassDistributions& ChainDistributions::distributions_of(const PassCost& cost,
                                                                            const BarrierWidths& widths)
{
    BarrierWidths inside = widths;
    inside.pass = 1;
    const auto [at, missing] = by_pass_.try_emplace(std::make_tuple(&cost, inside));
    PassDistributions& distributions = at->second;
    if (missing) {
        const GridDistribution own = with_surplus(sum_of(between_barriers(cost, widths)), surplus_of(cost),
                                                  1.0 - imbalance_.correlation, 1);
        distributions.compute = {longest_of(own, widths.layer)};
        distributions.communication = {messages(cost.exposed)};
    }
    return distributions;
}

bool ChainDistributions::varies_by_load(const PassCost& cost) const
{
    return imbalance_.distribution.cv() > 0.0 && surplus_of(cost).seconds > 0.0;
}

double ChainDistributions::mean_compute(const ChunkPass& pass, const BarrierWidths& widths)
{
    bool by_kernels = operation_.cv() == 0.0 && widths.layer == 1 && widths.pass == 1;
    pass.for_each_pass([&](int, const PassCost& cost) { by_kernels = by_kernels && !varies_by_load(cost); });
    if (!by_kernels) {
        return compose(pass, widths).compute.mean_s;
    }
    double mean = 0.0;
    pass.for_each_pass([&](int count, const PassCost& cost) {
        const auto [at, missing] = means_.try_emplace(std::make_tuple(&cost, widths), 0.0);
        if (missing) {
            at->second = mean_of_kernels(cost, widths);
        }
        mean += count * at->second;
    });
    return mean;
}

/// Costs that differ in what is beside their kernels, or in memory, have the same kernels.
double ChainDistributions::mean_of_kernels(const PassCost& cost, const BarrierWidths& widths)
{
    std::vector<double> kernels;
    for (std::size_t i = 0; i < cost.segments.size(); ++i) {
        for (const Kernel& kernel : cost.segments[i]) {
            kernels.insert(kernels.end(), {static_cast<double>(kernel.kind), kernel.seconds});
        }
        kernels.push_back(-1.0 - static_cast<double>(end_of(cost, i)));
    }
    const auto [at, missing] = means_of_kernels_.try_emplace(std::pair(std::move(kernels), widths), 0.0);
    if (missing) {
        for (const GridDistribution& between : between_barriers(cost, widths)) {
            at->second += between.mean;
        }
    }
    return at->second;
}

/// Times of one repetition of a part between its widest barriers, which are taken as a
/// circle that starts after a barrier.
std::vector<GridDistribution> ChainDistributions::between_barriers(const PassCost& cost,
                                                                   const BarrierWidths& widths) const
{
    const std::array<int, 3> width{widths.tensor, widths.context, widths.experts};
    const std::size_t count = cost.segments.size();
    const auto kind_of = [&](std::size_t i) {
        auto kind = static_cast<std::size_t>(end_of(cost, i));
        while (kind > 0 && width[kind] == 1) {
            --kind;
        }
        return kind;
    };
    std::size_t widest = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (kind_of(i) > widest) {
            widest = kind_of(i);
            start = i + 1;
        }
    }
    // [kind]: what followed the last barrier of the next wider kind.
    std::array<std::vector<GridDistribution>, width.size()> since;
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = (start + k) % count;
        since[0].push_back(longest_of(segment(cost.segments[i]), width[0]));
        for (std::size_t kind = 1; kind <= kind_of(i); ++kind) {
            since[kind].push_back(longest_of(sum_of(since[kind - 1]), width[kind]));
            since[kind - 1].clear();
        }
    }
    return std::move(since[widest]);
}

GridDistribution ChainDistributions::segment(const Segment& kernels) const
{
    std::vector<Term> terms;
    for (const Kernel& kernel : kernels) {
        terms.push_back({&distribution_of(kernel.kind), kernel.seconds});
    }
    return sum_of(terms);
}

GridDistribution ChainDistributions::messages(const std::vector<Exposed>& exposed) const
{
    std::deque<KernelDistribution> together;
    std::vector<Term> terms;
    for (const Exposed& message : exposed) {
        const KernelDistribution& first = distribution_of(message.shares.front().kind);
        const auto as_first = [&](const Exposed::Share& one) { return distribution_of(one.kind) == first; };
        if (std::all_of(message.shares.begin() + 1, message.shares.end(), as_first)) {
            terms.push_back({&first, message.seconds});
            continue;
        }
        std::vector<KernelDistribution::Share> shares;
        for (const Exposed::Share& one : message.shares) {
            shares.push_back({one.share, &distribution_of(one.kind)});
        }
        terms.push_back({&together.emplace_back(KernelDistribution::of_one_draw(shares)), message.seconds});
    }
    return sum_of(terms);
}

}  // namespace prismopt
