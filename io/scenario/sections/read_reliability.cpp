#include "io/scenario/sections/sections.hpp"

#include "model/plan/node_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

constexpr Range spares_range{"spare nodes that replace failed ones", 0, 1'000'000, "16"};
constexpr Range node_cv_range{"coefficient of variation of the nodes' failure rates", 0, 10, "1.5"};
constexpr Range gap_cv_range{"coefficient of variation of the gaps between failures", 0.05, 10, "2"};
constexpr Range gap_nodes_range{"number of nodes whose failures gap_cv describes", 1, 10'000'000, "400"};
constexpr Range rate_cv_range{
    "relative uncertainty of the rate (gamma), drawn once per run; zero: the rate is exact", 0, 3, "0.3"};
constexpr Range repair_cv_range{"coefficient of variation of repair times", 0, 10, "2",
                                Range::Ends::open_low};
constexpr Range kept_range{"probability that in-memory checkpoints survive the failure", 0, 1, "0.8"};
constexpr Range drift_range{"coefficient of variation of the job's speed over time", 0, 0.1, "0.01"};
constexpr std::string_view cause_example =
    R"([[reliability.cause]] with name, rate = "6.50 per 1000 node-days" and restart)";
constexpr std::string_view rate_example = "6.50 per 1000 node-days";
constexpr std::size_t most_causes = 64;

/// Number of spare nodes, which leaves nodes for the job.
int read_spare_nodes(const Value& value, const Cluster& cluster)
{
    const int spares = value.count(spares_range);
    if (node_problem(ParallelPlan{.spares = spares}, cluster)) {
        const int nodes = cluster.nodes();
        value.fail({"leaves no node for the job",
                    fmt::format("the cluster has {} nodes of {} GPUs", nodes, cluster.gpus_per_node()),
                    nodes > 1 ? fmt::format("write {} or less", nodes - 1) : "write 0"});
    }
    return spares;
}

/// "per 1000 node-days", "per GPU-day", "per job-day": by what it is counted; "/day" does not say.
std::optional<RateOf> counted_by(const Value& rate)
{
    using Counted = std::optional<RateOf>;
    constexpr std::array<Named<Counted>, 4> words{
        {{RateOf::node, "node"}, {RateOf::gpu, "GPU"}, {RateOf::unit, "unit"}, {RateOf::job, "job"}}};
    return first_named_in(rate.text(rate_example), words, Counted());
}

RateOf counted_by_unit(const Value& rate)
{
    const auto of = counted_by(rate);
    if (!of) {
        rate.fail({"does not say what fails at this rate",
                   "a node, a GPU, a unit of a tier, or the job regardless of its size",
                   "write for example \"6.50 per 1000 node-days\", \"8.1e-4 per GPU-day\" or \"0.87 per "
                   "job-day\""});
    }
    return *of;
}

/// Failures of one node.
PerSecond read_node_rate(const Value& value, int gpus_per_node)
{
    const auto rate = value.quantity<PerSecond>("3.79e-3 /day", Sign::zero_or_more);
    switch (counted_by(value).value_or(RateOf::node)) {  // the key's name says so
        case RateOf::gpu: return rate * gpus_per_node;
        case RateOf::unit:
        case RateOf::job:
            value.fail({"is not a rate per node", "node_failure_rate counts failures of nodes",
                        "give it as the rate of a [[reliability.cause]], or write \"3.79e-3 /day\""});
        case RateOf::node: break;
    }
    return rate;
}

/// What is written beside the figures, for readers.
KeyInfo source_key()
{
    return {"source",
            "source of the numbers",
            in_quotes("measured on our cluster"),
            {{.kind = ValueShape::Kind::text}}};
}

template <class T>
void read_source(const Value& value, T&, Keys)
{
    value.text("measured on our cluster");
}

void check_gaps(Table& table, const Cause& cause)
{
    const bool clustered = cause.gaps.family == GapFamily::gamma || cause.gaps.family == GapFamily::weibull;
    if (clustered) {
        table.at("gap_cv", "gap_cv = 2 (above 1: clustered failures)");
    }
    for (const char* key : {"gap_cv", "gap_nodes"}) {
        if (const auto value = table.find(key); value && !clustered) {
            value->fail({"applies to gamma and weibull gaps only",
                         fmt::format("gaps are {}", name(cause.gaps.family)),
                         "remove it, or write gaps = \"gamma\""});
        }
    }
    if (const auto value = table.find("gap_nodes"); value && cause.of == RateOf::job) {
        value->fail({"applies to rates per node or GPU only",
                     "a rate per job does not depend on the number of nodes", "remove it"});
    }
}

const Fields<Cause>& cause_fields()
{
    static const auto fields =
        Fields<Cause>("[[reliability.cause]]",
                      "a cause of failures: its rate and the time that a failure costs")
            .text("name", &Cause::name, "network", "name of the cause in reports")
            .required()
            .custom({"rate",
                     "failure rate: per node-day, per GPU-day, per unit-day (of a tier) or per job-day",
                     in_quotes(rate_example),
                     {{.kind = ValueShape::Kind::quantity, .dimension = Dimension::rate}}},
                    [](const Value& value, Cause& cause, Keys) {
                        cause.rate = value.quantity<PerSecond>(rate_example, Sign::zero_or_more);
                        cause.of = counted_by_unit(value);
                    })
            .required()
            .text("tier", &Cause::tier, "rack",
                  "tier of [cluster] whose units fail as a whole, at a rate per unit-day")
            .number("rate_cv", &Cause::rate_cv, rate_cv_range)
            .choice(
                "gaps", [](Cause & c) -> auto& { return c.gaps.family; }, "weibull",
                "distribution of the gaps between failures")
            .number(
                "gap_cv", [](Cause & c) -> auto& { return c.gaps.cv; }, gap_cv_range)
            .integer(
                "gap_nodes", [](Cause & c) -> auto& { return c.gaps.nodes; }, gap_nodes_range)
            .quantity("restart", &Cause::restart, "10 min",
                      "time to resume training once all nodes are available", Sign::zero_or_more)
            .required()
            .quantity("detection", &Cause::detection, "5 min", "time until the failure is detected",
                      Sign::zero_or_more)
            .quantity("repair", &Cause::repair, "1 day",
                      "mean time until the failed node is available as a spare; zero: no node leaves the job",
                      Sign::zero_or_more)
            .number("repair_cv", &Cause::repair_cv, repair_cv_range)
            .number("memory_kept", &Cause::memory_kept, kept_range)
            .flag("planned", &Cause::planned,
                  "whether the interruption is planned: a checkpoint is written first and no work is lost")
            .custom(source_key(), read_source<Cause>)
            .check(check_gaps);
    return fields;
}

/// A failure of a unit takes its nodes; tiers inside nodes have none.
void read_unit(Table& table, Cause& cause, const Cluster& cluster)
{
    const auto tier = table.find("tier");
    if (!tier && cause.of == RateOf::unit) {
        table.at("tier", "tier = \"rack\"");
    }
    if (!tier) {
        return;
    }
    if (cause.of != RateOf::unit) {
        tier->fail({"applies to rates per unit only", "the rate does not count units",
                    "remove it, or write rate = \"0.5 per 1000 unit-days\""});
    }
    std::string names;
    for (std::size_t i = cluster.node_tier(); i < cluster.tiers.size(); ++i) {
        if (cluster.tiers[i].name == cause.tier) {
            cause.unit_nodes = std::max(1, cluster.tiers[i].group_gpus / cluster.gpus_per_node());
            return;
        }
        names += (names.empty() ? "" : ", ") + cluster.tiers[i].name;
    }
    tier->fail(
        {"is no tier of nodes", "failures of a unit take its nodes", fmt::format("use one of {}", names)});
}

std::vector<Cause> read_causes(const Value& list, const Cluster& cluster)
{
    std::vector<Cause> causes;
    for (const Value& element : list.list(cause_example)) {
        Table table = element.table(cause_example);
        Cause& cause = causes.emplace_back();
        cause_fields().read_whole(table, Keys::all, cause);
        read_unit(table, cause, cluster);
        const auto same = [&](const Cause& other) { return other.name == cause.name; };
        if (std::count_if(causes.begin(), causes.end(), same) > 1) {
            table.find("name")->fail(
                {"is listed twice", "losses are reported by cause", "give each cause its own name"});
        }
        if (causes.size() > most_causes) {
            table.fail({"is one cause too many", fmt::format("at most {} are allowed", most_causes),
                        "merge some of them"});
        }
    }
    return causes;
}

const Fields<MemoryCheckpoints>& memory_fields()
{
    static const auto fields =
        Fields<MemoryCheckpoints>("memory_checkpoints",
                                  "in-memory checkpoints: copies in the memory of other nodes, in addition "
                                  "to checkpoints in storage")
            .quantity("interval", &MemoryCheckpoints::interval, "1 min", "time between copies")
            .required()
            .quantity("stall", &MemoryCheckpoints::stall, "0.5 s", "time that training stops for a copy",
                      Sign::zero_or_more)
            .required();
    return fields;
}

const Fields<Drift>& drift_fields()
{
    static const auto fields =
        Fields<Drift>("drift", "slow drift of the job's speed (an Ornstein-Uhlenbeck process)")
            .number("cv", &Drift::cv, drift_range)
            .required()
            .quantity("time", &Drift::time, "2 day", "correlation time")
            .required();
    return fields;
}

/// A length, or the rule by which it is found.
void read_interval(const Value& value, Reliability& reliability)
{
    if (value.is_text()) {
        if (const auto rule = parse<IntervalRule>(value.text("30 min"))) {
            reliability.interval_rule = *rule;
            return;
        }
    }
    reliability.checkpoint_interval = value.quantity<Seconds>("30 min", Sign::zero_or_more);
}

/// Reads what depends on the cluster.
struct ReliabilityReading : Reliability {
    const Cluster* cluster = nullptr;
    WorkloadTask task = WorkloadTask::training;
};

/// Training writes checkpoints; forward passes keep their results.
void check_checkpoints(Table& table, WorkloadTask task)
{
    constexpr std::array keys{std::pair{"checkpoint_interval", "checkpoint_interval = \"young\""},
                              std::pair{"checkpoint_write", "checkpoint_write = \"30 s\""}};
    if (trains(task)) {
        for (const auto& [key, example] : keys) {
            table.at(key, example);
        }
        return;
    }
    for (const char* key :
         {"checkpoint_interval", "checkpoint_write", "checkpoint_mode", "snapshot", "memory_checkpoints"}) {
        if (const auto value = table.find(key)) {
            value->fail({"has no effect",
                         "task = \"inference\" writes no checkpoints: finished sequences are kept",
                         fmt::format("remove {}", key)});
        }
    }
}

void check_reliability(Table& table, const ReliabilityReading& reliability)
{
    check_checkpoints(table, reliability.task);
    if (!table.find("cause")) {
        table.at("node_failure_rate", "node_failure_rate = \"3.79e-3 /day\", or [[reliability.cause]]");
    }
    if (table.find("node_failure_rate")) {
        table.at("restart", "restart = \"10 min\"");
    }
    if (const auto restart = table.find("restart"); restart && !table.find("node_failure_rate")) {
        restart->fail({"applies to node_failure_rate only", "each cause has its own restart",
                       "remove it, or give node_failure_rate"});
    }
    if (const auto snapshot = table.find("snapshot");
        snapshot && reliability.write == CheckpointWrite::blocking) {
        snapshot->fail({"applies to asynchronous checkpoints only", "blocking checkpoints have no snapshot",
                        "remove it, or write checkpoint_mode = \"asynchronous\""});
    }
    if (reliability.write == CheckpointWrite::asynchronous) {
        table.at("snapshot", "snapshot = \"5 s\"");
    }
}

const Fields<ReliabilityReading>& reliability_fields()
{
    const ValueShape rate{.kind = ValueShape::Kind::quantity, .dimension = Dimension::rate};
    const ValueShape causes{.kind = ValueShape::Kind::section,
                            .section = []() -> const SectionTable& { return cause_fields(); },
                            .list = true};
    static const auto fields =
        Fields<ReliabilityReading>("[reliability]", "failures, checkpoints and spare nodes")
            .custom({"node_failure_rate",
                     "failure rate of a node, with exponential gaps; alternatively give causes",
                     in_quotes("3.79e-3 /day"),
                     {rate}},
                    [](const Value& value, ReliabilityReading& r, Keys) {
                        r.node_failure_rate = read_node_rate(value, r.cluster->gpus_per_node());
                    })
            .quantity("restart", &ReliabilityReading::restart, "10 min",
                      "time from a node failure until training resumes", Sign::zero_or_more)
            .custom({"cause",
                     "causes of failures, in addition to node_failure_rate",
                     "[[reliability.cause]]",
                     {causes}},
                    [](const Value& value, ReliabilityReading& r, Keys) {
                        r.causes = read_causes(value, *r.cluster);
                    })
            .custom({"checkpoint_interval",
                     "productive time between checkpoints, or the rule that sets it; \"0 s\": Young's "
                     "formula; training needs it",
                     in_quotes("young"),
                     {choice_shape(enum_names<IntervalRule>),
                      {.kind = ValueShape::Kind::quantity, .dimension = Dimension::time}}},
                    [](const Value& value, ReliabilityReading& r, Keys) { read_interval(value, r); })
            .quantity("checkpoint_write", &ReliabilityReading::checkpoint_write, "30 s",
                      "time to write a checkpoint to storage; training needs it", Sign::zero_or_more)
            .choice("checkpoint_mode", &ReliabilityReading::write, "asynchronous",
                    "blocking: training stops while a checkpoint is written; asynchronous: it stops for a "
                    "snapshot only")
            .quantity("snapshot", &ReliabilityReading::snapshot, "5 s",
                      "time that training stops for the snapshot of an asynchronous checkpoint",
                      Sign::zero_or_more)
            .nested("memory_checkpoints", &ReliabilityReading::memory, memory_fields)
            .custom({"spares",
                     "spare nodes that replace failed ones; default: unlimited",
                     "16",
                     {{.kind = ValueShape::Kind::integer, .range = spares_range}}},
                    [](const Value& value, ReliabilityReading& r, Keys) {
                        r.spares = read_spare_nodes(value, *r.cluster);
                    })
            .choice("recovery", &ReliabilityReading::recovery, "hot_spares",
                    "restart: a failure restarts the job; hot_spares: a spare that is ready takes the place "
                    "of a failed node "
                    "instead; "
                    "fewer_replicas: the same, and if no spare is ready, the other data-parallel replicas "
                    "continue")
            .quantity("switch_time", &ReliabilityReading::switch_time, "2 min",
                      "time from detection until training resumes on a hot spare or with fewer replicas, in "
                      "place of a restart",
                      Sign::zero_or_more)
            .number("node_cv", &ReliabilityReading::node_cv, node_cv_range)
            .nested("drift", &ReliabilityReading::drift, drift_fields)
            .custom(source_key(), read_source<ReliabilityReading>)
            .check(check_reliability);
    return fields;
}

}  // namespace

const SectionTable& reliability_table() { return reliability_fields(); }

Reliability read_reliability(Table table, const Cluster& cluster, WorkloadTask task)
{
    constexpr Seconds results_kept{60.0};  // work that a failure of a forward pass repeats; assumption
    ReliabilityReading reading;
    reading.cluster = &cluster;
    reading.task = task;
    if (!trains(task)) {
        reading.checkpoint_interval = results_kept;
    }
    reliability_fields().read_whole(table, Keys::all, reading);
    return reading;
}

}  // namespace prismopt
