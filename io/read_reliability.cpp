#include "io/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

constexpr Range spares_range{"nodes that wait to replace failed ones", 0, 1'000'000, "16"};
constexpr Range node_cv_range{"coefficient of variation of the nodes' failure rates", 0, 10, "1.5"};
constexpr Range gap_cv_range{"coefficient of variation of the gaps between failures", 0.05, 10, "2"};
constexpr Range gap_nodes_range{"nodes whose failures gap_cv is of", 1, 10'000'000, "400"};
constexpr Range repair_cv_range{"coefficient of variation of repair times", 0, 10, "2", Range::Ends::open_low};
constexpr Range kept_range{"probability that checkpoints in memory outlive the failure", 0, 1, "0.8"};
constexpr Range drift_range{"coefficient of variation of the job's speed over time", 0, 0.1, "0.01"};
constexpr std::string_view cause_example = R"([[reliability.cause]] with name, rate = "6.50 per 1000 node-days" and restart)";
constexpr std::string_view rate_example = "6.50 per 1000 node-days";
constexpr std::size_t most_causes = 64;

Seconds time_at(Table& table, std::string_view key, std::string_view example)
{
    return table.at(key, fmt::format("{} = \"{}\"", key, example)).quantity<Seconds>(example, Sign::zero_or_more);
}

void set_time(Table& table, std::string_view key, std::string_view example, Seconds& time)
{
    if (const auto value = table.find(key)) {
        time = value->quantity<Seconds>(example, Sign::zero_or_more);
    }
}

/// "per 1000 node-days", "per GPU-day", "per job-day": by what it is counted; "/day" does not say.
std::optional<RateOf> counted_by(const Value& rate)
{
    const std::string text = rate.text(rate_example);
    const auto has = [&text](std::string_view word) { return text.find(word) != std::string::npos; };
    return has("node")  ? std::optional(RateOf::node)
           : has("GPU") ? std::optional(RateOf::gpu)
           : has("job") ? std::optional(RateOf::job)
                        : std::nullopt;
}

RateOf counted_by_unit(const Value& rate)
{
    const auto of = counted_by(rate);
    if (!of) {
        rate.fail({"does not say what fails so often", "a node, a GPU or the whole job, whatever its size",
                   "write for example \"6.50 per 1000 node-days\", \"8.1e-4 per GPU-day\" or \"0.87 per job-day\""});
    }
    return *of;
}

/// Failures of one node.
PerSecond read_node_rate(const Value& value, int gpus_per_node)
{
    const auto rate = value.quantity<PerSecond>("3.79e-3 /day", Sign::zero_or_more);
    switch (counted_by(value).value_or(RateOf::node)) {  // the key's name says so
        case RateOf::gpu: return rate * gpus_per_node;
        case RateOf::job:
            value.fail({"is of the whole job", "node_failure_rate is of a node",
                        "give it as rate of a [[reliability.cause]], or write \"3.79e-3 /day\""});
        case RateOf::node: break;
    }
    return rate;
}

GapLaw read_gaps(Table& table, RateOf of)
{
    constexpr std::array<std::pair<std::string_view, GapFamily>, 4> families{{{"exponential", GapFamily::exponential},
                                                                              {"gamma", GapFamily::gamma},
                                                                              {"weibull", GapFamily::weibull},
                                                                              {"constant", GapFamily::constant}}};
    GapLaw law;
    if (const auto value = table.find("gaps")) {
        std::vector<std::string> names;
        names.reserve(families.size());
        for (const auto& row : families) {
            names.emplace_back(row.first);
        }
        const std::string chosen = value->choice(names, "laws of the gaps between failures");
        law.family = std::find_if(families.begin(), families.end(), [&](const auto& row) { return row.first == chosen; })->second;
    }
    if (law.family == GapFamily::gamma || law.family == GapFamily::weibull) {
        law.cv = table.at("gap_cv", "gap_cv = 2 (above 1: in clusters)").number(gap_cv_range);
        if (const auto value = table.find("gap_nodes")) {
            law.nodes = static_cast<int>(value->integer(gap_nodes_range));
            if (of == RateOf::job) {
                value->fail({"is for rates by node or GPU", "a rate of the whole job has gaps of the whole job", "leave it out"});
            }
        }
    }
    return law;
}

Cause read_cause(Table table)
{
    Cause cause;
    cause.name = table.at("name", "name = \"network\"").text("network");
    const Value rate = table.at("rate", fmt::format("rate = \"{}\"", rate_example));
    cause.rate = rate.quantity<PerSecond>(rate_example, Sign::zero_or_more);
    cause.of = counted_by_unit(rate);
    cause.gaps = read_gaps(table, cause.of);
    cause.restart = time_at(table, "restart", "10 min");
    set_time(table, "detection", "5 min", cause.detection);
    set_time(table, "repair", "1 day", cause.repair);
    if (const auto value = table.find("repair_cv")) {
        cause.repair_cv = value->number(repair_cv_range);
    }
    if (const auto value = table.find("memory_kept")) {
        cause.memory_kept = value->number(kept_range);
    }
    if (const auto value = table.find("planned")) {
        cause.planned = value->boolean();
    }
    if (const auto source = table.find("source")) {
        source->text("measured on our cluster");
    }
    table.refuse_unknown_keys();
    return cause;
}

std::vector<Cause> read_causes(const Value& list)
{
    std::vector<Cause> causes;
    for (const Value& element : list.list(cause_example)) {
        causes.push_back(read_cause(element.table(cause_example)));
        const auto same = [&](const Cause& other) { return other.name == causes.back().name; };
        if (std::count_if(causes.begin(), causes.end(), same) > 1) {
            element.table("")
                .at("name", "")
                .fail({"is there twice", "losses are told by cause", "give each cause a name of its own"});
        }
        if (causes.size() > most_causes) {
            element.table("").fail({"is one cause too many", fmt::format("there may be {}", most_causes), "join some of them"});
        }
    }
    return causes;
}

void read_interval(const Value& value, Reliability& reliability)
{
    constexpr std::array<std::pair<std::string_view, IntervalRule>, 3> rules{
        {{"young", IntervalRule::young}, {"daly", IntervalRule::daly}, {"optimal", IntervalRule::optimal}}};
    if (value.is_text()) {
        const std::string text = value.text("30 min");
        const auto* rule = std::find_if(rules.begin(), rules.end(), [&text](const auto& row) { return row.first == text; });
        if (rule != rules.end()) {
            reliability.interval_rule = rule->second;
            return;
        }
    }
    reliability.checkpoint_interval = value.quantity<Seconds>("30 min", Sign::zero_or_more);
}

void read_checkpoints(Table& table, Reliability& reliability)
{
    const Value interval = table.at("checkpoint_interval", "checkpoint_interval = \"0 s\" (chosen by Young's formula)");
    read_interval(interval, reliability);
    reliability.checkpoint_write = time_at(table, "checkpoint_write", "30 s");
    if (const auto value = table.find("checkpoint_mode")) {
        const std::string mode = value->choice({"blocking", "asynchronous"}, "ways to write a checkpoint");
        reliability.write = mode == "asynchronous" ? CheckpointWrite::asynchronous : CheckpointWrite::blocking;
    }
    if (reliability.write == CheckpointWrite::asynchronous) {
        reliability.snapshot = time_at(table, "snapshot", "5 s");
        const Seconds given = reliability.checkpoint_interval;
        if (given.si > 0.0 && given < reliability.checkpoint_write) {
            interval.fail({"is shorter than a write", "one checkpoint is written after the other",
                           fmt::format("write \"{:g} s\" or more", reliability.checkpoint_write.si)});
        }
    }
    if (const auto value = table.find("memory_checkpoints")) {
        Table memory = value->table(R"({ interval = "1 min", stall = "0.5 s" })");
        reliability.memory.interval = memory.at("interval", "interval = \"1 min\"").quantity<Seconds>("1 min");
        reliability.memory.stall = time_at(memory, "stall", "0.5 s");
        memory.refuse_unknown_keys();
    }
}

}  // namespace

int read_spare_nodes(const Value& value, const Cluster& cluster)
{
    const int spares = value.count(spares_range);
    const int nodes = cluster.gpus / cluster.gpus_per_node();
    if (spares >= nodes) {
        value.fail({"is more than there are nodes to spare",
                    fmt::format("the cluster has {} nodes of {} GPUs", nodes, cluster.gpus_per_node()),
                    nodes > 1 ? fmt::format("write {} or less", nodes - 1) : "write 0"});
    }
    return spares;
}

Reliability read_reliability(Table table, const Cluster& cluster)
{
    Reliability reliability;
    const auto causes = table.find("cause");
    const auto rate = causes ? table.find("node_failure_rate")
                             : std::optional(table.at("node_failure_rate", "node_failure_rate = \"3.79e-3 /day\""));
    if (rate) {
        reliability.node_failure_rate = read_node_rate(*rate, cluster.gpus_per_node());
        reliability.restart = time_at(table, "restart", "10 min");
    }
    if (causes) {
        reliability.causes = read_causes(*causes);
    }
    read_checkpoints(table, reliability);
    if (const auto value = table.find("spares")) {
        reliability.spares = read_spare_nodes(*value, cluster);
    }
    if (const auto value = table.find("node_cv")) {
        reliability.node_cv = value->number(node_cv_range);
    }
    if (const auto value = table.find("drift")) {
        Table drift = value->table("{ cv = 0.01, time = \"2 day\" }");
        reliability.drift.cv = drift.at("cv", "cv = 0.01").number(drift_range);
        reliability.drift.time = drift.at("time", "time = \"2 day\"").quantity<Seconds>("2 day");
        drift.refuse_unknown_keys();
    }
    if (const auto source = table.find("source")) {
        source->text("measured on our cluster");
    }
    table.refuse_unknown_keys();
    return reliability;
}

}  // namespace prismopt
