#pragma once

/// How results files spell what a search has come to.

#include "model/base/names.hpp"
#include "search/outcome.hpp"

namespace prismopt {

template <>
inline constexpr auto names_of<SearchMethod> =
    std::to_array<Named<SearchMethod>>({{SearchMethod::exact, "exact"},
                                        {SearchMethod::halving, "halving"},
                                        {SearchMethod::evolution, "evolution"},
                                        {SearchMethod::random, "random"}});

template <>
inline constexpr auto names_of<SearchEnd> =
    std::to_array<Named<SearchEnd>>({{SearchEnd::none, "none"},
                                     {SearchEnd::most_drawn, "most_drawn"},
                                     {SearchEnd::no_gain, "no_gain"},
                                     {SearchEnd::nothing_new, "nothing_new"}});

}  // namespace prismopt
