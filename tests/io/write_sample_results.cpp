/// Writes the sample study, or one with many evaluations, to a file, for tests that read it with other programs.

#include "io/results_file.hpp"
#include "tests/io/sample_results.hpp"

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv)
{
    if (argc != 2 && argc != 3) {
        std::fputs("usage: write_sample_results F.h5 [EVALUATIONS]\n", stderr);
        return 2;
    }
    try {
        prismopt::write_results(argc == 2 ? prismopt::sample_results() : prismopt::sample_results_of(std::stoull(argv[2])),
                                argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
