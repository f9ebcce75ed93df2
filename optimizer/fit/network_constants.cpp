#include "optimizer/fit/network_constants.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/accuracy/collective_fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace prismopt {

namespace {

/// Assumption: tables of other machines with the same links differ by as much.
constexpr double least_deviation = 0.03;

struct NetworkKind {
    const char* file;
    const char* key;
    double believed;  // SI
    double spread;    // of its logarithm
    double largest;
};
constexpr NetworkKind efficiency{links_file, "efficiency", 0.8, 0.15, 1.0};
constexpr NetworkKind in_network{links_file, "in_network", 0.5, 0.15, 1.0};
constexpr NetworkKind hop_in_node{links_file, "latency", 3.4e-6, 1.0, 1e-3};
constexpr NetworkKind hop_between_nodes{links_file, "latency", 14e-6, 1.0, 1e-3};
// What AWS's plugin passes to NCCL's tuner: 75 us for p4d and p5, 35 us for p5en and later
// (aws/aws-ofi-nccl, src/platform-aws.c).
constexpr NetworkKind hop_of_efa_400g{links_file, "latency", 75e-6, 0.5, 1e-3};
constexpr NetworkKind hop_of_efa_3200g{links_file, "latency", 50e-6, 0.5, 1e-3};

FitConstant made(const NetworkKind& kind, const std::string& section)
{
    return {kind.file, section, {section}, kind.key, kind.believed, kind.spread, kind.largest, ""};
}

const NetworkKind& hop_of(const std::string& link, TierKind kind)
{
    if (link == "efa-400g" || link == "efa-3200g") {
        return link == "efa-400g" ? hop_of_efa_400g : hop_of_efa_3200g;
    }
    return kind == TierKind::node ? hop_in_node : hop_between_nodes;
}

std::vector<FitConstant> constants_for(const std::vector<MeasuredCollective>& rows)
{
    std::map<std::string, NetworkTier> links;
    for (const MeasuredCollective& row : rows) {
        for (const NetworkTier& tier : row.cluster.tiers) {
            links.emplace(tier.catalog_entry, tier);
        }
    }
    std::vector<FitConstant> constants;
    for (const LibraryBelief& belief : library_beliefs) {
        constants.push_back(
            made({libraries_file, belief.key, belief.value, belief.spread, belief.largest}, usual_library));
    }
    for (const auto& [name, link] : links) {
        constants.push_back(made(efficiency, name));
        constants.push_back(made(hop_of(name, link.kind), name));
        if (link.in_network > 0.0) {
            constants.push_back(made(in_network, name));
        }
    }
    return constants;
}

CollectiveConstant of_clusters(const FitConstant& constant)
{
    const auto set = [constant](Cluster& cluster, double value) {
        if (constant.file == libraries_file) {
            constant_of<CollectiveLibrary>(constant.key).of(cluster.library) = value;
            return;
        }
        for (NetworkTier& tier : cluster.tiers) {
            if (tier.catalog_entry == constant.sections.front()) {
                constant_of<NetworkTier>(constant.key).of(tier) = value;
            }
        }
    };
    return {constant.name(), constant.value, constant.spread, constant.largest, set};
}

/// `included`: the rows of the fit; others have links whose constants stay as believed.
std::vector<CollectiveConstant> fitted(const std::vector<FitConstant>& constants,
                                       const std::vector<MeasuredCollective>& included)
{
    std::vector<CollectiveConstant> of;
    std::transform(constants.begin(), constants.end(), std::back_inserter(of), of_clusters);
    return fit_collectives(included, std::move(of));
}

bool uses(const MeasuredCollective& row, const std::set<std::string>& links)
{
    return std::any_of(row.cluster.tiers.begin(), row.cluster.tiers.end(),
                       [&links](const NetworkTier& tier) { return links.contains(tier.catalog_entry); });
}

/// "nvlink" of "nvlink4".
std::string family_of(const std::string& link) { return link.substr(0, link.find_first_of("0123456789-")); }

/// A row of two families has the prediction that is farther off.
std::vector<double> times_without_families(const std::vector<MeasuredCollective>& rows,
                                           const std::vector<FitConstant>& constants)
{
    std::map<std::string, std::set<std::string>> families;
    for (const MeasuredCollective& row : rows) {
        for (const NetworkTier& tier : row.cluster.tiers) {
            families[family_of(tier.catalog_entry)].insert(tier.catalog_entry);
        }
    }
    std::vector<double> times(rows.size(), 0.0);
    for (const auto& [name, links] : families) {
        std::vector<MeasuredCollective> others;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                     [&links = links](const MeasuredCollective& row) { return !uses(row, links); });
        const std::vector<double> predicted = predicted_times(rows, fitted(constants, others));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto off = [&](double time) {
                return time > 0.0 ? std::abs(std::log(time / rows[i].measured_s)) : -1.0;
            };
            if (uses(rows[i], links) && off(predicted[i]) > off(times[i])) {
                times[i] = predicted[i];
            }
        }
    }
    return times;
}

}  // namespace

NetworkFit fit_network(const std::vector<MeasuredCollective>& rows)
{
    NetworkFit fit;
    fit.constants = constants_for(rows);
    fit.held_out_s = times_without_families(rows, fit.constants);
    const std::vector<CollectiveConstant> found = fitted(fit.constants, rows);
    fit.fitted_s = predicted_times(rows, found);
    fit.rows = static_cast<int>(
        std::count_if(rows.begin(), rows.end(), [](const MeasuredCollective& row) { return !row.doubtful; }));
    for (std::size_t k = 0; k < found.size(); ++k) {
        fit.constants[k].value = found[k].value;
        fit.deviation.push_back(std::max(least_deviation, found[k].deviation));
    }
    return fit;
}

}  // namespace prismopt
