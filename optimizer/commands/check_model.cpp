#include "optimizer/check_model.hpp"
#include "optimizer/commands/command.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Errors in per cent.
struct Summary {
    std::string name;
    std::vector<double> errors;  // signed
    double worst = 0.0;

    double mean_absolute() const
    {
        double sum = 0.0;
        for (const double e : errors) {
            sum += std::abs(e);
        }
        return sum / static_cast<double>(errors.size());
    }
    double median_absolute() const
    {
        std::vector<double> sorted;
        for (const double e : errors) {
            sorted.push_back(std::abs(e));
        }
        std::sort(sorted.begin(), sorted.end());
        return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
    }
    double bias() const
    {
        double sum = 0.0;
        for (const double e : errors) {
            sum += e;
        }
        return sum / static_cast<double>(errors.size());
    }
    void add(double error)
    {
        errors.push_back(error);
        worst = std::abs(error) > std::abs(worst) ? error : worst;
    }
};

/// The paper, without the table and row.
std::string paper(const std::string& source) { return source.substr(0, source.find(", table")); }

nlohmann::json to_json(const Summary& s)
{
    return {{"name", s.name},   {"rows", s.errors.size()}, {"mape", s.mean_absolute()}, {"median_ape", s.median_absolute()},
            {"bias", s.bias()}, {"worst", s.worst}};
}

}  // namespace

int check_model_command(const std::vector<std::string>& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("json", po::bool_switch(), "one JSON object instead of a table; errors in per cent");
    const auto values = parse_options("check-model", options, "", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::vector<CheckedRun> runs = check_model();
    Summary total{"total", {}, 0.0};
    std::map<std::string, Summary> sources;
    for (const CheckedRun& run : runs) {
        const double error = 100.0 * run.relative_error();
        total.add(error);
        Summary& source = sources[paper(run.run.source)];
        source.name = paper(run.run.source);
        source.add(error);
    }
    if ((*values)["json"].as<bool>()) {
        nlohmann::json json{{"sources", nlohmann::json::array()}, {"total", to_json(total)}, {"runs", nlohmann::json::array()}};
        for (const auto& [name, source] : sources) {
            json["sources"].push_back(to_json(source));
        }
        for (const CheckedRun& run : runs) {
            json["runs"].push_back({{"name", run.run.name},
                                    {"source", run.run.source},
                                    {"assumed", run.run.assumed},
                                    {"measured_s", run.measured_s},
                                    {"predicted_mean_s", run.predicted_s},
                                    {"error", 100.0 * run.relative_error()}});
        }
        fmt::print("{}\n", json.dump(2));
        return exit_done;
    }
    fmt::print("{:<26}{:>12}{:>12}{:>9}{:>12}\n", "run", "measured s", "predicted s", "error %", "memory GB");
    for (const CheckedRun& run : runs) {
        fmt::print("{:<26}{:>12.3f}{:>12.3f}{:>+9.1f}{:>12.1f}\n", run.run.name, run.measured_s, run.predicted_s,
                   100.0 * run.relative_error(), run.memory_bytes / 1e9);
    }
    fmt::print("\n{:<50}{:>5}{:>9}{:>9}{:>7}{:>8}\n", "source", "rows", "mean %", "median %", "bias %", "worst %");
    const auto line = [](const Summary& s) {
        fmt::print("{:<50}{:>5}{:>9.1f}{:>9.1f}{:>+7.1f}{:>+8.1f}\n", s.name, s.errors.size(), s.mean_absolute(),
                   s.median_absolute(), s.bias(), s.worst);
    };
    for (const auto& [name, source] : sources) {
        line(source);
    }
    line(total);
    fmt::print(
        "\nCompared: mean step time under the variability profile hpc-2024. Constants of the catalog were set on these same "
        "runs,\nso the errors say how well it fits, not how well it foretells. Assumed where the sources are silent:\n");
    for (const CheckedRun& run : runs) {
        fmt::print("  {}: {}\n", run.run.name, run.run.assumed);
    }
    return exit_done;
}

}  // namespace prismopt
