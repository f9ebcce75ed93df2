#pragma once

#include <cstdlib>

namespace prismopt {

/// Number of random cases of a test: a few every day; all with PRISMOPT_ALL_CASES,
/// which `ctest --preset long` sets.
inline unsigned random_cases(unsigned everyday, unsigned all)
{
    return std::getenv("PRISMOPT_ALL_CASES") != nullptr ? all : everyday;
}

}  // namespace prismopt
