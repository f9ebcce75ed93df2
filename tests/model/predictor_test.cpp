#include "model/predictor.hpp"

#include "model/base/statistics.hpp"

#include "model/plan/phase.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array widths{2};

/// A job whose steps vary much more than its fleets, so that averaging few steps
/// leaves noise in a fleet's mean.
Problem noisy_steps()
{
    Variability v;
    v.gpu = {Normal{0.01}, {}, 20.0, "test"};
    v.common_compute = {Normal{0.02}, {}, 20.0, "test"};
    Problem problem = example_problem(v, 4, widths);
    problem.reliability.node_failure_rate = PerSecond{0.0};
    return problem;
}

ParallelPlan small_plan()
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 2;
    return plan;
}

/// Measured over predicted time, at reported_probabilities.
std::vector<double> error_of_model()
{
    std::vector<double> quantiles;
    for (const double probability : reported_probabilities) {
        quantiles.push_back(std::exp(0.05 * normal_quantile(probability)));
    }
    return quantiles;
}

Prediction predict(Predictor& predictor, int fleets, int steps, std::uint64_t seed)
{
    const SamplerOptions options{seed, Purpose::search, 4};
    const PhaseDraws draws = predictor.sample(small_plan(), {0, fleets, steps}, options);
    return predictor.summarise(small_plan(), draws, steps, options, Confidence{}, error_of_model());
}

bool covers(const Estimate& e, double truth) { return e.low <= truth && truth <= e.high; }

TEST(Predictor, TrainingIntervalsCoverTheTruth)
{
    Problem problem = noisy_steps();
    problem.promise = {.probability = 0.9, .model_error = true};
    problem.percents = {80};
    Predictor predictor(problem);
    // 200 steps per fleet leave next to no noise in its mean.
    const Prediction truth = predict(predictor, 8192, 200, 99);
    constexpr int seeds = 200;
    int mean = 0;
    int promised = 0;
    int p80 = 0;
    int p95 = 0;
    int p99 = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        const Prediction p = predict(predictor, 1024, 2, static_cast<std::uint64_t>(seed));
        mean += covers(p.training.mean, truth.training.mean.value) ? 1 : 0;
        promised += covers(p.promised, truth.promised.value) ? 1 : 0;
        p80 += covers(p.training.asked.front().time, truth.training.asked.front().time.value) ? 1 : 0;
        p95 += covers(p.training.p95, truth.training.p95.value) ? 1 : 0;
        p99 += covers(p.training.p99, truth.training.p99.value) ? 1 : 0;
    }
    // Three standard deviations of a count with probability 0.95.
    const int least = static_cast<int>(seeds * 0.95 - 3.0 * std::sqrt(seeds * 0.95 * 0.05));
    EXPECT_GE(mean, least);
    EXPECT_GE(p80, least);
    EXPECT_GE(p95, least);
    EXPECT_GE(p99, least);
    EXPECT_GE(promised, least);
    EXPECT_GT(truth.promised.value, 1.02 * truth.training.p95.value)
        << "the error of the model is most of it";
    EXPECT_LT(mean, seeds);  // nor do they cover by being endless
}

/// A block of fleets supports few limits. A time is not negative, and what is not
/// priced costs nothing for sure.
TEST(Predictor, LimitsOfFewFleetsAreNumbersFromZeroOn)
{
    Variability v;
    v.gpu = {LogNormal{5.0}, {}, 200.0, "test"};
    Problem problem = example_problem(v, 4, widths);
    problem.power.carbon.si = 0.0;
    problem.cluster.gpu_price.si = 0.0;
    Predictor predictor(problem);
    int clamped = 0;
    int endless = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Prediction p = predict(predictor, block_fleets, 2, seed);
        for (const Estimate& e : {p.step.mean, p.step.p50, p.step.p99, p.training.mean, p.training.p50,
                                  p.training.p99, p.run.energy_j, p.cost_usd, p.run.carbon_kg}) {
            EXPECT_GE(e.simultaneous_low, 0.0);
            EXPECT_GE(e.low, e.simultaneous_low);
            EXPECT_GE(e.value, e.low);
            EXPECT_GE(e.high, e.value);
            EXPECT_GE(e.simultaneous_high, e.high);
            clamped += e.simultaneous_low == 0.0 && e.value > 0.0 ? 1 : 0;
            endless += std::isinf(e.high) ? 1 : 0;
        }
        EXPECT_EQ(p.cost_usd.simultaneous_high, 0.0);
        EXPECT_EQ(p.run.carbon_kg.simultaneous_high, 0.0);
    }
    EXPECT_GT(clamped, 0);  // by Student's t
    EXPECT_GT(endless, 0);  // no order statistic of a block is an upper limit of its p99
}

/// Two steps per fleet leave a fleet's mean half noise; the training time must not show it. With one phase
/// and with two, which share their draws.
TEST(Predictor, FewStepsPerFleetDoNotBiasTheTrainingTime)
{
    for (const std::size_t phases : {1UL, 2UL}) {
        Problem problem = noisy_steps();
        problem.phases.resize(phases, problem.phases.front());
        Predictor predictor(problem);
        constexpr int fleets = 2048;
        const TimeDistribution few = predict(predictor, 8 * fleets, 2, 5).training;
        const TimeDistribution many = predict(predictor, fleets, 200, 99).training;
        // The reported limits are 1.96 standard errors away.
        const auto error = [](const Estimate& e) { return (e.high - e.low) / (2.0 * 1.96); };
        const auto compare = [&](const char* name, const Estimate& a, const Estimate& b) {
            const double joint = std::hypot(error(a), error(b));
            EXPECT_NEAR(a.value, b.value, 0.0025 * b.value + 3.0 * error(b))
                << name << ", " << phases << " phases";
            EXPECT_NEAR(a.value, b.value, 4.0 * joint) << name << ", " << phases << " phases";
            RecordProperty(std::string(name) + ", " + std::to_string(phases) + " phases, bias and error in %",
                           std::to_string(100.0 * (a.value / b.value - 1.0)) + " +- " +
                               std::to_string(100.0 * joint / b.value));
        };
        compare("mean", few.mean, many.mean);
        compare("p50", few.p50, many.p50);
        compare("p99", few.p99, many.p99);
    }
}

/// A chunk with the embedding alone has no weights' gradients to compute; replicas that share
/// their gradients are drawn as sets.
TEST(Predictor, DrawsChunksWithoutLayers)
{
    Problem problem = example_problem(lively_variability(), 32, widths);
    problem.workload = example_workload(6);
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 4;
    plan.chunks = 2;
    plan.dp = 4;
    plan.sharding = Sharding::zero2;
    plan.split = LayerSplit::slots;
    Predictor predictor(problem);
    const SamplerOptions options{1, Purpose::search, 4};
    for (const Schedule schedule : {Schedule::zb_v, Schedule::v_half, Schedule::v_min}) {
        plan.schedule = schedule;
        ASSERT_TRUE(std::holds_alternative<NoiseFree>(predictor.bound(plan)));
        const PhaseDraws draws = predictor.sample(plan, {0, 128, 2}, options);
        const Prediction p = predictor.summarise(plan, draws, 2, options, Confidence{});
        // Jensen: the step is convex in durations.
        EXPECT_GT(p.step.mean.value, p.noise_free_step_s) << static_cast<int>(schedule);
    }
}

TEST(Predictor, WithoutNoiseAllQuantilesAreTheMean)
{
    Problem problem = example_problem(Variability{}, 4, widths);
    problem.reliability.node_failure_rate = PerSecond{0.0};
    Predictor predictor(problem);
    for (const int fleets : {64, 2048}) {
        const Prediction p = predict(predictor, fleets, 2, 1);
        // In single precision.
        EXPECT_NEAR(p.step.p99.value, p.noise_free_step_s, 1e-5 * p.noise_free_step_s);
        for (const Estimate& e : {p.training.p50, p.training.p95, p.training.p99}) {
            EXPECT_NEAR(e.value, p.training.mean.value, 1e-9 * p.training.mean.value);
        }
    }
}

TEST(Predictor, BoundIsBelowWhatIsDrawn)
{
    for (const Variability& variability : {Variability{}, lively_variability()}) {
        Problem problem = example_problem(variability, 16, widths);
        problem.workload.layouts = {
            chunks_of_units(std::vector{problem.workload.layers() / 2, problem.workload.layers() / 2 + 2})};
        problem.percents = {40, 80, 90};
        Predictor predictor(problem);
        for (const auto& [split, pp] : {std::pair{LayerSplit::layers, small_plan().pp},
                                        {LayerSplit::balanced, 4},
                                        {LayerSplit::given, 2}}) {
            ParallelPlan plan = small_plan();
            plan.pp = pp;
            plan.split = split;
            Cutoff never([](const NoiseFree&) { return false; });
            const auto bound = std::get<NoiseFree>(predictor.bound(plan, never));
            const SamplerOptions options{1, Purpose::search, 1};
            const Prediction p = predictor.summarise(plan, predictor.sample(plan, {0, 512, 2}, options), 2,
                                                     options, Confidence{});
            EXPECT_LT(bound.step_s, p.step.mean.high) << name(split);
            EXPECT_LE(bound.training_s, p.training.mean.high) << name(split);
            EXPECT_LE(bound.training_asked_s, p.training.asked[1].time.high) << name(split);
            EXPECT_GT(bound.training_asked_s, 0.9 * bound.training_s) << name(split);
            EXPECT_LE(p.training.asked[1].time.value, p.training.asked[2].time.value) << name(split);
            // Less causes that are too rare for it.
            EXPECT_GE(bound.training_p95_s, 0.999 * bound.training_s) << name(split);
            EXPECT_GE(bound.training_p99_s, bound.training_p95_s) << name(split);
            EXPECT_LE(bound.training_p99_s, p.training.p99.high) << name(split);
            EXPECT_LE(bound.cost_p99_usd, p.cost_usd.high) << name(split);
            EXPECT_EQ(bound.memory_bytes, p.memory.total().si) << name(split);
        }
    }
}

TEST(Predictor, PhasesAddUp)
{
    Problem problem = noisy_steps();
    Predictor alone(problem);
    const double one = predict(alone, 64, 2, 1).training.mean.value;
    problem.phases.push_back(problem.phases.front());
    Predictor both(problem);
    const Prediction two = predict(both, 64, 2, 1);
    // Equal phases draw equal steps, and without failures the run is as much longer as its checkpoints allow.
    EXPECT_NEAR(two.training.mean.value, 2.0 * one, 2.0 * problem.reliability.checkpoint_write.si);
}

TEST(Predictor, RefusesARunThatNeverEnds)
{
    Problem problem = noisy_steps();
    problem.phases.front().tokens = 1e20;
    Predictor predictor(problem);
    const auto bound = predictor.bound(small_plan());
    ASSERT_TRUE(std::holds_alternative<Infeasible>(bound));
    EXPECT_EQ(std::get<Infeasible>(bound).reason(), Reason::never_ends);
}

TEST(Predictor, RefusesCheckpointsAndSparesThatDoNotSuit)
{
    Problem problem = noisy_steps();
    const auto reason = [&](const ParallelPlan& plan) {
        Predictor predictor(problem);
        const auto bound = predictor.bound(plan);
        const auto* refusal = std::get_if<Infeasible>(&bound);
        return refusal == nullptr ? std::string() : refusal->category();
    };
    EXPECT_EQ(reason(small_plan()), "");
    ParallelPlan rarely = small_plan();
    rarely.checkpoint_interval = Seconds{1e12};
    EXPECT_EQ(reason(rarely), "");  // no checkpoint at all
    problem.reliability.node_failure_rate = PerSecond{100.0 / 86400.0};
    EXPECT_EQ(reason(rarely), "run never finishes");
    problem.phases.front().tokens *= 1e-6;
    EXPECT_EQ(reason(rarely), "");  // not many failures fall into so short a run
    problem = noisy_steps();
    ParallelPlan hoarding = small_plan();
    hoarding.spares = 512;  // of 512 nodes
    EXPECT_EQ(reason(hoarding), "more spares than nodes");
    hoarding.spares = 511;
    EXPECT_EQ(reason(hoarding), "");
    problem.reliability.write = CheckpointWrite::asynchronous;
    problem.reliability.checkpoint_write = Seconds{4000.0};
    EXPECT_EQ(reason(small_plan()), "checkpoints overlap");
}

TEST(Predictor, ReportsLossesDeadlineAndEnergy)
{
    Problem problem = noisy_steps();
    problem.reliability.node_failure_rate = PerSecond{0.1 / 86400.0};
    problem.power = {"test", 0.5, 0.1, Watts{100.0}, 2.0, CarbonIntensity{1e-7}};
    Predictor first(problem);
    const Prediction p = predict(first, 1024, 2, 1);
    ASSERT_EQ(p.run.losses.size(), 1U);
    EXPECT_GT(p.run.losses[0].loss.failures, 0.0);
    const double down_gpu_s = p.run.checkpoint_gpu_s + p.run.losses[0].loss.down_gpu_s;
    const double computing_gpu_s = p.gpus * p.training.mean.value - down_gpu_s;
    EXPECT_GT(down_gpu_s, 0.005 * computing_gpu_s);
    EXPECT_NEAR(p.run.energy_j.value / (2.0 * (0.5 * 400.0 + 100.0) * computing_gpu_s +
                                        2.0 * (0.1 * 400.0 + 100.0) * down_gpu_s),
                1.0, 1e-9);
    EXPECT_DOUBLE_EQ(p.run.carbon_kg.value, 1e-7 * p.run.energy_j.value);
    const double lost =
        p.run.checkpoint_gpu_s + p.run.losses[0].loss.rework_gpu_s + p.run.losses[0].loss.down_gpu_s;
    EXPECT_NEAR(lost / (p.gpus * p.training.mean.value), 1.0 - p.ettr, 1e-9);
    const RunOutlook& run = p.run;
    EXPECT_NEAR((run.checkpoint_s + run.rework_s + run.restart_s + run.waiting_s) / p.training.mean.value,
                1.0 - p.ettr, 1e-9);
    EXPECT_NEAR(run.checkpoint_s * p.gpus, run.checkpoint_gpu_s, 1e-6 * run.checkpoint_gpu_s);
    problem.deadline = Seconds{p.training.p50.value};
    Predictor second(problem);
    const Estimate half = predict(second, 1024, 2, 1).run.miss_probability;
    EXPECT_NEAR(half.value, 0.5, 1e-3);
    EXPECT_LT(half.low, 0.5 - 0.02);
    EXPECT_GT(half.high, 0.5 + 0.02);
}

/// A job that waits for repairs most of its time draws little more than idle power,
/// and no more than its bound says.
TEST(Predictor, WaitsAtIdlePower)
{
    Problem problem = noisy_steps();
    problem.power = {"test", 0.9, 0.1, Watts{0.0}, 1.0, CarbonIntensity{1e-7}};
    Cause cause;
    cause.name = "node";
    cause.rate = PerSecond{1.0 / 86400.0};
    cause.repair = Seconds{20.0 * 86400.0};
    problem.reliability.causes = {cause};
    problem.reliability.spares = 0;
    Predictor predictor(problem);
    const Prediction p = predict(predictor, 1024, 2, 1);
    EXPECT_LT(p.ettr, 0.2);
    const double held_gpu_s = p.gpus * p.training.mean.value;
    EXPECT_GT(p.run.energy_j.value, 0.1 * 400.0 * held_gpu_s);
    EXPECT_LT(p.run.energy_j.value, (0.1 + 0.2 * 0.8) * 400.0 * held_gpu_s);
    EXPECT_LE(std::get<NoiseFree>(predictor.bound(small_plan())).energy_j, p.run.energy_j.value);
}

/// Power by hand: boards of 400 W, half of it in training and a tenth waiting, hosts of 100 W, PUE
/// 2; electricity at 0.1 USD/kWh.
TEST(Predictor, ElectricityIsEnergyTimesPrice)
{
    Problem problem = noisy_steps();
    problem.reliability.node_failure_rate = PerSecond{0.1 / 86400.0};
    problem.reliability.spares = 1;
    problem.power = {"test", 0.5, 0.1, Watts{100.0}, 2.0, CarbonIntensity{0.0}};
    Predictor without(problem);
    const Prediction rented = predict(without, 1024, 2, 1);
    problem.power.electricity_price = DollarsPerJoule{0.1 / 3.6e6};
    Predictor with(problem);
    const Prediction p = predict(with, 1024, 2, 1);
    EXPECT_EQ(rented.run.electricity_usd.value, 0.0);
    EXPECT_EQ(rented.run.electricity_usd.simultaneous_high, 0.0);

    constexpr double busy_w = 2.0 * (0.5 * 400.0 + 100.0);
    constexpr double idle_w = 2.0 * (0.1 * 400.0 + 100.0);
    constexpr double spares = 8.0;  // a node
    EXPECT_DOUBLE_EQ(p.run.power_w, 4.0 * busy_w + spares * idle_w);
    EXPECT_DOUBLE_EQ(p.run.cluster_power_w, 4.0 * busy_w + (problem.cluster.gpus - 4.0) * idle_w);
    EXPECT_DOUBLE_EQ(p.run.mean_power_w * p.training.mean.value, p.run.energy_j.value);
    EXPECT_LT(p.run.mean_power_w, p.run.power_w);

    constexpr double usd_per_j = 0.1 / 3.6e6;
    EXPECT_NEAR(p.expected_cost_usd.value - rented.expected_cost_usd.value, usd_per_j * p.run.energy_j.value,
                1e-9 * p.expected_cost_usd.value);
    // At the p99 time: the same training, and waiting for the rest.
    const double trained_gpu_s =
        (p.run.energy_j.value - 12.0 * p.training.mean.value * idle_w) / (busy_w - idle_w);
    const auto priced = [&](double seconds) {
        return usd_per_j * (busy_w * trained_gpu_s + idle_w * (12.0 * seconds - trained_gpu_s));
    };
    for (double Estimate::*of : {&Estimate::value, &Estimate::low, &Estimate::high}) {
        const double electricity = p.run.electricity_usd.*of;
        EXPECT_NEAR(electricity / priced(p.training.p99.*of), 1.0, 1e-9);
        EXPECT_NEAR(p.cost_usd.*of - rented.cost_usd.*of, electricity, 1e-9 * p.cost_usd.*of);
    }
}

/// Bounds of costs with electricity lie below what is drawn, whether runs train or wait most of their time.
TEST(Predictor, BoundsOfCostIncludeElectricity)
{
    for (const double failures_a_day : {0.0, 0.1, 1.0}) {
        for (const double idle_share : {0.0, 0.2, 0.9}) {
            Problem problem = example_problem(lively_variability(), 16, widths);
            problem.reliability.node_failure_rate = PerSecond{failures_a_day / 86400.0};
            problem.power = {
                "test", 0.9, idle_share, Watts{0.0}, 1.5, CarbonIntensity{0.0}, DollarsPerJoule{1.0 / 3.6e6}};
            problem.cluster.gpu_price = DollarsPerSecond{0.01 / 3600.0};  // next to nothing
            Predictor predictor(problem);
            const auto bound = std::get<NoiseFree>(predictor.bound(small_plan()));
            const Prediction p = predict(predictor, 512, 2, 1);
            EXPECT_LE(bound.cost_usd, p.expected_cost_usd.high) << failures_a_day << ' ' << idle_share;
            EXPECT_LE(bound.cost_p99_usd, p.cost_usd.high) << failures_a_day << ' ' << idle_share;
            EXPECT_GE(bound.cost_usd, 0.7 * p.expected_cost_usd.value) << failures_a_day << ' ' << idle_share;
            EXPECT_EQ(bound.cluster_power_w, p.run.cluster_power_w);
        }
    }
}

/// Spares are paid for; a slower or faster machine lately widens the training time.
TEST(Predictor, PaysForSparesAndDrifts)
{
    Problem problem = noisy_steps();
    Predictor first(problem);
    const Prediction plain = predict(first, 1024, 2, 1);
    problem.reliability.spares = 1;
    Predictor second(problem);
    const Prediction spare = predict(second, 1024, 2, 1);
    EXPECT_DOUBLE_EQ(spare.expected_cost_usd.value, plain.expected_cost_usd.value * (4.0 + 8.0) / 4.0);
    problem.reliability.drift = {0.05, Seconds{1e9}};
    Predictor third(problem);
    const Prediction drifting = predict(third, 1024, 2, 1);
    EXPECT_GT(drifting.training.p99.value, plain.training.p99.value * 1.08);  // 2.3 deviations of 5 %
    EXPECT_NEAR(drifting.training.mean.value, plain.training.mean.value,
                4.0 * 0.05 / 32.0 * plain.training.mean.value);
}

/// A second phase on twice the GPUs, with contexts shared by two: its own plan, the same fleet and history.
TEST(Predictor, RunsAPhaseOnItsOwnGpus)
{
    constexpr std::array both_widths{2, 4};
    Problem problem = example_problem(lively_variability(), 8, both_widths);
    problem.reliability.node_failure_rate = PerSecond{2.0 / 86400.0};
    Phase second = problem.phases.front();
    second.sequence *= 2;
    second.global_batch /= 2;
    second.own.gpus = 16;
    second.own.cp = 2;
    const auto training = [&](const std::vector<Phase>& phases) {
        Problem p = problem;
        p.phases = phases;
        Predictor predictor(p);
        const auto bound = std::get<NoiseFree>(predictor.bound(small_plan()));
        const Prediction prediction = predict(predictor, 1024, 2, 1);
        EXPECT_LE(bound.training_s, prediction.training.mean.high);
        return prediction;
    };
    const Phase first = problem.phases.front();
    Phase alone = second;
    alone.own = {};
    ParallelPlan wide = small_plan();
    wide.cp = 2;
    wide.dp = 2;
    ASSERT_EQ(plan_in_phase(small_plan(), second).gpus(), wide.gpus());
    const Prediction both = training({first, second});
    const Prediction one = training({first});
    Problem other = problem;
    other.phases = {alone};
    Predictor predictor(other);
    const SamplerOptions options{1, Purpose::search, 4};
    const Prediction two =
        predictor.summarise(wide, predictor.sample(wide, {0, 1024, 2}, options), 2, options, Confidence{});
    const double sum = one.training.mean.value + two.training.mean.value;
    EXPECT_NEAR(both.training.mean.value, sum, 0.01 * sum);
    EXPECT_EQ(both.gpus, 16);
    const double failures = one.run.losses[0].loss.failures + two.run.losses[0].loss.failures;
    EXPECT_NEAR(both.run.losses[0].loss.failures, failures, 0.1 * failures);
}

/// A later phase may run another plan altogether: the first runs as it does
/// alone, the second as that plan does.
TEST(Predictor, RunsAPhaseByItsOwnPlan)
{
    constexpr std::array both_widths{1, 2};
    Problem problem = example_problem(lively_variability(), 8, both_widths);
    ParallelPlan other = small_plan();
    other.tp = 1;
    other.pp = 4;
    other.dp = small_plan().gpus() / 4;
    other.microbatch = 2;
    other.schedule = Schedule::gpipe;
    other.recompute = Recompute::full;
    Phase second = problem.phases.front();
    second.own = {0, 1, 0, 4, 0, 2, Schedule::gpipe, Recompute::full};
    problem.phases.push_back(second);
    Predictor predictor(problem);
    const SamplerOptions options{1, Purpose::search, 4};
    const PhaseDraws draws = predictor.sample(small_plan(), {0, 256, 2}, options);
    const auto run = std::get<CompiledRun>(predictor.compile(small_plan()));
    EXPECT_EQ(draws, predictor.sample(run, {0, 256, 2}, options));
    const auto phases = predictor.phases(run, draws, 2, Confidence{});

    Problem single = problem;
    single.phases.pop_back();
    Predictor alone(single);
    EXPECT_EQ(draws[0], alone.sample(small_plan(), {0, 256, 2}, options)[0]);
    EXPECT_EQ(draws[1], alone.sample(other, {0, 256, 2}, options)[0]);
    const Prediction by_itself = alone.summarise(other, {draws[1]}, 2, options, Confidence{});
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[1].step.quantiles, by_itself.step.quantiles);
    EXPECT_DOUBLE_EQ(phases[1].tflops_per_gpu, by_itself.tflops_per_gpu);
    EXPECT_DOUBLE_EQ(phases[1].memory.total().si, by_itself.memory.total().si);
    EXPECT_GT(std::abs(phases[1].step.mean.value / phases[0].step.mean.value - 1.0), 0.01);
    const Prediction both = predictor.summarise(small_plan(), draws, 2, options, Confidence{});
    EXPECT_NEAR(both.training.mean.value * both.ettr, phases[0].productive_s + phases[1].productive_s,
                1e-9 * both.training.mean.value);
}

/// The bounds that cost less exclude nothing that the last one would not, whatever the
/// plan's sharding, overlaps and order.
TEST(Predictor, EarlyBoundsAreBelowTheBound)
{
    constexpr std::array all_widths{1, 2, 4};
    Problem problem = example_problem(lively_variability(), 32, all_widths);
    Predictor predictor(problem);
    int plans = 0;
    for (const Schedule schedule :
         {Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1, Schedule::gpipe, Schedule::zb_v}) {
        for (const int tp : {1, 4}) {
            for (const Sharding sharding :
                 {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
                for (const DataParallelOverlap overlap :
                     {DataParallelOverlap::on, DataParallelOverlap::off}) {
                    for (const PlacementOrder order : {PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp}) {
                        ParallelPlan plan;
                        plan.tp = tp;
                        plan.pp = 4;
                        plan.dp = 2;
                        plan.schedule = schedule;
                        plan.chunks = schedule == Schedule::interleaved || schedule == Schedule::zb_v ? 2 : 1;
                        plan.sharding = sharding;
                        plan.dp_overlap = overlap;
                        plan.order = order;
                        plan.recompute = Recompute::full;
                        std::vector<NoiseFree> early;
                        Cutoff never([&early](const NoiseFree& bound) {
                            early.push_back(bound);
                            return false;
                        });
                        const auto found = predictor.bound(plan, never);
                        if (std::holds_alternative<Infeasible>(found)) {
                            continue;
                        }
                        ++plans;
                        const auto bound = std::get<NoiseFree>(found);
                        ASSERT_EQ(early.size(), 4U);  // the last is the one without limits
                        for (std::size_t i = 0; i < 2; ++i) {
                            EXPECT_FALSE(early[i].compiled);
                            EXPECT_GT(early[i].memory_bytes, 0.0);
                            EXPECT_LE(early[i].memory_bytes, bound.memory_bytes)
                                << name(schedule) << ' ' << name(sharding);
                            EXPECT_TRUE(early[i + 2].compiled);
                            EXPECT_EQ(early[i + 2].memory_bytes, bound.memory_bytes);
                        }
                        EXPECT_GE(early[0].step_s, 0.4 * bound.step_s) << name(schedule);
                        EXPECT_GE(early[2].step_s, 0.8 * bound.step_s) << name(schedule);
                        for (double NoiseFree::*value :
                             {&NoiseFree::step_s, &NoiseFree::training_s, &NoiseFree::training_p95_s,
                              &NoiseFree::training_p99_s, &NoiseFree::cost_usd, &NoiseFree::cost_p99_usd,
                              &NoiseFree::energy_j}) {
                            EXPECT_LE(early[0].*value, early[1].*value)
                                << name(schedule) << ' ' << name(sharding);
                            EXPECT_LE(early[1].*value, early[2].*value)
                                << name(schedule) << ' ' << name(sharding);
                            EXPECT_LE(early[2].*value, early[3].*value)
                                << name(schedule) << ' ' << name(sharding);
                            EXPECT_LE(early[3].*value, bound.*value)
                                << name(schedule) << ' ' << name(sharding);
                        }
                        Cutoff any([](const NoiseFree&) { return true; });
                        for (int repeat = 0; repeat < 2; ++repeat) {  // the second time from memory
                            EXPECT_EQ(std::get<NoiseFree>(predictor.bound(plan, any)).step_s,
                                      early[0].step_s);
                        }
                        EXPECT_EQ(std::get<NoiseFree>(predictor.bound(plan)).training_p99_s,
                                  early[3].training_p99_s);
                    }
                }
            }
        }
    }
    EXPECT_GT(plans, 80);
}

/// Refused without being compiled, by a lower bound of what they lack; closer ones say all about it.
TEST(Predictor, PlansThatLackMoreMemoryThanAnotherAreRefusedEarly)
{
    constexpr std::array all_widths{1, 2, 4};
    Problem problem = example_problem(lively_variability(), 32, all_widths);
    problem.cluster.accelerator.memory.si = 1e9;
    Predictor predictor(problem);
    for (const int tp : {1, 2, 4}) {
        for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
            ParallelPlan plan = small_plan();
            plan.tp = tp;
            plan.sharding = sharding;
            const auto refusal_after = [&](double miss_bytes) {
                Cutoff never([](const NoiseFree&) { return false; });
                never.missed_by(miss_bytes);
                return std::get<Infeasible>(predictor.bound(plan, never));
            };
            const Infeasible whole = std::get<Infeasible>(predictor.bound(plan));
            ASSERT_EQ(whole.reason(), Reason::out_of_memory);
            const Infeasible early = refusal_after(1.0);
            EXPECT_EQ(early.category(), whole.category());
            EXPECT_TRUE(early.facts.empty());
            EXPECT_GE(early.miss, 1.0);
            EXPECT_LE(early.miss, whole.miss);
            EXPECT_EQ(refusal_after(early.miss).facts, Facts{});
            const Infeasible closest = refusal_after(std::nextafter(early.miss, whole.miss + 1.0));
            EXPECT_EQ(closest.facts, whole.facts);
            EXPECT_EQ(closest.miss, whole.miss);
        }
    }
}

/// Phases on the same GPUs are one part of the run, however they are written.
TEST(Predictor, AnOwnNumberOfGpusThatIsThePlansChangesNothing)
{
    Problem problem = example_problem(lively_variability(), 8, widths);
    problem.phases.push_back(problem.phases.front());
    Predictor plain(problem);
    const Prediction expected = predict(plain, 256, 2, 1);
    problem.phases.back().own.gpus = small_plan().gpus();
    Predictor own(problem);
    EXPECT_EQ(predict(own, 256, 2, 1).training.quantiles, expected.training.quantiles);
}

}  // namespace
}  // namespace prismopt
