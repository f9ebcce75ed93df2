#pragma once

/// The plans of a variant of a scenario, as text.

#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"

#include <set>
#include <string>

namespace prismopt {

inline std::set<std::string> designs_of(const Scenario& scenario, std::size_t variant)
{
    const DesignMap designs(scenario);
    std::set<std::string> found;
    designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t, std::span<const int> point) {
        if (designs.variant(point) == variant) {
            found.insert(design_text(designs.plan(point)));
        }
    });
    return found;
}

}  // namespace prismopt
