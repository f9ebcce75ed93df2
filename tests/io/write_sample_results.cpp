/// Writes the sample study to the file named on the command line, for tests that read it with other programs.

#include "io/results_file.hpp"
#include "tests/io/sample_results.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fputs("usage: write_sample_results F.h5\n", stderr);
        return 2;
    }
    try {
        prismopt::write_results(prismopt::sample_results(), argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
