#pragma once

/// Results of a study as plain data, the source of results files, reports and `inspect`.

#include "io/results/provenance.hpp"
#include "io/scenario/question.hpp"
#include "model/plan/plan.hpp"
#include "model/prediction.hpp"
#include "search/space.hpp"
#include "search/strategy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Population of quantiles in results files and JSON: a random sample of GPUs (fleet), or
/// this cluster with known nodes.
constexpr std::string_view quantiles_of(bool nodes_known) { return nodes_known ? "this cluster" : "fleet"; }

/// Root attributes and /study. Only these may differ between runs of one study with other ranks or dates.
struct StudyInfo {
    BuildIdentity build;
    std::string created;       // ISO 8601, UTC
    std::string command_line;  // of the first leg
    std::string job_id;        // of the batch system, or empty
    std::string scenario_path;
    std::string scenario_text;
    PlacementOrder default_order = ParallelPlan{}.order;  // where the text gives none
    std::string scenario_name;
    std::string learned;         // study and date of the overlay in [cluster] learned; empty: none
    std::string learned_digest;  // CRC-64 of its text
    bool nodes_known = false;    // of the cluster
    std::string strategy;
    std::uint64_t seed = 0;
    std::vector<int> held{1};  // parts of the space that these results cover, from 1 to `space_parts`
    int space_parts = 1;
    Outcome outcome;           // of a results file: its facts only
    std::string outcome_text;  // in words, with what stopped the search
    std::string stopped_by;    // "SIGTERM", "--max-time", "the caller"; empty: nothing
    bool ends_known = true;    // false: files before schema 1.19 lack method, complete, end and stopped_by
};

struct ObjectiveInfo {
    std::string name;
    std::string units;
    std::string long_name;
};

/// One evaluated point at the highest rung it reached.
struct EvaluatedPoint {
    std::uint64_t index = 0;  // raw tuple
    Point point;              // label positions
    int rung = 0;             // 0: only bounded
    std::uint64_t draws = 0;
    std::vector<double> bounds;        // lower bounds of the objectives
    std::vector<Estimate> objectives;  // empty at rung 0
};

/// Results of a plan, which the table of io/results/plan_results.hpp names.
struct PlanResults {
    Prediction prediction;
    // 95 % prediction limits of measured over predicted time; NaN if not
    // computed (fronts of stopped searches):
    double model_low = std::numeric_limits<double>::quiet_NaN();
    double model_high = std::numeric_limits<double>::quiet_NaN();
    // of that ratio, at reported_probabilities; empty: not computed
    std::vector<double> model_quantiles = {};
    double model_fitted = 0.0;  // 1: from the fit to measured runs; 0: not (ModelInterval::fitted)
    // with the fastest software that the job may have, over the assumed one; with the slowest. NaN: not
    // computed
    double software_low = std::numeric_limits<double>::quiet_NaN();
    double software_high = std::numeric_limits<double>::quiet_NaN();
    // mean, of what the scenario learned; NaN: not measured
    double measured_step_s = std::numeric_limits<double>::quiet_NaN();
    // In draws of the model's error, in the first objective that follows the step time; NaN if not computed:
    double chance_best = std::numeric_limits<double>::quiet_NaN();  // of all plans on as many GPUs
    double chance_fits = std::numeric_limits<double>::quiet_NaN();  // into memory
    // relative to the best on as many GPUs
    double expected_regret = std::numeric_limits<double>::quiet_NaN();
    double chance_on_front = std::numeric_limits<double>::quiet_NaN();
};

/// A member of the front, re-estimated on a fresh random stream (a provisional front: as the search saw it).
struct FrontPoint : PlanResults {
    std::uint64_t index = 0;
    Point point;
    bool dominated = false;            // by another member, after confirmation; kept and flagged
    std::vector<Estimate> objectives;  // confirmed
};

/// Plans that would be on the front, but fit into memory with less than the probability of the limit.
struct MayNotFit {
    std::string outcome;          // of their search; empty: they were not searched (files before schema 1.14)
    bool proved = false;          // no other plan of their kind would be on the front
    double limit = 0.0;           // probability of fitting that plans of the front have at least
    std::uint64_t evaluated = 0;  // plans
    std::vector<FrontPoint> plans;  // as the front, which dominates none of them
};

/// What draws of the model's error say of a plan that may be the best of its number of GPUs.
struct PlanChance {
    std::uint64_t index = 0;
    int gpus = 0;
    int objective = 0;   // position
    double value = 0.0;  // predicted
    bool drawn = false;  // otherwise the value is estimated from the bound
    double best = 0.0;   // shares of draws
    double best_without_discrepancy = 0.0;
    double regret = 0.0;  // expected, relative
    double fits = 0.0;    // into memory: share of draws
    int shortlist = 0;    // place in the 90 % shortlist; 0: not in it
    double cover = 0.0;   // probability that the best is in the shortlist up to this place
    // 5 % quantile of the value over draws in which the plan fits.
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = std::numeric_limits<double>::quiet_NaN();  // 95 % quantile; both NaN if it never fits
};

/// What one of several networks comes to on a machine, by its best plan there.
struct MachineCell {
    Known least = {};  // of the objective; `value` is that of the confirmed plan, if there is one
    // of the plan; not a number: it was not
    Estimate confirmed = Estimate::exact(std::numeric_limits<double>::quiet_NaN());
    std::uint64_t point = 0;  // the plan, if some plan was evaluated
    bool settled = false;     // no other plan is better by more than the gap of the search
};

/// A machine that is to serve several networks.
struct Machine {
    std::string name;                // its choices, in words; "machine": there is one
    double gpu_price_usd_h = 0.0;    // per GPU-hour
    std::vector<MachineCell> cells;  // [network]
    Known weighted = {};             // over the networks
    Known regret = {};               // the largest over the networks, relative to the best machine of each
    bool on_front = false;           // of weighted objective and regret

    /// Whether the search settled all of its cells: its figures are values, not bounds.
    bool settled() const
    {
        return std::all_of(cells.begin(), cells.end(), [](const MachineCell& cell) { return cell.settled; });
    }
};

/// Machines by networks; no machines: the study has one network.
struct MachineTable {
    std::vector<std::string> networks{};
    std::vector<double> weights{};  // [network]
    bool by_share = false;          // weights are of values over the least of their network
    std::vector<Machine> machines{};

    /// What is known of all cells: [machine * networks + network].
    std::vector<Known> least() const
    {
        std::vector<Known> known;
        for (const Machine& machine : machines) {
            for (const MachineCell& cell : machine.cells) {
                known.push_back(cell.least);
            }
        }
        return known;
    }
};

/// Draws of the model's error in a study; no plans: not computed.
struct Posterior {
    double linearisation_error = 0.0;  // relative, of step times at drawn constants
    std::vector<PlanChance> plans;     // by objective, number of GPUs and index
};

struct ProgressPoint {
    std::uint64_t evaluations = 0;
    std::uint64_t draws = 0;
    double hypervolume = 0.0;  // of the front so far, in the normalised box of the study
    double elapsed_s = 0.0;    // wall-clock time: differs between runs
};

/// Time of a rank in the last leg of a search.
struct RankWork {
    int rank = 0;
    std::uint64_t items = 0;
    double busy_s = 0.0;
    double idle_s = 0.0;
    double wall_s = 0.0;
    std::array<double, 4> activity_s{};  // of `busy_s`, [rank_activities]
};

/// What ranks are busy with.
struct RankActivity {
    const char* name;
    const char* meaning;
};
inline constexpr std::array<RankActivity, 4> rank_activities{
    {{"sweep", "bounds of plans"},
     {"draw", "draws of steps"},
     {"estimate", "estimates from draws, histories of failures"},
     {"posterior", "gradients of plans for the posterior"}}};

struct Results {
    StudyInfo study;
    std::vector<Axis> axes;
    std::uint64_t raw_tuples = 0;
    std::uint64_t feasible = 0;
    std::vector<Rejected> rejected;
    std::vector<ObjectiveInfo> objectives;
    std::vector<EvaluatedPoint> evaluations;  // all feasible points, in index order
    std::vector<FrontPoint> front;            // in order of the first objective
    MachineTable machines;
    MayNotFit may_not_fit;
    Posterior posterior;
    bool provisional = false;  // the search was stopped: the front so far, not confirmed
    std::vector<ProgressPoint> progress;
    std::vector<RankWork> ranks;        // of the last leg
    std::vector<Leg> legs;              // in the order of their starts; empty before schema 1.15
    std::optional<Question> question;   // asked of a report, instead of that of the scenario; not stored
    std::optional<FrontPoint> subject;  // the plan that a report was asked to be about; not stored
    int threads = 1;
    bool sealed = true;  // false: from a file without a checksum, so that damage may go undetected
};

}  // namespace prismopt
