#include "tests/io/sample_results.hpp"

#include "io/results/plan_results.hpp"

#include <cmath>
#include <limits>

namespace prismopt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double day = 86400.0;

/// Safe limits are not stored, and come back as infinite.
Estimate estimate(double value, double low, double high) { return {value, low, high, -infinity, infinity}; }

FrontPoint member(std::uint64_t index, Point point, int gpus, double p99_days)
{
    FrontPoint member;
    member.index = index;
    member.point = std::move(point);
    double next = 1.0;
    for (const auto& column :
         plan_results<Estimate>()) {  // every column another value, so that none can be mistaken for another
        next += 1.0;
        column.of(member) = estimate(next, next - 0.25, next + 0.5);
    }
    for (const auto& column : plan_results<double>()) {
        next += 1.0;
        column.of(member) = column.allowed().most < 2.0 ? next / 100.0 : next;
    }
    for (const auto& column : plan_results<std::vector<double>>()) {
        for (const double probability : reported_probabilities) {
            column.of(member).push_back(next + probability);
        }
        next += 1.0;
    }
    Prediction& p = member.prediction;
    p.gpus = gpus;
    p.draws = 8192;
    p.memory.stage = 3;
    p.training.p99 = estimate(p99_days * day, (p99_days - 1.0) * day, (p99_days + 1.0) * day);
    p.training.p50 = estimate(55.2 * day, 55.0 * day, 55.4 * day);
    member.model_quantiles.clear();  // tests give the limits of the model error
    for (std::size_t q = 0; q < reported_probabilities.size(); ++q) {
        p.training.quantiles[q] = (53.0 + 5.0 * reported_probabilities[q]) * day;
    }
    p.run.energy_j = estimate(9.0e12, 8.9e12, 9.1e12);
    p.run.electricity_usd = estimate(4.1e6, 4.0e6, 4.2e6);
    p.run.power_w = 20.4e6;
    p.run.mean_power_w = 19.9e6;
    p.run.cluster_power_w = 21.5e6;
    p.run.miss_probability = estimate(0.02, 0.01, 0.03);
    p.gpu_price_usd_per_h = 2.5;
    p.cost_usd = estimate(123.4e6, 121.0e6, infinity);
    p.step.p50 = estimate(10.214, 10.1, 10.3);
    p.step.p99 = estimate(11.431, 11.2, 11.7);
    p.memory_headroom = 0.124;
    p.mfu = 0.4132;
    p.peak_tflops_per_gpu = 989.4;
    p.ettr = 0.905;
    member.model_low = 0.92;
    member.model_high = 1.08;
    member.model_fitted = 1.0;
    member.objectives = {p.training.p99, estimate(gpus, gpus, gpus)};
    return member;
}

}  // namespace

Results sample_results()
{
    Results results;
    StudyInfo& study = results.study;
    study.build = {.version = "0.1.0", .commit = "0123abc", .catalog = "fedcba9876543210"};
    study.created = "2025-01-02T03:04:05Z";
    study.command_line = "prismopt search sample.toml";
    study.job_id = "42";
    study.scenario_path = "sample.toml";
    study.scenario_text = "# 405 Mrd. Parameter, größer\nname = \"sample\"\n";
    study.scenario_name = "sample";
    study.learned = "earlier, 2025-01-01T00:00:00Z";
    study.learned_digest = "0123456789abcdef";
    study.nodes_known = true;
    study.strategy = "exact";
    study.seed = 18446744073709551615U;
    study.held = {1, 3};
    study.space_parts = 4;
    study.outcome_text = "proved complete";
    Outcome& outcome = study.outcome;
    outcome.proved = true;
    outcome.confidence = 0.95;
    outcome.pruned = 1;
    outcome.evaluated = 2;
    results.axes = {Axis{.name = "gpus", .ordered = true, .labels = {"8192", "16384"}},
                    Axis{.name = "tp", .ordered = true, .labels = {"4", "8"}},
                    Axis{.name = "pp", .ordered = true, .labels = {"16"}},
                    Axis{.name = "v", .ordered = true, .labels = {"1", "4"}},
                    Axis{.name = "microbatch", .ordered = true, .labels = {"1"}},
                    Axis{.name = "schedule", .ordered = false, .labels = {"1f1b", "interleaved"}},
                    Axis{.name = "link", .ordered = false, .labels = {"IB 400", "größer"}}};
    results.raw_tuples = 32;
    results.feasible = 3;
    results.rejected = {
        Rejected{.reason = "out of memory",
                 .count = 28,
                 .miss = 1.5e9,
                 .nearest = "stage 0 needs 81.5 GB, 80.0 GB present"},
        Rejected{.reason = "dp does not divide the batch", .count = 1, .miss = 0.0, .nearest = ""}};
    results.objectives = {
        ObjectiveInfo{.name = "training_time_p99", .units = "s", .long_name = "p99 training time"},
        ObjectiveInfo{.name = "gpus", .units = "1", .long_name = "GPUs"}};
    results.evaluations = {EvaluatedPoint{.index = 7,
                                          .point = {0, 1, 0, 0, 0, 0, 1},
                                          .rung = 0,
                                          .draws = 0,
                                          .bounds = {50.0 * day, 8192.0},
                                          .objectives = {}},
                           EvaluatedPoint{.index = 21,
                                          .point = {1, 0, 0, 1, 0, 1, 0},
                                          .rung = 1,
                                          .draws = 128,
                                          .bounds = {40.0 * day, 16384.0},
                                          .objectives = {estimate(60.0 * day, 55.0 * day, infinity),
                                                         estimate(16384.0, 16384.0, 16384.0)}},
                           EvaluatedPoint{.index = 30,
                                          .point = {1, 1, 0, 1, 0, 1, 0},
                                          .rung = 2,
                                          .draws = 2048,
                                          .bounds = {41.0 * day, 16384.0},
                                          .objectives = {estimate(58.4 * day, 57.4 * day, 59.4 * day),
                                                         estimate(16384.0, 16384.0, 16384.0)}}};
    results.front = {member(30, {1, 1, 0, 1, 0, 1, 0}, 16384, 58.4),
                     member(21, {1, 0, 0, 1, 0, 1, 0}, 16384, 60.25)};
    results.front.back().dominated = true;
    results.progress = {
        ProgressPoint{.evaluations = 1, .draws = 128, .hypervolume = 0.25, .elapsed_s = 0.5},
        ProgressPoint{.evaluations = 2, .draws = 2176, .hypervolume = 0.5, .elapsed_s = 1.25}};
    results.ranks = {{.rank = 0,
                      .items = 3,
                      .busy_s = 1.0,
                      .idle_s = 0.25,
                      .wall_s = 1.5,
                      .activity_s = {0.5, 0.25, 0.125, 0.125}},
                     {.rank = 1,
                      .items = 2,
                      .busy_s = 0.75,
                      .idle_s = 0.5,
                      .wall_s = 1.375,
                      .activity_s = {0.25, 0.5, 0.0, 0.0}}};
    results.threads = 4;
    results.legs = {Leg{.started = "2025-01-02T00:00:00Z",
                        .job = "Slurm 41",
                        .nodes = 2,
                        .ranks = 2,
                        .threads = 8,
                        .seconds = 900.0,
                        .saved = 4,
                        .end = LegEnd::stopped},
                    Leg{.started = "2025-01-02T01:00:00Z",
                        .job = "",
                        .nodes = 1,
                        .ranks = 2,
                        .threads = 8,
                        .seconds = 450.0,
                        .saved = 1,
                        .end = LegEnd::complete}};
    return results;
}

Results sample_results_of(std::uint64_t evaluations)
{
    Results results = sample_results();
    const auto lengthen = [&results](std::size_t axis, std::uint64_t labels) {
        for (std::uint64_t label = results.axes[axis].labels.size(); label < labels; ++label) {
            results.axes[axis].labels.push_back(std::to_string(100000 + label));
        }
    };
    constexpr std::uint64_t gpu_choices = 250;
    lengthen(0, gpu_choices);
    lengthen(2, evaluations / (gpu_choices * 16) + 1);  // 2 choices on each of the other four axes that vary
    const Space space(results.axes, {});
    results.raw_tuples = space.size();
    results.feasible = evaluations;
    results.evaluations.clear();
    for (std::uint64_t index = 0; index < evaluations; ++index) {
        const double worse = static_cast<double>(index % 977) / 100.0;  // somewhere above the front
        const double time = (60.0 + worse) * day;
        const auto gpus = 16384.0 + static_cast<double>(index % 1009);
        EvaluatedPoint point{index, space.point(index), 0, 0, {time, gpus}, {}};
        if (index % 2 == 0) {
            point.rung = 1;
            point.draws = 128;
            point.objectives = {estimate(time, 0.99 * time, 1.01 * time), estimate(gpus, gpus, gpus)};
        }
        results.evaluations.push_back(std::move(point));
    }
    return results;
}

}  // namespace prismopt
