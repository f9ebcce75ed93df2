#pragma once

/// Options of the commands that list plans to measure.

#include "optimizer/api/shortlist.hpp"

#include <boost/program_options.hpp>

namespace prismopt {

void add_shortlist_options(boost::program_options::options_description& options);
ShortlistRequest shortlist_request(const boost::program_options::variables_map& values);

}  // namespace prismopt
