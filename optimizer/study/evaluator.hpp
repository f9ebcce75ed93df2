#pragma once

/// Evaluation of the requests of a strategy on all ranks.

#include "optimizer/parallel/work_item.hpp"
#include "optimizer/parallel/work_scheduler.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/strategy.hpp"

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace prismopt {

/// Computes work items on one rank, with its own predictors.
class Worker {
public:
    /// Calls `pause` within long items; its exceptions pass through.
    explicit Worker(
        const StudyModel& model, Pause pause = [] {})
        : model_(model), benches_(model.scenario, model.problem), pause_(std::move(pause))
    {
    }
    Message operator()(const Message& bytes);

    /// Lower bounds of the feasible points in a range, and the reasons why the others are infeasible.
    Sweep sweep(const SweepRange& range);

private:
    const StudyModel& model_;
    HardwareBenches benches_;
    Pause pause_;
};

/// Fleets of a rung: as configured; after the last configured rung, four times as many as in the rung before.
int fleets_of(const PointRequest& request, std::span<const Rung> rungs);

/// Largest number of points that one work item draws together: with so many, sharing random numbers saves most of their cost, and a
/// stop does not wait long for the item.
inline constexpr std::size_t most_item_points = 32;
/// Points with equal keys can be drawn together, which costs less than one by one: they have the same hardware and schedule.
using DrawGroup = std::tuple<std::size_t, std::vector<ScheduleShape>, LayerSplit>;
DrawGroup draw_group(const StudyModel& model, std::uint64_t point);

/// Rank 0: splits requests into items and merges the results in the order of the requests.
class Evaluator {
public:
    /// `rungs`: rung 1 first, with equal steps and increasing fleets.
    Evaluator(const StudyModel& model, WorkScheduler& scheduler, std::vector<Rung> rungs);

    void submit(std::span<const Request> requests);
    /// The answer to the oldest open request; nothing if the run is to stop. Do not call it again then.
    std::optional<Answer> next();
    /// Full prediction of the last point answered.
    const Prediction& prediction() const { return prediction_; }

    /// Sets the number of points compared: the limits of requests that do not say how often they may fail hold for all of them,
    /// at every rung and for every objective (Bonferroni).
    void compare_at_once(std::uint64_t points);
    /// Draws these points on the confirm stream and returns their predictions; nothing if the run is to stop before that is done.
    std::optional<std::vector<Prediction>> confirm(std::span<const std::uint64_t> points,
                                                   Feasibility feasibility = Feasibility::certain);

    std::uint64_t draws_made() const { return draws_made_; }

private:
    /// Draws of a point; complete once no item is awaited.
    struct Drawn {
        PhaseDraws draws;
        std::size_t awaited = 0;
    };
    using DrawnPoints = std::map<std::uint64_t, Drawn>;

    /// Draws that a point needs to reach a rung.
    struct Need {
        std::uint64_t point = 0;
        int from_fleet = 0;
        Rung rung;
    };

    void submit_draws(std::span<const Need> needs, const DrawSource& source);
    void submit_draws(std::map<DrawSource, std::vector<Need>>& needs);
    void collect_draws(std::uint64_t point, const DrawSource& source);
    Answer summarise(const PointRequest& request);

    const StudyModel& model_;
    WorkScheduler& scheduler_;
    std::vector<Rung> rungs_;
    HardwareBenches benches_;
    Confidence confidence_;
    std::deque<Request> pending_;
    std::deque<DrawBlock> submitted_;  // outstanding items of draws
    std::map<DrawSource, DrawnPoints> drawn_;
    std::uint64_t draws_made_ = 0;
    Prediction prediction_;
};

}  // namespace prismopt
