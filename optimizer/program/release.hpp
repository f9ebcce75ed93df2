#pragma once

#include "io/results/provenance.hpp"

#include <string>

namespace prismopt {

/// Release ("0.2.0"), commit and compiler of this build.
std::string release();
std::string commit();
std::string compiler();

/// Release, commit and catalog of this build.
const BuildIdentity& this_build();

/// "prismopt 0.2.0 (commit)".
std::string program_name();

}  // namespace prismopt
