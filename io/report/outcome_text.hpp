#pragma once

/// What a search has come to, in words.

#include "search/outcome.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// "proved complete: ...", or what a search has found so far and what ended it. `strategy` is its name in scenarios.
std::string outcome_text(const Outcome& outcome, std::string_view strategy);

}  // namespace prismopt
