#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

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

/// The accelerator itself, or that of the program with the most memory; no
/// name: none is sold with as many GB.
Accelerator card_sold_with(double gigabytes, const std::string& itself)
{
    if (!itself.empty() && is_sold_with(gigabytes, catalog_accelerator(itself))) {
        return catalog_accelerator(itself);
    }
    Accelerator largest;
    for (const std::string& name : catalog_accelerators()) {
        const Accelerator entry = catalog_accelerator(name);
        if (is_sold_with(gigabytes, entry) && entry.memory > largest.memory) {
            largest = entry;
        }
    }
    return largest;
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
    const Accelerator card = card_sold_with(gigabytes, entry);
    return card.name.empty()
               ? ""
               : fmt::format(
                     "memory = \"{:.0f} GB\" of {}: vendors' GB are often GiB, and the driver of {} shows "
                     "{:.0f} MiB; write "
                     "memory in MiB, as your driver shows it",
                     gigabytes, accelerator.name, card.name, 1024.0 * card.memory.si / gibibyte);
}

}  // namespace prismopt
