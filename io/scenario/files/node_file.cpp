#include "io/scenario/files/node_file.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace prismopt {

namespace {

constexpr double least_factor = 0.1;
constexpr double largest_factor = 100.0;

template <class Number>
std::optional<Number> parsed(const std::string& text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string partial_node_text(const Cluster& cluster)
{
    return fmt::format("gpus = {} fills the last node of {} in part, and a job may use any of them",
                       cluster.gpus, cluster.gpus_per_node());
}

std::string whole_nodes_remedy(const Cluster& cluster)
{
    return fmt::format("write gpus = {} in [cluster], and gpus = [{}] in [space]",
                       cluster.nodes() * cluster.gpus_per_node(), cluster.gpus);
}

std::vector<double> parse_node_factors(const std::string& text, const std::string& path,
                                       const Cluster& cluster)
{
    if (!cluster.whole_nodes()) {
        throw InputError(
            fmt::format("{}: {}; {}", path, partial_node_text(cluster), whole_nodes_remedy(cluster)));
    }
    const std::vector<CsvRow> rows = parse_csv(text, path);
    const auto nodes = static_cast<std::size_t>(cluster.nodes());
    if (rows.size() > nodes) {
        throw InputError(
            fmt::format("{}: describes another cluster: it has {} nodes, [cluster] has {} ({} GPUs, {} per "
                        "node); give at most "
                        "one line per node",
                        path, rows.size(), nodes, cluster.gpus, cluster.gpus_per_node()));
    }
    std::vector<double> factors(nodes, cluster.unlisted_factor());
    std::vector<bool> listed(nodes, false);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::string place = fmt::format("{}:{}", path, row + 2);
        const auto node = parsed<std::size_t>(rows[row].text("node"));
        if (!node || *node >= nodes || listed[*node]) {
            throw InputError(
                fmt::format("{}: node '{}' does not exist or is listed twice; number the {} nodes from 0",
                            place, rows[row].text("node"), nodes));
        }
        const auto factor = parsed<double>(rows[row].text("factor"));
        if (!factor || !(*factor >= least_factor && *factor <= largest_factor)) {
            throw InputError(
                fmt::format("{}: factor '{}' is not between {:g} and {:g}; write 1.2 for a node that takes "
                            "1.2 times as long",
                            place, rows[row].text("factor"), least_factor, largest_factor));
        }
        factors[*node] = *factor;
        listed[*node] = true;
    }
    return factors;
}

std::vector<double> read_node_factors(const std::string& path, const Cluster& cluster)
{
    return parse_node_factors(read_text(path), path, cluster);
}

}  // namespace prismopt
