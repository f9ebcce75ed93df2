/// Composed chains against closed forms, against another numerical way, and against every kernel drawn.

#include "model/distribution/chain_distribution.hpp"

#include "model/distribution/noise_tables.hpp"
#include "tests/support/chain_oracle.hpp"
#include "tests/support/distribution_cases.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/gamma.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array spreads{0.01, 0.1, 0.3, 1.0};
constexpr std::array widths{1, 2, 8, 16};
constexpr std::array repeats{2, 8, 80};
constexpr std::array probabilities{0.5, 0.99, 0.999};
constexpr double accuracy = 2e-4;  // of the duration; 1e-4 deviations and more are the table's interpolation

Quantile capped(const Family& family, double cap = 20.0)
{
    return quantile_of(Distribution{family, {}, cap, "test"});
}

Quantile scaled(double seconds, const Quantile& distribution)
{
    return [seconds, distribution](double p, bool upper) { return seconds * distribution(p, upper); };
}

/// Sum of `kernels` independent gamma distributions of mean one and this cv.
Quantile gamma_sum(int kernels, double cv)
{
    return [distribution = boost::math::gamma_distribution<>(kernels / (cv * cv), cv * cv)](double p,
                                                                                            bool upper) {
        return upper ? boost::math::quantile(boost::math::complement(distribution, p))
                     : boost::math::quantile(distribution, p);
    };
}

ResidualDistributions all_classes(const Family& family, double cap = 20.0)
{
    ResidualDistributions distributions;
    distributions.fill(KernelDistribution(capped(family, cap)));
    return distributions;
}

/// `kernels` of this time each, up to a barrier.
Segment even_segment(int kernels, double seconds)
{
    return Segment(static_cast<std::size_t>(kernels), Kernel{KernelClass::gemm, seconds});
}

/// Collectives of these exposed times.
std::vector<Exposed> collectives(std::initializer_list<double> seconds)
{
    std::vector<Exposed> list;
    for (const double s : seconds) {
        list.push_back({s, {{KernelClass::tensor_all_reduce, 1.0}}});
    }
    return list;
}

/// Standard normal scores, which is what a composed distribution takes.
const NormalScores& scores()
{
    static const NormalScores table(normal_quantile);
    return table;
}

double value(const ComposedDuration& distribution, double p)
{
    const auto bits = static_cast<std::uint32_t>(p * 0x1p32);
    return distribution.mean_s *
           (1.0 + distribution.cv * static_cast<double>((*distribution.shape)(scores()(bits))));
}

void expect_distribution(const ComposedDuration& found, const SumOracle& truth, const std::string& what)
{
    EXPECT_NEAR(found.mean_s / truth.mean(), 1.0, 1e-4) << what;
    for (const double p : probabilities) {
        const double x = value(found, p);
        EXPECT_LT(truth.below(x * (1.0 - accuracy)), p) << what << ", p " << p;
        EXPECT_GT(truth.below(x * (1.0 + accuracy)), p) << what << ", p " << p;
    }
}

/// Segments of one, two and three equal gamma kernels, whose sums are gamma
/// distributions; the largest of n has F^n.
TEST(ChainDistributions, OfGammaKernelsMatchTheirTransforms)
{
    for (const double cv : spreads) {
        const ResidualDistributions residual = all_classes(Gamma{cv});
        for (const int n : widths) {
            PassCost layer;
            layer.segments = {even_segment(3, 0.4), even_segment(1, 1.0), even_segment(2, 0.3)};
            const std::vector<Quantile> truth{largest_of(scaled(0.4, gamma_sum(3, cv)), n),
                                              largest_of(scaled(1.0, gamma_sum(1, cv)), n),
                                              largest_of(scaled(0.3, gamma_sum(2, cv)), n)};
            ChainDistributions chains(residual, StandardDistribution::node_probabilities());
            for (const int layers : repeats) {
                const std::string what = "cv " + std::to_string(cv) + ", width " + std::to_string(n) +
                                         ", layers " + std::to_string(layers);
                expect_distribution(chains.compose({layer, layers}, n).compute, SumOracle(truth, layers),
                                    what);
            }
        }
    }
}

/// A long-tailed family, one kernel a segment, capped at 20 means or hardly at all.
TEST(ChainDistributions, OfLognormalKernelsMatchTheirTransforms)
{
    for (const auto& [cv, cap] :
         {std::pair{0.01, 20.0}, {0.1, 20.0}, {0.3, 20.0}, {1.0, 20.0}, {1.0, 1000.0}}) {
        const ResidualDistributions residual = all_classes(LogNormal{cv}, cap);
        for (const int n : widths) {
            PassCost layer;
            layer.segments = {even_segment(1, 0.5), even_segment(1, 1.3)};
            const Quantile one = capped(LogNormal{cv}, cap);
            const std::vector<Quantile> truth{largest_of(scaled(0.5, one), n),
                                              largest_of(scaled(1.3, one), n)};
            ChainDistributions chains(residual, StandardDistribution::node_probabilities());
            for (const int layers : repeats) {
                const std::string what = "cv " + std::to_string(cv) + ", width " + std::to_string(n) +
                                         ", layers " + std::to_string(layers);
                expect_distribution(chains.compose({layer, layers}, n).compute, SumOracle(truth, layers),
                                    what);
            }
        }
    }
}

/// Alone there are no barriers: 80 layers of 5 kernels are one gamma distribution, known to the far tails.
TEST(ChainDistributions, OfOneMemberAreClosedFormsToTheirTails)
{
    for (const double cv : spreads) {
        const ResidualDistributions residual = all_classes(Gamma{cv}, 100.0);
        PassCost layer;
        layer.segments = {even_segment(5, 1.0)};
        layer.exposed = collectives({1.0, 1.0});
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        for (const int layers : {1, 2, 80}) {
            const ComposedPass& pass = chains.compose({layer, layers}, 1);
            for (const auto& [found, kernels] :
                 {std::pair{&pass.compute, 5 * layers}, {&pass.communication, 2 * layers}}) {
                const Quantile truth = gamma_sum(kernels, cv);
                const double deviation = cv * std::sqrt(kernels);
                EXPECT_NEAR(found->mean_s, kernels, 1e-9 * kernels);
                EXPECT_NEAR(found->cv * kernels, deviation, 1e-5 * deviation);
                // A sixteenth of a deviation is one cell of the grid: where a wide distribution begins,
                // and near the least factor, 0.001.
                const double tolerance = (cv < 1.0 ? 0.01 : 0.0625) * deviation;
                for (const double p : {0x1p-32, 1e-6, 1e-3, 0.1}) {
                    EXPECT_NEAR(value(*found, p), truth(p + 0x1p-33, false), tolerance)
                        << cv << " " << kernels << " " << p;
                    EXPECT_NEAR(value(*found, 1.0 - p), truth(p - 0x1p-33, true), tolerance)
                        << cv << " " << kernels << " " << p;
                }
            }
        }
    }
}

/// Layers whose kernels do not vary, with a part of the work on tokens beyond the mean.
PassCost loaded_layer(double surplus_s)
{
    PassCost layer;
    layer.segments = {even_segment(4, 1.0)};
    layer.compute_s = 4.0;
    layer.surplus_s = 0.75 * surplus_s;
    layer.surplus_most = Surplus::no_limit;
    layer.exposed = {{1.0, {{KernelClass::expert_all_to_all, 1.0}}, {0.25 * surplus_s}}};
    return layer;
}

/// Of layers whose loads are independent the sum is a gamma distribution; of equal
/// ones it is one draw, as often.
TEST(ChainDistributions, OfImbalancedExpertsAreClosedForms)
{
    const ResidualDistributions constant{};
    constexpr double surplus = 0.8;
    for (const double cv : {0.1, 0.5, 1.0}) {
        const KernelDistribution load(capped(Gamma{cv}, 100.0));
        for (const int layers : {1, 4, 61}) {
            const PassCost layer = loaded_layer(surplus);
            ChainDistributions equal(constant, StandardDistribution::node_probabilities(), {}, {load, 1.0});
            ChainDistributions alone(constant, StandardDistribution::node_probabilities(), {}, {load, 0.0});
            ChainDistributions half(constant, StandardDistribution::node_probabilities(), {}, {load, 0.5});
            const double fixed = (4.0 - surplus) * layers;
            const ComposedDuration one_draw = equal.compose({layer, layers}, 8).compute;
            const ComposedDuration sum = alone.compose({layer, layers}, 8).compute;
            const ComposedDuration between = half.compose({layer, layers}, 8).compute;
            const double total = surplus * layers;
            for (const ComposedDuration& found : {one_draw, sum, between}) {
                EXPECT_NEAR(found.mean_s, 4.0 * layers, 1e-9 * layers);
            }
            EXPECT_NEAR(one_draw.cv * one_draw.mean_s, cv * total, 1e-4 * cv * total);
            EXPECT_NEAR(sum.cv * sum.mean_s, cv * total / std::sqrt(layers), 1e-4 * cv * total);
            EXPECT_NEAR(between.cv * between.mean_s, cv * total * std::sqrt(0.5 + 0.5 / layers),
                        1e-4 * cv * total);
            for (const double p : {0.05, 0.5, 0.95, 0.99, 0.999}) {
                const double tolerance = 0.01 * cv * total;
                EXPECT_NEAR(value(one_draw, p), fixed + total * gamma_sum(1, cv)(p, false), tolerance)
                    << cv << " " << layers;
                EXPECT_NEAR(value(sum, p), fixed + surplus * gamma_sum(layers, cv)(p, false), tolerance)
                    << cv << " " << layers;
            }
        }
    }
}

/// Beyond its capacity an expert drops tokens: the load stops there, and keeps its mean.
TEST(ChainDistributions, OfExpertsWithACapacityEndAtIt)
{
    constexpr double cv = 0.5;
    constexpr double most = 1.5;
    const KernelDistribution load(capped(LogNormal{cv}));
    PassCost layer = loaded_layer(1.0);
    layer.surplus_most = most;
    layer.exposed.front().surplus.most = most;
    const ResidualDistributions constant{};
    ChainDistributions chains(constant, StandardDistribution::node_probabilities(), {}, {load, 1.0});
    const ComposedDuration found = chains.compose({layer, 1}, 8).compute;
    EXPECT_NEAR(found.mean_s, 4.0, 1e-9);
    const Quantile free = capped(LogNormal{cv});
    double mean = 0.0;
    constexpr int points = 200'000;
    for (int k = 0; k < points; ++k) {
        mean += std::min(most, free((k + 0.5) / points, false)) / points;
    }
    EXPECT_NEAR(value(found, 0.99), 3.0 + most / mean, 0.01);
    EXPECT_NEAR(value(found, 0.2), 3.0 + free(0.2, false) / mean, 0.01);
    EXPECT_LT(value(found, 1.0 - 1e-9), 3.0 + most / mean + 0.05);
}

std::vector<double> sorted_draws(const std::vector<Segment>& layer, double cv, int layers, int n, int draws)
{
    std::mt19937_64 engine(17);
    const double variance = std::log1p(cv * cv);
    std::lognormal_distribution<double> residual(-0.5 * variance, std::sqrt(variance));
    std::vector<double> result;
    for (int d = 0; d < draws; ++d) {
        double total = 0.0;
        for (int l = 0; l < layers; ++l) {
            for (const Segment& segment : layer) {
                double slowest = 0.0;
                for (int i = 0; i < n; ++i) {
                    double time = 0.0;
                    for (const Kernel& kernel : segment) {
                        time += kernel.seconds * residual(engine);
                    }
                    slowest = std::max(slowest, time);
                }
                total += slowest;
            }
        }
        result.push_back(total);
    }
    std::sort(result.begin(), result.end());
    return result;
}

/// Unequal lognormal kernels between barriers, every one drawn for every member, a million times.
TEST(ChainDistributions, MatchEveryKernelDrawn)
{
    constexpr int draws = 1'000'000;
    constexpr int n = 2;
    const std::vector<Segment> segments{
        {{KernelClass::gemm, 1.0}, {KernelClass::gemm, 0.1}, {KernelClass::gemm, 0.6}},
        {{KernelClass::gemm, 0.2}, {KernelClass::gemm, 1.2}}};
    for (const double cv : {0.1, 0.5}) {
        const std::vector<double> truth = sorted_draws(segments, cv, 2, n, draws);
        const ResidualDistributions residual = all_classes(LogNormal{cv});
        PassCost layer;
        layer.segments = segments;
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        const ComposedDuration& found = chains.compose({layer, 2}, n).compute;
        const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / draws;
        EXPECT_NEAR(found.mean_s, mean, 4.0 * found.mean_s * found.cv / std::sqrt(draws));
        for (const double p : probabilities) {
            const double error = 4.0 * std::sqrt(p * (1.0 - p) / draws);  // of the rank
            const auto at = [&](double q) { return truth[static_cast<std::size_t>(q * draws)]; };
            EXPECT_GT(value(found, p), (1.0 - accuracy) * at(p - error)) << cv << " " << p;
            EXPECT_LT(value(found, p), (1.0 + accuracy) * at(p + error)) << cv << " " << p;
        }
    }
}

/// Barriers of every kind, one kernel between two: every member drawn.
double drawn_with_meetings(const std::vector<Meeting>& ends, const BarrierWidths& members, int layers,
                           std::lognormal_distribution<double>& residual, std::mt19937_64& engine)
{
    const auto context = static_cast<std::size_t>(members.context);
    const std::size_t exchange = context * static_cast<std::size_t>(members.experts);
    // Of tensor parallel groups.
    std::vector<double> clock(context * static_cast<std::size_t>(members.replicas()), 0.0);
    const auto synchronise = [&clock](std::size_t group) {
        for (auto first = clock.begin(); first != clock.end(); first += static_cast<std::ptrdiff_t>(group)) {
            std::fill_n(first, group, *std::max_element(first, first + static_cast<std::ptrdiff_t>(group)));
        }
    };
    for (int l = 0; l < layers; ++l) {
        for (const Meeting end : ends) {
            for (double& time : clock) {
                double slowest = 0.0;
                for (int i = 0; i < members.tensor; ++i) {
                    slowest = std::max(slowest, residual(engine));
                }
                time += slowest;
            }
            synchronise(end == Meeting::tensor ? 1 : end == Meeting::context ? context : exchange);
        }
        synchronise(exchange * static_cast<std::size_t>(members.layer));
    }
    return *std::max_element(clock.begin(), clock.end());
}

TEST(ChainDistributions, OfNarrowAndWideBarriersMatchEveryMemberDrawn)
{
    constexpr int draws = 20'000;
    constexpr double cv = 0.1;
    const double variance = std::log1p(cv * cv);
    const ResidualDistributions residual = all_classes(LogNormal{cv});
    PassCost layer;
    layer.ends = {Meeting::tensor, Meeting::context, Meeting::tensor, Meeting::experts};
    layer.segments.assign(layer.ends.size(), {{KernelClass::gemm, 1.0}});
    for (const BarrierWidths& members : {BarrierWidths{2, 3, 4}, BarrierWidths{1, 1, 4, 3},
                                         BarrierWidths{2, 1, 3, 1, 4}, BarrierWidths{1, 2, 1, 2, 3}}) {
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        const ComposedDuration& found = chains.compose({layer, 3}, members).compute;
        std::mt19937_64 engine(23);
        std::lognormal_distribution<double> distribution(-0.5 * variance, std::sqrt(variance));
        std::vector<double> truth;
        for (int d = 0; d < draws; ++d) {
            truth.push_back(drawn_with_meetings(layer.ends, members, 3, distribution, engine));
        }
        std::sort(truth.begin(), truth.end());
        const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / draws;
        EXPECT_NEAR(found.mean_s, mean, 4.0 * found.mean_s * found.cv / std::sqrt(draws));
        for (const double p : {0.5, 0.99}) {
            const double error = 4.0 * std::sqrt(p * (1.0 - p) / draws);  // of the rank
            const auto at = [&](double q) { return truth[static_cast<std::size_t>(q * draws)]; };
            EXPECT_GT(value(found, p), (1.0 - accuracy) * at(p - error)) << members.replicas() << " " << p;
            EXPECT_LT(value(found, p), (1.0 + accuracy) * at(p + error)) << members.replicas() << " " << p;
        }
    }
}

/// A slow mode makes a quantile function jump, and most of the variance, while
/// nearly all draws are fast ones.
TEST(ChainDistributions, KnowHowOftenAKernelIsSlow)
{
    constexpr double often = 0.01;
    const Quantile fast = capped(LogNormal{0.03});
    PassCost layer;
    layer.segments = {even_segment(1, 1.0)};
    for (const double excess : {1.0, 5.0}) {
        const DistributionQuantile distribution({LogNormal{0.03}, {often, excess}, 20.0, "test"});
        ResidualDistributions residual;
        residual.fill(
            KernelDistribution([&distribution](double p, bool upper) { return distribution(p, upper); }));
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        for (const int n : widths) {
            double chance = std::pow(1.0 - often, n);  // that j members are slow; the modes do not overlap
            double mean = chance * moments(largest_of(fast, n)).mean;
            for (int j = 1; j <= n; ++j) {
                chance *= often / (1.0 - often) * (n - j + 1) / j;
                mean += chance * (1.0 + excess) * moments(largest_of(fast, j)).mean;
            }
            mean *= 4.0 / (1.0 + often * excess);
            EXPECT_NEAR(chains.compose({layer, 4}, n).compute.mean_s, mean, 5e-4 * mean)
                << n << " " << excess;
        }
    }
}

/// The embedding and the head join the layers; a chunk may hold no layer at all.
TEST(ChainDistributions, AddEmbeddingAndHead)
{
    const ResidualDistributions residual = all_classes(Gamma{0.3});
    PassCost layer;
    layer.segments = {even_segment(2, 1.0)};
    PassCost embedding;
    embedding.segments = {even_segment(1, 1.0)};
    embedding.exposed = collectives({1.0});
    PassCost head;
    head.segments = {even_segment(3, 1.0)};
    ChainDistributions chains(residual, StandardDistribution::node_probabilities());
    const auto same = [](const ComposedDuration& a, const ComposedDuration& b) {
        EXPECT_NEAR(a.mean_s, b.mean_s, 1e-9);
        EXPECT_NEAR(a.cv, b.cv, 1e-6);
        for (const double p : probabilities) {
            EXPECT_NEAR(value(a, p), value(b, p), 1e-5 * b.mean_s);
        }
    };
    same(chains.compose(ChunkPass({{&layer, 3}, {&embedding, 1}, {&head, 1}}), 1).compute,
         chains.compose({layer, 5}, 1).compute);
    same(chains.compose(ChunkPass({{&embedding, 1}, {&head, 1}}), 1).compute,
         chains.compose({layer, 2}, 1).compute);
    same(chains.compose(ChunkPass({{&layer, 3}, {&embedding, 1}}), 1).communication,
         chains.compose({embedding, 1}, 1).compute);
}

/// One draw an op: of one lognormal kernel the product is lognormal; of constant ones it is that
/// of all of the op, messages too.
TEST(ChainDistributions, TimesAnOperationsFactorMatchClosedForms)
{
    const auto sigma = [](double cv) { return std::sqrt(std::log1p(cv * cv)); };
    for (const double own : {0.0, 0.003, 0.05, 0.2}) {
        for (const double cv : {0.01, 0.05, 0.2, 0.5}) {
            const ResidualDistributions residual = all_classes(LogNormal{own}, 1000.0);
            PassCost layer;
            layer.segments = {even_segment(1, 2.0)};
            ChainDistributions chains(residual, StandardDistribution::node_probabilities(),
                                      KernelDistribution(capped(LogNormal{cv}, 1000.0)));
            const ComposedDuration& found = chains.compose({layer, 1}, 1).compute;
            EXPECT_NEAR(found.mean_s, 2.0, 2e-5);
            EXPECT_NEAR(found.cv, std::sqrt((1.0 + own * own) * (1.0 + cv * cv) - 1.0), 1e-4 * cv);
            const double deviation = std::hypot(sigma(own), sigma(cv));
            for (const double p : {0.01, 0.5, 0.99, 0.999}) {
                const double z = normal_quantile(std::min(p, 1.0 - p), p > 0.5);
                const double truth = 2.0 * std::exp(deviation * z - 0.5 * deviation * deviation);
                // The grid of a product has half the cells of a sum's: a thousandth of a deviation more.
                EXPECT_NEAR(value(found, p), truth, (accuracy + 0.001 * cv) * found.mean_s)
                    << own << ' ' << cv << ' ' << p;
            }
        }
    }
    constexpr double cv = 0.1;
    const ResidualDistributions residual = all_classes(Constant{});
    PassCost layer;
    layer.segments = {even_segment(1, 2.0)};
    layer.exposed = collectives({0.5});
    const Quantile factor = capped(LogNormal{cv});
    ChainDistributions chains(residual, StandardDistribution::node_probabilities(),
                              KernelDistribution(factor));
    const ComposedPass& pass = chains.compose({layer, 4}, 1);
    for (const double p : {0.01, 0.5, 0.99, 0.999}) {
        const double truth = 10.0 * factor(std::min(p, 1.0 - p), p > 0.5);
        EXPECT_NEAR(value(pass.compute, p) + value(pass.communication, p), truth, 2.0 * accuracy * truth)
            << p;
    }
}

/// Barriers inside, and replicas that meet in each layer, for the longest of whose factors all wait.
TEST(ChainDistributions, TimesAnOperationsFactorMatchIntegrals)
{
    constexpr int width = 8;
    constexpr int layers = 8;
    constexpr int nodes = 2000;
    for (const double own : {0.02, 0.1}) {
        const ResidualDistributions residual = all_classes(Gamma{own});
        PassCost layer;
        layer.segments = {even_segment(3, 0.4), even_segment(1, 1.0)};
        const SumOracle chain({largest_of(scaled(0.4, gamma_sum(3, own)), width),
                               largest_of(gamma_sum(1, own), width)},
                              layers);
        const double far =
            20.0 * own *
            std::sqrt(layers);  // half of what the oracle repeats after; the deviation is a thirtieth
        for (const Family& family : {Family{Gamma{0.3}}, Family{LogNormal{0.05}}}) {
            const Quantile factor = capped(family);
            ChainDistributions chains(residual, StandardDistribution::node_probabilities(),
                                      KernelDistribution(factor));
            const ComposedDuration& found = chains.compose({layer, layers}, width).compute;
            EXPECT_NEAR(found.mean_s, chain.mean(), 1e-4 * chain.mean());
            for (const double p : {0.5, 0.95, 0.99}) {
                double below = 0.0;
                for (int i = 0; i < nodes; ++i) {
                    const double u = (i + 0.5) / nodes;
                    const double x = value(found, p) / factor(std::min(u, 1.0 - u), u > 0.5);
                    below += (std::abs(x - chain.mean()) < far ? chain.below(x)
                              : x > chain.mean()               ? 1.0
                                                               : 0.0) /
                             nodes;
                }
                EXPECT_NEAR(below, p, 5e-4) << own << ' ' << p;
            }
        }
    }
    const ResidualDistributions residual = all_classes(Constant{});
    PassCost layer;
    layer.segments = {even_segment(1, 1.0)};
    for (const BarrierWidths& members :
         {BarrierWidths{1, 1, 4}, BarrierWidths{1, 1, 2, 2}, BarrierWidths{1, 1, 1, 1, 4}}) {
        const Quantile one = capped(Gamma{0.1});
        ChainDistributions chains(residual, StandardDistribution::node_probabilities(),
                                  KernelDistribution(one));
        const ComposedDuration& found = chains.compose({layer, 3}, members).compute;
        const Quantile largest = largest_of(one, 4);
        for (const double p : {0.1, 0.5, 0.99, 0.999}) {
            EXPECT_NEAR(value(found, p), 3.0 * largest(std::min(p, 1.0 - p), p > 0.5), 3.0 * accuracy) << p;
        }
    }
}

TEST(ChainDistributions, AreComposedOnce)
{
    const ResidualDistributions residual = all_classes(Gamma{0.3});
    PassCost layer;
    layer.segments = {even_segment(2, 1.0)};
    ChainDistributions chains(residual, StandardDistribution::node_probabilities());
    const ComposedPass& first = chains.compose({layer, 3}, 2);
    EXPECT_EQ(&chains.compose({layer, 3}, 2), &first);
    EXPECT_NE(&chains.compose({layer, 3}, 4), &first);
    EXPECT_GT(chains.compose({layer, 3}, 4).compute.mean_s, first.compute.mean_s);
}

TEST(ChainDistributions, OfConstantKernelsAreConstant)
{
    const ResidualDistributions residual = all_classes(Constant{});
    PassCost layer;
    layer.segments = {even_segment(2, 1.0), even_segment(1, 0.5)};
    layer.exposed = collectives({0.25});
    ChainDistributions chains(residual, StandardDistribution::node_probabilities());
    const ComposedPass& pass = chains.compose({layer, 4}, 8);
    EXPECT_EQ(pass.compute.mean_s, 10.0);
    EXPECT_EQ(pass.compute.cv, 0.0);
    EXPECT_EQ(pass.communication.mean_s, 1.0);
    for (const double p : probabilities) {
        EXPECT_EQ(value(pass.compute, p), 10.0);
    }
}

/// However wide, skewed or rough the kernels, a duration never falls with its probability, nor below nothing.
TEST(ChainDistributions, AreMonotoneAndNotNegative)
{
    const std::vector<Family> families{LogNormal{1.0}, Gamma{1.0}, Normal{1.0},
                                       Empirical{{1.0, 1.0, 1.0, 5.0}}};
    for (const Family& family : families) {
        const ResidualDistributions residual = all_classes(family);
        PassCost layer;
        layer.segments = {even_segment(1, 1.0), even_segment(2, 0.01)};
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        for (const int n : widths) {
            const ComposedDuration& distribution = chains.compose({layer, 1}, n).compute;
            double last = -1e-6;
            for (std::uint64_t bits = 0; bits < (1ULL << 32);
                 bits += bits < 4096 || bits > 0xFFFFF000 ? 1 : 65537) {
                const double x = 1.0 + distribution.cv * static_cast<double>((*distribution.shape)(
                                                             scores()(static_cast<std::uint32_t>(bits))));
                ASSERT_GE(x, last - 1e-6);  // of single precision
                last = x;
            }
            EXPECT_GE(1.0 + distribution.cv * static_cast<double>((*distribution.shape)(scores()(0U))),
                      -1e-6);
        }
    }
}

/// Segments vary less than one kernel, and more than if the layer were one chain.
TEST(ChainDistributions, SegmentsLieBetweenKernelAndLayer)
{
    const ResidualDistributions residual = all_classes(Gamma{0.05});
    LayerCost layer;
    layer.forward.segments = {even_segment(3, 1.0), even_segment(2, 1.0)};
    layer.forward.compute_s = 5.0;
    EXPECT_NEAR(segment_cv(layer, residual, {2}), 0.05 * (std::sqrt(3.0) + std::sqrt(2.0)) / 5.0, 1e-6);
}

/// Members that differ for good: the composed distribution times the factor of the
/// group, against each member drawn.
TEST(ChainDistributions, TimesTheGroupFactorMatchDrawnFleets)
{
    constexpr int fleets = 4000;
    constexpr int n = 8;
    constexpr int layers = 8;
    const std::vector<Segment> segments{even_segment(3, 1.0), even_segment(2, 1.5)};
    for (const double cv : {0.02, 0.10}) {
        Variability variability;
        variability.gpu = {Normal{0.02}, {0.01, 0.10}, 20.0, "test"};
        variability.residual.fill(Distribution{Gamma{cv}, {}, 20.0, "test"});
        const NoiseTables tables = build_noise_tables(variability, std::array{n});

        std::mt19937_64 engine(11);
        std::uniform_real_distribution<double> uniform;
        std::array<std::gamma_distribution<double>, 2> segment_time{
            std::gamma_distribution<double>(3.0 / (cv * cv), 1.0 * cv * cv),
            std::gamma_distribution<double>(2.0 / (cv * cv), 1.5 * cv * cv)};
        const DistributionQuantile spatial(variability.gpu);
        std::vector<double> truth;
        for (int f = 0; f < fleets; ++f) {
            std::array<double, n> member{};
            for (double& s : member) {
                const double u = uniform(engine);
                s = spatial(std::min(u, 1.0 - u), u > 0.5);
            }
            double total = 0.0;
            for (int k = 0; k < 2 * layers; ++k) {
                double slowest = 0.0;
                for (const double s : member) {
                    slowest = std::max(slowest, s * segment_time[k % 2](engine));
                }
                total += slowest;
            }
            truth.push_back(total);
        }
        std::sort(truth.begin(), truth.end());

        LayerCost layer;
        layer.forward.segments = segments;
        layer.forward.compute_s = 6.0;
        ChainDistributions chains(tables.residual, StandardDistribution::node_probabilities());
        const ComposedDuration& distribution = chains.compose({layer.forward, layers}, n).compute;
        const QuantileTable group = tables.group_factor(n, segment_cv(layer, tables.residual, {n}));
        std::vector<double> found;
        for (std::uint32_t i = 0; i < 200'000; ++i) {
            const auto words = philox(3, {i, 0, 0, 0});
            found.push_back(
                distribution.mean_s * static_cast<double>(group(words[0])) *
                (1.0 + distribution.cv * static_cast<double>((*distribution.shape)(scores()(words[1])))));
        }
        std::sort(found.begin(), found.end());
        const auto at = [](const std::vector<double>& sorted, double p) {
            return sorted[static_cast<std::size_t>(std::min(p, 0.9999) * static_cast<double>(sorted.size()))];
        };
        for (const double p : {0.50, 0.95, 0.99}) {
            // Four standard errors of the rank, and 0.1 % for what the factor omits.
            const double error = 4.0 * std::sqrt(p * (1.0 - p) / fleets);
            EXPECT_GT(at(found, p), 0.999 * at(truth, p - error)) << cv << " " << p;
            EXPECT_LT(at(found, p), 1.001 * at(truth, p + error)) << cv << " " << p;
        }
    }
}

}  // namespace
}  // namespace prismopt
