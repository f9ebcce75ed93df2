#include "io/toml/quantity.hpp"

#include "io/toml/fields.hpp"
#include "io/toml/nearest.hpp"
#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace prismopt {

namespace {

using namespace literals;

struct Unit {
    std::string_view name;
    Dimension dimension;
    double si;  // of one
};

constexpr double bit = 1.0 / 8.0;  // bytes

// Names are exact: MB and Mb differ, kB is SI and KiB is 1024 B.
constexpr std::array units{
    Unit{"B", Dimension::data, 1.0},
    Unit{"kB", Dimension::data, 1e3},
    Unit{"MB", Dimension::data, 1e6},
    Unit{"GB", Dimension::data, (1_GB).si},
    Unit{"TB", Dimension::data, 1e12},
    Unit{"KiB", Dimension::data, 0x1p10},
    Unit{"MiB", Dimension::data, 0x1p20},
    Unit{"GiB", Dimension::data, (1_GiB).si},
    Unit{"TiB", Dimension::data, 0x1p40},
    Unit{"B/s", Dimension::bandwidth, 1.0},
    Unit{"kB/s", Dimension::bandwidth, 1e3},
    Unit{"MB/s", Dimension::bandwidth, 1e6},
    Unit{"GB/s", Dimension::bandwidth, (1_GB_per_s).si},
    Unit{"TB/s", Dimension::bandwidth, 1e12},
    Unit{"Mb/s", Dimension::bandwidth, 1e6 * bit},
    Unit{"Gb/s", Dimension::bandwidth, 1e9 * bit},
    Unit{"Tb/s", Dimension::bandwidth, 1e12 * bit},
    Unit{"Mbit/s", Dimension::bandwidth, 1e6 * bit},
    Unit{"Gbit/s", Dimension::bandwidth, 1e9 * bit},
    Unit{"Tbit/s", Dimension::bandwidth, 1e12 * bit},
    Unit{"GFLOP/s", Dimension::work_rate, 1e9},
    Unit{"TFLOP/s", Dimension::work_rate, (1_TFLOP_per_s).si},
    Unit{"PFLOP/s", Dimension::work_rate, 1e15},
    Unit{"ns", Dimension::time, 1e-9},
    Unit{"us", Dimension::time, (1_us).si},
    Unit{"ms", Dimension::time, 1e-3},
    Unit{"s", Dimension::time, (1_s).si},
    Unit{"min", Dimension::time, 60.0},
    Unit{"h", Dimension::time, (1_h).si},
    Unit{"day", Dimension::time, (1_day).si},
    Unit{"week", Dimension::time, 7.0 * (1_day).si},
    Unit{"W", Dimension::power, 1.0},
    Unit{"kW", Dimension::power, 1e3},
    Unit{"MW", Dimension::power, 1e6},
    Unit{"USD/h", Dimension::price, 1.0 / (1_h).si},
    Unit{"USD/kWh", Dimension::electricity, 1.0 / 3.6e6},
    Unit{"USD/MWh", Dimension::electricity, 1.0 / 3.6e9},
    Unit{"/h", Dimension::rate, 1.0 / (1_h).si},
    Unit{"/day", Dimension::rate, 1.0 / (1_day).si},
    Unit{"per node-day", Dimension::rate, 1.0 / (1_day).si},
    Unit{"per 1000 node-days", Dimension::rate, 1e-3 / (1_day).si},
    Unit{"per GPU-day", Dimension::rate, 1.0 / (1_day).si},
    Unit{"per 1000 GPU-days", Dimension::rate, 1e-3 / (1_day).si},
    Unit{"per unit-day", Dimension::rate, 1.0 / (1_day).si},
    Unit{"per 1000 unit-days", Dimension::rate, 1e-3 / (1_day).si},
    Unit{"per job-day", Dimension::rate, 1.0 / (1_day).si},
    Unit{"kg/kWh", Dimension::carbon, 1.0 / 3.6e6},
    Unit{"pJ/FLOP", Dimension::work_energy, (1_pJ_per_FLOP).si},
    Unit{"pJ/bit", Dimension::data_energy, (1_pJ_per_bit).si},
    Unit{"pJ/B", Dimension::data_energy, 1e-12},
};

struct Suffix {
    std::string_view name;
    double factor;
};
constexpr std::array suffixes{Suffix{"", 1.0},  Suffix{"k", 1e3},  Suffix{"M", 1e6}, Suffix{"G", 1e9},
                              Suffix{"B", 1e9}, Suffix{"T", 1e12}, Suffix{"P", 1e15}};

constexpr std::string_view placeholder_mark = "(placeholder)";

std::string needs(Dimension dimension) { return "needs " + std::string(name(dimension)); }

std::string units_of(Dimension dimension)
{
    std::vector<std::string> names;
    for (const Unit& unit : units) {
        if (unit.dimension == dimension) {
            names.emplace_back(unit.name);
        }
    }
    return listed(names);
}

struct SpelledUnit {
    std::string_view spelled;
    std::string_view unit;
};
/// Units of time as people spell them out.
constexpr auto spelled_units = std::to_array<SpelledUnit>({{"second", "s"},
                                                           {"seconds", "s"},
                                                           {"minute", "min"},
                                                           {"minutes", "min"},
                                                           {"hour", "h"},
                                                           {"hours", "h"},
                                                           {"days", "day"},
                                                           {"weeks", "week"}});

std::string_view short_unit(std::string_view written)
{
    const auto* found = std::find_if(spelled_units.begin(), spelled_units.end(),
                                     [written](const SpelledUnit& one) { return one.spelled == written; });
    return found == spelled_units.end() ? written : found->unit;
}

/// The value alone: "1 USD/h" of "1 USD/h (placeholder)".
std::string_view without_placeholder(std::string_view text)
{
    text = trimmed(text);
    if (text.ends_with(placeholder_mark)) {
        text.remove_suffix(placeholder_mark.size());
    }
    return trimmed(text);
}

/// `number` with the unit of the example.
std::string with_unit_of(std::string_view example, std::string_view number)
{
    return in_quotes(std::string(number) + std::string(example.substr(example.find(' '))));
}

}  // namespace

bool is_placeholder(std::string_view text) { return trimmed(text).ends_with(placeholder_mark); }

std::string_view name(Dimension dimension)
{
    switch (dimension) {
        case Dimension::data: return "bytes";
        case Dimension::bandwidth: return "bytes per second";
        case Dimension::work_rate: return "floating-point operations per second";
        case Dimension::time: return "a duration";
        case Dimension::power: return "a power";
        case Dimension::price: return "US dollars per hour";
        case Dimension::electricity: return "US dollars per unit of energy";
        case Dimension::rate: return "events per unit of time";
        case Dimension::carbon: return "carbon dioxide per unit of energy";
        case Dimension::work_energy: return "energy per floating-point operation";
        case Dimension::data_energy: return "energy per bit or byte";
    }
    return "";
}

std::variant<double, Complaint> parse_si(std::string_view text, Dimension dimension, std::string_view example)
{
    const std::string_view all = without_placeholder(text);
    double number = 0.0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
    if (error == std::errc::invalid_argument) {
        return Complaint{"does not begin with a number", needs(dimension),
                         "write for example " + in_quotes(example)};
    }
    const auto digits = static_cast<std::size_t>(end - all.data());
    if (error == std::errc::result_out_of_range || !std::isfinite(number)) {
        return Complaint{"is not a finite number", needs(dimension),
                         "write for example " + in_quotes(example)};
    }
    const std::string_view written_unit = trimmed(all.substr(digits));
    if (written_unit.empty()) {
        return Complaint{"has no unit", needs(dimension), "write " + with_unit_of(example, all)};
    }
    const auto* unit =
        std::find_if(units.begin(), units.end(),
                     [unit = short_unit(written_unit)](const Unit& u) { return u.name == unit; });
    if (unit == units.end()) {
        return Complaint{"has the unknown unit " + in_quotes(written_unit), needs(dimension),
                         "use one of " + units_of(dimension)};
    }
    if (unit->dimension != dimension) {
        return Complaint{"has the wrong unit",
                         needs(dimension) + ", but " + std::string(written_unit) + " measures " +
                             std::string(name(unit->dimension)),
                         "write for example " + in_quotes(example)};
    }
    const double si = number * unit->si;
    if (!std::isfinite(si)) {
        return Complaint{"is not a finite number", needs(dimension),
                         "write for example " + in_quotes(example)};
    }
    return si;
}

std::variant<double, Complaint> parse_count(std::string_view text, std::string_view example)
{
    const std::string_view all = without_placeholder(text);
    double number = 0.0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
    const std::string remedy = "write for example " + std::string(example);
    if (error == std::errc::invalid_argument) {
        return Complaint{"does not begin with a number", "needs a count", remedy};
    }
    const std::string_view written = trimmed(all.substr(static_cast<std::size_t>(end - all.data())));
    const auto* suffix =
        std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& s) { return s.name == written; });
    if (suffix == suffixes.end()) {
        return Complaint{"has the unknown suffix " + in_quotes(written), "needs a count",
                         "use k, M, G or B (10^9), T (10^12) or P, as in 15T"};
    }
    const double count = number * suffix->factor;
    if (error == std::errc::result_out_of_range || !std::isfinite(count)) {
        return Complaint{"is not a finite number", "needs a count", remedy};
    }
    return count;
}

std::variant<double, Complaint> parse_dollars(std::string_view text)
{
    constexpr std::string_view unit = "USD";
    std::string_view amount = trimmed(text);
    if (amount.ends_with(unit)) {
        amount = trimmed(amount.substr(0, amount.size() - unit.size()));
    }
    const auto parsed = parse_count(amount, "");
    if (const auto* complaint = std::get_if<Complaint>(&parsed)) {
        return Complaint{complaint->problem, "needs US dollars",
                         "write 40e6, \"40e6 USD\", \"40 M USD\" or \"40M\" for forty million (k, M or B)"};
    }
    return parsed;
}

}  // namespace prismopt
