#include "optimizer/accuracy/collective_accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace prismopt {

namespace {

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;

struct Region {
    const char* name;
    double below;  // bytes
};
constexpr Region regions[] = {{"below 64 KiB", 64.0 * kib},
                              {"64 KiB to 1 MiB", mib},
                              {"1 to 64 MiB", 64.0 * mib},
                              {"from 64 MiB", std::numeric_limits<double>::infinity()}};

std::size_t region_of(Bytes message)
{
    return static_cast<std::size_t>(
        std::find_if(std::begin(regions), std::end(regions),
                     [message](const Region& r) { return message.si < r.below; }) -
        std::begin(regions));
}

struct Sums {
    double absolute = 0.0;
    double bias = 0.0;
    int rows = 0;
};

}  // namespace

std::vector<RegionErrors> errors_by_region(const std::vector<MeasuredCollective>& rows,
                                           const std::vector<double>& predicted_s)
{
    std::map<std::pair<Collective, std::size_t>, std::map<std::string, Sums>> by_region;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].doubtful) {
            continue;
        }
        const double error = predicted_s[i] / rows[i].measured_s - 1.0;
        Sums& sums = by_region[{rows[i].kind, region_of(rows[i].message)}][rows[i].system];
        sums.absolute += std::abs(error);
        sums.bias += error;
        ++sums.rows;
    }
    std::vector<RegionErrors> result;
    for (const auto& [of, systems] : by_region) {
        RegionErrors& errors = result.emplace_back(RegionErrors{of.first, regions[of.second].name});
        errors.systems = static_cast<int>(systems.size());
        for (const auto& [name, sums] : systems) {
            errors.rows += sums.rows;
            errors.error += sums.absolute / sums.rows / errors.systems;
            errors.bias += sums.bias / sums.rows / errors.systems;
        }
    }
    return result;
}

}  // namespace prismopt
