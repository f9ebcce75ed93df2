/// The factor of a set of unequal replicas against the integral that it stands for.

#include "model/step/graph/coupled_distribution.hpp"

#include "model/distribution/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

/// Work between barriers: one lognormal kernel of mean one.
struct Work {
    double cv;

    double deviation() const { return std::sqrt(std::log1p(cv * cv)); }

    /// Mean of the slowest GPU of replicas with these factors, tp GPUs each: integral of
    /// P(slower than t) dt, t = longest exp(z).
    double mean_of_slowest(const std::vector<double>& factors, int tp) const
    {
        constexpr int steps = 400;
        const double most = *std::max_element(factors.begin(), factors.end());
        const double limit = 8.0 * deviation();
        double integral = most * std::exp(-limit);  // up to here nobody is ready
        for (int i = 0; i <= steps; ++i) {
            const double z = limit * (2.0 * i / steps - 1.0);
            double ready = 1.0;
            for (const double x : factors) {
                const double score = (z + std::log(most / x)) / deviation() + 0.5 * deviation();
                ready *= 0.5 * std::erfc(-score / std::sqrt(2.0));
            }
            const double weight = (i == 0 || i == steps ? 0.5 : 1.0) * 2.0 * limit / steps;
            integral += weight * most * std::exp(z) * (1.0 - std::pow(ready, tp));
        }
        return integral;
    }
};

class SetDistribution {
public:
    SetDistribution(double cv, int tp, int members) : members_(members)
    {
        const DistributionQuantile work(Distribution{LogNormal{cv}, {}, 20.0, "test"});
        ResidualDistributions residual;
        residual[0] = KernelDistribution([&work](double p, bool upper) { return work(p, upper); });
        PassCost pass;
        pass.segments = {{{KernelClass::gemm, 1.0}}};
        pass.ends = {Meeting::experts};
        ChainDistributions chains(residual, StandardDistribution::node_probabilities());
        const std::array passes{ChunkPass{pass, 1}, ChunkPass{pass, 1}};
        distribution_ = coupled_distribution(chains, passes, {tp, 1, members});
    }

    double factor(const std::vector<double>& members) const
    {
        std::vector<Floats> rows(members.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            std::fill_n(rows[r].at, lanes, static_cast<float>(members[r]));
        }
        Floats one;
        std::fill_n(one.at, lanes, 1.0F);
        Floats out;
        set_factor(distribution_, members_, {rows.data(), 1}, {&one, 0}, out);
        return out.at[0];
    }

private:
    int members_;
    CoupledDistribution distribution_;
};

TEST(CoupledDistribution, EqualMembersHaveTheirOwnFactor)
{
    for (const double cv : {0.0, 0.02, 0.10, 1.0}) {
        for (const int members : {2, 3, 8, 48}) {
            const SetDistribution distribution(cv, 2, members);
            // Single precision: a power of up to 2048 of a quotient that may be off by its last bit.
            EXPECT_NEAR(distribution.factor(std::vector<double>(members, 1.25)), 1.25, 2e-6)
                << cv << " " << members;
        }
    }
}

TEST(CoupledDistribution, SomeEqualMembersBesideFastOnesAreExact)
{
    constexpr int tp = 2;
    constexpr int members = 16;
    for (const double cv : {0.0, 0.005, 0.02, 0.10}) {
        const SetDistribution distribution(cv, tp, members);
        const Work work{cv};
        for (const int slow : {1, 2, 4, 8}) {
            std::vector<double> factors(members, 0.2);
            std::fill_n(factors.begin(), slow, 1.1);
            const double truth = cv == 0.0 ? 1.1
                                           : work.mean_of_slowest(std::vector<double>(slow, 1.1), tp) /
                                                 work.mean_of_slowest(std::vector<double>(members, 1.0), tp);
            // As good as composed means: 0.02 % of the duration (model/distribution/chain_distribution.hpp).
            EXPECT_NEAR(distribution.factor(factors), truth, 2e-4) << cv << " " << slow;
        }
    }
}

/// Without noise between barriers the slowest decides.
TEST(CoupledDistribution, WithoutNoiseTheSlowestDecides)
{
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    const SetDistribution distribution(0.0, 1, 8);
    for (int i = 0; i < 20; ++i) {
        std::vector<double> factors(8);
        for (double& factor : factors) {
            factor = std::exp(0.05 * normal(random));
        }
        // Between members whose powers are comparable: k = 512, so at most about 1 / (e k).
        EXPECT_NEAR(distribution.factor(factors), *std::max_element(factors.begin(), factors.end()), 8e-4);
    }
}

TEST(CoupledDistribution, UnequalMembersMatchTheIntegral)
{
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const double cv : {0.005, 0.02, 0.05, 0.10}) {
        double squares = 0.0;
        double largest = 0.0;
        int count = 0;
        for (const auto& [tp, members] :
             {std::pair{1, 4}, std::pair{4, 8}, std::pair{1, 64}, std::pair{8, 32}}) {
            const SetDistribution distribution(cv, tp, members);
            const Work work{cv};
            const double equal = work.mean_of_slowest(std::vector<double>(members, 1.0), tp);
            for (const double spread : {0.01, 0.03, 0.06, 0.10}) {
                for (const double slow : {1.0, 1.0, 1.1}) {
                    std::vector<double> factors(members);
                    for (double& factor : factors) {
                        factor = std::exp(spread * normal(random));
                    }
                    factors.front() *= slow;
                    const double error =
                        distribution.factor(factors) * equal / work.mean_of_slowest(factors, tp) - 1.0;
                    squares += error * error;
                    largest = std::max(largest, std::abs(error));
                    ++count;
                }
            }
        }
        // What the header says.
        EXPECT_LT(std::sqrt(squares / count), cv <= 0.05 ? 0.0010 : 0.0015) << cv;
        EXPECT_LT(largest, cv <= 0.02 ? 0.0020 : 0.0040) << cv;
        RecordProperty("cv " + std::to_string(cv) + ": rms", std::to_string(std::sqrt(squares / count)));
        RecordProperty("cv " + std::to_string(cv) + ": largest", std::to_string(largest));
    }
}

}  // namespace
}  // namespace prismopt
