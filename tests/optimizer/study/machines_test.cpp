/// Machines that serve several networks, against all plans of each network on each
/// machine, drawn with the same draws.

#include "io/base/input_error.hpp"
#include "io/results/results_file.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/study/machine_table.hpp"
#include "optimizer/study/worker.hpp"
#include "search/strategies/alternatives/judgement.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/random_axis.hpp"
#include "tests/optimizer/tiny_study.hpp"
#include "tests/support/random_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int fleets_of_machines = 128;

/// Two networks of other shapes and runs.
std::string served_networks(const std::string& first_weight, const std::string& second_weight)
{
    const std::string shape = "hidden = 512\nvocabulary = 32000\n";
    return "[[workloads]]\nname = \"short\"\n" + shape + first_weight +
           "layer.A = { blocks = [{ block = \"attention\", heads = 8 }, { block = \"mlp\", inner = 2048 }] "
           "}\npattern = "
           "\"AAAA\"\n"
           "phase = [{ tokens = 1e9, sequence_length = 512, global_batch = 24 }]\n"
           "[[workloads]]\nname = \"long\"\n" +
           shape + second_weight +
           "layer.A = { blocks = [{ block = \"attention\", heads = 4 }, { block = \"mlp\", inner = 4096 }] "
           "}\npattern = "
           "\"AAAAAA\"\n"
           "phase = [{ tokens = 5e8, sequence_length = 2048, global_batch = 24 },"
           " { tokens = 1e8, sequence_length = 4096, global_batch = 24 }]\n";
}

/// The tiny study with several networks in place of its own.
std::string served_text(const std::string& networks, const std::string& parameters, const std::string& space)
{
    std::string text = tiny_scenario("gpus = [8]").text;
    const std::size_t workload = text.find("[workload]");
    text.replace(workload, text.find("[software]") - workload, networks);
    text.resize(text.find("[objectives]"));
    return text + parameters + "[objectives]\nminimise = [\"cost\"]\n[space]\norder = [\"tp-pp-dp\"]\n" +
           space +
           fmt::format(
               "[search]\nrungs = [{{ fleets = 64, steps = 2 }}, {{ fleets = {0}, steps = 2 }}]\n"
               "confirm = {{ fleets = 64, steps = 2 }}\nconfidence = 0.99\n",
               fleets_of_machines);
}

/// Prices near the worth of a step of each: with most others one machine is best for both networks, which
/// tests little.
const std::string some_parameters = R"([[knob]]
of = "bandwidth"
tier = "cluster"
values = ["5 GB/s", "25 GB/s", "50 GB/s"]
price = { per = "25 GB/s", cost = "0.25 USD/h" }
[[knob]]
of = "memory_bandwidth"
values = ["1500 GB/s", "2500 GB/s"]
price = { per = "1000 GB/s", cost = "0.45 USD/h" }
)";

std::string random_text(unsigned seed)
{
    std::mt19937 random(seed);
    std::string space = "gpus = [24]\n";
    space += some_of(random, "tp", {"1", "2"});
    space += some_of(random, "pp", {"1", "2"});
    space += some_of(random, "microbatch", {"1", "2"});
    space += some_of(random, "recompute", {"\"none\"", "\"selective\"", "\"full\""});
    space += some_of(random, "sharding", {"\"none\"", "\"zero1\"", "\"zero3\""});
    const bool shares = seed % 2 == 0;
    const std::string networks =
        served_networks(shares ? "share = 0.7\n" : "", shares ? "share = 0.3\n" : "runs = 3\n");
    return served_text(networks, some_parameters, space);
}

Results searched(const Scenario& scenario)
{
    const TemporaryFolder folder;
    StudyOptions options;
    options.out = folder.file("machines.h5");
    return search(scenario, options).results;
}

/// The least cost of each network on each machine, from the draws with which a search compares plans.
std::vector<Known> least_of_all_plans(const Scenario& scenario)
{
    const StudyModel model(scenario);
    Worker worker(model);
    std::vector<Known> cells(model.machines().size() * scenario.workloads.size());
    const Sweep sweep = worker.sweep({.begin = 0, .end = model.designs.space().size()});
    for (const Bound& bound : sweep.feasible) {
        Judgement judgement;
        judgement.point = {.index = bound.index, .rung = 2};
        judgement.steps = 2;
        judgement.draws = worker.draw({{bound.index}, {0, fleets_of_machines, 2}, {}}).front();
        const double cost = worker.judge(judgement).drawn->prediction.cost_usd.value;
        Known& cell = cells[model.cell(model.designs.variant(model.designs.space().point(bound.index)))];
        cell.value = std::min(cell.value, cost);
    }
    return cells;
}

TEST(Machines, FrontsEqualThoseOfAllPlans)
{
    unsigned several = 0;
    const unsigned cases = random_cases(7, 20);
    for (unsigned seed = 1; seed <= cases; ++seed) {
        SCOPED_TRACE(seed);
        const Scenario scenario = parse_scenario(random_text(seed), "machines.toml");
        const StudyModel model(scenario);
        const std::vector<Judged> truth = judged(least_of_all_plans(scenario), alternatives_of(model));
        const std::vector<bool> expected = on_front(truth);
        const Results results = searched(scenario);
        ASSERT_TRUE(results.study.outcome.proved);
        // By the values of the search: confirmation draws again.
        const Outcome& outcome = results.study.outcome;
        std::vector<Known> found;
        for (const CellOutcome& cell : outcome.cells) {
            found.push_back(cell.settled ? cell.least : Known{});
        }
        EXPECT_EQ(on_front(judged(found, alternatives_of(model))), expected);
        several += std::count(expected.begin(), expected.end(), true) > 1 ? 1 : 0;
    }
    EXPECT_GT(several, cases / 7) << "fronts of one machine test little";
}

/// What a network comes to on a machine does not depend on what else is searched.
TEST(Machines, JudgeEachNetworkAsAlone)
{
    const Scenario both = parse_scenario(random_text(1), "machines.toml");
    const Results results = searched(both);
    const MachineTable& table = results.machines;
    ASSERT_EQ(table.machines.size(), 6U);
    ASSERT_EQ(table.networks, (std::vector<std::string>{"short", "long"}));
    const std::string text = random_text(1);
    const std::size_t second = text.find("[[workloads]]\nname = \"long\"");
    const std::size_t end = text.find("[software]");
    const Scenario alone = parse_scenario(text.substr(0, second) + text.substr(end), "alone.toml");
    const Results only = searched(alone);
    for (std::size_t m = 0; m < table.machines.size(); ++m) {
        const MachineCell& here = table.machines[m].cells.front();
        const MachineCell& there = only.machines.machines[m].cells.front();
        EXPECT_EQ(table.machines[m].name, only.machines.machines[m].name);
        if (here.settled && there.settled && std::isfinite(here.confirmed.value) &&
            std::isfinite(there.confirmed.value)) {
            EXPECT_EQ(here.confirmed.value, there.confirmed.value);
        }
    }
}

TEST(Machines, AreReadFromTheirFile)
{
    const TemporaryFolder folder;
    StudyOptions options;
    options.out = folder.file("machines.h5");
    const Results written = search(parse_scenario(random_text(2), "machines.toml"), options).results;
    const MachineTable& before = written.machines;
    const MachineTable after = read_results(options.out).machines;
    EXPECT_EQ(after.networks, before.networks);
    EXPECT_EQ(after.weights, before.weights);
    EXPECT_EQ(after.by_share, before.by_share);
    ASSERT_EQ(after.machines.size(), before.machines.size());
    for (std::size_t m = 0; m < before.machines.size(); ++m) {
        EXPECT_EQ(after.machines[m].name, before.machines[m].name);
        EXPECT_EQ(after.machines[m].weighted, before.machines[m].weighted);
        EXPECT_EQ(after.machines[m].regret, before.machines[m].regret);
        EXPECT_EQ(after.machines[m].on_front, before.machines[m].on_front);
        for (std::size_t n = 0; n < before.networks.size(); ++n) {
            EXPECT_EQ(after.machines[m].cells[n].least, before.machines[m].cells[n].least);
            EXPECT_EQ(after.machines[m].cells[n].settled, before.machines[m].cells[n].settled);
        }
    }
}

TEST(Machines, RefuseWhatHasNoMeaningForSeveralNetworks)
{
    const std::string text = random_text(1);
    const auto refused = [](const std::string& changed_text) {
        return [=] { parse_scenario(changed_text, "machines.toml"); };
    };
    const auto with = [&text](const std::string& old, const std::string& replacement) {
        std::string other = text;
        other.replace(other.find(old), old.size(), replacement);
        return other;
    };
    EXPECT_THAT(refused(with("minimise = [\"cost\"]", "minimise = [\"cost\", \"memory\"]")),
                ThrowsMessage<InputError>(HasSubstr("is not one objective of a run")));
    EXPECT_THAT(refused(with("minimise = [\"cost\"]", "minimise = [\"memory\"]")),
                ThrowsMessage<InputError>(HasSubstr("is not one objective of a run")));
    EXPECT_THAT(refused(with("runs = 3", "share = 0.3")),
                ThrowsMessage<InputError>(HasSubstr("mix runs and shares")));
    EXPECT_THAT(refused(with("name = \"long\"", "name = \"short\"")),
                ThrowsMessage<InputError>(HasSubstr("is listed twice")));
    EXPECT_THAT(refused(text + "strategy = \"nsga2\"\n"),
                ThrowsMessage<InputError>(HasSubstr("does not compare machines")));
    EXPECT_THAT(refused(text + "[question]\ndone_by = \"10 days\"\n"),
                ThrowsMessage<InputError>(HasSubstr("belongs to one network")));
    EXPECT_THAT(refused("[workload]\nmodel = \"llama3-8b\"\n" + text),
                ThrowsMessage<InputError>(HasSubstr("cannot be combined with [[workloads]]")));
}

}  // namespace
}  // namespace prismopt
