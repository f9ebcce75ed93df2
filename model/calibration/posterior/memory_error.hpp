#pragma once

/// What is known of the error of predicted peak memory, before and after plans were tried.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

/// log(actual / predicted peak memory) of a plan: an error common to all plans of a study, plus one of its
/// own. Both are normal before anything was tried; those of a plan's own are independent, with mean zero.
struct MemoryError {
    double mean = 0.0;       // of the common error
    double deviation = 0.0;  // of the common error
    double own = 0.0;        // deviation of a plan's own error
    // log(capacity / predicted) of plans that were tried without measuring their peak:
    std::vector<double> ran;     // the error was less
    std::vector<double> failed;  // out of memory: the error was more
};

/// After a measured peak: as for normal numbers. `log_ratio`: of measured over predicted;
/// `noise`: deviation of the measurement.
MemoryError after(MemoryError before, double log_ratio, double noise);

/// How surprising a measured peak is, in standard deviations.
double surprise(const MemoryError& error, double log_ratio, double noise);

/// Draws of the common error, each from its own (seed, draw), by inversion of its density: that of the normal
/// number times the probability of what happened to each plan that was tried.
std::vector<double> draw(const MemoryError& error, std::size_t draws, std::uint64_t seed);
/// A draw of a plan's own error. `plan`: from 0, equal for plans that need the same memory.
double draw_own(const MemoryError& error, std::size_t plan, std::size_t draw, std::uint64_t seed);

}  // namespace prismopt
