#pragma once

/// Quantities, numbers with a unit: "450 GB/s", "80 GiB", "2.50 USD/h".

#include "model/base/units.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace prismopt {

/// An input error, in the parts of a message: `<subject> <problem> (<why>); <remedy>`.
struct Complaint {
    std::string problem;
    std::string why;
    std::string remedy;

    std::string reason() const { return problem + " (" + why + ")"; }
    std::string text() const { return reason() + "; " + remedy; }
};

/// Dimension of a quantity, which determines the valid units.
enum class Dimension {
    data,
    bandwidth,
    work_rate,
    time,
    power,
    price,
    electricity,
    rate,
    carbon,
    work_energy,
    data_energy
};

constexpr Dimension dimension_of(Bytes) { return Dimension::data; }
constexpr Dimension dimension_of(BytesPerSecond) { return Dimension::bandwidth; }
constexpr Dimension dimension_of(FlopsPerSecond) { return Dimension::work_rate; }
constexpr Dimension dimension_of(Seconds) { return Dimension::time; }
constexpr Dimension dimension_of(Watts) { return Dimension::power; }
constexpr Dimension dimension_of(DollarsPerSecond) { return Dimension::price; }
constexpr Dimension dimension_of(DollarsPerJoule) { return Dimension::electricity; }
constexpr Dimension dimension_of(PerSecond) { return Dimension::rate; }
constexpr Dimension dimension_of(CarbonIntensity) { return Dimension::carbon; }
constexpr Dimension dimension_of(JoulesPerFlop) { return Dimension::work_energy; }
constexpr Dimension dimension_of(JoulesPerByte) { return Dimension::data_energy; }

/// Whether a text ends with the mark of a figure that nobody has given: "1 USD/h (placeholder)".
bool is_placeholder(std::string_view text);

/// Description of a dimension: "bytes per second".
std::string_view name(Dimension dimension);

/// The SI value of `text`, or an error. `example` is a valid value with the customary unit; the error shows
/// how to write the number with that unit. A mark of a placeholder after the unit changes nothing.
std::variant<double, Complaint> parse_si(std::string_view text, Dimension dimension,
                                         std::string_view example);

/// A count with or without an SI suffix: "15T", "300B" (billion, as G),
/// "15.6e12". `example` is a valid value.
std::variant<double, Complaint> parse_count(std::string_view text, std::string_view example);

/// US dollars, with or without suffix and unit: "40 M USD", "40M", "40e6 USD".
std::variant<double, Complaint> parse_dollars(std::string_view text);

template <class Q>
std::variant<Q, Complaint> parse_quantity(std::string_view text, std::string_view example)
{
    const auto result = parse_si(text, dimension_of(Q{}), example);
    if (const double* si = std::get_if<double>(&result)) {
        return Q{*si};
    }
    return std::get<Complaint>(result);
}

}  // namespace prismopt
