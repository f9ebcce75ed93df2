#include "io/base/aligned.hpp"
#include "io/report/front/batch_rows.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/commands/command.hpp"

#include "io/report/network_size.hpp"
#include "io/report/space_counts.hpp"
#include "optimizer/preview/space_estimate.hpp"
#include "optimizer/space/spread_ranges.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/study_plan.hpp"
#include "search/archive.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace prismopt {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t most_counted = 100'000'000;  // some ten seconds; a larger space is estimated
constexpr std::size_t kept_bounds = 1024;            // not read here

struct Count {
    Archive archive;
    std::uint64_t looked_at = 0;
};

Count count_in(const StudyModel& model, std::vector<SweepRange> ranges, const Pause& pause)
{
    Count count;
    Worker worker(model, pause);
    for (SweepRange& range : ranges) {
        range.keep = kept_bounds / ranges.size();
        count.archive.add(std::vector<Answer>{worker.sweep(range)});
        count.looked_at += range.end - range.begin;
    }
    return count;
}

}  // namespace

int validate_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("json", po::bool_switch(), "print one JSON object instead of text");
    add_catalog_option(options);
    add_max_time_option(options, "stop after this wall-clock time, for example \"1 min\"");
    const auto values = parse_options("validate", options, "SCENARIO", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const Pause pause = stop_after(*values, call);
    const Scenario scenario = read_scenario((*values)["SCENARIO"].as<std::string>(), catalogs_of(*values));
    log_notes(scenario);
    const StudyModel model(scenario);
    const std::uint64_t size = model.designs.space().size();
    const Count count = count_in(model, spread_ranges(size, most_counted), pause);
    const Archive& archive = count.archive;
    const std::uint64_t looked_at = count.looked_at;
    const bool whole = looked_at == size;
    if (archive.feasible() == 0 && whole) {
        refuse_infeasible(scenario, archive);
    }
    // Combinations spread over a large space may miss all feasible plans; random branches that the rules allow find more of them.
    const std::optional<SpaceEstimate> sample =
        archive.feasible() == 0 ? std::optional(estimate_space(model, pause)) : std::nullopt;
    const double scale = static_cast<double>(size) / static_cast<double>(looked_at);
    const auto in_all = [&](std::uint64_t seen) {
        return whole ? seen : static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(seen)));
    };
    if ((*values)["json"].as<bool>()) {
        nlohmann::json json{{"valid", true},
                            {"combinations", size},
                            {"examined", looked_at},
                            {"feasible", in_all(archive.feasible())},
                            {"not_plans", in_all(space_counts(archive.feasible(), archive.rejected()).not_plans)}};
        if (sample) {
            json["feasible"] = std::llround(sample->feasible.value);
            json["plans_sampled"] = sample->judged;
        }
        if (sample && sample->plans.empty()) {
            json["feasible_share_below"] = sample->share_below();
        }
        for (const Workload* network : networks(scenario)) {
            json["networks"].push_back(network_json(network_size(*network, scenario.phases.front().sequence)));
        }
        json["rejected"] = nlohmann::json::object();
        for (const Rejected& rejected : archive.rejected()) {
            if (rejected.count > 0 && !names_no_plan(rejected.reason)) {
                json["rejected"][rejected.reason] = in_all(rejected.count);
            }
        }
        fmt::print("{}\n", json.dump(2));
        return exit_done;
    }
    fmt::print("{}: valid\n", scenario.path);
    for (const Workload* network : networks(scenario)) {
        fmt::print("{}", network_text(network_size(*network, scenario.phases.front().sequence)));
    }
    if (const ChoiceTable batches = batch_table(scenario, {}); !batches.cells.empty()) {
        fmt::print("{}\n{}", batches.title, aligned(batches.cells, batches.cells.front().size() - 1));
    } else if (scenario.learning) {
        fmt::print("{}\n", learning_text(scenario, scenario.phases));
    }
    for (const std::string& choices : {numerics_text(scenario), local_updates_text(scenario)}) {
        fmt::print("{}{}", choices, choices.empty() ? "" : "\n");
    }
    fmt::print("{}", space_text(size, archive.feasible(), archive.rejected()));
    if (sample) {
        fmt::print("{}\n", sample->plans.empty() ? none_found_text(*sample)
                                                 : fmt::format("about {:.3g} plans are feasible", sample->feasible.value));
    } else if (!whole) {
        fmt::print("in the whole space: about {:.3g} feasible plans\n", scale * static_cast<double>(archive.feasible()));
    }
    return exit_done;
}

}  // namespace prismopt
