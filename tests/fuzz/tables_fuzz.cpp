/// Any bytes as a table of measured runs, collectives or kernels: read or refused, never a crash. libFuzzer's
/// entry; see tests/fuzz/README.md.

#include "io/base/input_error.hpp"
#include "io/measured/measured_collectives.hpp"
#include "io/measured/measured_kernels.hpp"
#include "io/measured/measured_runs.hpp"
#include "tests/fuzz/input_file.hpp"

#include <filesystem>
#include <vector>

namespace {

template <class Read>
void read(const Read& reader)
{
    try {
        reader();
    } catch (const prismopt::InputError&) {  // what wrong input is to end in
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    static const std::string folder = own_path("-tables");
    std::filesystem::create_directories(folder);
    const std::vector<std::string> names{"runs.csv", collectives_table, kernels_table};
    for (const std::string& name : names) {
        input_file(data, size, folder + "/" + name);
    }
    read([] { read_run_tables(folder); });
    read([] { read_measured_collectives(folder); });
    read([] { read_measured_kernels(folder); });
    return 0;
}
