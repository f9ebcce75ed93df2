#include "io/scenario/gpu_price.hpp"

#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

using namespace literals;

namespace {

constexpr double hour = (1_h).si;

/// Cents are enough, but for the cheapest.
std::string dollars(double value)
{
    constexpr double cheap = 0.1;
    return value < cheap ? fmt::format("{:.4g}", value) : fmt::format("{:.2f}", value);
}

std::string origin(const Scenario& scenario)
{
    switch (price_origin(scenario)) {
        case FigureOrigin::given: return "given";
        case FigureOrigin::placeholder: return "placeholder: replace gpu_price in [cluster] with your own";
        case FigureOrigin::unknown:
        case FigureOrigin::catalog: break;
    }
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const std::string accelerator = Table(file.root, file).section("cluster", "").at("accelerator", "").text("");
    return fmt::format("catalog list price: {}; gpu_price in [cluster] overrides it", list_price(accelerator)->source);
}

std::string price_text(const Scenario& scenario, const std::string& more)
{
    return fmt::format("{} USD per GPU-hour ({}){}", dollars(scenario.cluster.gpu_price.si * hour), origin(scenario), more);
}

}  // namespace

std::string hourly(DollarsPerSecond price) { return fmt::format("{} USD/h", dollars(price.si * hour)); }

std::string gpu_price_text(const Scenario& scenario)
{
    const bool priced = std::any_of(scenario.hardware_parameters.begin(), scenario.hardware_parameters.end(),
                                    [](const HardwareParameter& parameter) { return parameter.price_per_unit.si != 0.0; });
    return price_text(scenario, priced ? ", plus the prices of its [[knob]] parameters" : "");
}

std::string gpu_price_text(const Scenario& scenario, const Cluster& hardware)
{
    const double more = (hardware.gpu_price.si - scenario.cluster.gpu_price.si) * hour;
    return price_text(scenario, more != 0.0 ? fmt::format(", {:+.4g} from its [[knob]] parameters", more) : "");
}

}  // namespace prismopt
