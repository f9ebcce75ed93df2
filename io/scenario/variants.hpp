#pragma once

/// Variants of a scenario: the job of each combination of its choices.

#include "io/scenario/scenario.hpp"
#include "model/plan/infeasible.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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

/// The variant with these values, or why it is excluded: the hardware cannot be built, or the price or the
/// deviation of the precision exceeds its limit.
std::variant<Variant, Infeasible> variant_or_reason(const Scenario& scenario,
                                                    std::span<const ChoiceValue> values);
/// The same, or nothing if it is excluded.
std::optional<Variant> variant_at(const Scenario& scenario, std::span<const ChoiceValue> values);

/// Sets Scenario::variants to all combinations of values that are not excluded, the first choice varying
/// slowest (without choices, one), and counts the others. Throws InputError if all are excluded.
void find_variants(Scenario& scenario);

/// "price above gpu_price_limit (memory=80GB: a GPU costs 4.2 USD/h, and the limit is 4);
/// raise gpu_price_limit in [search]".
std::string excluded_text(const ExcludedVariants& excluded);

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
