/// prismopt-bench: Google Benchmark's options, or --summary for one JSON object
/// (tests/benchmarks/summary.hpp).

#include "tests/benchmarks/summary.hpp"

#include "optimizer/parallel/thread_waiting.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string_view>

int main(int argc, char** argv)
{
    prismopt::wait_briefly(argv);  // as the program does
    if (argc == 2 && std::string_view(argv[1]) == "--summary") {
        std::puts(prismopt::bench::summary_json().c_str());
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
