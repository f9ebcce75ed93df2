#include "optimizer/loop/legs.hpp"

#include "io/base/input_error.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

std::string more_legs_text(int most, const std::string& out)
{
    return fmt::format("allow more with --legs (now {}), or continue it once with prismopt resume {}", most,
                       out);
}

}  // namespace

std::string why_last_leg(const std::vector<Leg>& legs, int most, const std::string& out)
{
    if (legs.back().saved == 0) {
        return fmt::format(
            "this leg of {:.1f} s saved nothing from which another one could go on, so no other leg should "
            "follow it: give legs "
            "more time, then start the same line again",
            legs.back().seconds);
    }
    if (static_cast<int>(legs.size()) >= most) {
        return fmt::format("this was leg {} of the study, and no other one follows on its own: {}",
                           legs.size(), more_legs_text(most, out));
    }
    return {};
}

void refuse_more_legs(const std::vector<Leg>& legs, int most, const std::string& out)
{
    if (static_cast<int>(legs.size()) >= most) {
        throw InputError(fmt::format("{} has had {} and is not complete ({:.3g} core-hours so far): {}", out,
                                     counted(legs.size(), "leg"), core_hours(legs),
                                     more_legs_text(most, out)));
    }
}

}  // namespace prismopt
