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
constexpr std::uint64_t most_tuples =
    200'000'000;                                  // of the space at the levels of the hardware parameters: a sweep takes minutes
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

class Tuner {
public:
    Tuner(const Scenario& scenario, const TuningLog& log)
        : scenario_(scenario), log_(log), model_(scenario), problem_(model_.problem)
    {
        for (std::size_t k = 0; k < scenario.choices.size(); ++k) {
            const StudyChoice& choice = scenario.choices[k];
            if (choice.continuous) {
                free_.push_back(k);
                box_.low.push_back(level_of(choice.values.front()));
                box_.high.push_back(level_of(choice.values.back()));
            }
        }
    }

    TunedHardware run()
    {
        const std::vector<GridDesign> front = grid_front();
        Scalarisation scalar{.weight = {}, .ideal = front.front().values, .nadir = front.front().values};
        for (const GridDesign& design : front) {
            for (std::size_t k = 0; k < design.values.size(); ++k) {
                scalar.ideal[k] = std::min(scalar.ideal[k], design.values[k]);
                scalar.nadir[k] = std::max(scalar.nadir[k], design.values[k]);
            }
        }
        TunedHardware tuned;
        const auto most = static_cast<std::size_t>(scenario_.search.tune_points);
        for (const Values& direction : reference_directions(model_.objectives.size(), most)) {
            scalar.weight = direction;
            for (double& weight : scalar.weight) {
                weight = std::max(weight, least_weight);
            }
            for (const GridDesign* design : best_for(scalar, front)) {
                keep(tune(*design, scalar), tuned.variants);
            }
        }
        tuned.evaluations = evaluations_;
        return tuned;
    }

private:
    std::vector<GridDesign> grid_front()
    {
        const std::uint64_t size = model_.designs.space().size();
        if (size > most_tuples) {
            throw InputError(fmt::format(
                "{}: {} combinations of values are too many for hardware tuning (at most {}); give [[knob]] fewer levels, or "
                "[space] fewer choices",
                scenario_.path, size, most_tuples));
        }
        const std::vector<SweepRange> ranges = split_space(size, (size + tuples_at_once - 1) / tuples_at_once);
        std::vector<Bound> best;  // of each range
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            doing_ = fmt::format("{} of {} parts of the space checked", r, ranges.size());
            const std::string question = fmt::format("tuples {} to {}", ranges[r].begin, ranges[r].end);
            const Message answer = answer_to(question, [&] { return encode(Answer{front_of(ranges[r])}); });
            const auto sweep = std::get<Sweep>(decode_answer(answer));
            best.insert(best.end(), sweep.feasible.begin(), sweep.feasible.end());
        }
        std::vector<GridDesign> front;
        for (const Bound& bound : non_dominated_of(best)) {
            const Point point = model_.designs.space().point(bound.index);
            front.push_back({model_.designs.plan(point), scenario_.variants[model_.designs.variant(point)], bound.objectives});
        }
        if (front.empty()) {
            throw InputError(fmt::format("{}: no plan is feasible on any hardware variant; see prismopt validate {}",
                                         scenario_.path, scenario_.path));
        }
        return front;
    }

    /// The front of a range: only these points can be on the front of the space.
    Sweep front_of(const SweepRange& range)
    {
        Sweep sweep;
        sweep.range = range;
        sweep.feasible = Worker(model_, [this] { check_stop(); }).sweep(range).feasible;
        for (Bound& bound : sweep.feasible) {
            std::replace(bound.objectives.begin(), bound.objectives.end(), -infinity, 0.0);  // no bound: no influence
        }
        sweep.feasible = non_dominated_of(sweep.feasible);
        return sweep;
    }

    static std::vector<Bound> non_dominated_of(const std::vector<Bound>& bounds)
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

    /// The best designs for a direction, one for each combination of plan and discrete hardware parameters: tuning changes the
    /// continuous hardware parameters only.
    std::vector<const GridDesign*> best_for(const Scalarisation& scalar, const std::vector<GridDesign>& front) const
    {
        std::vector<const GridDesign*> order;
        for (const GridDesign& design : front) {
            order.push_back(&design);
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](const GridDesign* a, const GridDesign* b) { return scalar(a->values) < scalar(b->values); });
        std::vector<const GridDesign*> best;
        for (const GridDesign* design : order) {
            const bool known =
                std::any_of(best.begin(), best.end(), [&](const GridDesign* other) { return same_discrete(*design, *other); });
            if (!known && best.size() < designs_per_direction) {
                best.push_back(design);
            }
        }
        return best;
    }

    bool same_discrete(const GridDesign& a, const GridDesign& b) const
    {
        for (std::size_t k = 0; k < a.variant.size(); ++k) {
            if (!scenario_.choices[k].continuous && a.variant[k] != b.variant[k]) {
                return false;
            }
        }
        return design_text(a.plan) == design_text(b.plan);
    }

    ChosenValues tune(const GridDesign& design, const Scalarisation& scalar)
    {
        ChosenValues variant = design.variant;
        const auto set = [&](std::span<const double> x) {
            for (std::size_t k = 0; k < free_.size(); ++k) {
                variant[free_[k]] = HardwareLevel{x[k]};
            }
        };
        std::vector<double> start;
        for (const std::size_t k : free_) {
            start.push_back(level_of(design.variant[k]));
        }
        const auto cost = [&](std::span<const double> x) {
            set(x);
            doing_ = fmt::format("{} of at most {} evaluations", evaluations_, most_tuning_evaluations(scenario_));
            const std::string question = fmt::format("{} with {}", design_text(design.plan), exact_text(variant));
            const Message answer = answer_to(question, [&] { return (Packer() << judge(design.plan, variant)).take(); });
            ++evaluations_;
            Values values;
            Unpacker(answer) >> values;
            return values.empty() ? infinity : scalar(values);
        };
        const Tuned tuned = minimise(cost, box_, start, {.max_evaluations = scenario_.search.tune_evaluations, .seed = 1});
        set(tuned.x);
        return variant;
    }

    /// A question to the journal, with all digits of the levels.
    std::string exact_text(const ChosenValues& values) const
    {
        std::string text;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const auto* level = std::get_if<HardwareLevel>(&values[k]);
            const StudyChoice& choice = scenario_.choices[k];
            text += (k == 0 ? "" : " ") + (level != nullptr ? fmt::format("{}", level->si) : value_text(choice, values[k]));
        }
        return text;
    }

    /// Objectives of a plan on this variant; empty if it is infeasible.
    std::vector<double> judge(const ParallelPlan& plan, const ChosenValues& values_of_choices)
    {
        auto variant = variant_at(scenario_, values_of_choices);
        if (!variant) {
            return {};
        }
        take_variant(problem_, std::move(*variant));
        Predictor predictor(problem_);
        const auto bound = predictor.bound(plan);
        if (std::holds_alternative<Infeasible>(bound)) {
            return {};
        }
        std::vector<double> values;
        if (scenario_.search.tune_fleets > 0) {
            const int steps = scenario_.search.rungs.front().steps;
            const SamplerOptions sampler = model_.sampler({Purpose::search});
            PhaseDraws draws;
            const int fleets = scenario_.search.tune_fleets;
            const int at_once = blocks_of_a_thread * block_fleets * parallel_threads();
            for (int fleet = 0; fleet < fleets; fleet += at_once) {
                check_stop();
                const PhaseDraws more = predictor.sample(plan, {fleet, std::min(at_once, fleets - fleet), steps}, sampler);
                draws.resize(more.size());
                for (std::size_t phase = 0; phase < more.size(); ++phase) {
                    draws[phase].insert(draws[phase].end(), more[phase].begin(), more[phase].end());
                }
            }
            const Prediction prediction = predictor.summarise(plan, draws, steps, sampler, Confidence{});
            for (const Objective* objective : model_.objectives) {
                values.push_back(objective->value(prediction).value);
            }
            return values;
        }
        for (std::size_t k = 0; k < model_.objectives.size(); ++k) {
            values.push_back(model_.bounded[k] ? model_.objectives[k]->bound(std::get<NoiseFree>(bound)) : 0.0);
        }
        return values;
    }

    void keep(const ChosenValues& exact, std::vector<ChosenValues>& list) const
    {
        ChosenValues shorter = exact;
        for (const std::size_t k : free_) {
            const StudyChoice& choice = scenario_.choices[k];
            const double level = rounded(level_of(exact[k]));
            shorter[k] = HardwareLevel{std::clamp(level, level_of(choice.values.front()), level_of(choice.values.back()))};
        }
        const ChosenValues& kept = variant_at(scenario_, shorter) ? shorter : exact;
        const auto& grid = scenario_.variants;
        if (std::find(list.begin(), list.end(), kept) == list.end() && std::find(grid.begin(), grid.end(), kept) == grid.end()) {
            list.push_back(kept);
        }
    }

    const Scenario& scenario_;
    const TuningLog& log_;
    StudyModel model_;
    Problem problem_;                // with the hardware parameters as they are being tried
    std::vector<std::size_t> free_;  // continuous choices
    Box box_;
    std::uint64_t evaluations_ = 0;
    std::string doing_;  // and how far
    std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace

bool tunes_hardware(const Scenario& scenario)
{
    const bool continuous = std::any_of(scenario.choices.begin(), scenario.choices.end(),
                                        [](const StudyChoice& choice) { return choice.continuous; });
    const Tuning tuning = facts_of_strategy(scenario.search.strategy).tuning;
    if (tuning == Tuning::always && !continuous) {
        throw InputError(
            fmt::format("{}: strategy {} has no parameter to tune: no [[knob]] has a range; write for example range = "
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

TunedHardware tune_hardware(const Scenario& scenario, const TuningLog& log) { return Tuner(scenario, log).run(); }

}  // namespace prismopt
