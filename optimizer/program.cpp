#include "optimizer/program.hpp"

#include "optimizer/version.hpp"

namespace prismopt {

std::string program_name() { return std::string("prismopt ") + program_version + " (" + program_commit + ")"; }

}  // namespace prismopt
