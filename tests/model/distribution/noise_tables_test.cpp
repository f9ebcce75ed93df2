#include "model/distribution/noise_tables.hpp"

#include "model/distribution/group_distribution.hpp"
#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace prismopt {
namespace {

constexpr std::array table_widths{1, 2, 8};

const NoiseTables& tables()
{
    static const NoiseTables noise = build_noise_tables(lively_variability(), table_widths);
    return noise;
}

/// Mean, deviation and skewness of a table, at evenly spread probabilities.
struct Shape {
    double mean = 0.0;
    double deviation = 0.0;
    double skewness = 0.0;
};
Shape shape_of(const StandardDistribution& distribution)
{
    constexpr std::uint32_t step = 1U << 14;
    constexpr double count = 0x1p32 / step;
    Shape s;
    double second = 0.0;
    double third = 0.0;
    for (std::uint64_t bits = step / 2; bits < (1ULL << 32); bits += step) {
        const double x = distribution(tables().scores(static_cast<std::uint32_t>(bits)));
        s.mean += x / count;
        second += x * x / count;
        third += x * x * x / count;
    }
    const double variance = second - s.mean * s.mean;
    s.deviation = std::sqrt(variance);
    s.skewness = (third - 3.0 * s.mean * variance - s.mean * s.mean * s.mean) / (variance * s.deviation);
    return s;
}

TEST(StandardDistributions, HaveMeanZeroDeviationOneAndTheirSkewness)
{
    for (int i = 0; i < NoiseTables::standard_distributions; i += 4) {
        const Shape s = shape_of(tables().standard[i]);
        const double skewness = static_cast<double>(i) / NoiseTables::per_unit_skewness;
        EXPECT_NEAR(s.mean, 0.0, 5e-4) << i;
        EXPECT_NEAR(s.deviation, 1.0, 1e-3) << i;
        // Its tail beyond 2^-18 is not probed.
        EXPECT_NEAR(s.skewness, skewness, 0.01 + 0.01 * skewness) << i;
    }
}

TEST(StandardDistributions, AreChosenByTheNearestSkewness)
{
    EXPECT_EQ(NoiseTables::standard_index(0.0), 0);
    EXPECT_EQ(NoiseTables::standard_index(-1.0), 0);
    EXPECT_EQ(NoiseTables::standard_index(0.04), 0);
    EXPECT_EQ(NoiseTables::standard_index(0.09), 1);
    EXPECT_EQ(NoiseTables::standard_index(1.0), 8);
    EXPECT_EQ(NoiseTables::standard_index(100.0), NoiseTables::standard_distributions - 1);
}

TEST(GroupFactor, LiesOnTheDistributionItIsMadeFrom)
{
    const DistributionQuantile gpu(lively_variability().gpu);
    const Quantile member = [&gpu](double p, bool upper) { return gpu(p, upper); };
    for (const double cv : {0.0, 1e-3, 0.0123, 0.05, 0.3, 1.024}) {
        const QuantileTable found = tables().group_factor(8, cv);
        const Quantile exact = GroupDistribution(member, cv).factor(8);
        for (const std::uint32_t bits :
             {1000U, 1U << 20, 1U << 28, 0x7FFFFFFFU, 0xE0000000U, 0xFFF00000U, 0xFFFFFF00U}) {
            const bool upper = bits >> 31 != 0;
            const double p = (static_cast<double>(upper ? ~bits : bits) + 0.5) * 0x1p-32;
            EXPECT_NEAR(found(bits), exact(p, upper), 1e-3 + 0.01 * cv) << cv << " " << p;
        }
    }
}

TEST(GroupFactor, OutsideItsTablesTakesTheNearest)
{
    const NoiseTables& noise = tables();
    EXPECT_EQ(noise.group_factor(2, 5.0)(1U << 31), noise.group_factor(2, 1.024)(1U << 31));
    EXPECT_THROW(noise.group_factor(4, 0.1), std::out_of_range);  // no tables for this width
}

TEST(NoiseTables, SayWhatVaries)
{
    EXPECT_TRUE(tables().node_varies && tables().stage_varies && tables().microbatch_varies);
    const NoiseTables calm = build_noise_tables(Variability{}, std::array{1});
    EXPECT_FALSE(calm.node_varies || calm.stage_varies || calm.microbatch_varies);
    for (const std::uint32_t bits : {0U, 1U << 31, ~0U}) {
        for (const QuantileTable* t : {&calm.node, &calm.site, &calm.common_compute, &calm.p2p,
                                       &calm.dp_all_gather, &calm.dp_reduce_scatter, &calm.dp_all_reduce}) {
            EXPECT_EQ((*t)(bits), 1.0F);
        }
        EXPECT_NEAR(calm.group_factor(1, 0.0)(bits), 1.0F, 1e-6F);
    }
    EXPECT_NEAR(tables().exponential(0xFFFFFFFFU), 33.0 * std::log(2.0), 1e-4);  // -log 2^-33
    for (const KernelClassRow& row : kernel_class_rows) {
        if (is_within(row.kernel, KernelClass::tp_collective)) {
            EXPECT_NEAR(tables().residual[static_cast<std::size_t>(row.kernel)].cv(), 0.15, 1e-4) << row.name;
        }
    }
}

TEST(NoiseTables, TravelBitForBit)
{
    const std::vector<std::byte> bytes = tables().encode();
    const NoiseTables copy = NoiseTables::decode(bytes);
    EXPECT_EQ(copy.encode(), bytes);
    ASSERT_EQ(copy.group.size(), table_widths.size());
    NoiseTables here = tables();
    NoiseTables there = copy;
    for (const auto& [mine, other] : {std::pair{&here.site, &there.site},
                                      {&here.p2p, &there.p2p},
                                      {&here.exponential, &there.exponential},
                                      {&here.group.at(8).back(), &there.group.at(8).back()}}) {
        EXPECT_EQ(mine->pieces(), other->pieces());
    }
    for (std::size_t kind = 0; kind < kernel_classes; ++kind) {
        EXPECT_EQ(here.residual[kind].cv(), there.residual[kind].cv());
        ASSERT_EQ(here.residual[kind].pieces(), there.residual[kind].pieces());
        for (std::size_t knot = 0; knot <= here.residual[kind].pieces(); ++knot) {
            EXPECT_EQ(here.residual[kind].quantile(knot), there.residual[kind].quantile(knot));
        }
    }
    EXPECT_EQ(here.standard.back().piece.coefficient, there.standard.back().piece.coefficient);
    EXPECT_EQ(here.scores.octave.coefficient, there.scores.octave.coefficient);
    EXPECT_EQ(here.node_probability, there.node_probability);
    EXPECT_TRUE(there.node_varies);
}

TEST(NoiseTables, RefuseToBeCutShort)
{
    const std::vector<std::byte> bytes = tables().encode();
    for (const std::size_t length : {std::size_t{0}, std::size_t{3}, bytes.size() / 2, bytes.size() - 1}) {
        EXPECT_THROW(NoiseTables::decode(std::span(bytes).first(length)), std::runtime_error);
    }
}

}  // namespace
}  // namespace prismopt
