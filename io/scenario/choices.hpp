#pragma once

/// What a study chooses beside the plan: hardware, and what is trained on it.

#include "model/hardware_parameter.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"
#include "model/plan/recovery.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// A value of the hardware parameter of its choice.
struct HardwareLevel {
    double si = 0.0;
    bool operator==(const HardwareLevel&) const = default;
};
/// A cluster, by its number in Scenario::machines.
struct ChosenCluster {
    std::size_t number = 0;
    bool operator==(const ChosenCluster&) const = default;
};
/// One of a bundle's options, by its number in StudyChoice::options.
struct ChosenOption {
    std::size_t number = 0;
    bool operator==(const ChosenOption&) const = default;
};
/// A network, by its number in Scenario::workloads.
struct TrainedNetwork {
    std::size_t number = 0;
    bool operator==(const TrainedNetwork&) const = default;
};
struct GlobalBatch {
    int sequences = 0;
    bool operator==(const GlobalBatch&) const = default;
};
/// A precision, by its number in SpaceSettings::precision.
struct ChosenPrecision {
    std::size_t number = 0;
    bool operator==(const ChosenPrecision&) const = default;
};

using ChoiceValue = std::variant<HardwareLevel, ChosenCluster, TrainedNetwork, GlobalBatch, ChosenPrecision,
                                 AttentionKernel, Recovery, ChosenOption>;

/// Whether the value is one of a machine, whatever runs on it.
inline bool is_hardware(const ChoiceValue& value)
{
    return std::holds_alternative<HardwareLevel>(value) || std::holds_alternative<ChosenCluster>(value) ||
           std::holds_alternative<ChosenOption>(value);
}

/// One value of each choice of a study: a variant of its job.
using ChosenValues = std::vector<ChoiceValue>;

/// Hardware that sets several parameters at once, at a price and a power of its own.
struct HardwareOption {
    std::vector<HardwareParameter> parameters{};
    std::vector<double> values{};  // [parameter], SI
    AddedPerGpu added{};
};

/// One of the things that a study chooses.
struct StudyChoice {
    std::string name;                   // "workload", "node.bandwidth"
    std::vector<ChoiceValue> values{};  // of the discrete search; levels of hardware ascend
    std::vector<std::string> labels{};  // of the values, in one word each; levels of hardware have none
    std::optional<HardwareParameter> hardware{};  // whose levels the values are
    bool continuous = false;                      // any level from the first to the last may be tuned
    std::vector<HardwareOption> options{};        // of a bundle, whose numbers the values are
};

/// Combinations of values that one conflict excludes.
struct ExcludedVariants {
    Infeasible why;  // of the first of them
    std::string first;
    std::uint64_t count = 0;
};
struct VariantCounts {
    std::uint64_t combinations = 0;  // of the values of all choices
    std::vector<ExcludedVariants> excluded{};
};

/// The value of this kind; null if the study does not choose one.
template <class Kind>
const Kind* chosen(std::span<const ChoiceValue> values)
{
    for (const ChoiceValue& value : values) {
        if (const Kind* found = std::get_if<Kind>(&value)) {
            return found;
        }
    }
    return nullptr;
}

}  // namespace prismopt
