#pragma once

/// Precision of the linear layers of a network, as a search chooses it.

#include "model/hardware/hardware.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Linear layers that keep 16 bits where the others have fewer.
struct WideLayers {
    std::vector<std::string> blocks{};  // kinds of blocks, by name, or `predictions`: all of the prediction modules
    int first = 0;                      // layers at the beginning of the network, with all their blocks
    int last = 0;                       // at its end

    bool operator==(const WideLayers&) const = default;
};

struct PrecisionChoice {
    std::string name;  // in results and in --design
    Precision precision = Precision::bf16;
    WideLayers wide{};
};

}  // namespace prismopt
