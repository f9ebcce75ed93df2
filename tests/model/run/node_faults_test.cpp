#include "tests/support/failing_nodes.hpp"

#include "tests/support/failure_runs.hpp"
#include "tests/support/reference_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace prismopt {
namespace {

constexpr int outage_nodes = 400;
constexpr double outage_days = 176.5;

/// Counts by node of many histories of this mean have the variance of the
/// negative binomial: mean + (mean cv)^2.
TEST(FailingNodes, HaveNegativeBinomialCounts)
{
    for (const double cv : {0.0, 0.7, 2.0}) {
        constexpr int nodes = 50;
        constexpr int histories = 4000;
        double sum = 0.0;
        double squares = 0.0;
        for (std::uint32_t h = 0; h < histories; ++h) {
            // Given the total, counts are multinomial: a Poisson total of mean
            // 100 times the nodes' mean rate.
            std::map<int, int> counts;
            for (const int node : failing_nodes(100, nodes, cv, 1, Purpose::search, h)) {
                ++counts[node];
            }
            sum += 100.0 / nodes / histories;
            for (const auto& [node, count] : counts) {
                squares += static_cast<double>(count) * count / nodes / histories;
            }
        }
        // Of a fixed total: Dirichlet-multinomial with weights k = 1 / cv^2 a node, n p (1 - p)
        // (n + nodes k) / (1 + nodes k).
        const double p = 1.0 / nodes;
        const double weights = nodes / (cv * cv);
        const double spread = cv == 0.0 ? 1.0 : (100.0 + weights) / (1.0 + weights);
        const double expected = 100.0 * p * (1.0 - p) * spread;
        EXPECT_NEAR(squares - sum * sum, expected, 0.04 * expected) << cv;
    }
}

struct Outages {
    // between failures: outages that begin together are one, of a switch or a supply
    std::vector<double> gaps_h;
    std::vector<double> counts;  // [node]: of outages
};

/// Failures of node_faults.csv; stress tests, changes and tests are what operators do.
Outages read_outages(const std::filesystem::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<double> starts;
    Outages outages{{}, std::vector<double>(outage_nodes, 0.0)};
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');) {
            cells.push_back(cell);
        }
        const std::string& cls = cells.at(5);
        if (cls == "Stress Test Failure" || cls == "Change" || cls == "Test") {
            continue;
        }
        starts.push_back(24.0 * std::stod(cells.at(1)));
        outages.counts.at(std::stoul(cells.at(0)) % outage_nodes) += 1.0;
    }
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    for (std::size_t i = 1; i < starts.size(); ++i) {
        outages.gaps_h.push_back(starts[i] - starts[i - 1]);
    }
    return outages;
}

/// Largest distance between two empirical distribution functions.
double ks_distance(std::vector<double> a, std::vector<double> b)
{
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    const auto share = [](const std::vector<double>& v, double x) {
        return static_cast<double>(std::upper_bound(v.begin(), v.end(), x) - v.begin()) /
               static_cast<double>(v.size());
    };
    double largest = 0.0;
    for (const auto* values : {&a, &b}) {
        for (const double x : *values) {
            largest = std::max(largest, std::abs(share(a, x) - share(b, x)));
        }
    }
    return largest;
}

struct Moments2 {
    double mean = 0.0;
    double variance = 0.0;
};
Moments2 moments_of(const std::vector<double>& values)
{
    Moments2 m;
    for (const double v : values) {
        m.mean += v / static_cast<double>(values.size());
    }
    for (const double v : values) {
        m.variance += (v - m.mean) * (v - m.mean) / (static_cast<double>(values.size()) - 1.0);
    }
    return m;
}

/// As far apart as two samples of one distribution are by chance in one of twenty cases, one of them
/// very large (Kolmogorov's limit).
double chance_distance(std::size_t size) { return 1.36 / std::sqrt(static_cast<double>(size)); }

/// Outages of 400 servers in 176.5 days: distributions fitted by moments; gaps and counts of simulated
/// histories against the measured.
TEST(NodeFaults, AreSimulatedAsMeasured)
{
    const char* folder = std::getenv("PRISMOPT_DATA");
    const auto path = std::filesystem::path(folder == nullptr ? "" : folder).parent_path() / "variability" /
                      "node_faults.csv";
    if (folder == nullptr || !std::filesystem::exists(path)) {
        GTEST_SKIP() << "PRISMOPT_DATA names no folder with ../variability/node_faults.csv beside it";
    }
    const Outages measured = read_outages(path);
    const Moments2 gaps = moments_of(measured.gaps_h);
    const Moments2 counts = moments_of(measured.counts);
    const double gap_cv = std::sqrt(gaps.variance) / gaps.mean;
    const double node_cv = std::sqrt(std::max(0.0, counts.variance - counts.mean)) / counts.mean;
    std::printf(
        "%zu failures of %d nodes in %.1f days: gaps of cv %.2f, counts by node of variance / mean %.2f "
        "(node cv %.2f)\n",
        measured.gaps_h.size() + 1, outage_nodes, outage_days, gap_cv, counts.variance / counts.mean,
        node_cv);
    EXPECT_GT(gap_cv, 1.0);
    FailureTables tables(exponential_gaps());
    constexpr std::uint32_t histories = 400;
    const auto gap_distance = [&](const char* name, const GapDistribution& distribution) {
        FailureModel model = poisson(1.0 / (gaps.mean * hour), 0.0, minute, 0.0);
        model.sources[0].gaps = distribution;
        const std::vector<RunSegment> run{
            {model, outage_nodes, std::vector<double>(histories, outage_days * day)}};
        std::vector<double> simulated;
        for (std::uint32_t h = 0; h < histories; ++h) {
            const ReferenceHistory history(run, tables, 1, h);
            for (std::size_t i = 1; i < history.failed_at.size(); ++i) {
                simulated.push_back((history.failed_at[i] - history.failed_at[i - 1]) / hour);
            }
        }
        const double distance = ks_distance(simulated, measured.gaps_h);
        std::printf("gaps, %s: KS distance %.3f (by chance up to %.3f)\n", name, distance,
                    chance_distance(measured.gaps_h.size()));
        return distance;
    };
    const double poisson_gaps = gap_distance("exponential", {});
    EXPECT_GT(poisson_gaps, chance_distance(measured.gaps_h.size()));
    EXPECT_LT(gap_distance("Weibull", {GapFamily::weibull, gap_cv}), chance_distance(measured.gaps_h.size()));
    EXPECT_LT(gap_distance("gamma", {GapFamily::gamma, gap_cv}), poisson_gaps);
    const auto count_distance = [&](const char* name, double cv) {
        const int outages = static_cast<int>(counts.mean * outage_nodes + 0.5);
        std::vector<double> simulated;
        for (std::uint32_t h = 0; h < histories; ++h) {
            std::vector<double> of_history(outage_nodes, 0.0);
            for (const int node : failing_nodes(outages, outage_nodes, cv, 1, Purpose::search, h)) {
                of_history[static_cast<std::size_t>(node)] += 1.0;
            }
            simulated.insert(simulated.end(), of_history.begin(), of_history.end());
        }
        const double distance = ks_distance(simulated, measured.counts);
        std::printf("outages by node, %s: KS distance %.3f (by chance up to %.3f)\n", name, distance,
                    chance_distance(outage_nodes));
        return distance;
    };
    EXPECT_GT(count_distance("all nodes equal", 0.0), chance_distance(outage_nodes));
    EXPECT_LT(count_distance("negative binomial", node_cv), chance_distance(outage_nodes));
}

}  // namespace
}  // namespace prismopt
