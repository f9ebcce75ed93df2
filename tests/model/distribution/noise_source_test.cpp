#include "model/distribution/noise_source.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array source_widths{2};

std::vector<NetworkTier> three_tiers() { return example_cluster(64).tiers; }

/// Two tiers of the network vary, so that one without the other leaves one that does.
Variability all_vary()
{
    Variability v = lively_variability();
    v.common_step = {Normal{0.01}, {}, 20.0, "test"};
    v.operation = {LogNormal{0.05}, {}, 20.0, "test"};
    v.expert_imbalance = {LogNormal{0.4}, {}, 20.0, "test"};
    v.tier = {Distribution{}, {LogNormal{0.2}, {}, 20.0, "test"}, {LogNormal{0.3}, {}, 20.0, "test"}};
    return v;
}

/// The same distributions with one constant, by building everything again.
NoiseTables rebuilt(const NoiseSource& source)
{
    Variability v = all_vary();
    for (const KernelClassRow& row : kernel_class_rows) {
        if (source.kind == NoiseKind::residual &&
            is_within(row.kernel, static_cast<KernelClass>(source.index))) {
            v.residual[static_cast<std::size_t>(row.kernel)] = Distribution{};
        }
    }
    const Distribution* removed = &distribution_of(source, v);
    std::vector<Distribution*> distributions{&v.gpu,
                                             &v.node,
                                             &v.site,
                                             &v.common_step,
                                             &v.common_compute,
                                             &v.common_communication,
                                             &v.stage,
                                             &v.microbatch,
                                             &v.operation,
                                             &v.expert_imbalance,
                                             &v.tier[1],
                                             &v.tier[2]};
    for (Distribution* distribution : distributions) {
        if (distribution == removed) {
            *distribution = Distribution{};
        }
    }
    NoiseTables tables = build_noise_tables(v, source_widths);
    tables.lengths_vary = source.kind != NoiseKind::lengths;
    return tables;
}

TEST(NoiseSource, RemovedIsAsIfItNeverVaried)
{
    const std::vector<NetworkTier> tiers = three_tiers();
    const NoiseTables tables = build_noise_tables(all_vary(), source_widths);
    std::set<std::string> names;
    for (const NoiseSource& source : noise_sources(tiers)) {
        names.insert(source.name);
        const NoiseTables fewer = without(tables, source);
        const NoiseTables again = rebuilt(source);
        if (source.kind != NoiseKind::gpu) {
            EXPECT_EQ(fewer.encode() == again.encode(), true) << source.name;
        }
        const bool varies = source.name != "node.variability";  // the one tier that does not vary
        EXPECT_EQ(fewer.encode() != tables.encode(), varies) << source.name;
    }
    EXPECT_EQ(names.size(), noise_sources(tiers).size());
}

/// The factor of groups of equal members is computed, and one but for rounding.
TEST(NoiseSource, EqualGpusHaveNoFactor)
{
    const NoiseSource gpus{NoiseKind::gpu, 0, "gpu"};
    NoiseTables fewer = without(build_noise_tables(all_vary(), source_widths), gpus);
    NoiseTables again = rebuilt(gpus);
    for (int i = 0; i < NoiseTables::group_distributions; ++i) {
        for (const std::uint32_t bits : {0U, 1U << 20, 1U << 31, ~0U}) {
            EXPECT_EQ(fewer.group.at(2)[i](bits), 1.0F);
            EXPECT_NEAR(again.group.at(2)[i](bits), 1.0F, 1e-6F);
        }
    }
    fewer.group.clear();
    again.group.clear();
    EXPECT_TRUE(fewer.encode() == again.encode());
}

}  // namespace
}  // namespace prismopt
