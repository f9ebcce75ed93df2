/// What predictions do when a scenario changes in a way whose effect is known: random scenarios, the same
/// ones each time. With PRISMOPT_RANDOM_SCENARIOS=N there are N of them (ctest --preset long has 300).

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/support/random_plans.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

int scenario_count()
{
    const char* given = std::getenv("PRISMOPT_RANDOM_SCENARIOS");
    return given != nullptr ? std::atoi(given) : 30;
}

/// A scenario before it is text.
struct Section {
    std::string header;
    std::vector<std::pair<std::string, std::string>> keys;
};
using Sections = std::vector<Section>;

std::string text_of(const Sections& sections)
{
    std::string text;
    for (const Section& section : sections) {
        text += section.header.empty() ? "" : section.header + "\n";
        for (const auto& [key, value] : section.keys) {
            text += fmt::format("{} = {}\n", key, value);
        }
    }
    return text;
}

std::string* find(Sections& sections, const std::string& header, const std::string& key)
{
    for (Section& section : sections) {
        if (section.header == header) {
            for (auto& [name, value] : section.keys) {
                if (name == key) {
                    return &value;
                }
            }
        }
    }
    return nullptr;
}

Sections random_sections(RandomValues& random)
{
    const bool mixture = random.pick({0, 1}) == 1;
    const auto number = [&random](std::initializer_list<int> values) {
        return fmt::format("[{}]", random.pick(values));
    };
    const auto name = [&random](std::initializer_list<const char*> values) {
        return fmt::format("[\"{}\"]", random.pick(values));
    };
    Sections s;
    s.push_back({"", {{"name", "\"metamorphic\""}, {"seed", "5"}}});
    s.push_back({"[workload]", {{"model", mixture ? "\"qwen3-30b-a3b\"" : "\"llama3-8b\""}}});
    s.push_back({"[[phase]]",
                 {{"tokens", "4.194304e10"},
                  {"sequence_length", std::to_string(random.pick({2048, 4096}))},
                  {"global_batch", std::to_string(random.pick({128, 256}))}}});
    s.push_back({"[cluster]",
                 {{"accelerator", random.pick({"\"a100-sxm-80gb\"", "\"h100-sxm\"", "\"b200-sxm\""})},
                  {"gpus", "64"},
                  {"gpu_price", "\"2.5 USD/h\""}}});
    s.push_back({"[[cluster.tier]]",
                 {{"name", "\"node\""},
                  {"bandwidth", random.pick({"\"450 GB/s\"", "\"300 GB/s\""})},
                  {"efficiency", "0.8"},
                  {"latency", "\"20 us\""},
                  {"group", "8"}}});
    s.push_back({"[[cluster.tier]]",
                 {{"name", "\"cluster\""},
                  {"bandwidth", random.pick({"\"50 GB/s\"", "\"25 GB/s\""})},
                  {"efficiency", "0.9"},
                  {"latency", "\"35 us\""}}});
    s.push_back({"[memory]", {{"headroom", "0.02"}}});
    s.push_back({"[variability]", {{"profile", "\"hpc-2024\""}}});
    s.push_back({"[reliability]",
                 {{"node_failure_rate", "\"2.4e-2 /day\""},
                  {"restart", "\"5 min\""},
                  {"checkpoint_interval", "\"30 min\""},
                  {"checkpoint_write", "\"5 s\""}}});
    s.push_back({"[space]",
                 {{"gpus", "[64]"},
                  {"tp", number({1, 2, 4, 8})},
                  {"pp", number({1, 2, 4})},
                  {"ep", mixture ? number({1, 2, 4, 8}) : "[1]"},
                  {"microbatch", number({1, 2})},
                  {"schedule", name({"1f1b", "gpipe", "zb_h1"})},
                  {"recompute", name({"none", "selective", "full"})},
                  {"sharding", name({"none", "zero1", "zero2", "zero3"})},
                  {"order", name({"tp-pp-dp", "tp-dp-pp"})}}});
    s.push_back({"[objectives]", {{"minimise", "[\"training_time_p99\"]"}}});
    return s;
}

/// The scenario's one plan.
ParallelPlan only_plan(const StudyModel& model) { return model.designs.plan(model.designs.space().point(0)); }

/// Figures of the plan without draws; nothing if it is infeasible.
std::optional<NoiseFree> without_draws(const Problem& problem, const ParallelPlan& plan)
{
    Predictor predictor(problem);
    const auto bound = predictor.bound(plan);
    const auto* feasible = std::get_if<NoiseFree>(&bound);
    return feasible == nullptr ? std::nullopt : std::optional(*feasible);
}

std::optional<NoiseFree> without_draws(const Sections& sections)
{
    Scenario scenario = parse_scenario(text_of(sections), "metamorphic.toml");
    scenario.variability = {};  // whose tables take most of the time
    const StudyModel model(scenario);
    if (model.designs.space().size() == 0) {
        return std::nullopt;
    }
    return without_draws(model.problem, only_plan(model));
}

void expect_equal(const NoiseFree& a, const NoiseFree& b, double relative, const std::string& what)
{
    const auto near = [&](double x, double y, const char* name) {
        EXPECT_NEAR(x, y, relative * std::abs(y)) << name << "\n" << what;
    };
    near(a.step_s, b.step_s, "step");
    near(a.training_s, b.training_s, "training");
    near(a.cost_usd, b.cost_usd, "cost");
    near(a.memory_bytes, b.memory_bytes, "memory");
}

constexpr double rounding = 1e-9;

/// Calls check(sections, figures) for the feasible ones of `count` random scenarios.
template <class Check>
void for_scenarios(unsigned seed, Check&& check, int count = scenario_count())
{
    RandomValues random(seed);
    int feasible = 0;
    for (int i = 0; i < count; ++i) {
        const Sections sections = random_sections(random);
        if (const auto figures = without_draws(sections)) {
            check(sections, *figures);
            ++feasible;
        }
    }
    EXPECT_GT(feasible, count / 3);
}

TEST(Metamorphic, UnitsMayBeWrittenInManyWays)
{
    for_scenarios(1, [](const Sections& before, const NoiseFree& figures) {
        Sections after = before;
        const std::map<std::string, std::string> same{
            {"\"450 GB/s\"", "\"3600 Gb/s\""}, {"\"300 GB/s\"", "\"0.3 TB/s\""},
            {"\"50 GB/s\"", "\"400 Gb/s\""},   {"\"25 GB/s\"", "\"25000 MB/s\""},
            {"\"20 us\"", "\"20000 ns\""},     {"\"35 us\"", "\"0.035 ms\""},
            {"\"5 min\"", "\"300 s\""},        {"\"30 min\"", "\"0.5 h\""},
            {"\"5 s\"", "\"5000 ms\""},        {"\"2.4e-2 /day\"", "\"1e-3 /h\""},
            {"4.194304e10", "41943040000.0"}};
        for (Section& section : after) {
            for (auto& [key, value] : section.keys) {
                if (const auto found = same.find(value); found != same.end()) {
                    value = found->second;
                }
            }
        }
        expect_equal(without_draws(after).value(), figures, rounding, text_of(after));
    });
}

TEST(Metamorphic, NamesAndTheOrderOfKeysDoNotMatter)
{
    RandomValues random(2);
    for_scenarios(2, [&random](const Sections& before, const NoiseFree& figures) {
        Sections after = before;
        *find(after, "", "name") = "\"another name\"";
        *find(after, "[[cluster.tier]]", "name") = "\"domain\"";
        for (Section& section : after) {
            random.shuffle(section.keys);
        }
        // The sections that are no lists, behind the keys of the document.
        const auto lists_last =
            std::stable_partition(after.begin() + 1, after.end(),
                                  [](const Section& section) { return section.header.rfind("[[", 0) != 0; });
        std::vector<Section> tables(after.begin() + 1, lists_last);
        random.shuffle(tables);
        std::copy(tables.begin(), tables.end(), after.begin() + 1);
        expect_equal(without_draws(after).value(), figures, rounding, text_of(after));
    });
}

TEST(Metamorphic, APhaseMayBeSplitInTwo)
{
    for_scenarios(3, [](const Sections& before, const NoiseFree& figures) {
        Sections after = before;
        const auto phase = std::find_if(after.begin(), after.end(),
                                        [](const Section& section) { return section.header == "[[phase]]"; });
        phase->keys.front().second = "2.097152e10";
        after.insert(phase, *phase);
        // Failures of the second phase begin anew.
        expect_equal(without_draws(after).value(), figures, 1e-6, text_of(after));
    });
}

TEST(Metamorphic, AnAxisOfOneValueIsAConstant)
{
    for_scenarios(4, [](const Sections& before, const NoiseFree& figures) {
        Sections after = before;
        auto& space = (after.end() - 2)->keys;
        for (const auto& [key, value] :
             {std::pair{"cp", "[1]"}, std::pair{"etp", "[1]"}, std::pair{"dp_overlap", "[\"on\"]"},
              std::pair{"split", "[\"layers\"]"}, std::pair{"offload", "[\"none\"]"}}) {
            space.emplace_back(key, value);
        }
        expect_equal(without_draws(after).value(), figures, rounding, text_of(after));
    });
}

/// One section's figure is made worse.
TEST(Metamorphic, WorseFiguresNeverHelp)
{
    for_scenarios(5, [](const Sections& before, const NoiseFree& figures) {
        const std::vector<std::array<const char*, 3>> worse{
            {"[[cluster.tier]]", "latency", "\"60 us\""},
            {"[[cluster.tier]]", "bandwidth", "\"20 GB/s\""},
            {"[reliability]", "node_failure_rate", "\"5e-2 /day\""},
            {"[reliability]", "restart", "\"15 min\""},
            {"[reliability]", "checkpoint_write", "\"20 s\""}};
        for (const auto& [header, key, value] : worse) {
            Sections after = before;
            *find(after, header, key) = value;
            const NoiseFree slower = without_draws(after).value();
            EXPECT_GE(slower.step_s, figures.step_s * (1.0 - rounding)) << key << "\n" << text_of(after);
            EXPECT_GE(slower.training_s, figures.training_s * (1.0 - rounding)) << key << "\n"
                                                                                << text_of(after);
        }
    });
}

// ---- On problems, whose figures a scenario does not all have

void double_times(Problem& problem)
{
    Accelerator& gpu = problem.cluster.accelerator;
    for (FlopsPerSecond* peak :
         {&gpu.peak_bf16, &gpu.peak_fp32, &gpu.peak_tf32, &gpu.peak_fp8, &gpu.peak_fp4}) {
        *peak = *peak * 0.5;
    }
    for (BytesPerSecond* rate :
         {&gpu.memory_bandwidth, &gpu.host_link, &gpu.host_memory_bandwidth, &gpu.nvme_bandwidth}) {
        *rate = *rate * 0.5;
    }
    gpu.launch = gpu.launch * 2.0;
    SoftwareStack& stack = problem.cluster.stack;
    for (Seconds* time : {&stack.launch, &stack.step, &stack.host, &stack.host_native}) {
        *time = *time * 2.0;
    }
    CollectiveLibrary& library = problem.cluster.library;
    for (Seconds* time :
         {&library.start, &library.low_latency_start, &library.in_network_start, &library.all_to_all_start}) {
        *time = *time * 2.0;
    }
    library.token_kernels = library.token_kernels * 0.5;
    for (NetworkTier& tier : problem.cluster.tiers) {
        tier.bandwidth = tier.bandwidth * 0.5;
        tier.latency = tier.latency * 2.0;
    }
    Reliability& reliability = problem.reliability;
    reliability.node_failure_rate = reliability.node_failure_rate * 0.5;
    for (Seconds* time :
         {&reliability.restart, &reliability.checkpoint_interval, &reliability.checkpoint_write}) {
        *time = *time * 2.0;
    }
}

/// Mean and p99 of training and step, from the same draws for all.
struct Drawn {
    double step_mean_s = 0.0;
    double step_p99_s = 0.0;
    double training_mean_s = 0.0;
};

Drawn drawn(const Problem& problem, const ParallelPlan& plan)
{
    Predictor predictor(problem);
    constexpr int fleets = 256;
    const PhaseDraws draws = predictor.sample(plan, {0, fleets, 1}, {});
    const Prediction p = predictor.summarise(plan, draws, 1, {}, {});
    return {p.step.mean.value, p.step.p99.value, p.training.mean.value};
}

TEST(Metamorphic, AllTimesDoubledDoubleTheRun)
{
    for_scenarios(6, [](const Sections& sections, const NoiseFree&) {
        const Scenario scenario = parse_scenario(text_of(sections), "metamorphic.toml");
        const StudyModel model(scenario);
        const ParallelPlan plan = only_plan(model);
        const NoiseFree figures = without_draws(model.problem, plan).value();
        Problem slower = model.problem;
        double_times(slower);
        const NoiseFree doubled = without_draws(slower, plan).value();
        constexpr double single_precision = 1e-5;
        EXPECT_NEAR(doubled.step_s, 2.0 * figures.step_s, single_precision * doubled.step_s)
            << text_of(sections);
        EXPECT_NEAR(doubled.training_s, 2.0 * figures.training_s, single_precision * doubled.training_s)
            << text_of(sections);
        const Drawn once = drawn(model.problem, plan);
        const Drawn twice = drawn(slower, plan);
        EXPECT_NEAR(twice.step_p99_s, 2.0 * once.step_p99_s, single_precision * twice.step_p99_s)
            << text_of(sections);
        EXPECT_NEAR(twice.training_mean_s, 2.0 * once.training_mean_s, 1e-4 * twice.training_mean_s)
            << text_of(sections);
    });
}

/// On the same draws; quantiles of a wider distribution of mean one are compared
/// where they lie above the mean.
TEST(Metamorphic, MoreVariationNeverHelps)
{
    for_scenarios(
        7,
        [](const Sections& sections, const NoiseFree&) {
            const Scenario scenario = parse_scenario(text_of(sections), "metamorphic.toml");
            const StudyModel model(scenario);
            const ParallelPlan plan = only_plan(model);
            const auto with = [&](const std::function<void(Variability&)>& change) {
                Scenario other = scenario;
                change(other.variability);
                const StudyModel changed(other);
                return drawn(changed.problem, plan);
            };
            const auto gemm = static_cast<std::size_t>(KernelClass::gemm);
            for (const bool gamma : {false, true}) {
                const auto residual = [&](double cv) {
                    return with([&](Variability& v) {
                        v.residual[gemm] = gamma ? Distribution{Gamma{cv}, {}, 20.0, "test"}
                                                 : Distribution{LogNormal{cv}, {}, 20.0, "test"};
                    });
                };
                const Drawn calm = residual(0.05);
                const Drawn lively = residual(0.25);
                EXPECT_GE(lively.step_mean_s, calm.step_mean_s * (1.0 - 1e-6)) << text_of(sections);
                EXPECT_GE(lively.step_p99_s, calm.step_p99_s * (1.0 - 1e-6)) << text_of(sections);
            }
            const auto slow_gpus = [&](double excess) {
                return with([&](Variability& v) {
                    v.gpu = Distribution{Normal{0.02}, {0.02, excess}, 20.0, "test"};
                });
            };
            EXPECT_GE(slow_gpus(0.5).step_mean_s, slow_gpus(0.1).step_mean_s * (1.0 - 1e-6))
                << text_of(sections);
        },
        (scenario_count() + 2) / 3);  // tables of distributions take time
}

}  // namespace
}  // namespace prismopt
