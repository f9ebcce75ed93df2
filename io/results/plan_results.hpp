#pragma once

/// The table of results of a plan. Results files, CSV, JSON, the page, `predict` and
/// texts write what its rows name.

#include "io/results/results.hpp"

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace prismopt {

/// Range of values that results files may contain.
struct Allowed {
    double least = 0.0;
    double most = std::numeric_limits<double>::infinity();
    bool absent = false;  // NaN is allowed: no value
};

/// Shares are sums, which rounding may push slightly out of [0, 1].
inline constexpr Allowed allowed_share{-1e-9, 1.0 + 1e-9};

/// Range of a quantity in these units, wider than that of any study which a scenario can describe. Confidence
/// limits are in it too, unless they are infinite.
Allowed allowed_in(std::string_view units);

/// A member of the results of a plan.
template <class T>
class ResultMember {
public:
    /// `path(results)` points to the member, which is constant if the results are.
    template <class Path>
    constexpr ResultMember(Path path) : change_(path), read_(path)
    {
    }

    T& operator()(PlanResults& results) const { return *change_(results); }
    const T& operator()(const PlanResults& results) const { return *read_(results); }

private:
    T* (*change_)(PlanResults&);
    const T* (*read_)(const PlanResults&);
};

/// Outputs that have a result.
struct Outputs {
    bool study = true;    // results files, and the reports made of them
    bool predict = true;  // the prediction of one plan
    bool phase = false;   // there also each phase of the run
};

/// How people read a number: in its display unit, or in percent.
struct NumberStyle {
    enum class Kind { significant_digits, decimals, percent } kind = Kind::significant_digits;
    int digits = 4;  // significant ones, or decimals
};

struct ResultFacts {
    NumberStyle style{};
    // proportional to times: the model interval of times is also one of this result
    bool follows_model = false;
    Outputs outputs{};
    int since = 0;  // minor schema version that added the result, which is NaN for points of older files
    std::optional<Allowed> range{};  // in files; without it, that of a share or of the units
};

template <class T>
struct ResultRow {
    constexpr ResultRow(std::string_view its_name, std::string_view its_units, std::string_view its_long_name,
                        const ResultFacts& its_facts, ResultMember<T> member)
        : name(its_name), units(its_units), long_name(its_long_name), facts(its_facts), of(member)
    {
    }

    std::string_view name;
    std::string_view units;
    std::string_view long_name;
    ResultFacts facts;
    ResultMember<T> of;

    Allowed allowed() const
    {
        const Allowed usual =
            facts.style.kind == NumberStyle::Kind::percent ? allowed_share : allowed_in(units);
        return facts.range.value_or(usual);
    }
};

/// Rows of one kind that an output has, in the order of the table. Kinds: Estimate (in files and CSV
/// also `<name>_low` and `<name>_high`), double, and std::vector<double> (quantiles at
/// reported_probabilities, or empty).
template <class T>
std::vector<ResultRow<T>> plan_results(bool Outputs::*output = &Outputs::study);

/// The row of this name and kind, which must exist.
template <class T>
const ResultRow<T>& plan_result(std::string_view name);

}  // namespace prismopt
