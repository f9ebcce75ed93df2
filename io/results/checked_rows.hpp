#pragma once

/// Reads numbers and columns of a results file, and refuses values that no study can have.

#include "io/results/hdf5_file.hpp"
#include "io/results/plan_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace prismopt {

/// Throws where `value`, which `name` holds, is not allowed.
template <class T>
void check_allowed(const std::string& name, const T& value, const Allowed& allowed)
{
    const auto number = static_cast<double>(value);
    const bool good = std::isnan(number) ? allowed.absent : number >= allowed.least && number <= allowed.most;
    if (!good) {
        std::string text;
        if constexpr (std::is_floating_point_v<T>) {
            text = fmt::format("{:g}", value);
        } else {
            text = fmt::format("{}", +value);
        }
        throw std::runtime_error(fmt::format("{} holds {}, which is not between {:g} and {:g}", name, text,
                                             allowed.least, allowed.most));
    }
}

/// An attribute that is a number.
template <class T>
T number_attribute(const Hdf5Object& group, const std::string& name, const Allowed& allowed)
{
    const T value = group.get<T>(name);
    check_allowed("attribute " + name, value, allowed);
    return value;
}

/// Reads the columns of a group into rows; each column must be as long as the dimension.
template <class Row>
class Rows {
public:
    /// The rows must outlive this object.
    Rows(const Hdf5Object& root, const std::string& group, std::vector<Row>& rows)
        : group_(root.open(group)), path_("dataset /" + group + "/"), rows_(rows)
    {
    }

    const Hdf5Object& group() const { return group_; }

    /// As many rows as the dimension `scale` has.
    void resize(const std::string& scale) const
    {
        const std::uint64_t count = group_.size(scale);
        group_.charge(count, sizeof(Row), "read " + path_ + scale);
        rows_.resize(count);
    }

    /// `set(row, value)` for each row; a number must be allowed.
    template <class T, class Set>
    void column(const std::string& name, const Allowed& allowed, const Set& set) const
    {
        const std::vector<T> values = group_.read<T>(name);
        check_size(name, values.size(), rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if constexpr (std::is_arithmetic_v<T>) {
                check_allowed(path_ + name, values[i], allowed);
            }
            set(rows_[i], values[i]);
        }
    }

    /// `of(row)` is the estimate that `<name>`, `<name>_low` and `<name>_high` fill: the value lies between
    /// its limits, which have its range too. Sampling may not support a limit, which is infinite then.
    template <class Of>
    void estimates(const std::string& name, const Allowed& allowed, const Of& of) const
    {
        const Allowed limit{-infinity, infinity, allowed.absent};
        const auto in_range = [&allowed](double limit_value, double unsupported) {
            return limit_value == unsupported ||
                   (limit_value >= allowed.least && limit_value <= allowed.most);
        };
        column<double>(name, allowed, [&](Row& row, double value) { of(row).value = value; });
        column<double>(name + "_low", limit, [&](Row& row, double low) { of(row).low = low; });
        column<double>(name + "_high", limit, [&](Row& row, double high) { of(row).high = high; });
        for (Row& row : rows_) {
            Estimate& estimate = of(row);
            constexpr double rounding = 1e-9;
            const double slack = rounding * std::abs(estimate.value);
            const bool ordered =
                estimate.low <= estimate.value + slack && estimate.high >= estimate.value - slack;
            const bool absent =
                std::isnan(estimate.value) && std::isnan(estimate.low) && std::isnan(estimate.high);
            if (!absent &&
                !(ordered && in_range(estimate.low, -infinity) && in_range(estimate.high, infinity))) {
                throw std::runtime_error(path_ + name + " and its limits are inconsistent");
            }
            // The simultaneous limits are not in the file: nothing is claimed.
            estimate.simultaneous_low = -infinity;
            estimate.simultaneous_high = infinity;
        }
    }

    /// Two-dimensional: `of(row)` takes its values, which ascend, along the other dimension, or
    /// stays empty where all are absent.
    template <class Of>
    void tables(const std::string& name, std::size_t width, const Allowed& allowed, const Of& of) const
    {
        const std::vector<double> values = group_.read<double>(name);
        check_size(name, values.size(), rows_.size() * width);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
            const auto end = begin + static_cast<std::ptrdiff_t>(width);
            if (std::all_of(begin, end, [](double value) { return std::isnan(value); })) {
                continue;
            }
            std::for_each(begin, end, [&](double value) { check_allowed(path_ + name, value, allowed); });
            if (!std::is_sorted(begin, end)) {
                throw std::runtime_error(path_ + name + " holds quantiles that are not in ascending order");
            }
            of(rows_[i]).assign(begin, end);
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    void check_size(const std::string& name, std::size_t size, std::size_t expected) const
    {
        if (size != expected) {
            throw std::runtime_error(
                fmt::format("{}{} has {} values where {} are expected", path_, name, size, expected));
        }
    }

    const Hdf5Object group_;
    const std::string path_;
    std::vector<Row>& rows_;
};

}  // namespace prismopt
