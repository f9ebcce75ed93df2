#pragma once

/// Results of the searches of a study, from what their strategies and archives know.

#include "io/results/results.hpp"
#include "optimizer/loop/search_pass.hpp"
#include "optimizer/study/study_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Whether machines are searched that serve several networks.
bool serves_several(const StudyModel& model);

/// Fills in the space, all plans found, and what the search came to. `strategy`: its name;
/// `ended`: nothing is left to ask.
void fill_in(Results& results, const StudyModel& model, const SearchPass& pass, const std::string& strategy,
             bool ended);

/// Fills in the front of the draws made so far.
void fill_in_provisional_front(Results& results, const StudyModel& model, const SearchPass& pass);

/// Upper confidence limits of the plans of the front, each with the memory, of which
/// plans of the front have enough.
std::vector<std::vector<double>> limits_of_front(const SearchPass& pass);

/// Plans of a search for those that may not fit which no plan of the front matches in all objectives.
std::vector<std::uint64_t> unmatched_front(const SearchPass& doubtful, const SearchPass& main);

/// Fills in what the search for plans that may not fit came to. Of its plans, those stay that would be on the
/// confirmed front. `doubtful`: null: there was nothing to search.
void fill_in_may_not_fit(Results& results, const StudyModel& model, const SearchPass* doubtful,
                         const std::string& strategy);

}  // namespace prismopt
