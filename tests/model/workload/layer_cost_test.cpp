#include "model/workload/layer_cost.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace prismopt {
namespace {

const Workload gpt_175b = gpt(96, 12288, 96);
constexpr double s = 2048.0;
constexpr double h = 12288.0;
constexpr double a = 96.0;
constexpr double sbh = s * h;  // one sequence a microbatch

LayerCosts costs_of(const Workload& w, int tp, bool sequence_parallel, Recompute recompute)
{
    return layer_costs(w, {2048, 1, tp, sequence_parallel, recompute}, products_only());
}

/// Korthikanti et al., arXiv 2205.05198: equations 1 (t = 1), 2 (tensor), 4 (and sequence parallel), 6 (selective), and 2sbh
/// for full recompute.
TEST(LayerCosts, SaveTheActivationsOfThePaper)
{
    const auto saved = [](int tp, bool sequence_parallel, Recompute recompute) {
        return costs_of(gpt_175b, tp, sequence_parallel, recompute).layer.saved_bytes;
    };
    for (const double t : {1.0, 2.0, 8.0}) {
        const int tp = static_cast<int>(t);
        EXPECT_DOUBLE_EQ(saved(tp, false, Recompute::none), sbh * (10.0 + 24.0 / t + 5.0 * a * s / (h * t)));
        EXPECT_DOUBLE_EQ(saved(tp, true, Recompute::none), sbh / t * (34.0 + 5.0 * a * s / h));
        EXPECT_DOUBLE_EQ(saved(tp, true, Recompute::selective), sbh / t * 34.0);
        EXPECT_DOUBLE_EQ(saved(tp, false, Recompute::selective), sbh * (10.0 + 24.0 / t));
        EXPECT_DOUBLE_EQ(saved(tp, true, Recompute::full), sbh / t * 2.0);
    }
    EXPECT_DOUBLE_EQ(saved(1, false, Recompute::none), sbh * (34.0 + 5.0 * a * s / h));
}

TEST(LayerCosts, SaveInProportionToTheMicrobatch)
{
    const LayerCosts one = layer_costs(gpt_175b, {2048, 1, 8, true, Recompute::none}, products_only());
    const LayerCosts four = layer_costs(gpt_175b, {2048, 4, 8, true, Recompute::none}, products_only());
    EXPECT_DOUBLE_EQ(four.layer.saved_bytes, 4.0 * one.layer.saved_bytes);
    EXPECT_DOUBLE_EQ(four.boundary_bytes, 4.0 * one.boundary_bytes);
    EXPECT_DOUBLE_EQ(one.boundary_bytes, 2.0 * sbh / 8.0);  // Narayanan et al., SC21, section 4.1: bsh split over tp
}

/// The same section, appendix: 24 bsh^2 + 4 bs^2 h forward a layer, and 6bshV for the logits with their backward; in sum
/// 72 bLsh^2 (1 + s/6h + V/12hL).
TEST(ModelFlops, AreThoseOfThePaper)
{
    const double layers = 96.0;
    const double vocabulary = 51200.0;
    EXPECT_NEAR(model_flops_per_sequence(gpt_175b, 2048) /
                    (72.0 * layers * s * h * h * (1.0 + s / (6.0 * h) + vocabulary / (12.0 * h * layers))),
                1.0, 1e-12);
    Workload flash = gpt_175b;
    flash.attention = AttentionKernel::flash;  // and causal: half of the scores
    EXPECT_NEAR(model_flops_per_sequence(gpt_175b, 2048) - model_flops_per_sequence(flash, 2048), 3.0 * layers * 2.0 * s * s * h,
                1e9);
}

/// Without memory traffic a forward layer takes its FLOPs at the roof; the shapes are whole waves but for a few percent.
TEST(LayerCosts, ForwardTakesItsFlops)
{
    for (const int tp : {1, 2, 8}) {
        const LayerCosts c = costs_of(gpt_175b, tp, true, Recompute::none);
        const double flops = (24.0 * s * h * h + 4.0 * s * s * h) / tp;
        EXPECT_GT(c.layer.forward.compute_s, flops / 100e12);
        // Scores are products with a short inner dimension of 128, at two thirds of the rate; part waves are the rest.
        EXPECT_LT(c.layer.forward.compute_s, 1.15 * flops / 100e12) << tp;
    }
}

TEST(LayerCosts, BackwardTakesTwiceTheForward)
{
    for (const int tp : {1, 8}) {
        const LayerCosts c = costs_of(gpt_175b, tp, true, Recompute::none);
        EXPECT_NEAR(c.layer.backward.compute_s / c.layer.forward.compute_s, 2.0, 0.1) << tp;
        EXPECT_NEAR(c.head.backward.compute_s / c.head.forward.compute_s, 2.0, 0.1) << tp;
    }
    Workload flash = gpt(96, 1024, 16);  // 4 s^2 h of 24 s h^2 + 4 s^2 h is a quarter, 2.5 times as much backward
    flash.attention = AttentionKernel::flash;
    flash.causal = false;
    const LayerCosts c = costs_of(flash, 1, true, Recompute::none);
    EXPECT_NEAR(c.layer.backward.compute_s / c.layer.forward.compute_s, 0.75 * 2.0 + 0.25 * 2.5, 0.1);
}

TEST(LayerCosts, RecomputeRepeatsTheForward)
{
    const auto layer = [](Recompute recompute) { return costs_of(gpt_175b, 8, true, recompute).layer; };
    const PartCost none = layer(Recompute::none);
    const PartCost selective = layer(Recompute::selective);
    const PartCost full = layer(Recompute::full);
    EXPECT_NEAR(full.backward.compute_s, none.backward.compute_s + none.forward.compute_s, 1e-12);
    EXPECT_NEAR(full.backward.communication_s, none.backward.communication_s + none.forward.communication_s, 1e-12);
    // Korthikanti et al., section 5: selective recompute repeats 4bs^2h of the layer, here at 128 / (128 + 64) of the rate.
    EXPECT_NEAR(selective.backward.compute_s - none.backward.compute_s, 4.0 * s * s * h / 8.0 / 100e12 * 1.5, 1e-7);
    EXPECT_EQ(selective.backward.communication_s, none.backward.communication_s);
    for (const PartCost* part : {&selective, &full}) {
        EXPECT_EQ(part->forward.compute_s, none.forward.compute_s);
    }
}

/// Two all-reduces of 2bsh bytes a layer (Shoeybi et al., arXiv 1909.08053, section 3); with sequence parallelism each is a
/// reduce-scatter and an all-gather of the same bytes (Korthikanti et al., section 4.2.2).
TEST(LayerCosts, ForwardSendsTwoAllReducesWorth)
{
    const double all_reduce = 2.0 * 7.0 / 8.0 * 2.0 * sbh / 300e9;
    for (const bool sequence_parallel : {false, true}) {
        const LayerCosts c = costs_of(gpt_175b, 8, sequence_parallel, Recompute::none);
        EXPECT_NEAR(c.layer.forward.communication_s, 2.0 * all_reduce, 1e-9);
    }
    EXPECT_EQ(costs_of(gpt_175b, 1, true, Recompute::none).layer.forward.communication_s, 0.0);
}

/// The sums are those of the chain, and its collectives are where the members meet: four a layer and pass with sequence
/// parallelism, two without, none alone. A collective that a kernel hides is a barrier without a time.
TEST(LayerCosts, ChainsHaveABarrierACollective)
{
    for (const bool sequence_parallel : {false, true}) {
        for (const int tp : {1, 8}) {
            const LayerCosts c = costs_of(gpt_175b, tp, sequence_parallel, Recompute::none);
            for (const PassCost* pass : {&c.layer.forward, &c.layer.backward, &c.head.forward, &c.embedding.backward}) {
                double compute = 0.0;
                for (const Segment& segment : pass->segments) {
                    for (const Kernel& kernel : segment) {
                        compute += kernel.seconds;
                    }
                }
                EXPECT_NEAR(compute, pass->compute_s, 1e-12 * compute);
                const double exposed = std::accumulate(pass->collectives_s.begin(), pass->collectives_s.end(), 0.0);
                EXPECT_NEAR(exposed, pass->communication_s, 1e-12);
            }
            const std::size_t forward = sequence_parallel ? 4 : 2;
            EXPECT_EQ(c.layer.forward.collectives_s.size(), tp == 1 ? 0 : forward);
            EXPECT_EQ(c.layer.forward.segments.size(), tp == 1 ? 1 : forward + 1);
            // Backward: two gathers and, beside weight gradients, two sums; with sequence parallelism two more hidden gathers.
            EXPECT_EQ(c.layer.backward.segments.size(), tp == 1 ? 1U : sequence_parallel ? 7U : 3U);
        }
    }
}

/// Published sizes in billions: Korthikanti et al., table 3, and the Llama 3 model cards.
TEST(Workloads, HaveTheirPublishedSizes)
{
    EXPECT_NEAR(gpt(48, 6144, 64).parameters() / 1e9, 22.0, 0.02 * 22.0);
    EXPECT_NEAR(gpt(96, 12288, 96).parameters() / 1e9, 175.0, 0.02 * 175.0);
    EXPECT_NEAR(gpt(105, 20480, 128).parameters() / 1e9, 530.0, 0.02 * 530.0);
    EXPECT_NEAR(gpt(128, 25600, 160).parameters() / 1e9, 1000.0, 0.02 * 1000.0);
    EXPECT_NEAR(llama(32, 4096, 32, 14336).parameters() / 1e9, 8.03, 0.01 * 8.03);
    EXPECT_NEAR(llama(80, 8192, 64, 28672).parameters() / 1e9, 70.6, 0.01 * 70.6);
    EXPECT_NEAR(llama(126, 16384, 128, 53248).parameters() / 1e9, 405.0, 0.01 * 405.0);
}

TEST(Phases, CountTheirSteps) { EXPECT_DOUBLE_EQ((Phase{15.6e12, 8192, 2048}).steps(), 15.6e12 / (8192.0 * 2048.0)); }

TEST(LayerCosts, ShareParametersOverTheGroup)
{
    for (const int tp : {1, 4}) {
        const LayerCosts c = costs_of(gpt_175b, tp, true, Recompute::none);
        const double all = tp * (96.0 * c.layer.parameters + c.embedding.parameters);
        EXPECT_NEAR(all / gpt_175b.parameters(), 1.0, 1e-12);  // tied: the head's matrix is the embedding's
        EXPECT_EQ(c.head.parameters, c.embedding.parameters);
    }
}

}  // namespace
}  // namespace prismopt
