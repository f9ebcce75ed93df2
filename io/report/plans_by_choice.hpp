#pragma once

/// The best plan of each choice of a study, such as each global batch.

#include "io/results/results.hpp"

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// By the first objective, among the drawn plans of the results.
struct BestPlan {
    std::vector<double> values{};  // [objective], in SI units; confirmed if the plan is on the front; empty: none was drawn
    bool on_front = false;         // that plan
    bool some_on_front = false;    // some plan of the choice
    double bound = std::numeric_limits<double>::infinity();  // no stored plan has a lower first objective
};

/// By what `choice` returns for the hardware label of a plan; plans for which that is empty do not count.
std::map<std::string, BestPlan> best_plans(const Results& results,
                                           const std::function<std::string(const std::string& hardware)>& choice);

/// Names of the columns of a row's values and bound.
void add_best_head(const Results& results, std::vector<std::string>& cells);
void add_best(const BestPlan& best, const Results& results, std::vector<std::string>& cells);

/// The best plan of each precision and attention kernel of the space, as a table; empty without such choices.
std::vector<std::vector<std::string>> numerics_cells(const Results& results);

/// Beneath such tables.
inline constexpr const char* best_plans_note =
    "Each row with the best of its plans that were drawn; none of its plans is better than \"at least\". Plans on the front were "
    "drawn "
    "again, so rows that differ by less than the sampling error are equally good.";

}  // namespace prismopt
