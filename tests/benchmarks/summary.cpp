#include "tests/benchmarks/summary.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/words/infeasible_text.hpp"
#include "tests/benchmarks/clock.hpp"
#include "tests/benchmarks/failure_runs.hpp"
#include "tests/benchmarks/jobs.hpp"
#include "tests/benchmarks/roofs.hpp"
#include "tests/benchmarks/wide_space.hpp"

#include "model/step/graph/mean_step.hpp"
#include "model/step/sample/op_window.hpp"
#include "model/step/sample/plan_step.hpp"
#include "optimizer/study/worker.hpp"
#include "tests/support/neighbouring_groups.hpp"

#include <omp.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <variant>

namespace prismopt::bench {

namespace {

constexpr int rounds = 5;
constexpr double bytes_per_op_draw = 24.0;

/// Medians by name of what the rounds measured.
class Medians {
public:
    void add(const std::string& name, double value) { values_[name].push_back(value); }
    double operator()(const std::string& name) const
    {
        std::vector<double> sorted = values_.at(name);
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }

private:
    std::map<std::string, std::vector<double>> values_;
};

class Summary {
public:
    Summary()
        : pipeline_(16, 64), large_(128, 1024), plain_(16, 64, residuals_only()),
          kinds_(pipeline_.candidates(256)), one_distribution_(plain_.candidates_of_one_distribution(1000)),
          few_(pipeline_.candidates(16)), few_large_(large_.candidates(16))
    {
    }

    std::string run()
    {
        for (int round = 0; round < rounds; ++round) {
            measure();
        }
        const double scalar = median_("scalar");
        nlohmann::ordered_json json;
        json["pool_to_roof"] = median_("roof") / median_("pool");
        json["pool_to_scalar"] = median_("scalar without factors") / median_("pool");
        json["pool_overhead"] = median_("overhead of the pool");
        json["mixed_to_scalar"] = scalar / median_("mixed");
        json["fused_to_scalar"] = scalar / median_("one");
        json["large_to_small"] =
            std::max(median_("one large") / median_("one"), median_("few large") / median_("few"));
        json["two_threads_to_roof"] =
            (median_("mixed, one thread on the wall") / median_("mixed, two threads")) /
            (median_("phases") / median_("phases, two threads"));
        json["compile_and_mean_us"] = 1e6 * median_("compile and mean");
        json["costs_us"] = 1e6 * median_("costs");
        json["balanced_to_layers"] = median_("balanced") / median_("layers");
        json["tight_to_layers"] = median_("balanced, within memory") / median_("layers");
        json["predictions_per_s"] = median_("predictions a second");
        json["sweep_tuples_per_s"] = median_("sweep");
        json["bounds_per_s"] = median_("bounds of a wide space");
        json["mean_step_growth"] = median_("growth of the mean step");
        json["failure_runs_s"] = median_("failure runs");
        return json.dump(2);
    }

private:
    /// Seconds an op draw of these plans together, on so many threads.
    double sampling(const PipelineJob& job, const std::vector<ExecutionGraph>& graphs, int draws, int threads,
                    bool on_the_wall = false)
    {
        const auto list = pointers(graphs);
        omp_set_num_threads(threads);
        const auto run = [&] {
            auto times = sample_steps(list, job.problem().noise, {0, draws, 1}, {1, Purpose::search, 2});
            keep(times);
        };
        const double seconds = on_the_wall ? wall_seconds_of(run) : seconds_of(run);
        return seconds / (static_cast<double>(graphs.size()) * draws *
                          static_cast<double>(graphs.front().program->ops.size()));
    }

    double scalar(bool every_factor)
    {
        constexpr int draws = 24;
        const ExecutionGraph& graph = every_factor ? kinds_.front() : one_distribution_.front();
        double result = 0.0;
        const double seconds = seconds_of([&] { result = scalar_steps(graph, draws, every_factor); });
        keep(result);
        return seconds / (draws * static_cast<double>(graph.program->ops.size()));
    }

    /// The loop over ops alone, of as many plans as a group of the sampler has, each with means of
    /// its own, on draws that are there.
    double pool_loop()
    {
        constexpr std::size_t plans = 32;
        const ExecutionGraph& graph = one_distribution_.front();
        const NoiseTables& noise = plain_.problem().noise;
        const std::span<const ProgramOp> ops = graph.program->ops;
        constexpr std::size_t window = 256;
        const SharedDistributions shared{graph.shapes[graph.distribution.front().compute.shape].get(),
                                         nullptr, false};
        const SamplerOptions options;
        std::deque<BoundPlan> bound;
        for (std::size_t i = 0; i < plans; ++i) {
            bound.emplace_back(one_distribution_[i], 2);
        }
        BlockStep at(noise, options, extent_of(bound.front()));
        at.begin(0, 0);
        if (pool_draws_.empty()) {
            pool_draws_.resize(ops.size());
            const FleetPhilox philox(1, Words{});
            const DrawKeys keys{philox, Purpose::search, 0, graph.first_slot.data()};
            fill_draws(ops, keys, noise, shared, pool_draws_.data());
        }
        std::vector<Floats> factors;
        std::vector<Floats> slots(plans * graph.program->slots);
        std::deque<PlanStep> steps;
        std::vector<const PipelineRun*> running;
        for (std::size_t i = 0; i < plans; ++i) {
            running.push_back(&steps.emplace_back(bound[i], noise).pipeline());
            steps.back().begin(at, factors);
            steps.back().begin_replica(at, 0, {}, &slots[i * graph.program->slots]);
        }
        constexpr int repeats = 20;
        const double seconds = seconds_of([&] {
            for (int i = 0; i < repeats; ++i) {
                for (std::size_t first = 0; first < ops.size(); first += window) {
                    const auto here = ops.subspan(first, std::min(window, ops.size() - first));
                    run_window(here, pool_draws_.data() + first, shared, running);
                }
            }
        });
        return seconds / (static_cast<double>(repeats * plans) * lanes * static_cast<double>(ops.size()));
    }

    double phases(int threads)
    {
        double sum = 0.0;
        omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : sum)
        {
            sum += 1.0 / phases_s_per_op_draw();
        }
        return 1.0 / sum;
    }

    double compile_and_mean() { return compile_and_mean(pipeline_.problem(), pipeline_.plan()); }

    static double compile_and_mean(const Problem& problem, const ParallelPlan& plan)
    {
        constexpr int repeats = 2000;
        PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
        return seconds_of([&] {
                   for (int i = 0; i < repeats; ++i) {
                       auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
                       auto step = noise_free_step(std::get<CompiledPlan>(compiled).graph);
                       keep(step);
                   }
               }) /
               repeats;
    }

    /// Dense layers, layers of experts, embedding and head of DeepSeek-V3, with all of their collectives.
    double costs() const
    {
        constexpr int repeats = 2000;
        const Network network = network_of(catalog_workload("deepseek-v3"));
        const LayerShape shape = layer_shape({.tp = 4, .pp = 16, .dp = 16, .ep = 32}, 4096, 256);
        const Cluster& cluster = pipeline_.problem().cluster;
        return seconds_of([&] {
                   for (int i = 0; i < repeats; ++i) {
                       auto costs = layer_costs(network, Precision::bf16, shape, cluster);
                       keep(costs);
                   }
               }) /
               repeats;
    }

    /// 126 layers over 16 stages; `within`: of the memory of the split that minimises the time of the busiest
    /// stage.
    double compile_and_mean(LayerSplit split, double within)
    {
        Problem problem = pipeline_.problem();
        problem.workload = example_workload(126);
        ParallelPlan plan = pipeline_.plan();
        plan.split = LayerSplit::balanced;
        PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
        const Bytes needed =
            std::get<CompiledPlan>(compiler.compile(plan, CompileFor::noise_free_step)).memory.total();
        problem.cluster.accelerator.memory = within * needed;
        plan.split = split;
        return compile_and_mean(problem, plan);
    }

    double predictions_per_s()
    {
        std::vector<ParallelPlan> plans;
        for (const int tp : {2, 4, 8}) {
            for (const int pp : {1, 2, 4, 8, 16}) {
                ParallelPlan plan = pipeline_.plan();
                plan.tp = tp;
                plan.pp = pp;
                plans.push_back(plan);
            }
        }
        Predictor predictor(pipeline_.problem());
        constexpr int repeats = 100;
        const double seconds = seconds_of([&] {
            for (int i = 0; i < repeats; ++i) {
                for (const ParallelPlan& plan : plans) {
                    auto bound = predictor.bound(plan);
                    keep(bound);
                }
            }
        });
        return repeats * static_cast<double>(plans.size()) / seconds;
    }

    double sweep_tuples_per_s()
    {
        if (!study_) {
            scenario_ = std::make_unique<Scenario>(
                read_scenario(PRISMOPT_SOURCE_DIR "/jobs/scenarios/llama3-405b-16k.toml"));
            study_ = std::make_unique<StudyModel>(*scenario_);
            worker_ = std::make_unique<Worker>(*study_);
        }
        const std::uint64_t size = study_->designs.space().size();
        const double seconds = seconds_of([&] {
            auto sweep = worker_->sweep({0, size});
            keep(sweep);
        });
        return static_cast<double>(size) / seconds;
    }

    /// Of the worst of three schedules.
    double mean_step_growth()
    {
        constexpr int stages = 16;
        constexpr int few = 64;
        constexpr int many = 2048;
        double growth = 0.0;
        for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1}) {
            std::map<int, double> seconds;
            for (const int microbatches : {few, many}) {
                const int chunks = schedule == Schedule::interleaved ? 2 : 1;
                PipelineJob job(stages * chunks, microbatches);
                ParallelPlan plan = job.plan();
                plan.schedule = schedule;
                plan.pp = stages;
                plan.chunks = chunks;
                Predictor predictor(job.problem());
                const auto first = predictor.bound(plan);  // compiles the schedule
                if (const auto* refusal = std::get_if<Infeasible>(&first)) {
                    throw std::logic_error("the plan to be timed is infeasible: " + detail_text(*refusal));
                }
                seconds[microbatches] = seconds_of([&] {
                    auto bound = predictor.bound(plan);
                    keep(bound);
                });
            }
            growth = std::max(growth, seconds[many] / seconds[few]);
        }
        return growth;
    }

    void measure()
    {
        median_.add("roof", bytes_per_op_draw / first_level_bytes_per_s());
        const double pool = sampling(plain_, one_distribution_, 1024, 1);
        median_.add("pool", pool);
        median_.add("overhead of the pool", 1.0 - pool_loop() / pool);
        median_.add("scalar without factors", scalar(false));
        median_.add("scalar", scalar(true));
        median_.add("mixed", sampling(pipeline_, kinds_, 1024, 1));
        median_.add("mixed, one thread on the wall", sampling(pipeline_, kinds_, 1024, 1, true));
        median_.add("mixed, two threads", sampling(pipeline_, kinds_, 1024, 2, true));
        median_.add("phases", phases(1));
        median_.add("phases, two threads", phases(2));
        median_.add("one", sampling(pipeline_, {kinds_.begin(), kinds_.begin() + 1}, 1024, 1));
        median_.add("one large", sampling(large_, {few_large_.begin(), few_large_.begin() + 1}, 64, 1));
        median_.add("few", sampling(pipeline_, few_, 1024, 1));
        median_.add("few large", sampling(large_, few_large_, 64, 1));
        median_.add("compile and mean", compile_and_mean());
        median_.add("costs", costs());
        median_.add("layers", compile_and_mean(LayerSplit::layers, 2.0));
        median_.add("balanced", compile_and_mean(LayerSplit::balanced, 2.0));
        median_.add("balanced, within memory", compile_and_mean(LayerSplit::balanced, 0.99));
        median_.add("predictions a second", predictions_per_s());
        median_.add("sweep", sweep_tuples_per_s());
        median_.add("bounds of a wide space", wide_.bounds_per_s());
        median_.add("growth of the mean step", mean_step_growth());
        median_.add("failure runs", failure_runs_s(true));
    }

    PipelineJob pipeline_;
    PipelineJob large_;
    PipelineJob plain_;
    std::vector<ExecutionGraph> kinds_;
    std::vector<ExecutionGraph> one_distribution_;
    std::vector<ExecutionGraph> few_;
    std::vector<ExecutionGraph> few_large_;
    std::vector<OpDraws> pool_draws_;
    std::unique_ptr<Scenario> scenario_;
    std::unique_ptr<StudyModel> study_;
    std::unique_ptr<Worker> worker_;
    WideSpace wide_;
    Medians median_;
};

}  // namespace

std::string summary_json() { return Summary().run(); }

}  // namespace prismopt::bench
