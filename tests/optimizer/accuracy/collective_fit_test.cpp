#include "optimizer/accuracy/collective_fit.hpp"
#include "io/scenario/sections/catalog.hpp"

#include "optimizer/accuracy/collective_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

/// Two nodes of 8 GPUs.
Cluster two_nodes()
{
    Cluster cluster;
    cluster.gpus = 16;
    cluster.library = catalog_library(usual_library);
    cluster.tiers = {catalog_link("nvlink4"), catalog_link("ib-hdr")};
    cluster.tiers[0].group_gpus = 8;
    cluster.tiers[1].group_gpus = 16;
    return cluster;
}

std::vector<MeasuredCollective> measured_on(const Cluster& truth, const std::string& system,
                                            double factor = 1.0)
{
    std::vector<MeasuredCollective> rows;
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather}) {
        for (int octave = 8; octave < 34; octave += 2) {
            MeasuredCollective row;
            row.system = system;
            row.cluster = two_nodes();
            row.group = group_of({16, 1}, truth);
            row.kind = kind;
            row.message = Bytes{std::ldexp(1.0, octave)};
            row.measured_s = factor * collective_time(kind, row.message, row.group, truth).time.si;
            rows.push_back(row);
        }
    }
    return rows;
}

/// A belief that leaves the rows alone to decide.
constexpr double vague = 10.0;

CollectiveConstant efficiency_of_network()
{
    return {"network.efficiency", 0.8, vague, 1.0,
            [](Cluster& cluster, double value) { cluster.tiers[1].efficiency = value; }};
}

CollectiveConstant latency_of_network()
{
    return {"network.latency", 14e-6, vague, 1e-3,
            [](Cluster& cluster, double value) { cluster.tiers[1].latency.si = value; }};
}

TEST(CollectiveFit, FindsTheLinkThatWasMeasured)
{
    Cluster truth = two_nodes();
    truth.tiers[1].efficiency = 0.5;
    truth.tiers[1].latency = Seconds{30e-6};
    const std::vector<MeasuredCollective> rows = measured_on(truth, "a");
    const auto found = fit_collectives(rows, {efficiency_of_network(), latency_of_network()});
    EXPECT_NEAR(found[0].value, 0.5, 0.005);
    EXPECT_NEAR(found[1].value, 30e-6, 1e-6);
    EXPECT_LT(found[0].deviation, 0.3);
    const std::vector<double> times = predicted_times(rows, found);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_NEAR(times[i] / rows[i].measured_s, 1.0, 0.02) << i;
    }
}

/// A machine with twenty times the rows counts no more than one with few, and an outlier not at all.
TEST(CollectiveFit, WeighsMachinesNotRows)
{
    Cluster truth = two_nodes();
    truth.tiers[1].efficiency = 0.5;
    std::vector<MeasuredCollective> rows = measured_on(truth, "a");
    truth.tiers[1].efficiency = 0.7;
    const std::vector<MeasuredCollective> others = measured_on(truth, "b");
    rows.insert(rows.end(), others.begin(), others.end());
    const double once = fit_collectives(rows, {efficiency_of_network()}).front().value;
    for (int i = 0; i < 19; ++i) {
        rows.insert(rows.end(), others.begin(), others.end());
    }
    EXPECT_NEAR(fit_collectives(rows, {efficiency_of_network()}).front().value, once, 1e-3);
    for (MeasuredCollective& row : rows) {
        row.doubtful = row.system == "b";
    }
    EXPECT_NEAR(fit_collectives(rows, {efficiency_of_network()}).front().value, 0.5, 0.005);
}

TEST(CollectiveFit, WithoutRowsBeliefsStay)
{
    EXPECT_EQ(fit_collectives({}, {efficiency_of_network()}).front().value, 0.8);
}

/// Two machines, one 10 % and one 30 % off, with different numbers of rows.
TEST(CollectiveAccuracy, IsTheMeanOverMachines)
{
    const Cluster truth = two_nodes();
    std::vector<MeasuredCollective> rows = measured_on(truth, "a", 1.0 / 1.1);
    const std::vector<MeasuredCollective> others = measured_on(truth, "b", 1.0 / 0.7);
    rows.insert(rows.end(), others.begin(), others.begin() + 13);
    for (const RegionErrors& errors : errors_by_region(rows, predicted_times(rows, {}))) {
        const bool both = errors.kind == Collective::all_reduce;
        EXPECT_EQ(errors.systems, both ? 2 : 1) << errors.region;
        EXPECT_NEAR(errors.error, both ? 0.2 : 0.1, 1e-9) << errors.region;
        EXPECT_NEAR(errors.bias, both ? -0.1 : 0.1, 1e-9) << errors.region;
    }
}

}  // namespace
}  // namespace prismopt
