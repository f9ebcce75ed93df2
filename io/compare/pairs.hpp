#pragma once

/// Plans compared in pairs: the ratio of their expectations, and how likely one run of the second takes less.
/// What the errors of both predictions have in common cancels (docs/methods/pairs.md).

#include "io/results/results.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace prismopt {

/// One of two compared plans.
struct PairedPlan {
    std::string name;  // of its study, and of its machine if the study has several
    std::uint64_t point = 0;
    std::string plan;                                       // in words
    double value = 0.0;                                     // expectation of the quantity
    double low = std::numeric_limits<double>::quiet_NaN();  // 95 % interval by its own error; NaN: unknown
    double high = std::numeric_limits<double>::quiet_NaN();
};

/// Standard deviations of the logarithm of the ratio, by cause.
struct PairDeviations {
    double constants = 0.0;  // fitted ones
    double source = 0.0;     // of all plans of a job
    double plans = 0.0;      // of each plan
    double hardware = 0.0;   // numbers that were not measured
    double draws = 0.0;
};

struct ComparedPair {
    // objective in which both plans are the best of their study or machine; "answer": they answer its
    // question
    std::string best_in;
    std::string quantity;  // whose expectations are compared
    std::string units;
    PairedPlan first;
    PairedPlan second;
    double ratio = 1.0;  // second over first
    double low = 1.0;    // its 95 % interval
    double high = 1.0;
    double chance_less = 0.5;           // that one run of the second has less than one of the first
    double chance_expected_less = 0.5;  // that the expectation of the second is less
    bool same_plan = false;             // both are one plan, be it on two machines
    // of the machines: "accelerator", "software", "GPUs", "network"; empty: plans of one machine
    std::vector<std::string> differ;
    double correlation = 1.0;  // of the errors beyond those of the constants
    PairDeviations deviations;
    // The interval if the errors of both were independent; NaN: unknown.
    double independent_low() const;
    double independent_high() const;
};

/// A table of pairs, its header first; empty without pairs.
std::vector<std::vector<std::string>> pair_rows(const std::vector<ComparedPair>& pairs);

/// The table with what the columns mean; empty without pairs.
std::string pairs_text(const std::vector<ComparedPair>& pairs);

}  // namespace prismopt
