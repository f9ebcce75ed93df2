#include "optimizer/fit/held_out_families.hpp"

#include "optimizer/accuracy/model_interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace prismopt {

namespace {

bool in_others(const FittedRow& row, const std::vector<FittedRow>& others)
{
    const auto any = [&others](auto&& same) { return std::any_of(others.begin(), others.end(), same); };
    const Cluster& c = row.run.cluster;
    return any([&c](const FittedRow& o) { return o.run.cluster.accelerator.name == c.accelerator.name; }) &&
           any([&c](const FittedRow& o) { return o.run.cluster.stack.name == c.stack.name; });
}

/// Rows weighted anew: a source counts as one row whatever is left of it.
std::vector<FittedRow> without(const std::vector<FittedRow>& rows, const std::vector<std::size_t>& held_out)
{
    std::vector<MeasuredRun> runs;
    std::vector<double> inflation;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!std::binary_search(held_out.begin(), held_out.end(), i)) {
            runs.push_back(rows[i].run);
            inflation.push_back(rows[i].inflation);
        }
    }
    return fitted_rows(runs, inflation);
}

double scatter(const Fit& fit, const FittedRow& row)
{
    return fit.scatter[static_cast<std::size_t>(kind_of(row.run.workload, row.run.cluster))];
}

/// Sums of a group of rows, which become means.
struct Sums {
    double in_sample = 0.0;
    double in_sample_inside = 0.0;
    double in_sample_width = 0.0;
    double error = 0.0;
    double bias = 0.0;
    double inside = 0.0;
    double width = 0.0;
    int rows = 0;
    std::set<std::string> machines;
};

/// Half the width of the 95 % interval of measured / predicted.
double half_width(double deviation) { return std::sinh(two_sided_95 * deviation); }

}  // namespace

std::vector<HeldOutFamily> held_out_families(const std::vector<FittedRow>& rows, const HierarchicalFit& full,
                                             const NoiseByProfile& noise, int most_steps)
{
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        families[{rows[i].run.source, rows[i].run.line}].push_back(i);
    }
    std::vector<HeldOutFamily> result;
    for (const auto& [name, members] : families) {
        std::vector<FittedRow> held_out;
        for (const std::size_t i : members) {
            held_out.push_back(rows[i]);
        }
        const std::vector<FittedRow> others = without(rows, members);
        const Fit fit = fit_constants(others, full.believed, full.fit.constants, noise, most_steps);
        const std::vector<double> times = predicted_times(held_out, fit.constants, noise);
        HeldOutFamily family{name.first, name.second, true, {}, constants_covariance(held_out, fit, noise)};
        for (std::size_t i = 0; i < members.size(); ++i) {
            const double ratio = times[i] / held_out[i].run.measured_s;
            const double of_constants = std::sqrt(std::max(0.0, family.covariance[i * members.size() + i]));
            family.known = family.known && in_others(held_out[i], others);
            family.rows.push_back({members[i],
                                   ratio - 1.0,
                                   {std::abs(std::log(ratio)), of_constants, scatter(fit, held_out[i]),
                                    held_out[i].weight * held_out[i].weight}});
        }
        result.push_back(std::move(family));
    }
    return result;
}

std::vector<double> widening_of(const std::vector<FittedRow>& rows,
                                const std::vector<HeldOutFamily>& families)
{
    std::vector<std::vector<HeldOut>> kinds(run_kinds);
    for (const HeldOutFamily& family : families) {
        for (const HeldOutRow& row : family.rows) {
            std::vector<HeldOut>& own = kinds[static_cast<std::size_t>(
                kind_of(rows[row.row].run.workload, rows[row.row].run.cluster))];
            own.push_back(row.deviations);
            own.back().weight = 1.0;
        }
    }
    std::vector<double> widening;
    widening.reserve(kinds.size());
    for (const std::vector<HeldOut>& own : kinds) {
        widening.push_back(widening_of(own));
    }
    return widening;
}

std::vector<HeldOutErrors> held_out_errors(const std::vector<FittedRow>& rows,
                                           const std::vector<HeldOutFamily>& families, const Fit& full,
                                           const std::vector<double>& predicted,
                                           const std::vector<double>& deviations)
{
    std::vector<HeldOutErrors> result;
    for (const HeldOutFamily& family : families) {
        std::map<RunKind, Sums> kinds;
        for (const HeldOutRow& held_out : family.rows) {
            const FittedRow& row = rows[held_out.row];
            Sums& sums = kinds[kind_of(row.run.workload, row.run.cluster)];
            const double ratio = predicted[held_out.row] / row.run.measured_s;
            const double widening = std::sqrt(
                full.widening[static_cast<std::size_t>(kind_of(row.run.workload, row.run.cluster))]);
            const double known = std::hypot(widening * deviations[held_out.row], scatter(full, row));
            const HeldOut& d = held_out.deviations;
            const double unknown = std::hypot(widening * d.constants, d.scatter);
            sums.rows += 1;
            sums.machines.insert(row.run.cluster.accelerator.name + " " + row.run.cluster.stack.name);
            sums.in_sample += std::abs(ratio - 1.0);
            sums.in_sample_inside += std::abs(std::log(ratio)) <= two_sided_95 * known ? 1.0 : 0.0;
            sums.in_sample_width += half_width(known);
            sums.error += std::abs(held_out.error);
            sums.bias += held_out.error;
            sums.inside += d.error <= two_sided_95 * unknown ? 1.0 : 0.0;
            sums.width += half_width(unknown);
        }
        for (const auto& [kind, sums] : kinds) {
            const auto n = static_cast<double>(sums.rows);
            result.push_back({family.source,
                              family.line,
                              kind,
                              family.known,
                              sums.rows,
                              {sums.in_sample / n, sums.in_sample_inside / n, sums.in_sample_width / n},
                              {sums.error / n, sums.inside / n, sums.width / n},
                              sums.bias / n,
                              {sums.machines.begin(), sums.machines.end()}});
        }
    }
    return result;
}

}  // namespace prismopt
