#include "model/calibration/records/faults.hpp"

#include "model/base/median.hpp"
#include "model/base/units.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

using namespace literals;

void add_fault(std::vector<Fault>& faults, FaultReason reason, std::uint32_t line, const std::string& of)
{
    const auto same = std::find_if(faults.begin(), faults.end(),
                                   [&](const Fault& f) { return f.reason == reason && f.of == of; });
    if (same != faults.end()) {
        ++same->count;
    } else {
        faults.push_back({.reason = reason, .of = of, .count = 1, .first_line = line});
    }
}

std::optional<FaultReason> impossible_duration(double seconds)
{
    if (seconds < 0.0) {
        return FaultReason::negative_duration;
    }
    return seconds > (1_day).si ? std::optional(FaultReason::longer_than_a_day) : std::nullopt;
}

double longest_credible(std::vector<double> of_kind_s, double whole_s)
{
    constexpr double above_kind = 100.0;
    constexpr double above_whole = 10.0;
    const double usual_s = of_kind_s.empty() ? 0.0 : median_of(std::move(of_kind_s));
    return std::max(above_whole * whole_s, above_kind * usual_s);
}

}  // namespace prismopt
