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
    if (!scenario.machines.empty()) {
        return "of each cluster, as given or from the catalog; gpu_price in [[cluster]] overrides it";
    }
    const TomlFile file = parse_toml(scenario.text, scenario.path);
    const std::string accelerator =
        Table(file.root, file).section("cluster", "").at("accelerator", "").text("");
    return fmt::format("catalog list price: {}; gpu_price in [cluster] overrides it",
                       list_price(accelerator, catalog_of(scenario))->source);
}

std::string price_text(DollarsPerSecond price, const Scenario& scenario, const std::string& more)
{
    return fmt::format("{} USD per GPU-hour ({}){}", dollars(price.si * hour), origin(scenario), more);
}

/// What sets the price of hardware to choose from.
std::string_view choices_text(const Scenario& scenario)
{
    const bool bundles = std::any_of(scenario.choices.begin(), scenario.choices.end(),
                                     [](const StudyChoice& choice) { return !choice.options.empty(); });
    return bundles ? "[[knob]] parameters and [[bundle]] options" : "[[knob]] parameters";
}

}  // namespace

std::string hourly(DollarsPerSecond price) { return fmt::format("{} USD/h", dollars(price.si * hour)); }

std::string gpu_price_text(const Scenario& scenario)
{
    if (!scenario.machines.empty()) {
        std::string prices;
        for (const Cluster& machine : scenario.machines) {
            prices +=
                fmt::format("{}{} {}", prices.empty() ? "" : ", ", machine.name, hourly(machine.gpu_price));
        }
        return fmt::format("{} per GPU ({})", prices, origin(scenario));
    }
    return price_text(scenario.cluster.gpu_price, scenario,
                      has_priced_hardware(scenario)
                          ? fmt::format(", plus the prices of its {}", choices_text(scenario))
                          : "");
}

std::string gpu_price_text(const Scenario& scenario, const Cluster& hardware)
{
    if (!scenario.machines.empty()) {
        return price_text(hardware.gpu_price, scenario, "");
    }
    const double more = (hardware.gpu_price.si - scenario.cluster.gpu_price.si) * hour;
    return price_text(scenario.cluster.gpu_price, scenario,
                      more != 0.0 ? fmt::format(", {:+.4g} from its {}", more, choices_text(scenario)) : "");
}

}  // namespace prismopt
