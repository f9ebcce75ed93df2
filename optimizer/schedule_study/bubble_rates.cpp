#include "optimizer/schedule_study/bubble_rates.hpp"

#include "model/step/graph/mean_step.hpp"
#include "model/step/graph/searched_orders.hpp"
#include "optimizer/schedule_study/gpt_on_a100.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace prismopt {

namespace {

/// How the authors' names read here. ZB-1p and ZB-2p are orders searched for their times, holding p and 2p microbatches.
struct Row {
    const char* name;
    Schedule schedule;
    int held_per_stage;  // 0: the schedule's own order
};
constexpr Row plain{"1F1B", Schedule::one_f_one_b, 0};
constexpr Row chunks{"1F1B-I", Schedule::interleaved, 0};
constexpr Row h1{"ZB-H1", Schedule::zb_h1, 0};
constexpr Row h2{"ZB-H2", Schedule::zb_h2, 0};
constexpr Row once{"ZB-1p", Schedule::zb_h1, 1};
constexpr Row twice{"ZB-2p", Schedule::zb_h2, 2};
constexpr Row vee{"ZB-V", Schedule::zb_v, 0};

struct Published {
    Row row;
    std::array<double, 3> rate;  // by number of microbatches
};
struct PublishedNetwork {
    RatedNetwork network;
    std::array<int, 3> microbatches;
    std::vector<Published> rates;
};

/// Qi et al., arXiv 2401.10241: networks of table 3, rates of tables 5 (8 stages) and 8 (16).
std::vector<PublishedNetwork> published()
{
    return {{{"1.5B", 22, 2304, 24, 8, 6},
             {24, 32, 64},
             {{plain, {0.2431, 0.1985, 0.1240}},
              {chunks, {0.1055, 0.0818, 0.0443}},
              {h1, {0.1585, 0.1242, 0.0674}},
              {h2, {0.1083, 0.0837, 0.0444}},
              {once, {0.1585, 0.1242, 0.0674}},
              {twice, {0.0433, 0.0039, 0.0026}}}},
            {{"6.2B", 30, 4096, 32, 8, 3},
             {24, 32, 64},
             {{plain, {0.2347, 0.1898, 0.1091}},
              {chunks, {0.0808, 0.0628, 0.0320}},
              {h1, {0.1323, 0.1045, 0.0554}},
              {h2, {0.0698, 0.0559, 0.0294}},
              {once, {0.1323, 0.1045, 0.0554}},
              {twice, {0.0029, 0.0022, 0.0010}}}},
            {{"6.2B", 30, 4096, 32, 16, 6},
             {48, 64, 128},
             {{plain, {0.2668, 0.2206, 0.1390}},
              {chunks, {0.1499, 0.1169, 0.0621}},
              {h1, {0.1536, 0.1198, 0.0637}},
              {h2, {0.0823, 0.0630, 0.0325}},
              {vee, {0.0697, 0.0533, 0.0274}}}}};
}

CompiledPlan compiled(const RatedNetwork& n, Schedule schedule, int microbatches)
{
    Scenario read = gpt_on_a100({.layers = n.layers,
                                 .hidden = n.hidden,
                                 .heads = n.heads,
                                 .attention = "plain",
                                 .global_batch = n.microbatch * microbatches,
                                 .stack = "megatron-2022",
                                 .node = 8,
                                 .stages = n.stages});
    read.cluster.stack.waits_for_chunks = false;  // the authors' calculation has transfers beside ops
    const NoiseTables noise = build_noise_tables(read.variability, std::array{1});
    constexpr double no_memory_limit = -1e3;
    PlanCompiler compiler({read.workload, read.phases.front(), read.cluster, noise, no_memory_limit});
    ParallelPlan plan;
    plan.pp = n.stages;
    plan.microbatch = n.microbatch;
    plan.split = LayerSplit::slots;
    plan.schedule = schedule;
    plan.chunks = schedule == Schedule::interleaved ? (n.layers + 2) / n.stages : schedule == Schedule::zb_v ? 2 : 1;
    auto result = compiler.compile(plan, CompileFor::noise_free_step);
    if (const auto* refusal = std::get_if<Infeasible>(&result)) {
        throw std::logic_error("the plan of the comparison is infeasible: " + refusal->detail);
    }
    return std::get<CompiledPlan>(std::move(result));
}

/// All stages take the same; messages as compiled.
void equalise(ExecutionGraph& graph, const StageTimes& stage)
{
    for (int part = 0; part < graph.stages() * graph.chunks(); ++part) {
        for (int pass = 0; pass < graph.passes(); ++pass) {
            const std::array seconds{stage.forward, stage.input_gradient + stage.weight_gradient, stage.input_gradient,
                                     stage.weight_gradient};
            OpLaw& law = graph.law[graph.law_at(part, static_cast<Pass>(pass))];
            law.compute_s = static_cast<float>(seconds[pass] / graph.chunks());
            law.communication_s = 0.0F;
        }
    }
    graph.group_mean = 1.0;
}

void search_order(ExecutionGraph& graph, const HeldLimit& limit)
{
    graph.ahead_s = idle_before(graph);  // what is to be short is a stage's time from its first op
    const auto orders = std::get<PartOrders>(searched_orders(graph, limit));
    const ScheduleShape& shape = graph.program->shape;
    graph.program =
        std::get<std::shared_ptr<const Program>>(compile_program(shape, std::get<TaskOrders>(orders_on_stages(shape, orders))));
}

double rate_of(const RatedNetwork& network, const Row& row, int microbatches, const RatedTimes& times)
{
    CompiledPlan plan = compiled(network, row.schedule, microbatches);
    ExecutionGraph& graph = plan.graph;
    equalise(graph, times.stage);
    if (row.held_per_stage > 0) {
        search_order(graph, {row.held_per_stage * network.stages, plan.held_for_weights});
    }
    return bubble_rate(graph);
}

RatedTimes predicted(const RatedNetwork& network, int microbatches)
{
    const ExecutionGraph graph = compiled(network, Schedule::zb_h1, microbatches).graph;
    const auto law = [&](int stage, Pass pass) { return graph.law[graph.law_at(stage, pass)]; };
    const auto seconds = [&](Pass pass) { return static_cast<double>(law(network.stages / 2, pass).compute_s); };
    RatedTimes times{{seconds(Pass::forward), seconds(Pass::input_gradient), seconds(Pass::weight_gradient)}, 0.0};
    for (int stage = 1; stage < network.stages; ++stage) {
        times.transfer += static_cast<double>(law(stage, Pass::forward).transfer_s) / (network.stages - 1);
    }
    return times;
}

}  // namespace

double bubble_rate(const ExecutionGraph& graph)
{
    const int stages = graph.stages();
    std::vector<double> first(stages, -1.0);
    std::vector<double> last(stages, 0.0);
    std::vector<double> work(stages, 0.0);
    MeanRun(graph, -1, 1.0).run([&](std::size_t, const ProgramOp& op, double start, double end, bool) {
        first[op.stage] = first[op.stage] < 0.0 ? start : first[op.stage];
        last[op.stage] = end;
        work[op.stage] += end - start;
    });
    double longest = 0.0;
    double busiest = 0.0;
    for (int stage = 0; stage < stages; ++stage) {
        longest = std::max(longest, last[stage] - first[stage]);
        busiest = std::max(busiest, work[stage]);
    }
    return 1.0 - busiest / longest;
}

std::vector<RatedCase> rated_cases()
{
    std::vector<RatedCase> cases;
    for (const PublishedNetwork& given : published()) {
        RatedCase& own = cases.emplace_back();
        own.network = given.network;
        own.times = predicted(given.network, given.microbatches[0]);
        for (std::size_t i = 0; i < given.microbatches.size(); ++i) {
            for (const Published& rates : given.rates) {
                const int m = given.microbatches[i];
                own.schedules.push_back({rates.row.name, m, rates.rate[i], rate_of(given.network, rates.row, m, own.times)});
            }
        }
    }
    return cases;
}

std::string bubble_rates_section()
{
    std::string text =
        "\n## Bubble rates compared with published ones\n\n"
        "Idle share of the time of the longest stage, from its first to its last op, in percent, with equal stages. Published: "
        "calculated by Qi et al. (arXiv 2401.10241,\n"
        "tables 5 and 8) from measured times of ops and messages, which are not published, nor are the settings of the runs "
        "beyond table 3; so the contribution of the\n"
        "times to a difference is unknown. Ours: from the F, B, W and message times of a middle stage in this model "
        "(assumptions: plain attention without dropout,\n"
        "200 Gb/s per GPU between nodes of 8). ZB-1p and ZB-2p are task orders searched with the activations of p and 2p "
        "microbatches per stage; the authors\n"
        "used a greedy rule and an integer program. The speed of one message inside a node is fitted to these rates "
        "(model/catalog/links.toml).\n";
    double worst = 0.0;
    int within = 0;
    int rows = 0;
    for (const RatedCase& own : rated_cases()) {
        const StageTimes& stage = own.times.stage;
        text += fmt::format(
            "\n"
            "{} on {} stages: F {:.1f}, B {:.1f}, W {:.1f}, message {:.2f} ms.\n\n"
            "| schedule | microbatches | published | ours | difference, points |\n"
            "|---|---|---|---|---|\n",
            own.network.name, own.network.stages, 1e3 * stage.forward, 1e3 * stage.input_gradient, 1e3 * stage.weight_gradient,
            1e3 * own.times.transfer);
        for (const RatedSchedule& s : own.schedules) {
            const double off = 100.0 * (s.ours - s.published);
            text += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:+.2f} |\n", s.name, s.microbatches, 100.0 * s.published,
                                100.0 * s.ours, off);
            ++rows;
            worst = std::max(worst, std::abs(off));
            within += std::abs(off) <= 2.0 ? 1 : 0;
        }
    }
    return text + fmt::format("\nWithin 2 points: {} of {} (worst {:.1f}).\n", within, rows, worst);
}

}  // namespace prismopt
