#pragma once

/// Variants of a scenario: the job of each combination of its choices.

#include "io/scenario/scenario.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// The job of one combination of choices.
struct Variant : Job {
    LocalUpdates local{};    // its price of local updates
    double deviation = 1.0;  // of its precision and attention kernel: deviation_from()
    double longer = 1.0;     // the phases, than in the precision of the workload
};

/// The network that the variant trains, with its precision and attention kernel.
Workload workload_at(const Scenario& scenario, std::span<const ChoiceValue> values);

/// The precision of the variant; nullptr if the study does not choose it.
const PrecisionChoice* precision_at(const Scenario& scenario, std::span<const ChoiceValue> values);

/// The global batch of the variant; nothing if the study does not choose it.
std::optional<int> global_batch_at(std::span<const ChoiceValue> values);

/// The phases of the variant.
std::vector<Phase> phases_at(const Scenario& scenario, std::span<const ChoiceValue> values);

/// The variant with these values; empty if tiers do not nest, the price or the deviation of the precision exceeds its limit, or no
/// number of tokens makes up for the precision.
std::optional<Variant> variant_at(const Scenario& scenario, std::span<const ChoiceValue> values);

/// All feasible combinations of values, the first choice varying slowest; without choices, one. Throws InputError if there is none.
std::vector<ChosenValues> all_variants(const Scenario& scenario);

/// "node.bandwidth=900GB/s": a value of a choice.
std::string value_text(const StudyChoice& choice, const ChoiceValue& value);

/// "workload=llama3-8b node.bandwidth=900GB/s node.group=72"; empty without choices.
std::string variant_text(std::span<const StudyChoice> choices, std::span<const ChoiceValue> values);

/// The words of the choices of hardware alone: the machine of the variant. Empty if the study chooses none.
std::string machine_text(std::span<const StudyChoice> choices, std::span<const ChoiceValue> values);

/// Parses the output of variant_text(), which has six digits; empty if it belongs to other choices.
std::optional<ChosenValues> variant_values(std::span<const StudyChoice> choices, const std::string& text);

/// SI unit of a hardware parameter's value; "1" for a count.
std::string_view parameter_units(HardwareTarget target);

}  // namespace prismopt
