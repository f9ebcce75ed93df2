#pragma once

/// Where the figures of a scenario come from that change no time but money and energy: prices and power.
/// `init` writes a placeholder where no public figure exists: "1 USD/h (placeholder)".

#include "io/scenario/question.hpp"
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
FigureOrigin power_origin(const Scenario& scenario);  // board limit, and the share of the host
/// Unknown without a price of electricity, which no catalog has.
FigureOrigin electricity_origin(const Scenario& scenario);

/// Keys whose values are placeholders, in the order of the file: "cluster.gpu_price".
std::vector<std::string> placeholders(const Scenario& scenario);

/// "0.08 USD/kWh (given)"; empty if the price of GPUs includes electricity.
std::string electricity_text(const Scenario& scenario);
/// What power is computed from, with the origin of each figure.
std::string power_text(const Scenario& scenario);

/// Whether the objective of that name follows the power of the hardware: an energy, or a
/// cost that includes electricity.
bool follows_power(const Scenario& scenario, std::string_view objective);

/// Returns which objective of `ranking` would rank plans by a placeholder, and the key that replaces
/// it; empty if no objective would.
std::string ranked_placeholder(const Scenario& scenario, const std::vector<std::string>& ranking);
/// The same for all that a search of this scenario ranks plans by: its
/// objectives, and what its question limits.
std::string ranked_placeholder(const Scenario& scenario);
/// The same for what a question minimises and limits.
std::string ranked_placeholder(const Scenario& scenario, const Question& question);

/// " at a placeholder price"; empty for other origins.
std::string placeholder_words(FigureOrigin origin, std::string_view figure);

}  // namespace prismopt
