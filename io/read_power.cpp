#include "io/sections.hpp"

namespace prismopt {

namespace {

constexpr Range share_range{"the share of the board limit that training draws", 0, 1, "0.9", Range::Ends::open_low};
constexpr Range pue_range{"power of the building over that of its computers", 1, 10, "1.1"};

}  // namespace

void read_power_fields(Table& table, Keys keys, Power& power)
{
    if (const auto value = table.find("board_share", keys, "board_share = 0.9")) {
        power.board_share = value->number(share_range);
    }
    if (const auto value = table.find("host", keys, "host = \"400 W\"")) {
        power.host = value->quantity<Watts>("400 W", Sign::zero_or_more);
    }
    if (const auto value = table.find("pue", keys, "pue = 1.1")) {
        power.pue = value->number(pue_range);
    }
    if (const auto value = table.find("carbon", keys, "carbon = \"0.37 kg/kWh\"")) {
        power.carbon = value->quantity<CarbonIntensity>("0.37 kg/kWh", Sign::zero_or_more);
    }
}

Power read_power(Table table)
{
    const auto profile = table.find("profile");
    Power power = catalog_power(profile ? profile->choice(catalog_powers(), "power profiles of the catalog") : usual_power);
    read_power_fields(table, Keys::some, power);
    table.refuse_unknown_keys();
    return power;
}

}  // namespace prismopt
