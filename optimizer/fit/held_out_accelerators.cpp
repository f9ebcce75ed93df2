#include "optimizer/fit/held_out_accelerators.hpp"

#include "optimizer/accuracy/model_interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace prismopt {

namespace {

using Families = std::map<std::string, std::set<std::string>>;  // [accelerator]: of the same family

Families families_of(const std::vector<FitConstant>& constants)
{
    // by the constant that their shares for products are near
    std::map<std::string, std::set<std::string>> members;
    for (const FitConstant& constant : constants) {
        if (constant.file == "accelerators.toml" && constant.key == "gemm" && !constant.is_mean()) {
            const bool of_family = !constant.spread_known;
            members[of_family ? constant.parent : constant.name()].insert(constant.sections.begin(),
                                                                          constant.sections.end());
        }
    }
    Families families;
    for (const auto& [parent, entries] : members) {
        for (const std::string& entry : entries) {
            families[entry] = entries;
        }
    }
    return families;
}

}  // namespace

std::vector<BorrowedShares> borrowed_shares(const std::vector<FittedRow>& rows, const Fit& fit,
                                            const NoiseByProfile& noise)
{
    const Families related = families_of(fit.constants);
    std::map<std::string, std::vector<FittedRow>> measured;
    for (const FittedRow& row : rows) {
        measured[row.run.cluster.accelerator.name].push_back(row);
    }
    std::vector<BorrowedShares> pairs;
    for (const auto& [name, own] : measured) {
        for (const auto& [other, unused] : measured) {
            if (other == name) {
                continue;
            }
            BorrowedShares& pair = pairs.emplace_back();
            pair.measured = name;
            pair.shares_of = other;
            pair.sibling = related.at(name).contains(other);
            const std::vector<double> times = predicted_times(own, fit.constants, noise, other);
            for (std::size_t i = 0; i < own.size(); ++i) {
                const double error = std::log(times[i] / own[i].run.measured_s);
                const double scatter =
                    fit.scatter[static_cast<std::size_t>(kind_of(own[i].run.workload, own[i].run.cluster))];
                pair.errors.push_back(error);
                pair.needed.push_back(
                    std::sqrt(std::max(0.0, std::pow(error / two_sided_95, 2.0) - scatter * scatter)));
                pair.weight.push_back(own[i].weight * own[i].weight);
            }
        }
    }
    return pairs;
}

double unmeasured_deviation(const std::vector<BorrowedShares>& pairs)
{
    std::vector<std::pair<double, double>> needed;
    for (const BorrowedShares& pair : pairs) {
        for (std::size_t i = 0; i < pair.needed.size() && !pair.sibling; ++i) {
            needed.emplace_back(pair.needed[i], pair.weight[i]);
        }
    }
    return weighted_quantile(needed, 0.95);
}

}  // namespace prismopt
