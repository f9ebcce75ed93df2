#pragma once

/// Tables of `prismopt numerics` as text, Markdown, JSON, and as the data file of the catalog.

#include "model/base/parallel.hpp"
#include "optimizer/numerics/numerics_study.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// How the tables came about.
struct NumericsRun {
    std::string command;
    std::uint64_t seed = 1;
    double seconds = 0.0;
    double processor_seconds = 0.0;  // of all threads
    int threads = parallel_threads();
    std::string plot{};  // name of the file with plots, beside the Markdown; empty: none
};

std::string numerics_text(const std::vector<NumericsTable>& tables, const NumericsRun& run);
std::string numerics_markdown(const std::vector<NumericsTable>& tables, const NumericsRun& run);
nlohmann::ordered_json numerics_json(const std::vector<NumericsTable>& tables, const NumericsRun& run);

/// RMS deviation by class of operators, kernel and format, from the tables "attention" and
/// "linear": model/catalog/numerics.toml.
std::string numerics_toml(const std::vector<NumericsTable>& tables, const NumericsRun& run);

}  // namespace prismopt
