/// A composed op against brute force: every GPU of the group, every kernel, every barrier.

#include "model/step/op_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace prismopt {
namespace {

struct NoisyKernel {
    double seconds;
    double cv;
};

/// What a layer looks like to one group: segments of kernels, each ended by a barrier, all lognormal.
const std::vector<std::vector<NoisyKernel>> layer{{{0.3, 1.0}, {2.0, 0.7}, {1.0, 1.2}}, {{0.2, 1.0}, {3.0, 0.7}, {0.5, 1.0}}};

/// One kernel class for each spread in the layer above.
KernelClass class_of(double cv)
{
    return cv == 1.0 ? KernelClass::gemm : cv == 0.7 ? KernelClass::attention : KernelClass::elementwise;
}

PartCost part_cost()
{
    PartCost part;
    for (const auto& segment : layer) {
        part.forward.segments.emplace_back();
        for (const NoisyKernel& k : segment) {
            part.forward.segments.back().push_back({class_of(k.cv), k.seconds});
            part.forward.compute_s += k.seconds;
        }
    }
    return part;
}

/// Persistent factors, and residuals of the layer's spreads times `scale`.
Variability variability(double scale)
{
    Variability v;
    for (const double cv : {1.0, 0.7, 1.2}) {
        v.residual[static_cast<std::size_t>(class_of(cv))] = {LogNormal{cv * scale}, {}, 20.0, "test"};
    }
    v.gpu = {Normal{0.02}, {0.01, 0.10}, 20.0, "test"};
    return v;
}

/// Durations of the op over fleets, kernel by kernel.
std::vector<double> brute_force(int layers, int tp, double scale, int fleets)
{
    std::mt19937_64 engine(11);
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    const LawQuantile spatial(variability(scale).gpu);
    std::vector<double> result;
    for (int f = 0; f < fleets; ++f) {
        std::vector<double> member(tp);
        for (double& s : member) {
            const double u = uniform(engine);
            s = spatial(std::min(u, 1.0 - u), u > 0.5);
        }
        double total = 0.0;
        for (int l = 0; l < layers; ++l) {
            for (const auto& segment : layer) {
                double slowest = 0.0;
                for (const double s : member) {
                    double time = 0.0;
                    for (const NoisyKernel& k : segment) {
                        const double variance = std::log1p(std::pow(k.cv * scale, 2));
                        time += k.seconds * std::exp(std::sqrt(variance) * normal(engine) - 0.5 * variance);
                    }
                    slowest = std::max(slowest, s * time);
                }
                total += slowest;
            }
        }
        result.push_back(total);
    }
    return result;
}

std::vector<double> composed(int layers, int tp, double scale, int draws)
{
    const NoiseTables tables = build_noise_tables(variability(scale), std::array{tp});
    const PartCost part = part_cost();
    const OpLaw law = compose({part.forward, layers}, 0.0, tables.residual, tables.width.at(tp));
    const QuantileTable group = tables.group_factor(tp, segment_cv(part, tables.residual));
    std::vector<double> result;
    for (int i = 0; i < draws; ++i) {
        const auto words = philox(3, {static_cast<std::uint32_t>(i), 0, 0, 0});
        result.push_back(static_cast<double>(law.compute_s) * static_cast<double>(group(words[0])) *
                         (1.0 + static_cast<double>(law.compute_cv) *
                                    static_cast<double>(tables.standard[law.compute_law](tables.scores(words[1])))));
    }
    return result;
}

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile_of(const std::vector<double>& sorted, double p)
{
    return sorted[static_cast<std::size_t>(std::clamp(p, 0.0, 0.9999) * static_cast<double>(sorted.size()))];
}

TEST(OpLaw, MatchesBruteForceOfEveryKernel)
{
    constexpr int fleets = 4000;
    for (const int tp : {1, 8}) {
        for (const int layers : {2, 8}) {
            for (const double scale : {0.02, 0.10}) {  // kernels vary by 2 and by 10 %
                std::vector<double> truth = brute_force(layers, tp, scale, fleets);
                std::vector<double> law = composed(layers, tp, scale, 100'000);
                std::sort(truth.begin(), truth.end());
                std::sort(law.begin(), law.end());
                // Four standard errors of brute force (of the mean, and in probability of the quantile), and 0.1 % for what
                // the composition leaves out.
                const double deviation = 0.5 * (quantile_of(truth, 0.84) - quantile_of(truth, 0.16)) + 0.02 * mean_of(truth);
                EXPECT_NEAR(mean_of(law), mean_of(truth),
                            4.0 * deviation / std::sqrt(static_cast<double>(fleets)) + 0.001 * mean_of(truth));
                for (const double p : {0.50, 0.95, 0.99}) {
                    const double error = 4.0 * std::sqrt(p * (1.0 - p) / fleets);
                    EXPECT_GT(quantile_of(law, p), 0.999 * quantile_of(truth, p - error)) << tp << " " << layers << " " << scale;
                    EXPECT_LT(quantile_of(law, p), 1.001 * quantile_of(truth, p + error)) << tp << " " << layers << " " << scale;
                }
            }
        }
    }
}

/// Equal spread in all kernels: between barriers it is less than one kernel's, and more than if the part were one chain.
TEST(OpLaw, SegmentsLieBetweenKernelAndPass)
{
    ResidualMoments residual;
    residual.cv.fill(0.05);
    PartCost part = part_cost();
    const double cv = segment_cv(part, residual);
    EXPECT_LT(cv, 0.05);
    Segment whole = part.forward.segments[0];
    whole.insert(whole.end(), part.forward.segments[1].begin(), part.forward.segments[1].end());
    part.forward.segments = {whole};
    EXPECT_GT(cv, segment_cv(part, residual));
}

TEST(OpLaw, ConstantKernelsStayConstant)
{
    const NoiseTables tables = build_noise_tables(Variability{}, std::array{4});
    PassCost cost;
    cost.compute_s = 2.0;
    cost.communication_s = 1.0;
    const OpLaw law = compose({cost, 1}, 0.5, tables.residual, tables.width.at(4));
    EXPECT_EQ(law.compute_s, 2.0F);
    EXPECT_EQ(law.compute_cv, 0.0F);
    EXPECT_EQ(law.communication_s, 1.0F);
    EXPECT_EQ(law.communication_cv, 0.0F);
    EXPECT_EQ(law.transfer_s, 0.5F);
}

}  // namespace
}  // namespace prismopt
