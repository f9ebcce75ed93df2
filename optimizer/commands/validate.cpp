#include "io/base/aligned.hpp"
#include "io/report/front/batch_rows.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/preview/unmet_question.hpp"

#include "io/report/network_json.hpp"
#include "io/report/placement_text.hpp"
#include "io/report/space_counts.hpp"
#include "io/report/study_json.hpp"
#include "optimizer/program/scenario_log.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Of all networks, each at the sequences of its first phase.
std::vector<NetworkSize> network_sizes(const Scenario& scenario)
{
    const std::vector<const Workload*> all = networks(scenario);
    std::vector<NetworkSize> sizes;
    for (std::size_t i = 0; i < all.size(); ++i) {
        sizes.push_back(network_size(*all[i], phases_for(scenario, i).front().sequence));
    }
    return sizes;
}

nlohmann::json unmet_json(const UnmetQuestion& unmet)
{
    nlohmann::json limits = nlohmann::json::array();
    for (const UnmetLimit& limit : unmet.limits) {
        limits.push_back({{"objective", limit.objective}, {"most", limit.most}, {"least", limit.least}});
    }
    return limits;
}

std::string validation_json(const Scenario& scenario, const PlanCount& count,
                            const std::optional<UnmetQuestion>& unmet)
{
    const std::optional<PlanCount::Sample>& sample = count.sample;
    nlohmann::json json{{"format", "prismopt validate"},
                        {"format_version", 1},
                        {"valid", true},
                        {"combinations", count.combinations},
                        {"examined", count.examined},
                        {"feasible", count.in_all(count.feasible)},
                        {"not_plans", count.in_all(space_counts(count.feasible, count.rejected).not_plans)}};
    if (sample) {
        json["feasible"] = std::llround(sample->feasible);
        json["plans_sampled"] = sample->judged;
    }
    if (sample && !sample->found) {
        json["feasible_share_below"] = sample->share_below;
    }
    if (unmet) {
        json["unmet_question"] = unmet_json(*unmet);
    }
    for (const NetworkSize& size : network_sizes(scenario)) {
        json["networks"].push_back(network_json(size));
    }
    json["variants"] = variants_json(scenario.variant_counts);
    json["rejected"] = nlohmann::json::object();
    for (const Rejected& rejected : count.rejected) {
        if (rejected.count > 0 && !names_no_plan(rejected.reason)) {
            json["rejected"][rejected.reason] = count.in_all(rejected.count);
        }
    }
    return json.dump(2) + "\n";
}

/// Networks, batches and numerics.
void print_workload(const Scenario& scenario)
{
    for (const NetworkSize& size : network_sizes(scenario)) {
        fmt::print("{}", network_text(size));
    }
    if (const ChoiceTable batches = batch_table(scenario, {}); !batches.cells.empty()) {
        fmt::print("{}\n{}", batches.title, aligned(batches.cells, batches.cells.front().size() - 1));
    } else if (scenario.learning) {
        fmt::print("{}\n", learning_text(scenario, scenario.phases));
    }
    for (const std::string& choices :
         {numerics_text(scenario), local_updates_text(scenario), assumed_order_text(scenario)}) {
        fmt::print("{}{}", choices, choices.empty() ? "" : "\n");
    }
}

void print_counts(const Scenario& scenario, const PlanCount& count)
{
    const std::optional<PlanCount::Sample>& sample = count.sample;
    fmt::print("{}{}", space_text(count.combinations, count.feasible, count.rejected),
               variants_text(scenario.variant_counts));
    if (sample) {
        fmt::print("{}\n", sample->found ? fmt::format("about {:.3g} plans are feasible", sample->feasible)
                                         : sample->text);
    } else if (!count.whole()) {
        const double scale = static_cast<double>(count.combinations) / static_cast<double>(count.examined);
        fmt::print("in the whole space: about {:.3g} feasible plans\n",
                   scale * static_cast<double>(count.feasible));
    }
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
    const PlanCount count = count_plans(scenario, pause);
    const std::optional<UnmetQuestion> unmet =
        count.feasible > 0 ? unmet_question(scenario, pause) : std::nullopt;
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}", validation_json(scenario, count, unmet));
        return exit_done;
    }
    fmt::print("{}: valid\n", scenario.path);
    print_workload(scenario);
    print_counts(scenario, count);
    if (unmet) {
        fmt::print("{}\n", unmet_question_text(*unmet));
    }
    return exit_done;
}

}  // namespace prismopt
