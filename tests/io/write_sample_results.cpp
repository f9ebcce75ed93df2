/// Writes the sample study, one with many evaluations, or one that was stopped, to a file, for tests
/// that read it with other programs.

#include "io/results/results_file.hpp"
#include "tests/io/sample_results.hpp"

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv)
{
    if (argc != 2 && argc != 3) {
        std::fputs("usage: write_sample_results F.h5 [EVALUATIONS | provisional]\n", stderr);
        return 2;
    }
    try {
        const bool provisional = argc == 3 && std::string(argv[2]) == "provisional";
        prismopt::Results results = argc == 2 || provisional
                                        ? prismopt::sample_results()
                                        : prismopt::sample_results_of(std::stoull(argv[2]));
        results.provisional = provisional;
        prismopt::write_results(results, argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
