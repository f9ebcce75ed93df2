#pragma once

/// Packs columns of numbers as base64 for the report page; io/html/page/data.js and timeline.js unpack them.

#include "io/results/results.hpp"
#include "model/step/timeline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// Little-endian bytes as base64.
std::string base64(std::span<const std::uint16_t> numbers);
std::string base64(std::span<const std::uint32_t> numbers);

/// Values quantised to 65,535 steps between the minimum and maximum of their column, of logarithms if all are
/// positive: finer than screen resolution.
struct Steps {
    double low = 0.0;
    double high = 0.0;
    bool logarithmic = false;
    std::vector<std::uint16_t> steps;  // 65535: not finite
};
Steps steps_of(std::span<const double> values);

/// Plans off the front, evaluated ones first, evenly subsampled to fit `most_bytes`.
nlohmann::json packed_cloud(const Results& results, std::size_t most_bytes);

/// Compute and exchange events of the stages: six numbers per event.
std::string packed_timeline(const std::vector<TimelineEvent>& events, double step_s);

}  // namespace prismopt
