#pragma once

/// Questions that no feasible plan of a space can meet, whatever is drawn.

#include "io/scenario/scenario.hpp"
#include "model/base/parallel.hpp"

#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// A limit that no plan can keep.
struct UnmetLimit {
    std::string objective;
    double most = 0.0;   // that the question allows
    double least = 0.0;  // lower bound of all feasible plans
};

struct UnmetQuestion {
    /// Those that are known; empty: plans can keep each limit, but not all of them, or the time was up.
    std::vector<UnmetLimit> limits;
};

/// Why lower bounds exclude every feasible plan of the space, which must have one. Nothing if some plan may
/// keep all limits, without a question, and for spaces that are too large to be checked whole. `pause` is
/// called several times per second; its exceptions pass through.
std::optional<UnmetQuestion> unmet_question(
    const Scenario& scenario, const Pause& pause = [] {});

/// Message that no plan can meet the question, with the limits and the least bounds.
std::string unmet_question_text(const UnmetQuestion& unmet);

/// The same study for plans that need not keep the limits of its question.
Scenario without_question(Scenario scenario);

}  // namespace prismopt
