#pragma once

/// Columns of many numbers as short texts (base64) of a page; io/html/page/data.js and timeline.js unpack them.

#include "io/results/results.hpp"
#include "model/step/graph/timeline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// Little-endian bytes as base64.
std::string base64(std::span<const std::uint16_t> numbers);
std::string base64(std::span<const std::uint32_t> numbers);

/// A value as one of 65,535 steps between the least and the most of its column, of their logarithms where all are positive:
/// finer than a screen shows.
struct Steps {
    double low = 0.0;
    double high = 0.0;
    bool logarithmic = false;
    std::vector<std::uint16_t> steps;  // 65535: not finite
};
Steps steps_of(std::span<const double> values);

/// Plans off the front: drawn ones first, evenly thinned out where there are more than `most_bytes` allow.
nlohmann::json packed_cloud(const Results& results, std::size_t most_bytes);

/// What stages compute and exchange: six numbers an event.
std::string packed_timeline(const std::vector<TimelineEvent>& events, double step_s);

}  // namespace prismopt
