#include "model/numerics/training.hpp"
#include "model/numerics/deviation.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <vector>

namespace prismopt {
namespace {

const std::vector<int> steps{20, 60, 120};

std::vector<TrainingState> trained(const char* format, AttentionMethod kernel, MasterWeights master = MasterWeights::fp32,
                                   std::uint64_t weight_seed = 1)
{
    return train({}, {.format = *number_format(format), .kernel = kernel, .master = master, .weight_seed = weight_seed}, steps,
                 1);
}

double distance(const std::vector<TrainingState>& a, const std::vector<TrainingState>& b, std::size_t at)
{
    return wasserstein_distance(a[at].weights, b[at].weights);
}

TEST(Training, LearnsToRepeat)
{
    const auto states = trained("fp32", AttentionMethod::plain);
    EXPECT_GT(states[0].loss, 2.7);  // log(16) = 2.77 for a guess
    EXPECT_LT(states[2].loss, 1.5);
}

TEST(Training, DoesNotDependOnThreads)
{
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto alone = train({}, {.format = *number_format("bf16"), .kernel = AttentionMethod::flash}, {5}, 1);
    omp_set_num_threads(3);
    const auto shared = train({}, {.format = *number_format("bf16"), .kernel = AttentionMethod::flash}, {5}, 1);
    omp_set_num_threads(before);
    EXPECT_EQ(alone[0].weights, shared[0].weights);
    EXPECT_EQ(alone[0].loss, shared[0].loss);
}

/// Golden et al., arXiv 2405.02803, figures 7 and 8.
TEST(Training, FlashMovesWeightsLessThanLowPrecisionAndThanOtherInitialWeights)
{
    const auto fp32 = trained("fp32", AttentionMethod::plain);
    const auto fp16 = trained("fp16", AttentionMethod::plain);
    const auto flash = trained("fp16", AttentionMethod::flash);
    const auto low = trained("fp16", AttentionMethod::plain, MasterWeights::as_stored);
    const auto other = trained("fp32", AttentionMethod::plain, MasterWeights::fp32, 2);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        EXPECT_LT(distance(flash, fp16, at), distance(low, fp32, at));
        EXPECT_LT(distance(flash, fp16, at), distance(other, fp32, at));
        if (at > 0) {
            EXPECT_GT(distance(flash, fp16, at), distance(flash, fp16, at - 1));
            EXPECT_GT(distance(low, fp32, at), distance(low, fp32, at - 1));
        }
    }
}

TEST(Training, FewerBitsMoveWeightsMore)
{
    const auto fp32 = trained("fp32", AttentionMethod::plain);
    double before = 0.0;
    for (const char* format : {"fp16", "bf16", "fp8-e4m3"}) {
        const double moved = distance(trained(format, AttentionMethod::plain), fp32, 1);
        EXPECT_GT(moved, before) << format;
        before = moved;
    }
}

}  // namespace
}  // namespace prismopt
