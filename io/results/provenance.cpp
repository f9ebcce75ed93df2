#include "io/results/provenance.hpp"

#include "model/base/units.hpp"

#include <fmt/format.h>

namespace prismopt {

std::string build_text(const BuildIdentity& build)
{
    return fmt::format("prismopt {} ({}{})", build.version, build.commit,
                       build.catalog.empty() ? "" : ", catalog " + build.catalog);
}

std::string_view difference(const BuildIdentity& one, const BuildIdentity& other)
{
    if (one.version != other.version) {
        return "version";
    }
    if (one.commit != other.commit) {
        return "commit";
    }
    return one.catalog != other.catalog ? "catalog" : "";
}

double core_hours(const std::vector<Leg>& legs)
{
    using namespace literals;
    double core_seconds = 0.0;
    for (const Leg& leg : legs) {
        core_seconds += leg.threads * leg.seconds;
    }
    return core_seconds / (1_h).si;
}

}  // namespace prismopt
