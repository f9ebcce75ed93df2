#include "model/numerics/training.hpp"
#include "model/base/parallel.hpp"
#include "model/numerics/deviation.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace prismopt {
namespace {

const std::vector<int> steps{20, 60, 120};
const NumberFormat fp32 = *number_format("fp32");
const NumberFormat fp16 = *number_format("fp16");

/// One training of each choice, side by side.
std::vector<std::vector<TrainingState>> trained(const std::vector<TrainingChoice>& choices)
{
    std::vector<std::vector<TrainingState>> states(choices.size());
    parallel_for(static_cast<std::int64_t>(choices.size()), [&](int, std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        states[at] = train({}, choices[at], steps, 1);
    });
    return states;
}

double distance(const std::vector<TrainingState>& a, const std::vector<TrainingState>& b, std::size_t at)
{
    return wasserstein_distance(a[at].weights, b[at].weights);
}

TEST(Training, DoesNotDependOnThreads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto alone =
        train({}, {.format = *number_format("bf16"), .kernel = AttentionMethod::flash}, {5}, 1);
    omp_set_num_threads(3);
    const auto shared =
        train({}, {.format = *number_format("bf16"), .kernel = AttentionMethod::flash}, {5}, 1);
    omp_set_num_threads(before);
    EXPECT_EQ(alone[0].weights, shared[0].weights);
    EXPECT_EQ(alone[0].loss, shared[0].loss);
}

/// Golden et al., arXiv 2405.02803, figures 7 and 8.
TEST(Training, FlashMovesWeightsLessThanLowPrecisionAndThanOtherInitialWeights)
{
    const auto all = trained({{.format = fp32},
                              {.format = fp16},
                              {.format = fp16, .kernel = AttentionMethod::flash},
                              {.format = fp16, .master = MasterWeights::as_stored},
                              {.format = fp32, .weight_seed = 2}});
    const auto& [exact, plain, flash, low, other] = std::tie(all[0], all[1], all[2], all[3], all[4]);
    EXPECT_GT(exact[0].loss, 2.7);  // log(16) = 2.77 for a guess
    EXPECT_LT(exact[2].loss, 1.5);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        EXPECT_LT(distance(flash, plain, at), distance(low, exact, at));
        EXPECT_LT(distance(flash, plain, at), distance(other, exact, at));
        if (at > 0) {
            EXPECT_GT(distance(flash, plain, at), distance(flash, plain, at - 1));
            EXPECT_GT(distance(low, exact, at), distance(low, exact, at - 1));
        }
    }
}

TEST(Training, FewerBitsMoveWeightsMore)
{
    const auto all = trained({{.format = fp32},
                              {.format = fp16},
                              {.format = *number_format("bf16")},
                              {.format = *number_format("fp8-e4m3")}});
    double before = 0.0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const double moved = distance(all[i], all[0], 1);
        EXPECT_GT(moved, before) << i;
        before = moved;
    }
}

}  // namespace
}  // namespace prismopt
