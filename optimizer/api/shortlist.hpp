#pragma once

/// Plans of a study that may be the best, given the error of the model: which of them to
/// measure, and what measurements say.

#include "io/results/results.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/study/measured_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace prismopt {

/// Which plans to list.
struct ShortlistRequest {
    std::string objective = {};  // one that is proportional to the step time; empty: the first such one
    std::vector<int> gpus = {};  // a list for each number of GPUs; empty: for those on the front
    double cover = 0.9;  // the smallest set of plans that contains the best one with this probability,
    // or so many plans with the lowest expected regret after measuring them; 0: as many as cover
    std::size_t most = 0;
    double precision = 0.01;  // of the mean of measured steps
};

/// A plan of a shortlist. Values are in the units of the objective; shares and probabilities are from 0 to 1.
struct ShortlistedPlan {
    std::uint64_t point = 0;
    std::string plan;     // in words
    double value = 0.0;   // predicted
    double median = 0.0;  // with model error, with its 90 % interval
    double low = 0.0;
    double high = 0.0;
    bool drawn = false;  // false: the value is estimated from the plan's bound
    // plans that no draw of the model error distinguishes from this one
    std::vector<std::uint64_t> equivalents;
    double chance_best = 0.0;
    double chance_best_by_constants = 0.0;  // by the error of the fitted constants alone
    double chance_fits = 0.0;               // into memory
    double expected_regret = 0.0;           // relative excess over the best plan: mean,
    double most_regret = 0.0;               // and 95 % quantile
    double cover = 0.0;                     // probability that the best plan is this one or one above it
    double regret_after_measuring = 0.0;    // this plan and those above it
    double step_s = 0.0;                    // predicted mean
    std::size_t steps_to_measure = 0;       // for a mean of that precision
    bool measured = false;                  // in time, and not excluded
};

/// A plan near the best that fits into memory with less than the required probability.
struct DoubtfulPlan {
    std::uint64_t point = 0;
    double value = 0.0;  // predicted
    double chance_fits = 0.0;
};

struct PlanShortlist {
    int gpus = 0;
    std::size_t contenders = 0;                      // plans near the best
    double required_fit = 0.0;                       // probability with which plans must fit into memory
    std::vector<DoubtfulPlan> excluded_by_memory{};  // contenders that are not listed, the best first
    bool none_fits = false;  // no contender has that probability, so those listed may not fit
    std::vector<ShortlistedPlan> plans;
};

struct Shortlists {
    std::string study;
    ObjectiveInfo objective;
    ShortlistRequest request;
    double linearisation_error = 0.0;  // relative, of step times at drawn constants
    std::vector<PlanShortlist> lists;  // by number of GPUs
};

/// The error that all plans of a network share, as measured.
struct NetworkFactor {
    std::string network;
    double factor = 1.0;     // measured over predicted
    double deviation = 0.0;  // relative
};

/// Beyond this many standard deviations a value is called surprising.
inline constexpr double surprising_sigma = 2.0;

/// A fitted constant of the catalog that measurements moved.
struct MovedConstant {
    std::string constant;
    std::vector<std::string> entries;
    double factor = 1.0;  // of the catalog's value
    double sigma = 0.0;   // in standard deviations of the fit
    bool surprising = false;
};

struct WhatWasLearned {
    std::vector<MeasuredAndPredicted> measured;
    double repeat_deviation = 0.0;  // relative, of repeated runs
    std::vector<NetworkFactor> all_plans;
    std::vector<MovedConstant> moved;
};

/// Whether to learn from measurements that the model's intervals do not allow.
enum class Implausible { refused, accepted };

/// The plans of a study and the error of the model. Use it from one thread at a time.
///
/// Predictions of this build stand beside those of the results, so results are refused (InputError) if this
/// build predicts other step times: those of another version or catalog, mostly.
class PlanChoice {
public:
    /// From results alone.
    explicit PlanChoice(
        const Results& results, const Pause& pause = [] {});
    /// From results and a table of measured plans, a CSV file with the columns point or plan, step_time_s or
    /// log, peak_memory_gb (docs/shortlist.md). Throws InputError.
    PlanChoice(
        const Results& results, const std::string& measured, Implausible implausible = Implausible::refused,
        const Pause& pause = [] {});
    PlanChoice(PlanChoice&&) noexcept;
    PlanChoice& operator=(PlanChoice&&) noexcept;
    ~PlanChoice();

    /// Throws InputError where the study has no such plans.
    Shortlists shortlists(const ShortlistRequest& request = {});
    WhatWasLearned learned() const;
    /// What was learned as a file (TOML) for later studies, which read it with learned in
    /// [cluster]. `file`: of the results.
    std::string overlay(const std::string& file) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string shortlist_text(const Shortlists& all);
/// Which plan to use, how sure that is, and what measuring would gain: one sentence for the best of all
/// lists; with several lists, one for each after it.
std::string verdict_text(const Shortlists& all);
std::string measured_text(const WhatWasLearned& learned);
/// One JSON object; results/README.md lists the keys. `learned`: null for results alone.
std::string shortlist_json(const Shortlists& all, const WhatWasLearned* learned = nullptr);

}  // namespace prismopt
