#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr Range drawn_range{"share of the board's power limit that is drawn in training", 0, 1, "0.9",
                            Range::Ends::open_low};
constexpr Range idle_range{
    "share of the board's power limit that is drawn while waiting: for a node, a restart or a checkpoint, or "
    "as a spare",
    0, 1, "0.2"};
constexpr Range pue_range{
    "power usage effectiveness: power of the facility relative to that of its computers", 1, 10, "1.1"};

}  // namespace

const Fields<Power>& power_profile_fields()
{
    static const auto fields =
        Fields<Power>("a power profile", "grid power of a training run")
            .number("board_share", &Power::board_share, drawn_range)
            .complete()
            .number("idle_share", &Power::idle_share, idle_range)
            .complete()
            .quantity("host", &Power::host, "400 W", "power of node and network per GPU, without the board",
                      Sign::zero_or_more)
            .complete()
            .number("pue", &Power::pue, pue_range)
            .complete()
            .quantity("carbon", &Power::carbon, "0.37 kg/kWh", "carbon intensity of the electricity",
                      Sign::zero_or_more)
            .complete()
            .check([](Table& table, const Power& power) {
                if (const auto idle = table.find("idle_share");
                    idle && power.idle_share > power.board_share) {
                    idle->fail({"is larger than board_share",
                                fmt::format("board_share is {:.4g}", power.board_share),
                                "lower it, or raise board_share"});
                }
            });
    return fields;
}

const Fields<Power>& power_fields()
{
    static const auto fields =
        Fields<Power>("[power]", "power, what it costs and what it emits")
            .base("profile", power_kind, catalog_power, "power profile from the catalog", usual_power)
            .include(power_profile_fields())
            .quantity("electricity_price", &Power::electricity_price, "0.08 USD/kWh",
                      "price of electricity, added to the cost; leave it out if the price of a GPU-hour "
                      "includes it, as that of a rented GPU does");
    return fields;
}

}  // namespace prismopt
