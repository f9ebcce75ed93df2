#pragma once

/// Evaluation of the requests of a strategy on all ranks.

#include "optimizer/parallel/work_item.hpp"
#include "optimizer/parallel/work_scheduler.hpp"
#include "optimizer/study/draw_cache.hpp"
#include "optimizer/study/study_front.hpp"
#include "optimizer/study/study_model.hpp"
#include "search/strategy.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace prismopt {

/// Fleets of a rung: as configured; after the last configured rung, four times as many as in the rung before.
int fleets_of(const PointRequest& request, std::span<const Rung> rungs);

/// Largest number of points that one work item draws together: with so many, sharing random numbers saves
/// most of their cost, and a stop does not wait long for the item.
inline constexpr std::size_t most_item_points = 32;
/// Points with equal keys can be drawn together, which costs less than one by one: they have
/// the same hardware and schedule.
using DrawGroup = std::tuple<std::size_t, std::vector<ScheduleShape>, LayerSplit>;
DrawGroup draw_group(const StudyModel& model, std::uint64_t point);

/// Draws of an earlier run that was killed.
struct DrawMemory {
    /// The block without the points whose draws are known.
    std::function<DrawBlock(DrawBlock block)> missing;
    /// The draws of the whole block, by those of the missing points.
    std::function<std::vector<PhaseDraws>(const DrawBlock& block, std::vector<PhaseDraws> drawn)> complete;
};

/// Rank 0: splits requests into items for all ranks, and returns the answers in the order of the requests.
///
/// A point is drawn in blocks. Once all of its draws are there they go to one rank,
/// which turns them into estimates.
class Evaluator {
public:
    /// Bytes of draws that are kept for further rungs.
    static constexpr std::uint64_t most_kept_bytes = std::uint64_t{128} << 20;

    /// `rungs`: rung 1 first, with equal steps and increasing fleets. Model and scheduler must outlive this
    /// object.
    Evaluator(const StudyModel& model, WorkScheduler& scheduler, std::vector<Rung> rungs,
              std::uint64_t kept_bytes = most_kept_bytes);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    ~Evaluator() = default;

    /// Call before the first request.
    void remember(DrawMemory memory) { memory_ = std::move(memory); }

    /// Receives the answer to a request of one submit(), by its position, as soon as it is there:
    /// answers may come in any order.
    using Arrived = std::function<void(std::size_t request, const FullAnswer& answer)>;
    /// A point must not be requested again before it is answered.
    void submit(std::span<const Request> requests, const Arrived& arrived = {});
    /// The answer to the oldest open request; nothing if the run is to stop. Do not call it again then.
    std::optional<FullAnswer> next();

    /// Sets the number of points compared: the limits of requests from now on that do not say how often they
    /// may fail hold for all of them, at every rung and for every objective (Bonferroni).
    void compare_at_once(std::uint64_t points);
    /// Draws these points on the confirm stream and returns them as points of a front; nothing if the run
    /// is to stop before that is done.
    std::optional<std::vector<FrontPoint>> confirm(std::span<const std::uint64_t> points,
                                                   Feasibility feasibility = Feasibility::certain);

    /// Forgets all draws: points may be drawn from the first rung again.
    void forget() { cache_ = DrawCache(kept_bytes_); }

    /// Facts of plans in their order. Throws Stopped if the run is to stop.
    std::vector<PlanFacts> facts(const FactsRequest& request);

    std::uint64_t draws_made() const { return draws_made_; }

private:
    /// A request without an answer.
    struct Open {
        Request request;
        std::optional<FullAnswer> answer = {};
    };
    /// A point that is being drawn: the judgement that its draws are for, and who takes its result.
    struct Drawing {
        Judgement judgement;
        Rung rung;
        std::size_t awaited = 0;  // blocks
        std::function<void(FullAnswer)> done;
    };

    /// Begins to draw a point up to a rung. Its blocks are submitted by submit_draws().
    void begin(Judgement judgement, Rung rung, std::function<void(FullAnswer)> done);
    void submit_draws();
    void submit_draws(std::span<const DrawnPoint> points, const DrawSource& source);
    void submit(DrawBlock block);
    /// So that each rank gets some.
    std::size_t points_of_an_item(std::size_t blocks) const;
    void receive_draws(const DrawBlock& block, std::vector<PhaseDraws> draws);
    void judge(const DrawnPoint& point);

    const StudyModel& model_;
    WorkScheduler& scheduler_;
    std::vector<Rung> rungs_;
    DrawMemory memory_;
    Confidence confidence_;
    std::deque<Open> open_;
    std::map<DrawnPoint, Drawing> drawings_;
    std::vector<DrawnPoint> begun_;  // drawings without blocks yet, in the order of their requests
    std::uint64_t kept_bytes_;
    DrawCache cache_;
    std::uint64_t draws_made_ = 0;
};

}  // namespace prismopt
