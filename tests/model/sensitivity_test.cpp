#include "model/sensitivity.hpp"

#include "model/step/graph/mean_step.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array sensitivity_widths{1, 2};
constexpr double single_precision = 1e-5;  // of a step of few ops

Problem varied(Variability v)
{
    Problem problem = example_problem(v, 8, sensitivity_widths);
    v.tier.resize(problem.cluster.tiers.size());
    v.tier[0] = {LogNormal{0.2}, {}, 20.0, "test"};  // all traffic of the plans here
    problem.noise = build_noise_tables(v, sensitivity_widths);
    return problem;
}

Problem all_vary()
{
    Variability v = lively_variability();
    v.common_step = {Normal{0.01}, {}, 20.0, "test"};
    v.operation = {LogNormal{0.05}, {}, 20.0, "test"};
    return varied(v);
}

SamplerOptions with_seed(std::uint64_t seed) { return {seed, Purpose::search, 4}; }

double at(const Consequence& consequence, Figure figure)
{
    return consequence.all[static_cast<std::size_t>(figure)];
}

double noise_free(const Problem& problem, const ParallelPlan& plan)
{
    return noise_free_step(graph_of(problem, plan)).step_s;
}

KernelClass kernel_of(const NoiseSource& source) { return static_cast<KernelClass>(source.index); }

/// Whether one of them is within the other.
bool akin(const NoiseSource& a, const NoiseSource& b)
{
    return a.kind == NoiseKind::residual && b.kind == NoiseKind::residual &&
           (is_within(kernel_of(a), kernel_of(b)) || is_within(kernel_of(b), kernel_of(a)));
}

/// A step in which one source varies, and the same without it. With a class what it is within
/// varies too, and what is within it.
TEST(Sensitivity, WithoutItsOnlySourceOfNoiseAStepIsAlwaysTheSame)
{
    const Problem problem = all_vary();
    const ParallelPlan plan = plan_of(2, 2, 2);
    const std::vector<NoiseSource> sources = noise_sources(problem.cluster.tiers);
    WhatIf none;
    for (const NoiseSource& source : sources) {
        none.push_back(Without{source});
    }
    std::vector<WhatIf> what_ifs{none};
    for (const NoiseSource& left : sources) {
        WhatIf& others = what_ifs.emplace_back();
        for (const NoiseSource& source : sources) {
            if (source.name != left.name && !akin(source, left)) {
                others.push_back(Without{source});
            }
        }
    }
    const std::vector<Consequence> found = consequences(problem, plan, what_ifs, {0, 128, 2}, with_seed(1));
    const double exact = noise_free(example_problem(Variability{}, 8, sensitivity_widths), plan);
    EXPECT_NEAR(at(found[0], Figure::p50), exact, single_precision * exact);
    EXPECT_NEAR(at(found[0], Figure::spread), 1.0, 1e-12);
    EXPECT_NEAR(at(found[0], Figure::cv), 0.0, 1e-6);
    const std::vector<KernelClass> of_plan = kernel_classes_of(problem, plan);
    for (std::size_t s = 0; s < sources.size(); ++s) {
        const auto is_left = [&](KernelClass kernel) {  // by all that was removed
            return std::none_of(sources.begin(), sources.end(), [&](const NoiseSource& removed) {
                return removed.kind == NoiseKind::residual && !akin(removed, sources[s]) &&
                       is_within(kernel, kernel_of(removed));
            });
        };
        if (sources[s].kind == NoiseKind::expert_imbalance || sources[s].kind == NoiseKind::lengths) {
            continue;  // the network has no experts, and all samples fill their sequences
        }
        const bool varies = sources[s].kind == NoiseKind::residual
                                ? std::any_of(of_plan.begin(), of_plan.end(), is_left)
                                : sources[s].kind != NoiseKind::tier || sources[s].index == 0;
        EXPECT_EQ(at(found[s + 1], Figure::spread) > 1.0 + single_precision, varies) << sources[s].name;
        EXPECT_EQ(at(found[s + 1], Figure::cv) > 1e-6, varies) << sources[s].name;
    }
}

/// Seconds that one GPU spends in kernels of a class, of one microbatch.
double class_seconds(const LayerCosts& costs, int layers, KernelClass kind)
{
    const auto of = [kind](const PassCost& pass) {
        double sum = 0.0;
        for (const Segment& segment : pass.segments) {
            for (const Kernel& kernel : segment) {
                sum += is_within(kernel.kind, kind) ? kernel.seconds : 0.0;
            }
        }
        return sum;
    };
    double sum = 0.0;
    for (const LayerCost* cost : {&costs.kinds.front(), &costs.embedding, &costs.head}) {
        sum += (cost == &costs.kinds.front() ? layers : 1) * (of(cost->forward) + of(cost->backward));
    }
    return sum;
}

/// What compute hides of the gradients' exchange shrinks as it gets faster, by no more than what it gains:
/// however long a draw of the exchange, no quantile gets worse.
TEST(Sensitivity, FasterComputeNeverLengthensAStep)
{
    Variability v;
    v.residual[static_cast<std::size_t>(KernelClass::dp_collective)] =
        Distribution{LogNormal{0.5}, {}, 20.0, "test"};
    Problem problem = varied(v);
    for (NetworkTier& tier : problem.cluster.tiers) {
        tier.bandwidth = BytesPerSecond{tier.bandwidth.si / 96.0};
    }
    ParallelPlan plan = plan_of(1, 1, 8);
    plan.dp_overlap = DataParallelOverlap::on;
    for (const KernelClass kind : {KernelClass::gemm, KernelClass::attention, KernelClass::elementwise}) {
        const std::vector<Consequence> found =
            consequences(problem, plan, {{}, {Faster{kind, 1.1}}}, {0, 1024, 2}, with_seed(1));
        for (const Figure figure : {Figure::p50, Figure::p95, Figure::p99}) {
            EXPECT_LE(combined({{1.0, &found[1]}, {-1.0, found.data()}}, figure).value, 0.0) << name(kind);
        }
    }
    const ExecutionGraph graph = graph_of(problem, plan);
    EXPECT_GT(graph.reduction[0].exposed(),
              1.2F * (1.0F - graph.reduction[0].beside) * graph.reduction[0].seconds);  // some is left
    EXPECT_LT(graph.reduction[0].exposed(), 0.8F * graph.reduction[0].seconds);         // of what is hidden
}

/// One GPU: a step is the sum of its kernels, so a class s times as fast saves (1 - 1/s) of its time.
TEST(Sensitivity, AFasterClassSavesItsShareOfASum)
{
    const Problem problem = example_problem(Variability{}, 8, sensitivity_widths);
    const ParallelPlan plan = plan_of(1, 1, 1);
    const LayerCosts costs =
        layer_costs(network_of(problem.workload), problem.workload.precision,
                    layer_shape(plan, problem.phases.front().sequence, problem.phases.front().global_batch),
                    layer_groups(plan, problem.cluster), problem.cluster);
    constexpr double speed = 1.1;
    std::vector<WhatIf> what_ifs{{}};
    for (const KernelClass kind : {KernelClass::gemm, KernelClass::attention, KernelClass::elementwise}) {
        what_ifs.push_back({Faster{kind, speed}});
    }
    const std::vector<Consequence> found = consequences(problem, plan, what_ifs, {0, 64, 2}, with_seed(1));
    const double step = at(found[0], Figure::p99);
    for (std::size_t i = 1; i < what_ifs.size(); ++i) {
        const KernelClass kind = std::get<Faster>(what_ifs[i].front()).kernels;
        const double seconds =
            problem.phases.front().global_batch * class_seconds(costs, problem.workload.layers(), kind);
        const double expected = -(1.0 - 1.0 / speed) * seconds;
        EXPECT_NEAR(combined({{1.0, &found[i]}, {-1.0, found.data()}}, Figure::p99).value, expected,
                    single_precision * step);
        EXPECT_LT(expected, -30.0 * single_precision * step);  // far more than the tolerance above
    }
}

/// Replicas whose exchange nothing hides: also linear.
TEST(Sensitivity, FasterExchangesSaveTheirShare)
{
    const Problem problem = example_problem(Variability{}, 8, sensitivity_widths);
    ParallelPlan plan = plan_of(1, 1, 2);
    plan.dp_overlap = DataParallelOverlap::off;
    constexpr double speed = 2.0;
    const auto saved = [&](KernelClass kind) {
        const std::vector<Consequence> found =
            consequences(problem, plan, {{}, {Faster{kind, speed}}}, {0, 64, 2}, with_seed(1));
        return combined({{1.0, &found[1]}, {-1.0, found.data()}}, Figure::p99).value;
    };
    const ExecutionGraph graph = graph_of(problem, plan);
    const double exchange =
        static_cast<double>(graph.reduction[0].exposed()) + static_cast<double>(graph.gathering[0].exposed());
    const double margin = single_precision * noise_free(problem, plan);
    EXPECT_NEAR(saved(KernelClass::dp_collective), -0.5 * exchange, margin);
    EXPECT_NEAR(saved(KernelClass::dp_reduce_scatter),
                -0.5 * static_cast<double>(graph.reduction[0].exposed()), margin);
    EXPECT_NEAR(saved(KernelClass::dp_all_gather), -0.5 * static_cast<double>(graph.gathering[0].exposed()),
                margin);
    EXPECT_EQ(saved(KernelClass::dp_all_reduce), 0.0);

    plan.sharding = Sharding::zero3;  // gathers and reductions in each layer
    const ExecutionGraph sharded = graph_of(problem, plan);
    double inside = 0.0;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
        inside += static_cast<double>(sharded.distribution[sharded.distribution_at(0, pass)].communication_s);
    }
    const double microbatches = sharded.program->shape.microbatches;
    EXPECT_GT(inside, 0.0);
    EXPECT_NEAR(saved(KernelClass::tp_collective), -0.5 * microbatches * inside, margin);
    EXPECT_NEAR(saved(KernelClass::sharded_all_gather) + saved(KernelClass::sharded_reduce_scatter),
                -0.5 * microbatches * inside, 2.0 * margin);
    EXPECT_LT(saved(KernelClass::sharded_all_gather), -0.1 * microbatches * inside);
    EXPECT_EQ(saved(KernelClass::tensor_collective), 0.0);
}

std::vector<WhatIf> examples(const Problem& problem)
{
    const std::vector<NoiseSource> sources = noise_sources(problem.cluster.tiers);
    std::vector<WhatIf> result{{}};
    for (const NoiseSource& source : sources) {
        result.push_back({Without{source}});
    }
    result.push_back({Without{sources[0]}, Without{sources[static_cast<std::size_t>(KernelClass::p2p)]}});
    result.push_back({Faster{KernelClass::gemm, 1.1}});
    result.push_back({Turned{{.target = HardwareTarget::bandwidth, .name = "node.bandwidth"}, 330e9}});
    return result;
}

/// Sources whose distribution the sampler does not see are drawn beside the plan as it is: results do not
/// change.
TEST(Sensitivity, WhatIsDrawnTogetherIsAsDrawnAlone)
{
    const Problem problem = all_vary();
    const ParallelPlan plan = plan_of(2, 2, 2);
    const std::vector<WhatIf> what_ifs = examples(problem);
    const std::vector<Consequence> together =
        consequences(problem, plan, what_ifs, {0, 128, 2}, with_seed(3));
    for (std::size_t i = 0; i < what_ifs.size(); ++i) {
        EXPECT_EQ(consequences(problem, plan, {what_ifs[i]}, {0, 128, 2}, with_seed(3)).front().all,
                  together[i].all)
            << i;
    }
}

/// What is judged without sections has a value and no limits; what cannot run says why.
TEST(Sensitivity, ReportsWhatItCannotEstimate)
{
    const Problem problem = all_vary();
    const WhatIf no_speed{
        Turned{{.target = HardwareTarget::power, .name = "power"}, 1.0}};  // below what it takes idle
    const std::vector<Consequence> found =
        consequences(problem, plan_of(2, 2, 2), {{}, no_speed}, {0, 64, 2}, with_seed(1));
    EXPECT_TRUE(std::isinf(combined({{1.0, found.data()}}, Figure::p99).high));
    ASSERT_TRUE(found[1].infeasible);
    EXPECT_EQ(found[1].infeasible->conflict, Conflict::no_clock_left);
}

Problem without_gpus()
{
    Variability v = lively_variability();
    v.gpu = {};
    return varied(v);
}

/// Common draws against two independent runs, one of them of a problem that never had the
/// source: as large, and better known.
TEST(Sensitivity, CommonDrawsGiveWhatIndependentRunsGive)
{
    const Problem with = varied(lively_variability());
    const Problem without_it = without_gpus();
    const ParallelPlan plan = plan_of(2, 2, 2);
    const WhatIf removed{Without{{NoiseKind::gpu, 0, "gpu"}}};
    const std::vector<Consequence> common =
        consequences(with, plan, {{}, removed}, {0, 4096, 2}, with_seed(1));
    const std::vector<Consequence> a = consequences(with, plan, {{}}, {0, 32768, 2}, with_seed(2));
    const std::vector<Consequence> b = consequences(without_it, plan, {{}}, {0, 32768, 2}, with_seed(3));
    for (const Figure figure :
         {Figure::p50, Figure::p95, Figure::p99, Figure::spread, Figure::cv, Figure::training_p99}) {
        const auto error = [](const Estimate& e) {
            return (e.high - e.low) / 2.0 / 2.13;
        };  // Student's t of 15 degrees
        const Estimate one = combined({{1.0, &common[1]}, {-1.0, common.data()}}, figure);
        const Estimate from = combined({{1.0, a.data()}}, figure);
        const Estimate to = combined({{1.0, b.data()}}, figure);
        const double brute = to.value - from.value;
        EXPECT_NEAR(
            one.value, brute,
            4.0 * std::sqrt(std::pow(error(one), 2) + std::pow(error(from), 2) + std::pow(error(to), 2)))
            << figure_names[static_cast<std::size_t>(figure)];
        EXPECT_LT(brute, 0.0);
        EXPECT_LT(one.value, 0.0);
    }
}

/// Of as many draws, independent runs would know a small change less well.
TEST(Sensitivity, CommonDrawsHaveSmallerErrors)
{
    const Problem problem = varied(lively_variability());
    const ParallelPlan plan = plan_of(2, 2, 2);
    const WhatIf gemm{Without{{NoiseKind::residual, 0, "gemm"}}};
    const std::vector<Consequence> common =
        consequences(problem, plan, {{}, gemm}, {0, 2048, 2}, with_seed(1));
    const std::vector<Consequence> other = consequences(problem, plan, {gemm}, {0, 2048, 2}, with_seed(2));
    const auto width = [&](const Consequence& changed, Figure figure) {
        const Estimate e = combined({{1.0, &changed}, {-1.0, common.data()}}, figure);
        return e.high - e.low;
    };
    for (const Figure figure : {Figure::p50, Figure::p95, Figure::cv}) {
        EXPECT_LT(width(common[1], figure), 0.5 * width(other[0], figure))
            << figure_names[static_cast<std::size_t>(figure)];
    }
}

/// How often 95 % limits hold what many draws say, of changes from large to hardly any.
TEST(SensitivityLimits, Cover)
{
    const Problem problem = varied(lively_variability());
    const ParallelPlan plan = plan_of(2, 2, 2);
    const WhatIf gemm{Without{{NoiseKind::residual, 0, "gemm"}}};
    const WhatIf gpu{Without{{NoiseKind::gpu, 0, "gpu"}}};
    const WhatIf faster{Faster{KernelClass::elementwise, 1.1}};
    const std::vector<WhatIf> what_ifs{{}, gemm, gpu, {gemm.front(), gpu.front()}, faster};
    const std::vector<std::string> names{"gemm", "gpu", "both", "faster", "interaction"};
    constexpr std::array judged{Figure::p50,    Figure::p95, Figure::p99,
                                Figure::spread, Figure::cv,  Figure::training_p99};
    const auto changes = [&](int fleets, std::uint64_t seed) {
        const std::vector<Consequence> o =
            consequences(problem, plan, what_ifs, {0, fleets, 2}, with_seed(seed));
        std::vector<Estimate> result;
        for (const Figure figure : judged) {
            for (std::size_t i = 1; i < o.size(); ++i) {
                result.push_back(combined({{1.0, &o[i]}, {-1.0, o.data()}}, figure));
            }
            result.push_back(combined({{1.0, &o[3]}, {-1.0, &o[1]}, {-1.0, &o[2]}, {1.0, o.data()}}, figure));
        }
        return result;
    };
    const std::vector<Estimate> truth = changes(1 << 17, 1000);
    constexpr int trials = 60;
    // 48: five standard deviations of a count with probability 0.95, as thirty are looked at for each
    // number of fleets; their sum to 92 %.
    constexpr int least = 48;
    for (const int fleets : {512, 2048}) {
        std::vector<int> covered(truth.size(), 0);
        int all = 0;
        for (int seed = 0; seed < trials; ++seed) {
            const std::vector<Estimate> found = changes(fleets, static_cast<std::uint64_t>(seed));
            for (std::size_t i = 0; i < truth.size(); ++i) {
                ASSERT_TRUE(std::isfinite(found[i].high));
                covered[i] += found[i].low <= truth[i].value && truth[i].value <= found[i].high ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < truth.size(); ++i) {
            const std::string what = names[i % names.size()] + "." +
                                     figure_names[static_cast<std::size_t>(judged[i / names.size()])];
            EXPECT_GE(covered[i], least) << what << ", fleets " << fleets;
            RecordProperty(what + "." + std::to_string(fleets), covered[i]);
            all += covered[i];
        }
        EXPECT_GE(all, static_cast<int>(truth.size()) * trials * 92 / 100) << fleets;
    }
}

}  // namespace
}  // namespace prismopt
