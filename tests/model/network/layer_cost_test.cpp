#include "model/network/layer_cost.hpp"
#include "model/plan/phase.hpp"

#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace prismopt {
namespace {

const Transformer gpt_175b = gpt(96, 12288, 96);
constexpr double s = 2048.0;
constexpr double h = 12288.0;
constexpr double a = 96.0;
constexpr double sbh = s * h;  // one sequence a microbatch

LayerCosts costs_of(const Transformer& w, int tp, bool sequence_parallel, Recompute recompute)
{
    return layer_costs(
        w,
        {{.tp = tp,
          .recompute = recompute,
          .sequence_parallel = sequence_parallel ? SequenceParallel::on : SequenceParallel::off},
         2048},
        products_only());
}

/// Korthikanti et al., arXiv 2205.05198: equations 1 (t = 1), 2 (tensor), 4 (and sequence parallel), 6
/// (selective), and 2sbh for full recompute.
TEST(LayerCosts, SaveTheActivationsOfThePaper)
{
    const auto saved = [](int tp, bool sequence_parallel, Recompute recompute) {
        return costs_of(gpt_175b, tp, sequence_parallel, recompute).kinds.front().saved_bytes;
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
    const LayerCosts one = layer_costs(gpt_175b, {{.tp = 8}, 2048}, products_only());
    const LayerCosts four = layer_costs(gpt_175b, {{.tp = 8, .microbatch = 4}, 2048}, products_only());
    EXPECT_DOUBLE_EQ(four.kinds.front().saved_bytes, 4.0 * one.kinds.front().saved_bytes);
    EXPECT_DOUBLE_EQ(four.kinds[0].input_bytes, 4.0 * one.kinds[0].input_bytes);
    // Narayanan et al., SC21, section 4.1: bsh split over tp.
    EXPECT_DOUBLE_EQ(one.kinds[0].input_bytes, 2.0 * sbh / 8.0);
}

/// The same section, appendix: 24 bsh^2 + 4 bs^2 h forward a layer, and 6bshV for the logits with their
/// backward; in sum 72 bLsh^2 (1 + s/6h + V/12hL).
TEST(ModelFlops, AreThoseOfThePaper)
{
    const double layers = 96.0;
    const double vocabulary = 51200.0;
    EXPECT_NEAR(model_flops_per_sequence(network_of(gpt_175b), 2048) /
                    (72.0 * layers * s * h * h * (1.0 + s / (6.0 * h) + vocabulary / (12.0 * h * layers))),
                1.0, 1e-12);
    Transformer flash = gpt_175b;
    flash.attention = AttentionKernel::flash;  // and causal: half of the scores
    EXPECT_NEAR(model_flops_per_sequence(network_of(gpt_175b), 2048) -
                    model_flops_per_sequence(network_of(flash), 2048),
                3.0 * layers * 2.0 * s * s * h, 1e9);
}

/// Without memory traffic a forward layer takes its FLOPs at the roof; the shapes are
/// whole waves but for a few percent.
TEST(LayerCosts, ForwardTakesItsFlops)
{
    for (const int tp : {1, 2, 8}) {
        const LayerCosts c = costs_of(gpt_175b, tp, true, Recompute::none);
        const double flops = (24.0 * s * h * h + 4.0 * s * s * h) / tp;
        EXPECT_GT(c.kinds.front().forward.compute_s, flops / 100e12);
        // Scores are products with a short inner dimension of 128, at two thirds of the
        // rate; part waves are the rest.
        EXPECT_LT(c.kinds.front().forward.compute_s, 1.15 * flops / 100e12) << tp;
    }
}

TEST(LayerCosts, BackwardTakesTwiceTheForward)
{
    for (const int tp : {1, 8}) {
        const LayerCosts c = costs_of(gpt_175b, tp, true, Recompute::none);
        EXPECT_NEAR(c.kinds.front().backward.compute_s / c.kinds.front().forward.compute_s, 2.0, 0.1) << tp;
        EXPECT_NEAR(c.head.backward.compute_s / c.head.forward.compute_s, 2.0, 0.1) << tp;
    }
    Transformer flash = gpt(96, 1024, 16);
    flash.attention = AttentionKernel::flash;
    flash.causal = false;
    const LayerCosts c = costs_of(flash, 1, true, Recompute::none);
    const double ratio = c.kinds.front().backward.compute_s / c.kinds.front().forward.compute_s;
    EXPECT_GT(ratio, 2.0);  // of products
    EXPECT_LT(ratio, 2.5);  // of fused attention, which computes the scores again
}

TEST(LayerCosts, RecomputeRepeatsTheForward)
{
    const auto layer = [](Recompute recompute) {
        return costs_of(gpt_175b, 8, true, recompute).kinds.front();
    };
    const LayerCost none = layer(Recompute::none);
    const LayerCost selective = layer(Recompute::selective);
    const LayerCost full = layer(Recompute::full);
    EXPECT_NEAR(full.backward.compute_s, none.backward.compute_s + none.forward.compute_s, 1e-12);
    EXPECT_NEAR(full.backward.communication_s, none.backward.communication_s + none.forward.communication_s,
                1e-12);
    // Korthikanti et al., section 5: selective recompute repeats 4bs^2h of the layer, here
    // at 128 / (128 + 64) of the rate.
    EXPECT_NEAR(selective.backward.compute_s - none.backward.compute_s, 4.0 * s * s * h / 8.0 / 100e12 * 1.5,
                1e-7);
    EXPECT_EQ(selective.backward.communication_s, none.backward.communication_s);
    for (const LayerCost* recomputed : {&selective, &full}) {
        EXPECT_EQ(recomputed->forward.compute_s, none.forward.compute_s);
    }
}

/// Two all-reduces of 2bsh bytes per layer (Shoeybi et al., arXiv 1909.08053, section 3); with
/// sequence parallelism each is a reduce-scatter and an all-gather of the same bytes
/// (Korthikanti et al., section 4.2.2).
TEST(LayerCosts, ForwardSendsTwoAllReducesWorth)
{
    const double all_reduce = 2.0 * 7.0 / 8.0 * 2.0 * sbh / 300e9;
    for (const bool sequence_parallel : {false, true}) {
        const LayerCosts c = costs_of(gpt_175b, 8, sequence_parallel, Recompute::none);
        EXPECT_NEAR(c.kinds.front().forward.communication_s, 2.0 * all_reduce, 1e-9);
    }
    EXPECT_EQ(costs_of(gpt_175b, 1, true, Recompute::none).kinds.front().forward.communication_s, 0.0);
}

/// The sums are those of the chain, and its collectives are where the members meet: four a
/// layer and pass with sequence parallelism, two without, none alone. A collective that a
/// kernel hides is a barrier without a time.
TEST(LayerCosts, ChainsHaveABarrierACollective)
{
    for (const bool sequence_parallel : {false, true}) {
        for (const int tp : {1, 8}) {
            const LayerCosts c = costs_of(gpt_175b, tp, sequence_parallel, Recompute::none);
            for (const PassCost* pass : {&c.kinds.front().forward, &c.kinds.front().backward, &c.head.forward,
                                         &c.embedding.backward}) {
                double compute = 0.0;
                for (const Segment& segment : pass->segments) {
                    for (const Kernel& kernel : segment) {
                        compute += kernel.seconds;
                    }
                }
                EXPECT_NEAR(compute, pass->compute_s, 1e-12 * compute);
                const double exposed =
                    std::accumulate(pass->exposed.begin(), pass->exposed.end(), 0.0,
                                    [](double sum, const Exposed& e) { return sum + e.seconds; });
                EXPECT_NEAR(exposed, pass->communication_s, 1e-12);
            }
            const std::size_t forward = sequence_parallel ? 4 : 2;
            EXPECT_EQ(c.kinds.front().forward.exposed.size(), tp == 1 ? 0 : forward);
            EXPECT_EQ(c.kinds.front().forward.segments.size(), tp == 1 ? 1 : forward + 1);
            // Backward: two gathers and, beside weight gradients, two sums; with sequence
            // parallelism two more hidden gathers.
            EXPECT_EQ(c.kinds.front().backward.segments.size(), tp == 1 ? 1U : sequence_parallel ? 7U : 3U);
        }
    }
}

/// Published sizes in billions: Korthikanti et al., table 3, and the Llama 3 model cards.
TEST(Workloads, HaveTheirPublishedSizes)
{
    EXPECT_NEAR(parameters_of(gpt(48, 6144, 64)) / 1e9, 22.0, 0.02 * 22.0);
    EXPECT_NEAR(parameters_of(gpt(96, 12288, 96)) / 1e9, 175.0, 0.02 * 175.0);
    EXPECT_NEAR(parameters_of(gpt(105, 20480, 128)) / 1e9, 530.0, 0.02 * 530.0);
    EXPECT_NEAR(parameters_of(gpt(128, 25600, 160)) / 1e9, 1000.0, 0.02 * 1000.0);
    EXPECT_NEAR(parameters_of(llama(32, 4096, 32, 14336)) / 1e9, 8.03, 0.01 * 8.03);
    EXPECT_NEAR(parameters_of(llama(80, 8192, 64, 28672)) / 1e9, 70.6, 0.01 * 70.6);
    EXPECT_NEAR(parameters_of(llama(126, 16384, 128, 53248)) / 1e9, 405.0, 0.01 * 405.0);
}

TEST(Phases, CountTheirSteps)
{
    EXPECT_DOUBLE_EQ((Phase{15.6e12, 8192, 2048}).steps(), 15.6e12 / (8192.0 * 2048.0));
}

/// The head's matrix is the embedding's: there once in the network, on the first and on the last stage.
TEST(LayerCosts, HaveTheParametersOfTheNetwork)
{
    const LayerCosts c = costs_of(gpt_175b, 1, true, Recompute::none);
    const double all =
        96.0 * c.kinds.front().parameters.all + c.embedding.parameters.all + c.head.parameters.all;
    EXPECT_EQ(c.head.parameters.tied, c.embedding.parameters.all);
    EXPECT_NEAR((all - c.head.parameters.tied) / parameters_of(gpt_175b), 1.0, 1e-12);
}

/// A context parallel member has s / cp tokens and, of causal attention, an even share.
TEST(LayerCosts, ContextParallelMembersShareTheSequence)
{
    const Transformer w = llama(32, 4096, 32, 14336);
    LayerShape shape{{}, 8192};
    const LayerCosts whole = layer_costs(w, shape, products_only());
    for (const int cp : {2, 4}) {
        shape.cp = cp;
        shape.context_exchange = ContextExchange::ring;
        const LayerCosts ring = layer_costs(w, shape, products_only());
        EXPECT_NEAR(ring.kinds.front().saved_bytes, whole.kinds.front().saved_bytes / cp, 1.0);
        EXPECT_NEAR(ring.kinds[0].input_bytes, whole.kinds[0].input_bytes / cp, 1.0);
        EXPECT_NEAR(ring.kinds.front().forward.compute_s, whole.kinds.front().forward.compute_s / cp,
                    0.05 * whole.kinds.front().forward.compute_s);
        shape.context_exchange = ContextExchange::all_gather;
        const LayerCosts gathered = layer_costs(w, shape, products_only());
        // Keys and values of 8 heads of 128, in 16 bits, from the other members at 300 GB/s.
        const double kv = 2.0 * 2.0 * 8192.0 * 8.0 * 128.0;
        EXPECT_NEAR(gathered.kinds.front().forward.communication_s, (cp - 1.0) / cp * kv / 300e9, 1e-9);
        EXPECT_LT(ring.kinds.front().forward.communication_s, gathered.kinds.front().forward.communication_s);
    }
}

/// Of multi-head attention, 8 members: rings pass on 7 shares of keys and values beside compute, all-to-alls
/// move four tensors, of which 7/8 leave, and nothing hides them. So rings are free on a fast network, and
/// all-to-alls better on a slow one (arXiv 2309.14509, section 3.2: a factor of the number of members fewer
/// bytes; arXiv 2405.07719, table 2).
TEST(LayerCosts, HeadExchangesSendLessThanRings)
{
    Transformer w = llama(32, 4096, 32, 14336);
    w.kv_heads = 32;
    LayerShape shape{{.cp = 8}, 65536};
    Cluster cluster = products_only();
    cluster.stack.communication_share = 0.0;
    const double share = 2.0 * 65536.0 / 8.0 * 4096.0;  // bytes of one tensor of a member
    const auto seconds = [&](int ulysses, double bandwidth) {
        cluster.tiers.front().bandwidth = BytesPerSecond{bandwidth};
        shape.ulysses = ulysses;
        return layer_costs(w, shape, cluster).kinds.front().forward.communication_s;
    };
    for (const double bandwidth : {300e9, 3e9}) {
        EXPECT_NEAR(seconds(8, bandwidth), 4.0 * 7.0 / 8.0 * share / bandwidth, 1e-6) << bandwidth;
    }
    EXPECT_EQ(seconds(1, 300e9), 0.0);
    EXPECT_LT(seconds(8, 3e9), 0.5 * seconds(1, 3e9));
    EXPECT_LT(seconds(2, 3e9), seconds(1, 3e9));
}

/// Parameters of a layer come for each pass, gradients leave with the backward one; what compute hides costs
/// only its share of the multiprocessors.
TEST(LayerCosts, ShardedParametersAreGatheredBesideCompute)
{
    Cluster slow = products_only();
    slow.tiers.front().bandwidth = BytesPerSecond{1e9};
    slow.stack.communication_share = 0.0;
    const Transformer w = llama(32, 4096, 32, 14336);
    LayerShape shape{{}, 8192};
    shape.sharding = Sharding::zero3;
    shape.shard_gpus = 8;
    const LayerCosts c = layer_costs(w, shape, slow);
    const double way = 7.0 / 8.0 * c.kinds.front().parameters.all / 1e9;  // seconds a byte of a parameter
    EXPECT_NEAR(c.kinds.front().forward.communication_s, 2.0 * way - c.kinds.front().forward.compute_s, 1e-6);
    EXPECT_NEAR(c.kinds.front().backward.communication_s,
                (2.0 + 4.0) * way - c.kinds.front().backward.compute_s, 1e-6);
    shape.sharding = Sharding::zero2;
    const LayerCosts zero2 = layer_costs(w, shape, slow);
    EXPECT_EQ(zero2.kinds.front().forward.communication_s, c.kinds.front().forward.communication_s);
    EXPECT_NEAR(zero2.kinds.front().backward.communication_s, 4.0 * way - c.kinds.front().backward.compute_s,
                1e-6);
    slow.stack.gathers_once = true;
    const LayerCosts once = layer_costs(w, shape, slow);
    EXPECT_EQ(once.kinds.front().forward.communication_s, 0.0);
    EXPECT_EQ(once.kinds.front().backward.communication_s, zero2.kinds.front().backward.communication_s);
    shape.dp_overlap = DataParallelOverlap::off;
    EXPECT_NEAR(layer_costs(w, shape, slow).kinds.front().backward.communication_s, 4.0 * way, 1e-6);
    Cluster fast = products_only();
    fast.stack.communication_share = 0.1;
    const LayerCosts hidden = layer_costs(w, shape = {{}, 8192}, fast);
    EXPECT_EQ(hidden.kinds.front().forward.communication_s, 0.0);
    shape.sharding = Sharding::zero3;
    shape.shard_gpus = 8;
    EXPECT_NEAR(layer_costs(w, shape, fast).kinds.front().forward.communication_s, 0.1 * 2.0 * way / 300.0,
                1e-9);
}

/// Full recompute of a quarter of the layers makes each fourth layer one that recomputes.
TEST(LayerCosts, RecomputeOfSomeLayersIsOfThem)
{
    LayerShape shape{{.tp = 8}, 2048};
    const LayerCost none = layer_costs(gpt_175b, shape, products_only()).kinds.front();
    shape.recompute = Recompute::full;
    const LayerCost full = layer_costs(gpt_175b, shape, products_only()).kinds.front();
    shape.recomputed_layers = 24;
    const LayerCosts some = layer_costs(gpt_175b, shape, products_only());
    ASSERT_EQ(some.kinds.size(), 2U);
    EXPECT_EQ(some.kinds[0].backward.compute_s, none.backward.compute_s);
    EXPECT_EQ(some.kinds[1].backward.compute_s, full.backward.compute_s);
    EXPECT_EQ(some.kinds[1].saved_bytes, full.saved_bytes);
    for (int chunk = 0; chunk < 24; ++chunk) {
        EXPECT_EQ(std::accumulate(some.layers.begin() + 4 * chunk, some.layers.begin() + 4 * (chunk + 1), 0),
                  1)
            << chunk;
    }
}

/// Host and accelerator wait for each other: the sum of their cubes is that of the pass. A launch
/// for each kernel and collective.
TEST(LayerCosts, WaitForTheHostThatLaunchesThem)
{
    Cluster c = products_only();
    for (const int tp : {1, 8}) {
        const LayerShape shape{{.tp = tp}, 2048};
        c.stack.host = Seconds{0.0};
        const PassCost free = layer_costs(gpt_175b, shape, c).kinds.front().forward;
        auto launches = static_cast<double>(free.exposed.size());
        for (const Segment& segment : free.segments) {
            launches += static_cast<double>(segment.size());
        }
        const double busy = free.compute_s + free.communication_s;
        for (const double host : {1e-6, busy / launches, 1.0}) {
            c.stack.host = Seconds{host};
            const PassCost pass = layer_costs(gpt_175b, shape, c).kinds.front().forward;
            EXPECT_NEAR((pass.compute_s + pass.communication_s) /
                            std::cbrt(std::pow(busy, 3) + std::pow(launches * host, 3)),
                        1.0, 1e-9)
                << tp << ' ' << host;
        }
    }
}

/// Two heads on a member: with one sequence its score matrices are no multiple of the
/// four that the fused softmax needs.
TEST(LayerCosts, SoftmaxOfFewScoresIsNotFused)
{
    const auto kernels = [](int microbatch) {
        std::size_t count = 0;
        const LayerShape shape{
            {.tp = 4, .microbatch = microbatch, .sequence_parallel = SequenceParallel::off}, 1024};
        const LayerCosts costs = layer_costs(gpt(4, 1024, 8), shape, products_only());
        for (const Segment& segment : costs.kinds.front().forward.segments) {
            count += segment.size();
        }
        return count;
    };
    EXPECT_EQ(kernels(1), kernels(2) + 1);
    EXPECT_EQ(kernels(3), kernels(4) + 1);
}

TEST(LayerCosts, LossMovesTheLogits)
{
    Cluster c = products_only();
    c.accelerator.memory_bandwidth = BytesPerSecond{1e12};
    const LayerShape shape{{.sequence_parallel = SequenceParallel::off}, 1024};
    const auto head_s = [&](double bytes, LossKernel loss = LossKernel::of_stack) {
        Workload w = workload_of(gpt(4, 1024, 8));
        w.loss = loss;
        c.stack.loss_traffic = bytes;
        const LayerCost head = layer_costs(network_of(w), w.precision, shape, c).head;
        return head.forward.compute_s + head.backward.compute_s;
    };
    const double logits = 1024.0 * 51200.0 / 1e12;
    EXPECT_NEAR(head_s(52.0) - head_s(24.0), 28.0 * logits, 1e-12);
    EXPECT_NEAR(head_s(52.0, LossKernel::fused), head_s(24.0), 1e-12);
    EXPECT_NEAR(head_s(52.0, LossKernel::unfused) - head_s(24.0), (40.0 - 24.0) * logits, 1e-12);
}

/// Bytes per logit: Megatron's loss keeps 32-bit logits, and a 16-bit gradient beside them. PyTorch's has
/// three 32-bit tensors at once: 8B with 32,768 tokens and 128,256 entries holds 50.4 GB; 16 bytes where
/// tensor parallelism divides the vocabulary. A compiled one has logits and gradient in 16 bits; chunks an
/// eighth of PyTorch's beside 16-bit logits; and fused with the head only numbers like its input remain.
TEST(LayerCosts, HoldsTheLossAsItsStackDoes)
{
    const auto head = [](LossKernel loss, const MemoryRules& rules, int tp) {
        Workload w = workload_of(gpt(4, 1024, 8));
        w.loss = loss;
        Cluster c = products_only();
        c.stack.holds = rules;
        return layer_costs(network_of(w), w.precision, LayerShape{{.tp = tp}, 2048}, c).head;
    };
    const auto saved = [&](LossKernel loss, const MemoryRules& rules, int tp) {
        return head(loss, rules, tp).saved_bytes - head(LossKernel::fused_linear, rules, tp).saved_bytes;
    };
    const MemoryRules megatron;
    const double logits = 2048.0 * 51200.0;
    const double input = 2048.0 * 1024.0;
    const double stream = 2.0 * 2.0 * input;  // and its gradient
    EXPECT_DOUBLE_EQ(saved(LossKernel::of_stack, megatron, 1), 4.0 * logits);
    EXPECT_DOUBLE_EQ(head(LossKernel::of_stack, megatron, 1).workspace_bytes, 2.0 * logits + stream);
    EXPECT_DOUBLE_EQ(saved(LossKernel::unfused, megatron, 1), 4.0 * logits);
    EXPECT_DOUBLE_EQ(head(LossKernel::unfused, megatron, 1).workspace_bytes, 8.0 * logits + stream);
    EXPECT_DOUBLE_EQ(head(LossKernel::unfused, megatron, 1).cached_bytes, 2.0 * logits);
    EXPECT_DOUBLE_EQ(head(LossKernel::unfused, megatron, 8).workspace_bytes, 12.0 * logits / 8.0 + stream);
    EXPECT_DOUBLE_EQ(saved(LossKernel::fused, megatron, 1), 2.0 * logits);
    EXPECT_DOUBLE_EQ(head(LossKernel::fused, megatron, 1).workspace_bytes, 2.0 * logits + stream);
    EXPECT_DOUBLE_EQ(head(LossKernel::chunked, megatron, 1).workspace_bytes, 12.0 / 8.0 * logits + stream);
    EXPECT_DOUBLE_EQ(head(LossKernel::fused_linear, megatron, 1).workspace_bytes, 14.0 * input + stream);
}

/// Transformer Engine saves inputs of products in 8 bits: GPT's of four products, 1 + 1 + 1 + 4 times h per
/// token; in both orientations, so that nothing is gained, where there are no products of 4 bits.
TEST(LayerCosts, SavesOperandsInTheirPrecision)
{
    Cluster c = products_only();
    c.accelerator.peak_fp8 = 2.0 * c.accelerator.peak_bf16;
    const auto saved = [&c](Precision precision) {
        Workload w = workload_of(gpt_175b);
        w.precision = precision;
        return layer_costs(network_of(w), w.precision, LayerShape{{}, 2048}, c).kinds.front().saved_bytes;
    };
    const double wide = saved(Precision::bf16);
    EXPECT_DOUBLE_EQ(saved(Precision::fp8), wide);
    c.stack.holds.saves_operands = true;
    EXPECT_DOUBLE_EQ(saved(Precision::bf16), wide);
    EXPECT_DOUBLE_EQ(saved(Precision::fp8), wide);
    c.accelerator.peak_fp4 = 4.0 * c.accelerator.peak_bf16;
    const double less = wide - saved(Precision::fp8);
    EXPECT_GE(less, sbh * (1.0 + 1.0 + 1.0 + 4.0));
    EXPECT_LE(less, sbh * (1.0 + 1.0 + 1.0 + 4.0 + 4.0));  // and of the activation
}

/// What a layer keeps leaves during its forward pass and returns during its backward pass; what
/// compute does not hide is waited for.
TEST(Offload, MovesActivationsBesideCompute)
{
    Cluster c = products_only();
    LayerShape shape{{}, 2048};
    const LayerCost kept = layer_costs(gpt_175b, shape, c).kinds.front();
    shape.offload = Offload::activations;
    c.accelerator.host_link = BytesPerSecond{kept.saved_bytes / (0.5 * kept.forward.compute_s)};
    const LayerCost hidden = layer_costs(gpt_175b, shape, c).kinds.front();
    EXPECT_EQ(hidden.saved_bytes, 0.0);
    EXPECT_NEAR(hidden.workspace_bytes, kept.workspace_bytes + 2.0 * kept.saved_bytes, 1.0);
    EXPECT_EQ(hidden.forward.communication_s, kept.forward.communication_s);
    c.accelerator.host_link = BytesPerSecond{kept.saved_bytes / (3.0 * kept.forward.compute_s)};
    const LayerCost exposed = layer_costs(gpt_175b, shape, c).kinds.front();
    EXPECT_NEAR(exposed.forward.communication_s - kept.forward.communication_s, 2.0 * kept.forward.compute_s,
                1e-9);
    EXPECT_NEAR(exposed.backward.communication_s - kept.backward.communication_s,
                3.0 * kept.forward.compute_s - kept.backward.compute_s, 1e-9);
}

TEST(Offload, UpdatesOnTheHost)
{
    Accelerator gpu = products_only().accelerator;
    gpu.host_link = BytesPerSecond{4e9};
    gpu.host_memory_bandwidth = BytesPerSecond{38e9};
    EXPECT_NEAR(update_time(1e9, 0.0, {}, Offload::optimizer, gpu).si, 1.0 + 2.0, 1e-12);  // half the peak
    EXPECT_LT(update_time(1e9, 0.0, {}, Offload::none, gpu).si, 1e-6);
}

Transformer moe()
{
    Transformer w = llama(32, 4096, 32, 14336);
    w.experts = {.count = 8, .active = 2, .feed_forward = 14336};
    return w;
}

/// Two of eight experts a token: twice the products of the dense MLP, eight times its parameters.
TEST(MoeLayers, ComputeTheActiveExpertsAndHoldAll)
{
    const Transformer dense = llama(32, 4096, 32, 14336);
    const Transformer w = moe();
    const double mlp = 3.0 * 4096.0 * 14336.0;
    EXPECT_NEAR(parameters_of(w) - parameters_of(dense), 32.0 * (7.0 * mlp + 8.0 * 4096.0), 1.0);
    EXPECT_NEAR(model_flops_per_sequence(network_of(w), 4096) -
                    model_flops_per_sequence(network_of(dense), 4096),
                6.0 * 4096.0 * 32.0 * (mlp + 8.0 * 4096.0), 1e6);
    LayerShape shape{{}, 4096};
    const LayerCost one = layer_costs(w, shape, products_only()).kinds.front();
    EXPECT_NEAR(one.parameters.expert, 8.0 * mlp, 1.0);
    const double more =
        one.forward.compute_s - layer_costs(dense, shape, products_only()).kinds.front().forward.compute_s;
    EXPECT_NEAR(more, 2.0 * 4096.0 * mlp / 100e12, 0.1 * more);
    shape.ep = 8;
    const LayerCost eighth = layer_costs(w, shape, products_only()).kinds.front();
    EXPECT_NEAR(eighth.parameters.expert, mlp, 1.0);
    // There and back, two of eight copies of 4096 tokens, seven eighths of them to
    // others; and the same backward.
    EXPECT_NEAR(eighth.forward.communication_s, 2.0 * 7.0 / 8.0 * 2.0 * 2.0 * 4096.0 * 4096.0 / 300e9, 1e-9);
    EXPECT_NEAR(eighth.backward.communication_s, eighth.forward.communication_s, 1e-12);
}

TEST(MoeLayers, ImbalanceCostsUpToTheCapacity)
{
    Transformer w = moe();
    LayerShape shape{{}, 4096};
    shape.ep = 8;
    const auto forward = [&] {
        return layer_costs(w, shape, products_only()).kinds.front().forward.compute_s;
    };
    const double even = forward();
    w.experts.imbalance = 2.0;
    const double uneven = forward();
    EXPECT_GT(uneven, 1.3 * even);
    w.experts.capacity = 1.0;
    EXPECT_NEAR(forward(), even, 1e-3 * even);
    // One GPU with all experts has all tokens, however they are routed.
    w.experts.capacity = 0.0;
    shape.ep = 1;
    const double uneven_alone = forward();
    w.experts.imbalance = 1.0;
    EXPECT_EQ(uneven_alone, forward());
}

/// Dense layers come first, and have the costs of a dense network's.
TEST(MoeLayers, DenseLayersKeepTheirMlp)
{
    Transformer w = moe();
    w.experts.dense_layers = 8;
    const LayerShape shape{{}, 4096};
    const LayerCosts costs = layer_costs(w, shape, products_only());
    ASSERT_EQ(costs.kinds.size(), 2U);
    EXPECT_EQ(
        costs.kinds[costs.layers[7]].forward.compute_s,
        layer_costs(llama(32, 4096, 32, 14336), shape, products_only()).kinds.front().forward.compute_s);
    EXPECT_EQ(costs.kinds[costs.layers[8]].forward.compute_s,
              layer_costs(moe(), shape, products_only()).kinds.front().forward.compute_s);
}

/// Every second layer, the second of two, as in Llama 4 Maverick.
TEST(MoeLayers, ExpertsEveryOtherLayer)
{
    Transformer w = moe();
    w.experts.every = 2;
    const Network network = network_of(w);
    EXPECT_EQ(network.kinds[network.layers[0]].name, "dense");
    EXPECT_EQ(network.kinds[network.layers[1]].name, "moe");
    EXPECT_EQ(std::accumulate(network.layers.begin(), network.layers.end(), 0), 16);
}

/// 8-bit products at twice the peak, and casts that cost memory traffic alone, which is free here.
TEST(LayerCosts, EightBitProductsRunInHalfTheTime)
{
    Cluster c = products_only();
    c.accelerator.peak_fp8 = FlopsPerSecond{200e12};
    Transformer w = gpt(96, 12288, 96);
    const LayerShape shape{{}, 2048};
    const LayerCost wide = layer_costs(w, shape, c).kinds.front();
    w.precision = Precision::fp8;
    const LayerCost narrow = layer_costs(w, shape, c).kinds.front();
    const double attention = 4.0 * s * s * h / 100e12 * 1.5;  // stays in 16 bits, at two thirds of the rate
    const double half = 0.5 * (wide.forward.compute_s - attention) + attention;
    EXPECT_GT(narrow.forward.compute_s, half);
    // Pipelines over k take as long to fill as four times the steps of 16 bits.
    EXPECT_LT(narrow.forward.compute_s, 1.02 * half);
    EXPECT_EQ(narrow.saved_bytes, wide.saved_bytes);
}

Transformer with_shared_experts()
{
    Transformer w = llama(8, 4096, 32, 14336);
    w.experts = {.count = 8, .active = 2, .feed_forward = 14336, .shared = 8192};
    return w;
}

Cluster slow_exchanges()
{
    Cluster cluster = products_only();
    cluster.tiers.front().bandwidth = BytesPerSecond{5e9};
    cluster.stack.communication_share = 0.0;
    return cluster;
}

/// Two exchanges a pass; half of the shared experts' products hide each.
TEST(LayerCosts, SharedExpertsHideExchanges)
{
    const Transformer w = with_shared_experts();
    const Cluster cluster = slow_exchanges();
    LayerShape shape{{}, 8192};
    shape.ep = 8;
    const LayerCost plain = layer_costs(w, shape, cluster).kinds.front();
    shape.expert_overlap = ExpertOverlap::shared_experts;
    const LayerCost beside = layer_costs(w, shape, cluster).kinds.front();
    Transformer without_shared = w;
    without_shared.experts.shared = 0;
    const LayerCost alone = layer_costs(without_shared, shape, cluster).kinds.front();
    const auto check = [](const PassCost& hidden, const PassCost& exposed, const PassCost& routed) {
        const double shared_s = exposed.compute_s - routed.compute_s;
        ASSERT_GT(shared_s, 0.0);
        ASSERT_GT(exposed.communication_s, shared_s);
        EXPECT_NEAR(hidden.communication_s, exposed.communication_s - shared_s, 1e-6 * shared_s);
    };
    check(beside.forward, plain.forward, alone.forward);
    check(beside.backward, plain.backward, alone.backward);
    EXPECT_EQ(beside.forward.compute_s, plain.forward.compute_s);
    EXPECT_EQ(beside.saved_bytes, plain.saved_bytes);
}

/// As far as the compute of the other pass lasts, and no other collective.
TEST(LayerCosts, OtherMicrobatchesHideExchanges)
{
    const Transformer w = with_shared_experts();
    for (const double gigabytes : {20.0, 1.0}) {
        Cluster cluster = slow_exchanges();
        cluster.tiers.front().bandwidth = BytesPerSecond{gigabytes * 1e9};
        LayerShape shape{{.tp = 2}, 8192};
        shape.ep = 4;
        const LayerCost plain = layer_costs(w, shape, cluster).kinds.front();
        shape.expert_overlap = ExpertOverlap::microbatches;
        shape.batch = 4;  // of the four passes either way the first forward and the last backward are alone
        const LayerCost beside = layer_costs(w, shape, cluster).kinds.front();
        const auto exchanges_s = [](const PassCost& pass) {
            double sum = 0.0;
            for (const Exposed& message : pass.exposed) {
                sum += message.shares.front().kind == KernelClass::expert_all_to_all ? message.seconds : 0.0;
            }
            return sum;
        };
        const auto check = [&](const PassCost& hidden, const PassCost& alone, const PassCost& other) {
            const double saved_s = 0.75 * std::min(exchanges_s(alone), other.free_s());
            EXPECT_GT(saved_s, 0.0);
            EXPECT_NEAR(hidden.communication_s, alone.communication_s - saved_s, 1e-9) << gigabytes;
            EXPECT_NEAR(exchanges_s(hidden), exchanges_s(alone) - saved_s, 1e-9) << gigabytes;
        };
        check(beside.forward, plain.forward, plain.backward);
        check(beside.backward, plain.backward, plain.forward);
    }
}

/// The fullest member of an expert group has twice the mean: half of its routed work is surplus.
TEST(LayerCosts, CountWorkBeyondTheMeanOfExperts)
{
    Transformer w = with_shared_experts();
    LayerShape shape{{}, 8192};
    shape.ep = 8;
    const PassCost even = layer_costs(w, shape, slow_exchanges()).kinds.front().forward;
    EXPECT_EQ(even.surplus_s, 0.0);
    w.experts.imbalance = 2.0;
    const PassCost uneven = layer_costs(w, shape, slow_exchanges()).kinds.front().forward;
    // Products run in whole waves of tiles.
    EXPECT_NEAR(uneven.surplus_s, uneven.compute_s - even.compute_s, 0.02 * uneven.surplus_s);
    EXPECT_EQ(uneven.surplus_most, Surplus::no_limit);
    ASSERT_EQ(uneven.exposed.size(), 2U);
    EXPECT_DOUBLE_EQ(uneven.exposed.front().surplus.share, 0.5);
    w.experts.capacity = 1.5;
    const PassCost dropped = layer_costs(w, shape, slow_exchanges()).kinds.front().forward;
    EXPECT_DOUBLE_EQ(dropped.surplus_most, 0.5);
    EXPECT_NEAR(dropped.surplus_s, 0.5 * uneven.surplus_s, 0.02 * uneven.surplus_s);
}

/// Megatron-Core's steady phase: of 16 stages with two chunks and 32 microbatches the first stage
/// warms up with 47 of 64 passes. Exchanges that the other microbatch hides whole are shorter by the
/// share of the passes that have one.
TEST(LayerCosts, MicrobatchesPairInTheSteadyPhase)
{
    Cluster cluster = slow_exchanges();
    cluster.tiers.front().bandwidth = BytesPerSecond{20e9};
    ParallelPlan plan{.pp = 16, .dp = 4, .chunks = 2, .schedule = Schedule::interleaved, .ep = 4};
    const auto hidden_share = [&](int batch) {
        const auto exposed_s = [&](ExpertOverlap overlap) {
            plan.expert_overlap = overlap;
            const LayerCosts costs =
                layer_costs(with_shared_experts(), layer_shape(plan, 8192, batch), cluster);
            return costs.kinds.front().forward.communication_s;
        };
        return 1.0 - exposed_s(ExpertOverlap::microbatches) / exposed_s(ExpertOverlap::off);
    };
    EXPECT_NEAR(hidden_share(128), 17.0 / 64.0, 1e-9);
    EXPECT_NEAR(hidden_share(64), 0.0, 1e-9);
    plan.pp = plan.chunks = 1;
    plan.schedule = Schedule::one_f_one_b;
    EXPECT_NEAR(hidden_share(32), 7.0 / 8.0, 1e-9);
}

}  // namespace
}  // namespace prismopt
