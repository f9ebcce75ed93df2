#include "optimizer/commands/plan_shortlist.hpp"

#include "io/base/aligned.hpp"
#include "io/base/input_error.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/toml/reading_units.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "search/near_bounds.hpp"

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
        if (follows_step(objective.name)) {
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

/// The plan's mean step, and the number of steps whose mean is known to `precision` (95 %) if they vary as on one set of GPUs.
struct StepsToMeasure {
    double mean_s = 0.0;
    std::size_t count = 0;
};
StepsToMeasure steps_to_measure(StoredStudy& study, const Point& point, double precision)
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
    const double count = std::ceil(std::pow(two_sided_95 / precision, 2.0) * variance / (mean * mean));
    return {mean, static_cast<std::size_t>(std::max(2.0, count))};
}

struct Listed {
    int gpus = 0;
    std::vector<PlansAlike> groups;
    std::vector<std::size_t> members;  // the plans by which they are named
    std::vector<Chance> chances;
    std::vector<Chance> by_constants;  // without errors of the plans' own
    Shortlist list;
    std::vector<Central90> intervals;  // of the listed plans
};

Listed listed_plans(const PlanPosterior& plans, int gpus, const ShortlistRequest& asked)
{
    Listed result;
    result.gpus = gpus;
    result.groups = plans.near(gpus, asked.objective);
    result.members = named(result.groups);
    const JointDraws draws = plans.draws(result.members, asked.objective, {});
    result.chances = chances(draws);
    result.by_constants = chances(plans.draws(result.members, asked.objective, {.delta = false}));
    result.list = asked.most > 0 ? least_regret(draws, asked.most) : covering(draws, asked.cover);
    for (const std::size_t member : result.list.points) {
        result.intervals.push_back(plans.interval(result.members[member], asked.objective));
    }
    return result;
}

Json json_of(const Listed& of, const PlanPosterior& plans, const ShortlistRequest& asked, const Results& results,
             StoredStudy& study)
{
    std::size_t contenders = 0;
    for (const PlansAlike& alike : of.groups) {
        contenders += 1 + alike.others.size();
    }
    Json json{{"gpus", of.gpus}, {"contenders", contenders}, {"plans", Json::array()}};
    for (std::size_t i = 0; i < of.list.points.size(); ++i) {
        const std::size_t m = of.list.points[i];
        const Contender& contender = plans.contenders()[of.members[m]];
        const Point point = study.space().point(contender.index);
        FrontPoint named;
        named.point = point;
        named.prediction.gpus = of.gpus;
        const Central90& given = of.intervals[i];
        const StepsToMeasure steps = steps_to_measure(study, point, asked.precision);
        json["plans"].push_back({{"point", contender.index},
                                 {"plan", plan_words(results, named)},
                                 {"value", contender.values[asked.objective]},
                                 {"median", given.median},
                                 {"low", given.low},
                                 {"high", given.high},
                                 {"drawn", contender.drawn},
                                 {"equivalents", Json::array()},
                                 {"chance_best", of.chances[m].best},
                                 {"chance_best_by_constants", of.by_constants[m].best},
                                 {"chance_fits", of.chances[m].possible},
                                 {"expected_regret", of.chances[m].regret},
                                 {"cover", of.list.cover[i]},
                                 {"regret_after_measuring", of.list.regret[i]},
                                 {"step_s", steps.mean_s},
                                 {"steps_to_measure", steps.count}});
        for (const std::size_t other : of.groups[m].others) {
            json["plans"].back()["equivalents"].push_back(plans.contenders()[other].index);
        }
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
    std::vector<std::vector<std::string>> rows{{"point", "plan", unit.name, "with model error", "best %", "constants %",
                                                "cover %", "regret %", "after %", "fits %", "step, s", "steps"}};
    const auto chance = [](const Json& probability) { return chance_figure(probability.get<double>()); };
    const auto share = [](const Json& part) { return percent_figure(part.get<double>()); };
    for (const Json& plan : json["plans"]) {
        const std::size_t alike = plan["equivalents"].size();
        rows.push_back({std::to_string(plan["point"].get<std::uint64_t>()),
                        plan["plan"].get<std::string>() + (alike > 0 ? fmt::format(" (and {} alike)", alike) : ""),
                        fmt::format("{}{:.4g}", plan["drawn"].get<bool>() ? "" : "~", plan["value"].get<double>() / unit.size),
                        fmt::format("{:.4g} ({:.4g} to {:.4g})", plan["median"].get<double>() / unit.size,
                                    plan["low"].get<double>() / unit.size, plan["high"].get<double>() / unit.size),
                        chance(plan["chance_best"]), chance(plan["chance_best_by_constants"]), chance(plan["cover"]),
                        share(plan["expected_regret"]), share(plan["regret_after_measuring"]), chance(plan["chance_fits"]),
                        fmt::format("{:.4g}", plan["step_s"].get<double>()),
                        std::to_string(plan["steps_to_measure"].get<std::size_t>())});
    }
    const std::size_t listed = json["plans"].size();
    const std::string why =
        asked.most > 0
            ? listed == 1 ? "the plan with the lowest expected regret"
                          : fmt::format("the {} plans with the lowest expected regret after measuring them", listed)
            : fmt::format("the smallest set that contains the best plan with probability {}", relative_text(asked.cover));
    return fmt::format("\n{} GPUs: {}; plans within {} of the best: {}\n{}", json["gpus"].get<int>(), why,
                       relative_text(near_best), json["contenders"].get<std::size_t>(), aligned(rows, 1));
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
        json["shortlists"].push_back(json_of(listed_plans(plans, gpus, asked), plans, asked, results, study));
    }
    return json;
}

std::string shortlist_text(const Json& json, const Results& results, const ShortlistRequest& asked)
{
    const ObjectiveInfo& objective = results.objectives[asked.objective];
    std::string text = fmt::format(
        "Plans of {} that may be the best by {},\ngiven the model error ({} draws; the linear approximation in the fitted "
        "constants has an error of at most {}).\n",
        results.study.scenario_name, objective.long_name, posterior_draws,
        percent_text(json["linearisation_error"].get<double>()));
    for (const Json& list : json["shortlists"]) {
        text += list_text(list, objective, asked);
    }
    return text + fmt::format(
                      "\nwith model error: median and 90 % interval, without the error that all plans share until one is "
                      "measured. alike:\n"
                      "plans within {} of this one in every draw, which count as one with it. best: probability of being "
                      "the best;\n"
                      "constants: the same by the error of the fitted constants alone. cover: probability that the best plan is "
                      "this one\n"
                      "or one above it. regret: expected excess over the best plan. after: expected regret after measuring this "
                      "plan and\n"
                      "those above, and using the fastest. fits: probability of fitting into memory. step: predicted mean. "
                      "steps: number\n"
                      "of steps to measure for a mean accurate to {}. ~: estimated from the plan's bound, not drawn.\n",
                      relative_text(equivalent_difference), relative_text(asked.precision, 2));
}

}  // namespace prismopt
