#include "model/calibration/records/faults.hpp"

#include "model/base/median.hpp"
#include "model/base/units.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

using namespace literals;

void add_fault(std::vector<Fault>& faults, const std::string& reason, std::uint32_t line)
{
    const auto same =
        std::find_if(faults.begin(), faults.end(), [&](const Fault& f) { return f.reason == reason; });
    if (same != faults.end()) {
        ++same->count;
    } else {
        faults.push_back({reason, 1, line});
    }
}

const char* impossible_duration(double seconds)
{
    return seconds < 0.0          ? "negative duration"
           : seconds > (1_day).si ? "duration of more than a day"
                                  : nullptr;
}

double longest_credible(std::vector<double> of_kind_s, double whole_s)
{
    constexpr double above_kind = 100.0;
    constexpr double above_whole = 10.0;
    const double usual_s = of_kind_s.empty() ? 0.0 : median_of(std::move(of_kind_s));
    return std::max(above_whole * whole_s, above_kind * usual_s);
}

}  // namespace prismopt
