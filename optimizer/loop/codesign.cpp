#include "optimizer/loop/codesign.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/variants.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"
#include "search/ranking.hpp"
#include "search/strategies/nlopt_search.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace prismopt {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Of the space at the levels of the hardware parameters: a sweep takes minutes.
constexpr std::uint64_t most_tuples = 200'000'000;
constexpr std::uint64_t tuples_at_once = 50'000;  // of its sweep: a few seconds at most
constexpr int blocks_of_a_thread = 4;             // drawn between two checks whether to stop
constexpr auto line_interval = std::chrono::seconds(5);
constexpr std::size_t designs_per_direction = 3;
constexpr double least_weight = 1e-3;  // so that every objective counts
constexpr int digits = 4;              // of a tuned value, as in a datasheet

double rounded(double value)
{
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - (digits - 1));
    return std::round(value / unit) * unit;
}

double level_of(const ChoiceValue& value) { return std::get<HardwareLevel>(value).si; }

/// A point of the front of the grid, with its objectives in the noise-free model.
struct GridDesign {
    ParallelPlan plan;
    ChosenValues variant;
    std::vector<double> values;
};

std::vector<Bound> non_dominated_of(const std::vector<Bound>& bounds)
{
    std::vector<Values> values;
    for (const Bound& bound : bounds) {
        values.push_back(bound.objectives);
    }
    std::vector<Bound> kept;
    for (const std::size_t i : non_dominated(values)) {
        kept.push_back(bounds[i]);
    }
    return kept;
}

/// Answers questions from the journal where it has them; stops and shows progress in between.
class TuningQuestions {
public:
    explicit TuningQuestions(const TuningLog& log) : log_(log) {}

    /// Says what is computed, and how far.
    void describe(std::string doing) { doing_ = std::move(doing); }

    /// The recalled answer, or the one that `find` computes.
    Message answer_to(const std::string& question, const std::function<Message()>& find)
    {
        check_stop();
        if (const auto known = log_.recall ? log_.recall(question) : std::nullopt) {
            return *known;
        }
        Message answer = find();
        if (log_.learn) {
            log_.learn(question, answer);
        }
        return answer;
    }

    void check_stop()
    {
        if (log_.stop && log_.stop()) {
            throw TuningStopped("tuning: " + doing_);
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - shown_ >= line_interval) {
            shown_ = now;
            log_info("tuning: " + doing_);
        }
    }

private:
    const TuningLog& log_;
    std::string doing_;
    std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

/// The front of a range: only these points can be on the front of the space.
Sweep front_of(const StudyModel& model, const SweepRange& range, TuningQuestions& questions)
{
    Sweep sweep;
    sweep.range = range;
    sweep.feasible = Worker(model, [&] { questions.check_stop(); }).sweep(range).feasible;
    for (Bound& bound : sweep.feasible) {
        // No bound: no influence.
        std::replace(bound.objectives.begin(), bound.objectives.end(), -infinity, 0.0);
    }
    sweep.feasible = non_dominated_of(sweep.feasible);
    return sweep;
}

/// The noise-free front over the levels of the hardware parameters.
std::vector<GridDesign> grid_front(const Scenario& scenario, const StudyModel& model,
                                   TuningQuestions& questions)
{
    const std::uint64_t size = model.designs.space().size();
    if (size > most_tuples) {
        throw InputError(
            fmt::format("{}: {} combinations of values are too many for hardware tuning (at most {}); give "
                        "[[knob]] fewer levels, or "
                        "[space] fewer choices",
                        scenario.path, size, most_tuples));
    }
    const std::vector<SweepRange> ranges = split_space(size, (size + tuples_at_once - 1) / tuples_at_once);
    std::vector<Bound> best;  // of each range
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        questions.describe(fmt::format("{} of {} parts of the space checked", r, ranges.size()));
        const std::string question = fmt::format("tuples {} to {}", ranges[r].begin, ranges[r].end);
        const auto find = [&] { return encode(Answer{front_of(model, ranges[r], questions)}); };
        const auto sweep = std::get<Sweep>(decode_answer(questions.answer_to(question, find)));
        best.insert(best.end(), sweep.feasible.begin(), sweep.feasible.end());
    }
    std::vector<GridDesign> front;
    for (const Bound& bound : non_dominated_of(best)) {
        const Point point = model.designs.space().point(bound.index);
        front.push_back({.plan = model.designs.plan(point),
                         .variant = scenario.variants[model.designs.variant(point)],
                         .values = bound.objectives});
    }
    if (front.empty()) {
        throw InputError(
            fmt::format("{}: no plan is feasible on any hardware variant; see prismopt validate {}",
                        scenario.path, scenario.path));
    }
    return front;
}

/// The scalarisation of a front for a direction in objective space.
Scalarisation scalarisation_of(const std::vector<GridDesign>& front, const Values& direction)
{
    Scalarisation scalar{.weight = direction, .ideal = front.front().values, .nadir = front.front().values};
    for (double& weight : scalar.weight) {
        weight = std::max(weight, least_weight);
    }
    for (const GridDesign& design : front) {
        for (std::size_t k = 0; k < design.values.size(); ++k) {
            scalar.ideal[k] = std::min(scalar.ideal[k], design.values[k]);
            scalar.nadir[k] = std::max(scalar.nadir[k], design.values[k]);
        }
    }
    return scalar;
}

/// Whether two designs have equal plans and discrete hardware parameters.
bool same_discrete(const GridDesign& a, const GridDesign& b, const std::vector<StudyChoice>& choices)
{
    for (std::size_t k = 0; k < a.variant.size(); ++k) {
        if (!choices[k].continuous && a.variant[k] != b.variant[k]) {
            return false;
        }
    }
    return design_text(a.plan) == design_text(b.plan);
}

/// The best designs for a direction, one for each combination of plan and discrete hardware parameters:
/// tuning changes the continuous hardware parameters only.
std::vector<const GridDesign*> best_for(const Scalarisation& scalar, const std::vector<GridDesign>& front,
                                        const std::vector<StudyChoice>& choices)
{
    std::vector<const GridDesign*> order;
    for (const GridDesign& design : front) {
        order.push_back(&design);
    }
    std::stable_sort(order.begin(), order.end(), [&](const GridDesign* a, const GridDesign* b) {
        return scalar(a->values) < scalar(b->values);
    });
    std::vector<const GridDesign*> best;
    for (const GridDesign* design : order) {
        const auto is_same = [&](const GridDesign* other) { return same_discrete(*design, *other, choices); };
        if (best.size() < designs_per_direction && std::none_of(best.begin(), best.end(), is_same)) {
            best.push_back(design);
        }
    }
    return best;
}

/// Evaluates plans on hardware variants.
class HardwareJudge {
public:
    HardwareJudge(const Scenario& scenario, const StudyModel& model)
        : scenario_(scenario), model_(model), problem_(model.problem)
    {
    }

    /// Objectives of a plan on this variant; empty if it is infeasible.
    std::vector<double> judge(const ParallelPlan& plan, const ChosenValues& values_of_choices,
                              TuningQuestions& questions)
    {
        auto variant = variant_at(scenario_, values_of_choices);
        if (!variant) {
            return {};
        }
        apply_variant(problem_, std::move(*variant));
        Predictor predictor(problem_);
        const auto bound = predictor.bound(plan);
        if (std::holds_alternative<Infeasible>(bound)) {
            return {};
        }
        if (scenario_.search.tune_fleets > 0) {
            return drawn_objectives(predictor, plan, questions);
        }
        return noise_free_objectives(std::get<NoiseFree>(bound));
    }

private:
    std::vector<double> drawn_objectives(Predictor& predictor, const ParallelPlan& plan,
                                         TuningQuestions& questions) const
    {
        const int steps = scenario_.search.rungs.front().steps;
        const int fleets = scenario_.search.tune_fleets;
        const int at_once = blocks_of_a_thread * block_fleets * parallel_threads();
        const SamplerOptions sampler = model_.sampler({Purpose::search});
        PhaseDraws draws;
        for (int fleet = 0; fleet < fleets; fleet += at_once) {
            questions.check_stop();
            const PhaseDraws more =
                predictor.sample(plan, {fleet, std::min(at_once, fleets - fleet), steps}, sampler);
            draws.resize(more.size());
            for (std::size_t phase = 0; phase < more.size(); ++phase) {
                draws[phase].insert(draws[phase].end(), more[phase].begin(), more[phase].end());
            }
        }
        const Prediction prediction = predictor.summarise(plan, draws, steps, sampler, Confidence{});
        std::vector<double> values;
        for (const Objective* objective : model_.objectives) {
            values.push_back(objective->value(prediction).value);
        }
        return values;
    }

    std::vector<double> noise_free_objectives(const NoiseFree& bound) const
    {
        std::vector<double> values;
        for (std::size_t k = 0; k < model_.objectives.size(); ++k) {
            values.push_back(model_.bounded[k] ? model_.objectives[k]->bound(bound) : 0.0);
        }
        return values;
    }

    const Scenario& scenario_;
    const StudyModel& model_;
    Problem problem_;  // with the hardware parameters as they are being tried
};

/// A question to the journal, with all digits of the levels.
std::string exact_text(const ChosenValues& values, const std::vector<StudyChoice>& choices)
{
    std::string text;
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (k > 0) {
            text += ' ';
        }
        const auto* level = std::get_if<HardwareLevel>(&values[k]);
        text += level != nullptr ? fmt::format("{}", level->si) : value_text(choices[k], values[k]);
    }
    return text;
}

/// The continuous choices of a scenario, and the box of their values.
struct TunedChoices {
    std::vector<std::size_t> places;  // in Scenario::choices
    Box box;
};

TunedChoices tuned_choices(const std::vector<StudyChoice>& choices)
{
    TunedChoices tuned;
    for (std::size_t k = 0; k < choices.size(); ++k) {
        if (choices[k].continuous) {
            tuned.places.push_back(k);
            tuned.box.low.push_back(level_of(choices[k].values.front()));
            tuned.box.high.push_back(level_of(choices[k].values.back()));
        }
    }
    return tuned;
}

ChosenValues with_levels(ChosenValues variant, const TunedChoices& choices, std::span<const double> levels)
{
    for (std::size_t k = 0; k < choices.places.size(); ++k) {
        variant[choices.places[k]] = HardwareLevel{levels[k]};
    }
    return variant;
}

/// The variant with the best levels for a design; `evaluations` counts the evaluations of all tunings.
ChosenValues tune(const Scenario& scenario, const GridDesign& design, const Scalarisation& scalar,
                  const TunedChoices& choices, HardwareJudge& judge, TuningQuestions& questions,
                  std::uint64_t& evaluations)
{
    const std::uint64_t most = most_tuning_evaluations(scenario);
    const auto cost = [&](std::span<const double> x) {
        const ChosenValues variant = with_levels(design.variant, choices, x);
        questions.describe(fmt::format("{} of at most {} evaluations", evaluations, most));
        const std::string question =
            fmt::format("{} with {}", design_text(design.plan), exact_text(variant, scenario.choices));
        const auto find = [&] {
            return (Packer() << judge.judge(design.plan, variant, questions)).release();
        };
        const Message answer = questions.answer_to(question, find);
        ++evaluations;
        Values values;
        Unpacker(answer) >> values;
        return values.empty() ? infinity : scalar(values);
    };
    std::vector<double> start;
    for (const std::size_t k : choices.places) {
        start.push_back(level_of(design.variant[k]));
    }
    const Tuned tuned =
        minimise(cost, choices.box, start, {.max_evaluations = scenario.search.tune_evaluations, .seed = 1});
    return with_levels(design.variant, choices, tuned.x);
}

/// The variant with rounded levels, within their ranges; with exact ones where that variant does not exist.
ChosenValues with_rounded_levels(const Scenario& scenario, const TunedChoices& choices,
                                 const ChosenValues& exact)
{
    ChosenValues shorter = exact;
    for (std::size_t k = 0; k < choices.places.size(); ++k) {
        const std::size_t place = choices.places[k];
        const double level = rounded(level_of(exact[place]));
        shorter[place] = HardwareLevel{std::clamp(level, choices.box.low[k], choices.box.high[k])};
    }
    return variant_at(scenario, shorter) ? shorter : exact;
}

}  // namespace

bool tunes_hardware(const Scenario& scenario)
{
    const bool continuous = std::any_of(scenario.choices.begin(), scenario.choices.end(),
                                        [](const StudyChoice& choice) { return choice.continuous; });
    const Tuning tuning = facts_of_strategy(scenario.search.strategy).tuning;
    if (tuning == Tuning::always && !continuous) {
        throw InputError(fmt::format(
            "{}: strategy {} has no parameter to tune: no [[knob]] has a range; write for example range = "
            "[\"450 GB/s\", \"1800 GB/s\"], or choose another strategy",
            scenario.path, scenario.search.strategy));
    }
    return continuous && tuning != Tuning::never && scenario.served.empty();
}

std::uint64_t most_tuning_evaluations(const Scenario& scenario)
{
    const auto most = static_cast<std::size_t>(scenario.search.tune_points);
    return reference_directions(scenario.objectives.size(), most).size() * designs_per_direction *
           static_cast<std::uint64_t>(scenario.search.tune_evaluations);
}

TunedHardware tune_hardware(const Scenario& scenario, const TuningLog& log)
{
    const StudyModel model(scenario);
    const TunedChoices choices = tuned_choices(scenario.choices);
    TuningQuestions questions(log);
    HardwareJudge judge(scenario, model);
    const std::vector<GridDesign> front = grid_front(scenario, model, questions);
    const std::vector<ChosenValues>& grid = scenario.variants;
    TunedHardware tuned;
    const auto most = static_cast<std::size_t>(scenario.search.tune_points);
    for (const Values& direction : reference_directions(model.objectives.size(), most)) {
        const Scalarisation scalar = scalarisation_of(front, direction);
        for (const GridDesign* design : best_for(scalar, front, scenario.choices)) {
            const ChosenValues exact =
                tune(scenario, *design, scalar, choices, judge, questions, tuned.evaluations);
            const ChosenValues kept = with_rounded_levels(scenario, choices, exact);
            const auto has = [&](const std::vector<ChosenValues>& list) {
                return std::find(list.begin(), list.end(), kept) != list.end();
            };
            if (!has(tuned.variants) && !has(grid)) {
                tuned.variants.push_back(kept);
            }
        }
    }
    return tuned;
}

}  // namespace prismopt
