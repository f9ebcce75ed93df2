#include "optimizer/program/release.hpp"

#include "optimizer/program/version.hpp"

namespace prismopt {

std::string release() { return program_version; }

std::string commit() { return program_commit; }

std::string program_name() { return "prismopt " + release() + " (" + commit() + ")"; }

std::string compiler() { return program_compiler; }

}  // namespace prismopt
