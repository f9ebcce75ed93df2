#include "optimizer/accuracy/kernel_fit.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/base/median.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/accuracy/robust.hpp"

#include <boost/math/tools/minima.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace prismopt {

namespace {

/// Beginning of a kernel inside a CUDA graph; assumption, within the 2 to 4 us that fit the same tables.
constexpr Seconds start{3e-6};
/// Share of the memory bandwidth that passes for the largest value reach: 0.36 to 0.38 on
/// all accelerators of the table.
constexpr double largest_value_share = 0.37;
/// Of the kernels of a layer of experts beside its products; fitted to balanced layers of the same table.
constexpr Seconds expert_kernels{20e-6};
/// Engines differ by 5 to 13 % on the same products, and those of training are others still.
constexpr double least_deviation = 0.05;

/// The activation is read in 16 bits and written once, as engines for inference do.
double cast_s(double numbers, const MeasuredKernel& row, const Accelerator& gpu)
{
    if (row.precision == Precision::bf16) {
        return 0.0;
    }
    double seconds = cast_time(Bytes{(2.0 + operand_bytes(row.precision)) * numbers}, gpu).si;
    if (row.precision == Precision::fp8_current) {
        const Seconds pass = Bytes{2.0 * numbers} / (gpu.memory_bandwidth * largest_value_share);
        seconds += (pass + 2.0 * start).si;  // over blocks, and over their results
    }
    return seconds;
}

double experts_s(const MeasuredKernel& row, const Accelerator& gpu)
{
    const double rows = row.groups * row.m;
    const auto product = [&](double n, double k) {
        return grouped_gemm_time(row.groups, row.m, n, k, gpu, row.precision).si;
    };
    // Gated activation: reads two, writes one; rows gathered for the experts, and their results added.
    const double activation = 2.0 * 3.0 * rows * row.n;
    const double moved = 2.0 * (2.0 * rows + rows + row.tokens) * row.k;
    const double others =
        cast_time(Bytes{activation + moved}, gpu).si + cast_s(rows * (row.k + row.n), row, gpu);
    return product(2.0 * row.n, row.k) + product(row.k, row.n) + others + expert_kernels.si;
}

double kernel_s(const MeasuredKernel& row, Accelerator gpu)
{
    gpu.launch = start;
    gpu.sustained_clock = 1.0;  // of a burst
    switch (row.table) {
        case KernelTable::product:
            return gemm_time(row.m, row.n, row.k, gpu, row.precision).si + cast_s(row.m * row.k, row, gpu);
        case KernelTable::attention:
        case KernelTable::window:
        case KernelTable::latent_attention: return fused_attention_time(row.attention, false, gpu).si;
        case KernelTable::experts: return experts_s(row, gpu);
        case KernelTable::cast: return cast_time(Bytes{3.0 * row.m * row.k}, gpu).si;
        case KernelTable::largest_value: break;
    }
    return (Bytes{2.0 * row.m * row.k} / (gpu.memory_bandwidth * largest_value_share) + start).si;
}

using Machine = std::map<std::string, Accelerator>;  // by name

Machine catalog_machines(const std::vector<MeasuredKernel>& rows)
{
    Machine machines;
    for (const MeasuredKernel& row : rows) {
        machines.emplace(row.accelerator, catalog_accelerator(row.accelerator));
    }
    return machines;
}

/// Casts first: products hold them; attention before its latent form, which has a share of it.
constexpr const char* order[] = {"cast",       "gemm",      "gemm_fp8",        "gemm_fp8_block",
                                 "gemm_nvfp4", "attention", "attention_latent"};

KernelShare fitted(const std::vector<const MeasuredKernel*>& rows, const std::string& key, Accelerator& gpu)
{
    double& share = constant_of<Accelerator>(key).of(gpu);
    const auto loss = [&](double logarithm) {
        share = std::exp(logarithm);
        double sum = 0.0;
        for (const MeasuredKernel* row : rows) {
            const double residual = robust(std::log(kernel_s(*row, gpu) / row->measured_s));
            sum += residual * residual;
        }
        return sum;
    };
    constexpr double smallest = 0.05;
    constexpr int bits = 20;
    const auto [logarithm, least] =
        boost::math::tools::brent_find_minima(loss, std::log(smallest), 0.0, bits);
    share = std::exp(logarithm);
    const auto count = static_cast<double>(rows.size());
    const double deviation = std::max(least_deviation, std::sqrt(least) / count);
    return {gpu.name, key, share, deviation, static_cast<int>(rows.size())};
}

}  // namespace

std::vector<KernelShare> fit_kernels(const std::vector<MeasuredKernel>& rows)
{
    std::vector<KernelShare> shares;
    for (auto& [name, gpu] : catalog_machines(rows)) {
        Accelerator machine = gpu;
        for (const char* key : order) {
            std::vector<const MeasuredKernel*> of_key;
            for (const MeasuredKernel& row : rows) {
                if (row.accelerator == name && row.key == key) {
                    of_key.push_back(&row);
                }
            }
            if (!of_key.empty()) {
                shares.push_back(fitted(of_key, key, machine));
            }
        }
    }
    return shares;
}

std::vector<double> predicted_kernels(const std::vector<MeasuredKernel>& rows,
                                      const std::vector<KernelShare>& shares)
{
    Machine machines = catalog_machines(rows);
    for (const KernelShare& share : shares) {
        constant_of<Accelerator>(share.key).of(machines.at(share.accelerator)) = share.value;
    }
    std::vector<double> times;
    times.reserve(rows.size());
    for (const MeasuredKernel& row : rows) {
        times.push_back(kernel_s(row, machines.at(row.accelerator)));
    }
    return times;
}

std::vector<double> kernels_held_out(const std::vector<MeasuredKernel>& rows)
{
    std::set<std::string> families;
    for (const MeasuredKernel& row : rows) {
        families.insert(row.shapes);
    }
    std::vector<double> times(rows.size(), 0.0);
    for (const std::string& family : families) {
        std::vector<MeasuredKernel> others;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                     [&family](const MeasuredKernel& row) { return row.shapes != family; });
        const std::vector<double> predicted = predicted_kernels(rows, fit_kernels(others));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].shapes == family) {
                times[i] = predicted[i];
            }
        }
    }
    return times;
}

std::vector<KernelErrors> kernel_errors(const std::vector<MeasuredKernel>& rows,
                                        const std::vector<double>& predicted_s)
{
    std::map<std::tuple<KernelTable, std::string, std::string>, std::vector<double>> errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const MeasuredKernel& row = rows[i];
        errors[{row.table, std::string(name(row.precision)), row.accelerator}].push_back(
            predicted_s[i] / row.measured_s - 1.0);
    }
    std::vector<KernelErrors> result;
    for (auto& [of, list] : errors) {
        double sum = 0.0;
        for (const double error : list) {
            sum += std::abs(error);
        }
        const auto count = static_cast<double>(list.size());
        const auto& [table, precision, accelerator] = of;
        result.push_back({table, precision, accelerator, static_cast<int>(list.size()), sum / count,
                          median_of(std::move(list))});
    }
    return result;
}

}  // namespace prismopt
