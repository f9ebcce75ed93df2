#pragma once

/// Answers a strategy's requests with the work of all ranks.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"
#include "optimizer/parallel/crew.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "search/strategy.hpp"

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace prismopt {

/// Tables for every plan of the scenario's space.
NoiseTables tables_of(const Scenario& scenario);
/// For one plan, in all phases.
NoiseTables tables_of(const Scenario& scenario, const ParallelPlan& plan);

/// What every rank needs to judge points; built alike on all of them. The scenario must outlive it.
struct StudyModel {
    explicit StudyModel(const Scenario& of) : StudyModel(of, tables_of(of)) {}
    /// `tables`: of another rank's tables_of(), so that all have the same bits.
    StudyModel(const Scenario& of, NoiseTables tables);

    const Scenario& scenario;
    Problem problem;
    DesignMap designs;
    std::vector<const Objective*> objectives;
    std::vector<bool> bounded;  // [objective]: has a bound, which is sound under the scenario's laws
    double skewness = 0.0;      // of its most skewed law

    SamplerOptions sampler(Purpose purpose) const;
    /// Objectives of so many fleets. Limits of means at level `safe` are infinite where the laws are too skewed for so few.
    std::vector<Estimate> values(const Prediction& prediction, int fleets, double safe) const;
    /// Of this job's limits: parts of a space share the doubt that the study allows.
    double confidence() const { return 1.0 - (1.0 - scenario.search.confidence) / scenario.search.parts; }
};

/// The work of one rank: an item in, its result out. Keeps predictors of its own.
class Worker {
public:
    /// `pause` is called within long items; what it throws passes through.
    explicit Worker(
        const StudyModel& model, Pause pause = [] {})
        : model_(model), bench_(model.scenario, model.problem), pause_(std::move(pause))
    {
    }
    Message operator()(const Message& bytes);

    /// Bounds of the feasible points in a range, and the reasons of the others.
    Sweep sweep(const SweepRange& range);

private:
    const StudyModel& model_;
    HardwareBench bench_;
    Pause pause_;
};

/// Rank 0's side: cuts requests into items, merges results in the order of the requests.
class Evaluator {
public:
    /// `rungs`: the fidelity ladder, rung 1 first, with equal steps and growing fleets.
    Evaluator(const StudyModel& model, Crew& crew, std::vector<Rung> rungs);

    void submit(std::span<const Request> requests);
    /// The answer to the oldest request that has none yet; nothing when the run is to stop, and no more then.
    std::optional<Answer> next();
    /// All that the draws of the last point answered say of it.
    const Prediction& prediction() const { return prediction_; }

    /// How many points are compared: safe limits hold at once for all of them, at every rung and for every objective (Bonferroni).
    void compare_at_once(std::uint64_t points);
    /// Fleets that the top rung needs for an upper limit of every objective among so many points; fewer exclude nothing.
    int fleets_for_limits(std::uint64_t points) const;
    /// Before anything is drawn.
    void set_top_fleets(int fleets) { rungs_.back().fleets = fleets; }

    /// Draws of these points on the confirm stream, and all they say; nothing when the run is to stop before the end.
    std::optional<std::vector<Prediction>> confirm(std::span<const std::uint64_t> points);

    std::uint64_t draws_made() const { return draws_made_; }

private:
    /// Draws by point; complete when no item is awaited any more.
    struct Drawn {
        PhaseDraws draws;
        std::size_t awaited = 0;
    };
    using DrawnPoints = std::map<std::uint64_t, Drawn>;

    /// What a point needs to reach a rung.
    struct Need {
        std::uint64_t point = 0;
        int from_fleet = 0;
        Rung rung;
    };

    void submit_draws(std::span<const Need> needs, Purpose purpose, DrawnPoints& drawn);
    void collect_draws(std::uint64_t point, DrawnPoints& drawn);
    Answer summarise(const PointRequest& request);

    const StudyModel& model_;
    Crew& crew_;
    std::vector<Rung> rungs_;
    HardwareBench bench_;
    Confidence confidence_;
    std::deque<Request> pending_;
    std::deque<std::vector<std::uint64_t>> submitted_;  // points of each item of draws whose result is still to come
    DrawnPoints drawn_;                                 // of the search stream
    std::uint64_t draws_made_ = 0;
    Prediction prediction_;
};

}  // namespace prismopt
