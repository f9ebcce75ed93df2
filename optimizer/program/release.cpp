#include "optimizer/program/release.hpp"

#include "io/toml/catalog_file.hpp"
#include "optimizer/program/version.hpp"

namespace prismopt {

std::string release() { return program_version; }

std::string commit() { return program_commit; }

const BuildIdentity& this_build()
{
    static const BuildIdentity build{.version = release(), .commit = commit(), .catalog = catalog_digest()};
    return build;
}

std::string program_name() { return "prismopt " + release() + " (" + commit() + ")"; }

std::string compiler() { return program_compiler; }

}  // namespace prismopt
