#include "model/network/passes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

constexpr int samples = 3;

LayerShape recorded_shape(int sequence = 7)
{
    LayerShape shape;
    shape.sequence = sequence;
    shape.microbatch = samples;
    return shape;
}

LayerKind of(const Recorded& recorded) { return {"recorded", 1.0, {recorded}}; }

const Attention few_heads{.heads = 8, .key_heads = 4, .key_size = 16, .value_size = 32};

/// Every kind of work. What holds for all is tested over this list.
const std::vector<std::pair<std::string, Recorded>>& all_work()
{
    static const std::vector<std::pair<std::string, Recorded>> all{
        {"traffic", {.work = Recorded::Traffic{100.0, 250.0}}},
        {"product", {.work = Recorded::Product{2.0, 64.0, 32.0, 16.0, 64.0, 16.0}}},
        // 3 x 3 taps of 16 channels to 32, every second of 20 x 20 positions in both directions.
        {"convolution", {.work = Recorded::Product{1.0, 100.0, 32.0, 144.0, 400.0, 16.0}}},
        {"convolution by depth", {.work = Recorded::Product{64.0, 50.0, 1.0, 4.0, 50.0, 1.0}}},
        {"scores", {.work = Recorded::Scores{4.0, 10.0, 20.0, 8.0}}},
        {"attention", {.work = Recorded::Heads{few_heads, 48}}},
        {"rows", {.work = Recorded::Rows{16.0, 20.0, 1.0}}},
    };
    return all;
}

double recorded_flops(const Recorded& recorded)
{
    return forward_calls(of(recorded), recorded_shape()).needed_flops();
}

std::vector<KernelCall> kernels(const Calls& calls)
{
    std::vector<KernelCall> result;
    for (const AnyCall& call : calls.list()) {
        result.push_back(std::get<KernelCall>(call));
    }
    return result;
}

TEST(Recorded, BackwardNeedsTwiceTheForward)
{
    for (const auto& [name, recorded] : all_work()) {
        EXPECT_DOUBLE_EQ(backward_calls(of(recorded), recorded_shape(), Gradients::both).needed_flops(),
                         2.0 * recorded_flops(recorded))
            << name;
    }
}

TEST(Recorded, GradientsOfInputAndWeightsAreTheBackward)
{
    for (const auto& [name, recorded] : all_work()) {
        EXPECT_DOUBLE_EQ(backward_calls(of(recorded), recorded_shape(), Gradients::input).needed_flops() +
                             weight_gradient_calls(of(recorded), recorded_shape()).needed_flops(),
                         backward_calls(of(recorded), recorded_shape(), Gradients::both).needed_flops())
            << name;
    }
}

/// Counts are of samples; the phase's sequence changes none of them.
TEST(Recorded, DoesNotDependOnThePhasesSequence)
{
    for (const auto& [name, recorded] : all_work()) {
        const auto here = kernels(forward_calls(of(recorded), recorded_shape(7)));
        const auto there = kernels(forward_calls(of(recorded), recorded_shape(7000)));
        ASSERT_EQ(here.size(), there.size()) << name;
        for (std::size_t i = 0; i < here.size(); ++i) {
            EXPECT_EQ(here[i].flops, there[i].flops) << name;
            EXPECT_EQ(here[i].bytes, there[i].bytes) << name;
            EXPECT_EQ(here[i].m, there[i].m) << name;
        }
    }
}

/// The same kernels as a product that the catalog's blocks have, at as many tokens.
TEST(Recorded, ProductIsALinearOfItsRows)
{
    const LayerKind linear{"linear", 1.0, {Linear{.in = 16.0, .out = 32.0, .split = Linear::Split::none}}};
    const LayerKind recorded = of({.work = Recorded::Product{1.0, 64.0, 32.0, 16.0, 64.0, 16.0}});
    for (const auto& [expected, found] :
         {std::pair{forward_calls(linear, recorded_shape(64)), forward_calls(recorded, recorded_shape())},
          std::pair{backward_calls(linear, recorded_shape(64), Gradients::both),
                    backward_calls(recorded, recorded_shape(), Gradients::both)},
          std::pair{weight_gradient_calls(linear, recorded_shape(64)),
                    weight_gradient_calls(recorded, recorded_shape())}}) {
        const auto a = kernels(expected);
        const auto b = kernels(found);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].m, b[i].m);
            EXPECT_EQ(a[i].n, b[i].n);
            EXPECT_EQ(a[i].k, b[i].k);
            EXPECT_EQ(a[i].flops, b[i].flops);
        }
    }
    const Kept expected = kept_of(linear, recorded_shape(64), Recompute::none);
    EXPECT_EQ(kept_of(recorded, recorded_shape(), Recompute::none).held_numbers, expected.held_numbers);
}

TEST(Recorded, AttentionIsThatOfItsQueries)
{
    const LayerKind attention{"attention", 1.0, {few_heads}};
    const LayerKind recorded = of({.work = Recorded::Heads{few_heads, 48}});
    EXPECT_EQ(forward_calls(attention, recorded_shape(48)).needed_flops(),
              forward_calls(recorded, recorded_shape()).needed_flops());
    // A causal half of the pairs.
    EXPECT_EQ(forward_calls(recorded, recorded_shape()).needed_flops(),
              samples * 8.0 * 48.0 * 48.0 * (16.0 + 32.0));
}

/// The gradient of the input has the input's positions for rows, and a quarter of the taps for each.
TEST(Recorded, ConvolutionsGradientHasThePositionsOfItsInput)
{
    const auto gradient =
        kernels(backward_calls(of(all_work()[2].second), recorded_shape(), Gradients::input));
    ASSERT_EQ(gradient.size(), 1);
    EXPECT_EQ(gradient[0].m, samples * 400.0);
    EXPECT_EQ(gradient[0].n, 16.0);
    EXPECT_EQ(gradient[0].k, 32.0 * 9.0 / 4.0);
}

/// One column in each group leaves nothing to the tensor cores: input and result stream
/// through memory as 16-bit numbers.
TEST(Recorded, ConvolutionByDepthStreams)
{
    const auto forward = kernels(forward_calls(of(all_work()[3].second), recorded_shape()));
    ASSERT_EQ(forward.size(), 1);
    EXPECT_EQ(forward[0].roof, Roof::memory);
    EXPECT_EQ(forward[0].bytes, samples * 2.0 * (50.0 + 50.0) * 64.0);
    EXPECT_EQ(forward[0].needed_flops, samples * 2.0 * 4.0 * 50.0 * 64.0);
}

TEST(Recorded, KeepsWhatWasRecorded)
{
    const Recorded recorded{
        .work = Recorded::Traffic{}, .own = {.all = 12.0}, .keeps = 5.0, .keeps_bytes = 8.0};
    const Kept kept = kept_of(of(recorded), recorded_shape(), Recompute::none);
    EXPECT_EQ(kept.numbers, samples * 5.0);
    EXPECT_EQ(kept.bytes, samples * 8.0);
    EXPECT_EQ(parameters_of(of(recorded), recorded_shape()).all, 12.0);
}

}  // namespace
}  // namespace prismopt
