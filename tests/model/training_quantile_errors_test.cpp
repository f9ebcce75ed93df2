#include "model/training_quantile_errors.hpp"

#include "model/productive_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array probabilities{0.50, 0.95, 0.99};

/// Steps of fleets that differ by a skewed factor (the larger of two normal ones) and as much noise.
PhaseDraws draws_of(int fleets, int steps, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    PhaseDraws draws(1);
    for (int fleet = 0; fleet < fleets; ++fleet) {
        const double mean = 100.0 + std::max(normal(random), normal(random));
        for (int step = 0; step < steps; ++step) {
            draws.front().push_back(mean + normal(random));
        }
    }
    return draws;
}

double quantile_of(std::vector<double> values, double probability)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(probability * static_cast<double>(values.size()))];
}

/// Half widths are t = 2.13 standard deviations of an estimate, of which 60 seeds show the mean
/// and the deviation to some 10 %.
TEST(TrainingQuantileErrors, AreTheScatterOfQuantilesOverSeeds)
{
    constexpr int fleets = 1024;
    constexpr int seeds = 60;
    const std::vector<Phase> phases{Phase{1.0, 1, 1}};
    TrainingQuantileErrors errors_of({probabilities.begin(), probabilities.end()});
    for (const int steps : {2, 8}) {
        std::array<double, probabilities.size()> width{};
        std::array<std::vector<double>, probabilities.size()> values;
        for (int seed = 0; seed < seeds; ++seed) {
            const PhaseDraws draws = draws_of(fleets, steps, static_cast<std::uint64_t>(seed));
            const ProductiveTimes times = productive_times(phases, draws, steps);
            ASSERT_TRUE(times.deconvolved);
            const std::vector<double> errors =
                errors_of({phases, draws, steps, times.seconds, times.seconds}, Confidence{});
            ASSERT_EQ(errors.size(), probabilities.size());
            for (std::size_t i = 0; i < probabilities.size(); ++i) {
                width[i] += errors[i] / seeds;
                values[i].push_back(quantile_of(times.seconds, probabilities[i]));
            }
        }
        for (std::size_t i = 0; i < probabilities.size(); ++i) {
            double mean = 0.0;
            double squares = 0.0;
            for (const double value : values[i]) {
                mean += value / seeds;
            }
            for (const double value : values[i]) {
                squares += (value - mean) * (value - mean) / (seeds - 1);
            }
            EXPECT_NEAR(width[i] / std::sqrt(squares), 2.13, 0.7)
                << probabilities[i] << ", " << steps << " steps";
        }
    }
}

/// Training times that are the productive ones times a history keep it in each section;
/// too few blocks give no errors.
TEST(TrainingQuantileErrors, FollowHistoriesAndNeedBlocks)
{
    const std::vector<Phase> phases{Phase{1.0, 1, 1}};
    TrainingQuantileErrors errors_of({probabilities.begin(), probabilities.end()});
    const PhaseDraws draws = draws_of(1024, 2, 1);
    const std::vector<double> productive = productive_times(phases, draws, 2).seconds;
    std::vector<double> doubled = productive;
    for (double& seconds : doubled) {
        seconds *= 2.0;
    }
    const std::vector<double> once = errors_of({phases, draws, 2, productive, productive}, Confidence{});
    const std::vector<double> twice = errors_of({phases, draws, 2, productive, doubled}, Confidence{});
    for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_NEAR(twice[i], 2.0 * once[i], 1e-9 * once[i]);
    }
    const PhaseDraws few = draws_of(256, 2, 1);
    const std::vector<double> of_few = productive_times(phases, few, 2).seconds;
    EXPECT_TRUE(errors_of({phases, few, 2, of_few, of_few}, Confidence{}).empty());
}

}  // namespace
}  // namespace prismopt
