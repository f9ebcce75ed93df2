#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

using namespace literals;

namespace {

constexpr double gigabyte = (1_GB).si;
constexpr double gibibyte = (1_GiB).si;

/// Whether a card that is sold with as many GB has the memory of `entry`: more than the number
/// says, and no more than as many GiB.
bool is_sold_with(double gigabytes, const Accelerator& entry)
{
    constexpr double rounding = 1.005;
    return entry.memory.si > rounding * gigabytes * gigabyte && entry.memory.si <= gigabytes * gibibyte;
}

bool some_card_is_sold_with(double gigabytes)
{
    const auto names = catalog_accelerators();
    return std::any_of(names.begin(), names.end(), [gigabytes](const std::string& name) {
        return is_sold_with(gigabytes, catalog_accelerator(name));
    });
}

/// ", and the driver of h100-sxm shows 81559 MiB"; empty for a card that is sold with another memory.
std::string driver_words(double gigabytes, const std::string& entry)
{
    if (entry.empty()) {
        return "";
    }
    const Accelerator card = catalog_accelerator(entry);
    return is_sold_with(gigabytes, card) ? fmt::format(", and the driver of {} shows {:.0f} MiB", card.name,
                                                       1024.0 * card.memory.si / gibibyte)
                                         : "";
}

}  // namespace

std::string memory_units_text(const Accelerator& accelerator)
{
    const std::string& entry = accelerator.catalog_entry;
    const bool of_catalog = !entry.empty() && accelerator.memory == catalog_accelerator(entry).memory;
    const double gigabytes = std::round(accelerator.memory.si / gigabyte);
    if (of_catalog || std::abs(accelerator.memory.si - gigabytes * gigabyte) >= 1.0) {
        return "";
    }
    if (!some_card_is_sold_with(gigabytes)) {
        return "";
    }
    return fmt::format(
        "memory = \"{:.0f} GB\" of {}: vendors' GB are often GiB{}; write memory in MiB, as your driver "
        "shows it",
        gigabytes, accelerator.name, driver_words(gigabytes, entry));
}

std::string memory_units_text(const std::vector<StudyChoice>& choices, const Cluster& cluster)
{
    std::string text;
    const auto add = [&](double memory) {
        Accelerator varied = cluster.accelerator;
        varied.memory = Bytes{memory};
        const std::string one = memory_units_text(varied);
        text += (text.empty() || one.empty() ? "" : "; ") + one;
    };
    for (const StudyChoice& choice : choices) {
        if (choice.hardware && choice.hardware->target == HardwareTarget::memory) {
            for (const auto& value : choice.values) {
                add(std::get<HardwareLevel>(value).si);
            }
        }
    }
    return text;
}

}  // namespace prismopt
