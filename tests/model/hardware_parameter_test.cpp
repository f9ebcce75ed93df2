#include "model/hardware_parameter.hpp"

#include "model/hardware/hardware_power.hpp"
#include "model/predictor.hpp"
#include "model/run_outlook.hpp"
#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

using namespace literals;

constexpr std::array tensor_widths{2};

Power usual() { return {"test", 0.9, 0.2, Watts{100.0}, 1.2, CarbonIntensity{1e-7}}; }

/// A problem whose energy follows the work.
Problem problem_of_work()
{
    Problem problem = example_problem(lively_variability(), 16, tensor_widths);
    problem.power = usual();
    Accelerator& accelerator = problem.cluster.accelerator;
    accelerator.peak_fp8 = 2.0 * accelerator.peak_bf16;
    accelerator = with_energy_of_work(accelerator, problem.power);
    return problem;
}

Hardware hardware_of(const Problem& problem) { return {problem.cluster, problem.reliability}; }

HardwareParameter parameter(HardwareTarget target, std::size_t tier = 0)
{
    return {.target = target, .tier = tier};
}

Hardware turned_one(const Problem& problem, const HardwareParameter& of, double value)
{
    return std::get<Hardware>(
        turned(hardware_of(problem), problem.power, std::span(&of, 1), std::span(&value, 1)));
}

Prediction predicted_by(const Problem& problem, const ParallelPlan& plan)
{
    Predictor predictor(problem);
    const SamplerOptions options{1, Purpose::search, 4};
    return predictor.summarise(plan, predictor.sample(plan, {0, 256, 2}, options), 2, options, Confidence{});
}

/// Energy beyond what all GPUs would draw if they waited for as long.
double energy_of_work(const Problem& problem, const Prediction& p)
{
    const double held_gpu_s = (p.gpus + p.run.spare_gpus) * p.training.mean.value;
    return p.run.energy_j.value -
           held_gpu_s *
               idle_power(problem.power, problem.cluster.accelerator.power, problem.cluster.added_power).si;
}

/// Operations and bytes are those of the work, however fast it is done.
TEST(HardwareParameter, FasterWorkAtEqualEnergyTakesEqualEnergyBeyondWaiting)
{
    const Problem problem = problem_of_work();
    for (const ParallelPlan& plan : {plan_of(2, 2, 2), plan_of(2, 1, 4), plan_of(2, 4, 2)}) {
        const Prediction before = predicted_by(problem, plan);
        const double work = energy_of_work(problem, before);
        EXPECT_GT(work, 0.0);
        for (const auto& [target, value] : {std::pair{HardwareTarget::compute, 2.0 * 312e12},
                                            std::pair{HardwareTarget::memory_bandwidth, 4e12},
                                            std::pair{HardwareTarget::bandwidth, 600e9}}) {
            Problem faster = problem;
            faster.cluster = turned_one(problem, parameter(target), value).cluster;
            const Prediction p = predicted_by(faster, plan);
            EXPECT_LT(p.training.mean.value, before.training.mean.value) << name(target);
            EXPECT_NEAR(energy_of_work(faster, p) / work, 1.0, 0.01) << name(target);
            EXPECT_GT(faster.cluster.accelerator.power.si + faster.cluster.added_power.si, 400.0)
                << name(target);
            EXPECT_NEAR(p.run.carbon_kg.value, 1e-7 * p.run.energy_j.value, 1e-9 * p.run.carbon_kg.value);
        }
    }
}

/// The energy of a step by hand: 6 FLOPs per parameter and token are most of it.
TEST(HardwareParameter, EnergyOfWorkIsThatOfItsOperations)
{
    Problem problem = problem_of_work();
    problem.cluster.accelerator.energy.memory = JoulesPerByte{1e-30};
    problem.reliability.node_failure_rate = PerSecond{0.0};
    const Prediction p = predicted_by(problem, plan_of(2, 2, 2));
    const double flops = model_flops_per_sequence(network_of(problem.workload), 2048) / 2048.0 * p.tokens;
    const double by_hand = problem.power.pue * flops * problem.cluster.accelerator.energy.bf16.si;
    EXPECT_GE(energy_of_work(problem, p), by_hand * (1.0 - 1e-9));
    // A fused backward pass of attention computes scores again.
    EXPECT_LT(energy_of_work(problem, p), 1.1 * by_hand);
}

/// A recomputed layer works twice.
TEST(HardwareParameter, RecomputeTakesEnergy)
{
    const Problem problem = problem_of_work();
    ParallelPlan plan = plan_of(2, 2, 2);
    const double plain = energy_of_work(problem, predicted_by(problem, plan));
    plan.recompute = Recompute::full;
    const double again = energy_of_work(problem, predicted_by(problem, plan)) / plain;
    EXPECT_GT(again, 1.2);
    EXPECT_LT(again, 1.34);
    plan.recomputed_layers = 8;
    EXPECT_NEAR(energy_of_work(problem, predicted_by(problem, plan)) / plain, 1.0 + 0.5 * (again - 1.0),
                0.01);
}

TEST(HardwareParameter, BoundsOfEnergyLieBelowIt)
{
    Problem problem = problem_of_work();
    problem.power.electricity_price = DollarsPerJoule{1.0 / 3.6e6};
    problem.cluster.gpu_price = DollarsPerSecond{0.01 / 3600.0};  // next to nothing
    for (const ParallelPlan& plan : {plan_of(2, 2, 2), plan_of(2, 1, 4), plan_of(2, 4, 1)}) {
        Predictor predictor(problem);
        const auto bound = std::get<NoiseFree>(predictor.bound(plan));
        const Prediction p = predicted_by(problem, plan);
        EXPECT_LE(bound.energy_j, p.run.energy_j.high);
        EXPECT_GE(bound.energy_j, 0.7 * p.run.energy_j.value);
        EXPECT_LE(bound.cost_usd, p.expected_cost_usd.high);
        EXPECT_LE(bound.cost_p99_usd, p.cost_usd.high);
        EXPECT_LE(bound.carbon_kg, p.run.carbon_kg.high);
        // Before a plan is compiled, a bound for all plans.
        Cutoff any([](const NoiseFree&) { return true; });
        EXPECT_LE(std::get<NoiseFree>(predictor.bound(plan, any)).energy_j, bound.energy_j * (1.0 + 1e-9));
        PlanCompiler compiler(setting_of(problem, problem.phases.front()));
        EXPECT_LE(compiler.least_step_energy().si, compiler.step_energy(plan).si);
        EXPECT_GT(compiler.least_step_energy().si, 0.5 * compiler.step_energy(plan).si);
    }
}

/// A peak of one precision, and half the energy of its operations.
TEST(HardwareParameter, OfOnePrecision)
{
    const Problem problem = problem_of_work();
    const double energy = problem.cluster.accelerator.energy.fp8.si;
    const HardwareParameter fp8{
        .target = HardwareTarget::compute, .precision = Precision::fp8, .energy = 0.5 * energy};
    const Accelerator changed = turned_one(problem, fp8, 4.0 * 312e12).cluster.accelerator;
    EXPECT_EQ(changed.peak_fp8.si, 4.0 * 312e12);
    EXPECT_EQ(changed.peak_bf16.si, 312e12);
    EXPECT_EQ(changed.energy.fp8.si, 0.5 * energy);
    EXPECT_EQ(changed.energy.bf16.si, problem.cluster.accelerator.energy.bf16.si);
    EXPECT_NEAR(changed.power.si, 400.0, 1e-9);  // twice the rate, half the energy
    EXPECT_EQ(value_of(fp8, problem.cluster), 2.0 * 312e12);
}

/// All precisions first, then one of them; the board limit is for the board that results.
TEST(HardwareParameter, AreTurnedInAnyOrder)
{
    const Problem problem = problem_of_work();
    const std::vector<HardwareParameter> all{parameter(HardwareTarget::power),
                                             {.target = HardwareTarget::compute, .precision = Precision::fp8},
                                             parameter(HardwareTarget::compute)};
    const std::vector<double> values{300.0, 1e15, 400e12};
    const Accelerator one =
        std::get<Hardware>(turned(hardware_of(problem), problem.power, all, values)).cluster.accelerator;
    const std::vector<HardwareParameter> reversed{all.rbegin(), all.rend()};
    const std::vector<double> reversed_values{values.rbegin(), values.rend()};
    EXPECT_EQ(one, std::get<Hardware>(turned(hardware_of(problem), problem.power, reversed, reversed_values))
                       .cluster.accelerator);
    EXPECT_EQ(one.power.si, 300.0);
    EXPECT_LT(one.peak_bf16.si, 400e12);
    EXPECT_NEAR(one.peak_fp8 / one.peak_bf16, 2.5, 1e-12);
    EXPECT_LT(one.energy.bf16.si, problem.cluster.accelerator.energy.bf16.si);  // at a lower voltage
}

/// Peaks are those of a board without a lower limit: a higher one has nothing to give.
TEST(HardwareParameter, NoBoardLimitRaisesPeaksBeyondTheDeclaredOnes)
{
    for (const Problem& problem :
         {example_problem(lively_variability(), 16, tensor_widths), problem_of_work()}) {
        const Accelerator& base = problem.cluster.accelerator;
        for (const double factor : {1.0, 1.5, 70.0}) {
            EXPECT_EQ(turned_one(problem, parameter(HardwareTarget::power), factor * base.power.si)
                          .cluster.accelerator,
                      base)
                << factor;
        }
        const Accelerator lower =
            turned_one(problem, parameter(HardwareTarget::power), 0.6 * base.power.si).cluster.accelerator;
        EXPECT_NEAR(lower.peak_bf16 / base.peak_bf16, std::cbrt(0.5), 1e-12);
    }
}

/// A board of less energy per operation needs less power for its peaks; the limit
/// of the base leaves it as fast.
TEST(HardwareParameter, BaseValuesLeaveTheSpeedWithAnyEnergy)
{
    const Problem problem = problem_of_work();
    const Accelerator& base = problem.cluster.accelerator;
    HardwareParameter compute = parameter(HardwareTarget::compute);
    compute.energy = 0.5 * base.energy.bf16.si;
    const std::vector<HardwareParameter> both{compute, parameter(HardwareTarget::power)};
    const auto with = [&](double peak, double watts) {
        const std::vector<double> values{peak, watts};
        return std::get<Hardware>(turned(hardware_of(problem), problem.power, both, values))
            .cluster.accelerator;
    };
    const Accelerator same = with(base.peak_bf16.si, base.power.si);
    EXPECT_EQ(same.peak_bf16, base.peak_bf16);
    EXPECT_EQ(same.peak_fp8, base.peak_fp8);
    EXPECT_LT(same.power, base.power);
    // Three times the peaks at half the energy need more than the base has: the higher limit is of use.
    const double thrice = 3.0 * base.peak_bf16.si;
    EXPECT_LT(with(thrice, base.power.si).peak_bf16, with(thrice, 1.2 * base.power.si).peak_bf16);
    EXPECT_EQ(with(thrice, 3.0 * base.power.si).peak_bf16.si, thrice);
}

TEST(HardwareParameter, LinksDrawPowerByTheirBandwidth)
{
    const Problem problem = problem_of_work();
    HardwareParameter pods = parameter(HardwareTarget::bandwidth, 1);
    EXPECT_NEAR(turned_one(problem, pods, 50e9).cluster.added_power.si, 25e9 * 900e-12, 1e-9);
    EXPECT_NEAR(turned_one(problem, pods, 25e9).cluster.added_power.si, 0.0, 1e-12);
    pods.energy = 5.0 * 8e-12;
    EXPECT_NEAR(turned_one(problem, pods, 50e9).cluster.added_power.si, 50e9 * 40e-12 - 25e9 * 900e-12, 1e-9);
    HardwareParameter memory = parameter(HardwareTarget::memory);
    memory.power_per_unit = 6.0 / 24e9;
    const Cluster larger = turned_one(problem, memory, 104e9).cluster;
    EXPECT_NEAR(larger.added_power.si, 6.0, 1e-9);
    EXPECT_DOUBLE_EQ(idle_power(problem.power, Watts{400.0}, larger.added_power).si,
                     1.2 * (0.2 * 400.0 + 100.0 + 6.0));
}

/// Why this value is refused; nothing if it can be built.
std::optional<Conflict> conflict_of(const Problem& problem, const HardwareParameter& of, double value,
                                    const AddedPerGpu& added = {})
{
    const auto hardware =
        turned(hardware_of(problem), problem.power, std::span(&of, 1), std::span(&value, 1), added);
    const auto* why = std::get_if<Infeasible>(&hardware);
    return why == nullptr ? std::nullopt : std::optional(why->conflict);
}

/// A host of 100 W does not include links of 180 W.
TEST(HardwareParameter, LinksSaveNoMoreThanTheHostHas)
{
    Problem problem = problem_of_work();
    const HardwareParameter pods = parameter(HardwareTarget::bandwidth, 1);
    EXPECT_EQ(conflict_of(problem, pods, 1e9), std::nullopt);
    problem.cluster.tiers[1].bandwidth = BytesPerSecond{200e9};
    EXPECT_EQ(conflict_of(problem, pods, 200e9), std::nullopt);
    EXPECT_EQ(conflict_of(problem, pods, 100e9), std::nullopt);
    EXPECT_EQ(conflict_of(problem, pods, 50e9), Conflict::links_over_host);
    // The same from hardware in between, which leaves 10 W of the host.
    Problem between = problem;
    between.cluster = turned_one(problem, pods, 100e9).cluster;
    EXPECT_NEAR(between.cluster.added_link_power.si, -90.0, 1e-9);
    EXPECT_EQ(conflict_of(between, pods, 200e9), std::nullopt);
    EXPECT_EQ(conflict_of(between, pods, 85e9), Conflict::links_over_host);
    problem.power.host = Watts{400.0};
    EXPECT_EQ(conflict_of(problem, pods, 1e9), std::nullopt);
}

/// A board waits at 80 W beside a host of 100 W.
TEST(HardwareParameter, LeavesAWaitingGpuPower)
{
    const Problem problem = problem_of_work();
    const HardwareParameter memory = parameter(HardwareTarget::memory);
    EXPECT_EQ(conflict_of(problem, memory, 80e9, {.power = Watts{-170.0}}), std::nullopt);
    EXPECT_EQ(conflict_of(problem, memory, 80e9, {.power = Watts{-190.0}}), Conflict::no_power_left);
    HardwareParameter drawing = memory;
    drawing.power_per_unit = 10.0 / 1e9;
    EXPECT_EQ(conflict_of(problem, drawing, 70e9), std::nullopt);
    EXPECT_EQ(conflict_of(problem, drawing, 60e9), Conflict::no_power_left);
}

/// More failures than can be counted are no error.
TEST(HardwareParameter, OfRunsThatNeverFinishAreInfeasible)
{
    const Problem problem = problem_of_work();
    for (const auto& [target, value] :
         {std::pair{HardwareTarget::latency, 1e9}, std::pair{HardwareTarget::latency, 1e15},
          std::pair{HardwareTarget::bandwidth, 1.0}, std::pair{HardwareTarget::memory_bandwidth, 1.0}}) {
        Problem slow = problem;
        slow.cluster = turned_one(problem, parameter(target), value).cluster;
        const auto bound = Predictor(slow).bound(plan_of(2, 2, 2));
        ASSERT_TRUE(std::holds_alternative<Infeasible>(bound)) << name(target) << ' ' << value;
        EXPECT_EQ(std::get<Infeasible>(bound).reason(), Reason::never_ends);
    }
}

/// Half the failures, of nodes twice as large.
TEST(HardwareParameter, FailureRatesAreThoseOfTheClustersNodes)
{
    Problem problem = problem_of_work();
    std::vector<Cause>& causes = problem.reliability.causes;
    causes.resize(2);
    causes[0].rate = PerSecond{1e-8};
    causes[1].rate = PerSecond{1e-9};
    causes[1].of = RateOf::job;
    const double before = problem.reliability.node_failure_rate.si + 1e-8;
    const HardwareParameter rate = parameter(HardwareTarget::failure_rate);
    EXPECT_DOUBLE_EQ(value_of(rate, hardware_of(problem)), before);
    const std::vector<HardwareParameter> both{rate, parameter(HardwareTarget::group)};
    const std::vector<double> values{0.5 * before, 16.0};
    const Reliability changed =
        std::get<Hardware>(turned(hardware_of(problem), problem.power, both, values)).reliability;
    EXPECT_DOUBLE_EQ(changed.node_failure_rate.si, problem.reliability.node_failure_rate.si);
    EXPECT_DOUBLE_EQ(changed.causes[0].rate.si, 1e-8);
    EXPECT_DOUBLE_EQ(changed.causes[1].rate.si, 1e-9);
}

TEST(HardwareParameter, NamesTiersThatDoNotNest)
{
    Cluster cluster = example_cluster(4096);
    EXPECT_FALSE(unnested_tiers(cluster).has_value());
    cluster.tiers[0].group_gpus = 24;
    EXPECT_EQ(unnested_tiers(cluster)->inner, 0U);
    EXPECT_EQ(unnested_tiers(cluster)->outer, 1U);
    cluster.tiers[1].group_gpus = 72;
    // The last tier joins all, also the last group in part.
    EXPECT_FALSE(unnested_tiers(cluster).has_value());
    cluster.tiers[1].group_gpus = 9600;
    EXPECT_FALSE(unnested_tiers(cluster)->inner == 0U);
}

/// The rows of the table are in the order of the enumeration.
TEST(HardwareParameter, RowsAreThoseOfTheirTargets)
{
    ASSERT_EQ(hardware_target_rows.size(), names_of<HardwareTarget>.size());
    for (const auto& [target, name] : names_of<HardwareTarget>) {
        EXPECT_EQ(row_of(target).target, target) << name;
        EXPECT_FALSE(row_of(target).example.empty()) << name;
        EXPECT_FALSE(row_of(target).si_unit.empty()) << name;
    }
}

}  // namespace
}  // namespace prismopt
