/// Any bytes as a measurement: read or refused, never a crash. libFuzzer's main; see tests/fuzz/README.md.

#include "io/base/input_error.hpp"
#include "io/traces/calibration_toml.hpp"
#include "io/traces/kernel_name_table.hpp"
#include "io/traces/trace_files.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace prismopt;
    static const std::string path = "/tmp/prismopt-fuzz-" + std::to_string(::getpid());
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) {
        std::abort();  // no place to write: not a finding, but nothing can be found either
    }
    try {
        TraceFiles files = read_trace_files({path});
        sort_by_start(files.trace);
        exclude_absurd(files.trace);
        exclude_absurd(files.gpu_runs, files.gpu_faults);
        exclude_absurd(files.collectives, files.collective_faults);
        constexpr std::size_t most_operations = 2000;  // time is for the readers
        if (!files.trace.ops.empty() && files.trace.ops.size() < most_operations &&
            problems(files.trace).empty()) {
            variability_toml(calibrate(files.trace), "hpc-2024");
        }
        if (!files.gpu_runs.empty()) {
            variability_toml(calibrate_gpu_runs(files.gpu_runs, files.gpu_source), "hpc-2024");
        }
        if (!files.collectives.empty()) {
            variability_toml(calibrate_collectives(files.collectives, files.collective_source,
                                                   kernel_names({})),
                             "hpc-2024");
        }
        if (!files.outages.empty()) {
            fit_failures(files.outages, {100, 0.0});
        }
    } catch (const InputError&) {  // what wrong input is to end in
    }
    return 0;
}
