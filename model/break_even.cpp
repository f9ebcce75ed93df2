#include "model/break_even.hpp"

#include "model/base/jackknife.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// A machine with the sign of its term in a sum of break-evens.
struct SignedUse {
    double sign;
    const MachineUse* use;
};

/// Sum of sign * (1 / hours): of the values, its least and its most.
struct InverseSum {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
};

InverseSum inverse_sum(const std::vector<SignedUse>& terms)
{
    InverseSum sum;
    for (const auto& [sign, use] : terms) {
        sum.value += sign / use->gpu_hours;
        sum.low += sign / (sign > 0.0 ? use->high : use->low);
        sum.high += sign / (sign > 0.0 ? use->low : use->high);
    }
    return sum;
}

bool share_draws(const MachineUse& base, const std::vector<SignedUse>& terms)
{
    return !base.pseudo_values.empty() && std::all_of(terms.begin(), terms.end(), [&](const SignedUse& term) {
        return term.use->pseudo_values.size() == base.pseudo_values.size();
    });
}

/// Nothing times an unknown factor is nothing.
double product(double a, double b) { return a == 0.0 ? 0.0 : a * b; }

/// The sum times a positive factor with limits.
Estimate scaled(const InverseSum& sum, double value, double low, double high)
{
    const double least = product(sum.low, sum.low > 0.0 ? low : high);
    const double most = product(sum.high, sum.high > 0.0 ? high : low);
    return {value * sum.value, least, most, least, most};
}

Estimate shifted(Estimate e, double by)
{
    for (double* figure : {&e.value, &e.low, &e.high, &e.simultaneous_low, &e.simultaneous_high}) {
        *figure += by;
    }
    return e;
}

/// Sum of sign * worth of each machine, where the worth is (p + e_0) h_0 / h - e - p: with
/// `constant` = -sum of sign * (e + p).
Estimate sum_of_worths(const MachineUse& base, const std::vector<SignedUse>& terms, double price)
{
    const double rate = price + base.electricity;  // USD per GPU-hour of the base
    double constant = 0.0;
    for (const auto& [sign, use] : terms) {
        constant -= sign * (price + use->electricity);
    }
    const InverseSum sum = inverse_sum(terms);
    if (!share_draws(base, terms)) {
        return shifted(scaled(sum, rate * base.gpu_hours, rate * base.low, rate * base.high), constant);
    }
    const double value = rate * base.gpu_hours * sum.value;
    std::vector<double> pseudo_values;
    for (std::size_t s = 0; s < base.pseudo_values.size(); ++s) {
        double changed = value + rate * sum.value * (base.pseudo_values[s] - base.gpu_hours);
        for (const auto& [sign, use] : terms) {
            const double slope = -sign * rate * base.gpu_hours / (use->gpu_hours * use->gpu_hours);
            changed += slope * (use->pseudo_values[s] - use->gpu_hours);
        }
        pseudo_values.push_back(changed);
    }
    return shifted(jackknife_estimate(value, pseudo_values, {}), constant);
}

Estimate negative(const Estimate& e)
{
    return {-e.value, -e.high, -e.low, -e.simultaneous_high, -e.simultaneous_low};
}

Pays judged(double stated, const Estimate& worth)
{
    if (stated <= worth.low) {
        return Pays::yes;
    }
    return stated >= worth.high ? Pays::no : Pays::undecided;
}

bool feasible(const MachineUse& use) { return std::isfinite(use.gpu_hours); }

/// Worth of level `to` minus that of `from`. That of the base is zero.
Estimate difference(const std::vector<ParameterLevel>& levels, std::size_t from, std::size_t to,
                    std::size_t base, double price)
{
    std::vector<SignedUse> terms;
    if (to != base) {
        terms.push_back({1.0, &levels[to].use});
    }
    if (from != base) {
        terms.push_back({-1.0, &levels[from].use});
    }
    return sum_of_worths(levels[base].use, terms, price);
}

/// Compares the worth of a feasible point with its price.
void judge(BreakEvenCurve& curve, std::size_t at, bool is_base, bool unknown)
{
    BreakEvenPoint& point = curve.points[at];
    const double per_unit = *curve.stated_per_unit;
    if (!is_base) {
        point.pays = judged(point.stated, *point.worth);
    }
    if (point.per_unit) {
        // Where less is better, the step that is paid for leads downwards.
        point.last_step =
            per_unit < 0.0 ? judged(-per_unit, negative(*point.per_unit)) : judged(per_unit, *point.per_unit);
    }
    const auto gain = [](const BreakEvenPoint& p) { return p.worth->value - p.stated; };
    if (!unknown && (!curve.best || gain(point) > gain(curve.points[*curve.best]))) {
        curve.best = at;
    }
}

}  // namespace

Estimate break_even(const MachineUse& base, const MachineUse& other, double price)
{
    return sum_of_worths(base, {{1.0, &other}}, price);
}

Estimate break_even_interaction(const MachineUse& base, const MachineUse& a, const MachineUse& b,
                                const MachineUse& both, double price)
{
    return sum_of_worths(base, {{1.0, &both}, {-1.0, &a}, {-1.0, &b}}, price);
}

BreakEvenCurve break_even_curve(const std::vector<ParameterLevel>& levels, std::size_t base, double price,
                                std::optional<double> stated_per_unit)
{
    const MachineUse& reference = levels[base].use;
    BreakEvenCurve curve{.base_value = levels[base].value,
                         .base_price = price,
                         .stated_per_unit = stated_per_unit,
                         .points = {},
                         .best = {}};
    std::optional<std::size_t> before;  // the last feasible level
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const ParameterLevel& level = levels[i];
        BreakEvenPoint& point = curve.points.emplace_back();
        point.value = level.value;
        point.gpu_hours = {level.use.gpu_hours, level.use.low, level.use.high, level.use.low, level.use.high};
        if (stated_per_unit) {
            point.stated = *stated_per_unit * (level.value - curve.base_value) + 0.0;  // no negative zero
        }
        if (!feasible(level.use)) {
            continue;
        }
        point.worth = i == base ? Estimate::exact(0.0) : break_even(reference, level.use, price);
        if (before) {
            point.per_unit =
                (1.0 / (level.value - levels[*before].value)) * difference(levels, *before, i, base, price);
        }
        before = i;
        if (stated_per_unit) {
            judge(curve, i, i == base, level.use.open && !std::isfinite(level.use.high));
        }
    }
    return curve;
}

}  // namespace prismopt
