#pragma once

/// How long legs of a study may follow each other on their own.

#include "io/results/provenance.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Why no other leg should follow the last one, which was stopped, without a decision: it saved nothing from
/// which the next one could go on, or it was the last of `most`. Empty: one may follow.
std::string why_last_leg(const std::vector<Leg>& legs, int most, const std::string& out);

/// Throws InputError if the study has had `most` legs.
void refuse_more_legs(const std::vector<Leg>& legs, int most, const std::string& out);

}  // namespace prismopt
