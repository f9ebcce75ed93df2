#pragma once

/// Shortlists of a study, as the commands shortlist and learn print them.

#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/stored_study.hpp"

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace prismopt {

struct ShortlistRequest {
    std::size_t objective = 0;  // position
    std::vector<int> gpus;
    double cover = 0.9;
    std::size_t most = 0;     // 0: as many as cover
    double precision = 0.01;  // of the mean of measured steps
};

void add_shortlist_options(boost::program_options::options_description& options);
/// Throws InputError where the study has no such plans.
ShortlistRequest shortlist_request(const boost::program_options::variables_map& values, const Results& results,
                                   const PlanPosterior& plans);

/// One list per number of GPUs.
nlohmann::ordered_json shortlist_json(const Results& results, const PlanPosterior& plans, const ShortlistRequest& asked,
                                      StoredStudy& study);
std::string shortlist_text(const nlohmann::ordered_json& json, const Results& results, const ShortlistRequest& asked);

}  // namespace prismopt
