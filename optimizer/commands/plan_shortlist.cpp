#include "optimizer/commands/plan_shortlist.hpp"

#include "io/base/aligned.hpp"
#include "io/report/plan_words.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/accuracy/model_interval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::ordered_json;

std::size_t objective_of(const po::variables_map& values, const Results& results)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        if (follows_step(objective.units)) {
            names.push_back(objective.name);
        }
    }
    if (names.empty()) {
        throw InputError("no objective of this study is proportional to the step time, so measured steps cannot rank its plans");
    }
    const std::string name = values.count("objective") > 0 ? values["objective"].as<std::string>() : names.front();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw InputError(
            fmt::format("--objective {} is not an objective of this study that is proportional to the step time; choose from: {}",
                        name, fmt::join(names, ", ")));
    }
    return static_cast<std::size_t>(std::find_if(results.objectives.begin(), results.objectives.end(),
                                                 [&](const ObjectiveInfo& o) { return o.name == name; }) -
                                    results.objectives.begin());
}

/// Steps whose mean is known to `precision` (95 %), if they vary as the plan's steps on one set of GPUs do.
std::size_t steps_to_measure(StoredStudy& study, const Point& point, double precision)
{
    constexpr int fleets = block_fleets;
    constexpr int steps = 16;
    const Problem& problem = study.problem(point);
    Predictor predictor(problem);
    const PhaseDraws draws = predictor.sample(study.plan(point), {0, fleets, steps}, study.sampler({}));
    double variance = 0.0;
    double mean = 0.0;
    for (int fleet = 0; fleet < fleets; ++fleet) {
        const auto begin = draws.front().begin() + static_cast<std::ptrdiff_t>(fleet) * steps;
        const double own = std::accumulate(begin, begin + steps, 0.0) / steps;
        mean += own / fleets;
        for (auto step = begin; step != begin + steps; ++step) {
            variance += (*step - own) * (*step - own) / (fleets * (steps - 1));
        }
    }
    return static_cast<std::size_t>(std::max(2.0, std::ceil(std::pow(two_sided_95 / precision, 2.0) * variance / (mean * mean))));
}

struct Listed {
    int gpus = 0;
    std::vector<std::size_t> members;
    std::vector<Chance> chances;
    Shortlist list;
};

Listed listed(const PlanPosterior& plans, int gpus, const ShortlistRequest& asked)
{
    Listed result{gpus, plans.near(gpus, asked.objective), {}, {}};
    const JointDraws draws = plans.draws(result.members, asked.objective, {});
    result.chances = chances(draws);
    result.list = asked.most > 0 ? least_regret(draws, asked.most) : covering(draws, asked.cover);
    return result;
}

Json json_of(const Listed& of, const PlanPosterior& plans, const ShortlistRequest& asked, const Results& results,
             StoredStudy& study)
{
    Json json{{"gpus", of.gpus}, {"contenders", of.members.size()}, {"plans", Json::array()}};
    for (std::size_t i = 0; i < of.list.points.size(); ++i) {
        const std::size_t m = of.list.points[i];
        const Contender& contender = plans.contenders()[of.members[m]];
        const Point point = study.space().point(contender.index);
        FrontPoint named;
        named.point = point;
        named.prediction.gpus = of.gpus;
        json["plans"].push_back({{"point", contender.index},
                                 {"plan", plan_words(results, named)},
                                 {"value", contender.values[asked.objective]},
                                 {"drawn", contender.drawn},
                                 {"chance_best", of.chances[m].best},
                                 {"chance_fits", of.chances[m].possible},
                                 {"expected_regret", of.chances[m].regret},
                                 {"cover", of.list.cover[i]},
                                 {"regret_after_measuring", of.list.regret[i]},
                                 {"steps_to_measure", steps_to_measure(study, point, asked.precision)}});
    }
    return json;
}

std::string list_text(const Json& json, const ObjectiveInfo& objective, const ShortlistRequest& asked)
{
    double largest = 0.0;
    for (const Json& plan : json["plans"]) {
        largest = std::max(largest, plan["value"].get<double>());
    }
    const ReadingUnit unit = reading_unit(objective.units, largest);
    std::vector<std::vector<std::string>> rows{
        {"point", "plan", unit.name, "best %", "cover %", "regret %", "after %", "fits %", "steps"}};
    const auto percent = [](const Json& share) { return fmt::format("{:.1f}", 100.0 * share.get<double>()); };
    for (const Json& plan : json["plans"]) {
        rows.push_back({std::to_string(plan["point"].get<std::uint64_t>()), plan["plan"].get<std::string>(),
                        fmt::format("{}{:.4g}", plan["drawn"].get<bool>() ? "" : "~", plan["value"].get<double>() / unit.size),
                        percent(plan["chance_best"]), percent(plan["cover"]), percent(plan["expected_regret"]),
                        percent(plan["regret_after_measuring"]), percent(plan["chance_fits"]),
                        std::to_string(plan["steps_to_measure"].get<std::size_t>())});
    }
    const std::string why =
        asked.most > 0
            ? fmt::format("the {} plans with the lowest expected regret after measuring them", json["plans"].size())
            : fmt::format("the smallest set that contains the best plan with probability {:.0f} %", 100.0 * asked.cover);
    return fmt::format("\n{} GPUs: {}; plans within 15 % of the best: {}\n{}", json["gpus"].get<int>(), why,
                       json["contenders"].get<std::size_t>(), aligned(rows, 1));
}

}  // namespace

void add_shortlist_options(po::options_description& options)
{
    options.add_options()("cover", po::value<double>()->value_name("P"),
                          "list the smallest set of plans that contains the best one with this probability (default: 0.9)")(
        "most", po::value<std::int64_t>()->value_name("K"),
        "list K plans instead, chosen so that measuring them and using the fastest has the lowest expected regret")(
        "objective", po::value<std::string>()->value_name("NAME"),
        "objective to compare (default: the first one proportional to the step time)")(
        "gpus", po::value<int>()->value_name("N"),
        "list only plans on N GPUs (default: one list for each number of GPUs on the front)")(
        "precision", po::value<double>()->value_name("SHARE"), "precision of the mean of the measured steps (default: 0.01)");
}

ShortlistRequest shortlist_request(const po::variables_map& values, const Results& results, const PlanPosterior& plans)
{
    if (values.count("cover") > 0 && values.count("most") > 0) {
        throw InputError("--cover and --most exclude each other: give the probability or the number of plans");
    }
    ShortlistRequest asked;
    asked.objective = objective_of(values, results);
    const std::vector<int> sizes = plans.sizes();
    if (values.count("gpus") > 0) {
        asked.gpus = {values["gpus"].as<int>()};
        if (std::find(sizes.begin(), sizes.end(), asked.gpus.front()) == sizes.end()) {
            throw InputError(fmt::format("no plan of this study runs on {} GPUs; choose from: {}", asked.gpus.front(),
                                         fmt::join(sizes, ", ")));
        }
    } else {
        std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(asked.gpus), [&](int gpus) {
            return std::any_of(results.front.begin(), results.front.end(),
                               [gpus](const FrontPoint& p) { return p.prediction.gpus == gpus; });
        });
    }
    if (values.count("most") > 0) {
        const auto most = values["most"].as<std::int64_t>();
        if (most < 1) {
            throw InputError(fmt::format("--most {} is less than 1; write for example --most 3", most));
        }
        asked.most = static_cast<std::size_t>(most);
    }
    const auto share = [&values](const char* option, double otherwise) {
        const double value = values.count(option) > 0 ? values[option].as<double>() : otherwise;
        if (!(value > 0.0 && value < 1.0)) {
            throw InputError(
                fmt::format("--{} {} is not between 0 and 1; write for example --{} {}", option, value, option, otherwise));
        }
        return value;
    };
    asked.cover = share("cover", asked.cover);
    asked.precision = share("precision", asked.precision);
    return asked;
}

Json shortlist_json(const Results& results, const PlanPosterior& plans, const ShortlistRequest& asked, StoredStudy& study)
{
    const ObjectiveInfo& objective = results.objectives[asked.objective];
    Json json{{"study", results.study.scenario_name},
              {"objective", objective.name},
              {"units", objective.units},
              {"draws", posterior_draws},
              {"precision", asked.precision},
              {"linearisation_error", plans.linearisation_error(results)},
              {"shortlists", Json::array()}};
    for (const int gpus : asked.gpus) {
        json["shortlists"].push_back(json_of(listed(plans, gpus, asked), plans, asked, results, study));
    }
    return json;
}

std::string shortlist_text(const Json& json, const Results& results, const ShortlistRequest& asked)
{
    const ObjectiveInfo& objective = results.objectives[asked.objective];
    std::string text = fmt::format(
        "Plans of {} that may be the best by {},\ngiven the model error ({} draws; the linear approximation in the fitted "
        "constants has an error of at most {:.1f} %).\n",
        results.study.scenario_name, objective.long_name, posterior_draws, 100.0 * json["linearisation_error"].get<double>());
    for (const Json& list : json["shortlists"]) {
        text += list_text(list, objective, asked);
    }
    return text + fmt::format(
                      "\nbest: probability of being the best. cover: probability that the best plan is this one or one above it. "
                      "regret: expected\nexcess over the best plan. after: expected regret after measuring this plan and those "
                      "above and using the fastest. fits:\nprobability of fitting into memory. steps: number of steps to measure "
                      "for a mean accurate to {:.2g} %. ~: estimated from\nthe plan's bound, not drawn.\n",
                      100.0 * asked.precision);
}

}  // namespace prismopt
