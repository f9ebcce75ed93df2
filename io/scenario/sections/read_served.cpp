#include "io/scenario/sections/sections.hpp"
#include "model/objective.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

constexpr Range runs_range{"runs of this network that the weighted objective counts", 0, 1e6, "2",
                           Range::Ends::open_low};
constexpr Range hours_share_range{
    "share of the GPU-hours that this network has, each on its best machine; of all networks, instead of "
    "runs",
    0, 1, "0.5", Range::Ends::open_low};
constexpr std::string_view network_example = "[[workloads]] with model = \"llama3-405b\" and a phase";

/// The weight of a network, and by which key it is given.
struct GivenWeight {
    double value = 1.0;
    std::optional<Value> share{};
};

GivenWeight read_weight(Table& table)
{
    const auto runs = table.find("runs");
    const auto share = table.find("share");
    if (runs && share) {
        share->fail({fmt::format("is given beside runs in line {}", runs->line()),
                     "each is a weight of the network", "remove one of the two"});
    }
    if (share) {
        return {share->number(hours_share_range), share};
    }
    return {runs ? runs->number(runs_range) : 1.0};
}

/// The name that reports give the network: its own, or that of its entry.
std::string served_name(Table& table, const std::vector<std::string>& known)
{
    auto given = table.find("name");
    const auto model = table.find("model");
    if (!given) {
        given = model;
    }
    const Value value = given ? *given : table.at("name", "name = \"dense\"");
    const std::string name = value.text("dense");
    if (!is_word(name)) {
        value.fail({"is more than a word", "reports and --design need names of one word",
                    "choose a name without spaces or ="});
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        value.fail(
            {"is listed twice", "each network of [[workloads]] has a name of its own", "give each a name"});
    }
    return name;
}

}  // namespace

/// The keys of [workload] beside those of a study.
const SectionTable& served_table()
{
    static const SectionTable table = [] {
        SectionTable all("[[workloads]]",
                         "a network that every machine of the study is to serve, by a plan of its own; with "
                         "the keys of [workload]");
        const auto number = [](const Range& range) {
            return std::vector<ValueShape>{{.kind = ValueShape::Kind::number, .range = range}};
        };
        all.add({"runs", std::string(runs_range.meaning), std::string(runs_range.example), number(runs_range),
                 Need::optional, "1"});
        all.add({"share", std::string(hours_share_range.meaning), std::string(hours_share_range.example),
                 number(hours_share_range)});
        all.add({"phase",
                 phase_fields().help(),
                 "[{ tokens = 15.6e12, sequence_length = 8192, global_batch = 2048 }]",
                 {{.kind = ValueShape::Kind::section,
                   .section = []() -> const SectionTable& { return phase_fields(); },
                   .list = true}},
                 Need::required});
        for (const KeyInfo& key : workload_table().keys()) {
            if (key.key != "captured") {
                all.add(key);
            }
        }
        return all;
    }();
    return table;
}

void read_served_networks(const Value& list, Keys keys, Scenario& scenario)
{
    StudyChoice choice{.name = "workload"};
    std::vector<GivenWeight> weights;
    for (const Value& element : list.list(network_example)) {
        Table table = element.table(network_example);
        if (const auto captured = table.find("captured")) {
            captured->fail({"cannot be one of several networks", "a captured network has samples of its own",
                            "describe the network by its layers, or search it alone"});
        }
        weights.push_back(read_weight(table));
        const Value phases = table.at("phase", served_table().keys()[2].line());
        const std::string name = served_name(table, choice.labels);
        scenario.workloads.push_back(read_workload(table));
        scenario.workloads.back().name = name;
        if (scenario.workloads.back().task != scenario.workloads.front().task) {
            table.fail({"has another task than the first", "training and inference cannot be weighed",
                        "search them separately"});
        }
        scenario.served.phases.push_back(read_phases(phases, scenario.data, keys));
        choice.values.emplace_back(TrainedNetwork{choice.values.size()});
        choice.labels.push_back(name);
    }
    scenario.served.by_share = weights.front().share.has_value();
    for (const GivenWeight& weight : weights) {
        if (weight.share.has_value() != scenario.served.by_share) {
            list.fail({"mix runs and shares", "weights of networks must be of one kind",
                       "give each network its share, or none"});
        }
        scenario.served.weights.push_back(weight.value);
    }
    if (scenario.served.by_share) {
        const double sum = std::reduce(scenario.served.weights.begin(), scenario.served.weights.end());
        for (double& weight : scenario.served.weights) {
            weight /= sum;
        }
    }
    scenario.workload = scenario.workloads.front();
    scenario.phases = scenario.served.phases.front();
    scenario.choices.push_back(std::move(choice));
}

void refuse_unclear_served(const Scenario& scenario, Table& top)
{
    Table objectives = top.section("objectives", "[objectives] with minimise = [\"cost\"]");
    const Value minimise = objectives.at("minimise", "minimise = [\"cost\"]");
    if (scenario.objectives.size() != 1 || !follows_tokens(scenario.objectives.front())) {
        minimise.fail({"is not one objective of a run",
                       "machines are judged by its weighted sum over the networks and by their regret",
                       "write minimise = [\"cost\"], or another objective of the whole run, such as "
                       "training_time_p99"});
    }
    if (const auto deadline = objectives.find("deadline")) {
        deadline->fail(
            {"belongs to one network", "the networks of [[workloads]] have runs of their own", "remove it"});
    }
    if (!facts_of_strategy(scenario.search.strategy).compares_alternatives) {
        top.section("search", "[search]")
            .at("strategy", "strategy = \"auto\"")
            .fail({"does not compare machines",
                   "each network needs its best plan on each machine, which only an exact search bounds",
                   "write strategy = \"auto\""});
    }
}

}  // namespace prismopt
