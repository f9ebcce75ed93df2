#include "io/report/legs_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prismopt {

namespace {

std::string count_text(std::size_t count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

}  // namespace

std::string launch_text(const Leg& leg)
{
    return fmt::format("{}, {}, {}{}", count_text(static_cast<std::size_t>(leg.nodes), "node"),
                       count_text(static_cast<std::size_t>(leg.ranks), "rank"),
                       count_text(static_cast<std::size_t>(leg.threads), "thread"), leg.job.empty() ? "" : ", job " + leg.job);
}

std::string legs_text(const std::vector<Leg>& legs)
{
    if (legs.empty()) {
        return {};
    }
    std::string text = fmt::format("{}, {:.3g} core-hours\n", count_text(legs.size(), "leg"), core_hours(legs));
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const Leg& leg = legs[i];
        text += fmt::format("  {}: {}, {}, {:.1f} s, {}, {} saved\n", i + 1, leg.started, launch_text(leg), leg.seconds,
                            name(leg.end), count_text(leg.saved, "record"));
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
