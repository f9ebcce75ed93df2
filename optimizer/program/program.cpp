#include "optimizer/program/program.hpp"

#include "io/results/hdf5_file.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/version.hpp"

#include <fmt/format.h>

namespace prismopt {

std::string release() { return program_version; }

std::string commit() { return program_commit; }

std::string program_name() { return "prismopt " + release() + " (" + commit() + ")"; }

std::string version_text()
{
    return fmt::format("{}\ncompiler: {}\nMPI: {}\nHDF5: {}\n", program_name(), program_compiler, Communicator::library_version(),
                       hdf5_version());
}

}  // namespace prismopt
