#pragma once

/// Where the figures of a scenario come from that change no time but money and energy: GPU price and board power. `init` writes a
/// placeholder where no public figure exists: "1 USD/h (placeholder)".

#include "io/scenario/scenario.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// From the surest on; of several clusters, that of the least sure.
enum class FigureOrigin { unknown, given, catalog, placeholder };
/// "unknown", "given", "catalog", "placeholder".
std::string_view name(FigureOrigin origin);

FigureOrigin price_origin(const Scenario& scenario);
FigureOrigin power_origin(const Scenario& scenario);

/// Keys whose values are placeholders, in the order of the file: "cluster.gpu_price".
std::vector<std::string> placeholders(const Scenario& scenario);

/// " at a placeholder price"; empty for other origins.
std::string placeholder_words(FigureOrigin origin, std::string_view figure);

}  // namespace prismopt
