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
    // [objective], in SI units; confirmed if the plan is on the front; empty: none was drawn
    std::vector<double> values{};
    bool on_front = false;                                   // that plan
    bool some_on_front = false;                              // some plan of the choice
    double bound = std::numeric_limits<double>::infinity();  // no stored plan has a lower first objective
};

/// By what `choice` returns for a plan; plans for which that is empty do not count.
std::map<std::string, BestPlan> best_plans(const Results& results,
                                           const std::function<std::string(const Point&)>& choice);

/// Factors of what is proportional to the tokens of a run, at both ends of an interval.
struct TokensInterval {
    double low = 1.0;
    double high = 1.0;
};

/// Names of the columns of a row's values and bound.
void add_best_head(const Results& results, std::vector<std::string>& cells);
/// Values that are proportional to the tokens have an interval where the tokens have one.
void add_best(const BestPlan& best, const Results& results, std::vector<std::string>& cells,
              const TokensInterval& tokens = {});

/// A table of choices, beneath what they are about. Without cells, only the title is shown, if there is one.
struct ChoiceTable {
    std::string title{};
    std::vector<std::vector<std::string>> cells{};  // the first row has the names of the columns
    std::string note{};
};
std::string choices_text(const ChoiceTable& table);  // lines; empty without title

/// The best plan of each precision and attention kernel, or of each number of steps between two exchanges of
/// buildings. `title`: what these choices cost; empty if the study has none.
ChoiceTable numerics_table(const Results& results, const std::string& title);
ChoiceTable local_updates_table(const Results& results, const std::string& title);

/// Beneath such tables.
inline constexpr const char* best_plans_note =
    "Each row with the best of its plans that were drawn; none of its plans is better than \"at least\". "
    "Plans on the front were "
    "drawn again, so rows that differ by less than the sampling error are equally good.";

}  // namespace prismopt
