#include "io/report/legs_text.hpp"

#include "io/toml/reading_units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prismopt {

std::string launch_text(const Leg& leg)
{
    return fmt::format("{}, {}, {}{}", counted(static_cast<std::size_t>(leg.nodes), "node"),
                       counted(static_cast<std::size_t>(leg.ranks), "rank"),
                       counted(static_cast<std::size_t>(leg.threads), "thread"),
                       leg.job.empty() ? "" : ", job " + leg.job);
}

std::string legs_text(const std::vector<Leg>& legs)
{
    if (legs.empty()) {
        return {};
    }
    std::string text = fmt::format("{}, {:.3g} core-hours\n", counted(legs.size(), "leg"), core_hours(legs));
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const Leg& leg = legs[i];
        text += fmt::format("  {}: {}, {}, {:.1f} s, {}, {} saved\n", i + 1, leg.started, launch_text(leg),
                            leg.seconds, name(leg.end), counted(leg.saved, "record"));
    }
    return text;
}

nlohmann::ordered_json legs_json(const std::vector<Leg>& legs)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Leg& leg : legs) {
        list.push_back({{"started", leg.started},
                        {"job", leg.job.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(leg.job)},
                        {"nodes", leg.nodes},
                        {"ranks", leg.ranks},
                        {"threads", leg.threads},
                        {"seconds", leg.seconds},
                        {"saved", leg.saved},
                        {"end", name(leg.end)}});
    }
    return list;
}

}  // namespace prismopt
