#include "io/scenario/sections/sections.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace prismopt {

namespace {

constexpr Range phase_range{"number of the phase whose tokens depend on its batch; needed with several phases", 1, 1000, "1"};
constexpr Range reference_range{"batch to which the tokens of the phase belong, in tokens", 1, 1e12, "16.8e6"};
constexpr Range critical_range{
    "critical batch in tokens: the batch at which tokens and steps to the same loss are both twice their minimum", 1, 1e12,
    "20e6"};
constexpr Range loss_range{"loss at the end of the phase in nats per token, for a law that depends on it", 0.01, 100, "2.5"};
constexpr Range factor_range{"factor by which the critical batch may be too high or too low, with 95 % probability", 1, 1000, "2",
                             Range::Ends::open_low};
constexpr Range most_range{"largest global batch in sequences at which training is stable", 1, 100'000'000, "4096"};

/// Published critical batches differ by factors of two and more (docs/learning.md). An assumption.
constexpr double usual_factor = 2.0;

std::vector<std::string> law_names()
{
    std::vector<std::string> names;
    for (const CriticalBatchLaw& law : critical_batch_laws()) {
        names.emplace_back(law.name);
    }
    return names;
}

/// The section as written.
struct LearningKeys {
    std::optional<int> phase;
    double reference_batch = 0.0;
    std::optional<double> critical_batch;
    std::string source;
    const CriticalBatchLaw* law = nullptr;
    std::optional<double> loss;
    double factor = usual_factor;
    std::optional<int> max_global_batch;
};

const Fields<LearningKeys>& learning_fields()
{
    static const auto fields = [] {
        Fields<LearningKeys> all("[learning]", "what the global batch costs: tokens and steps to the same loss");
        all.integer("phase", &LearningKeys::phase, phase_range)
            .amount("reference_batch", &LearningKeys::reference_batch, reference_range)
            .required()
            .amount("critical_batch", &LearningKeys::critical_batch, critical_range)
            .text("source", &LearningKeys::source, "measured on a 1B model", "where the critical batch is from")
            .custom({"law", "published law of the critical batch", in_quotes(law_names().back()), {choice_shape(law_names)}},
                    [](const Value& value, LearningKeys& keys, Keys) {
                        const std::string chosen = value.choice(law_names(), "laws of the critical batch");
                        const auto laws = critical_batch_laws();
                        keys.law = &*std::find_if(laws.begin(), laws.end(),
                                                  [&chosen](const CriticalBatchLaw& law) { return law.name == chosen; });
                    })
            .number("loss", &LearningKeys::loss, loss_range)
            .number("factor", &LearningKeys::factor, factor_range)
            .integer("max_global_batch", &LearningKeys::max_global_batch, most_range);
        return all;
    }();
    return fields;
}

/// Either a law, with the loss where it needs one, or a critical batch with its source.
void refuse_unclear_law(Table& table, const LearningKeys& keys)
{
    const std::string laws = fmt::format("{}", fmt::join(law_names(), ", "));
    if (keys.law == nullptr) {
        table.at("critical_batch", fmt::format("{}, or law = one of {}", critical_range.example, laws));
        table.at("source", "source = \"measured on a 1B model\"");
    } else if (const auto given = table.find("critical_batch")) {
        given->fail({"cannot be combined with law", "both give the critical batch", "remove one of the two"});
    }
    const bool needs_loss = keys.law != nullptr && keys.law->variable == CriticalBatchLaw::Variable::loss;
    if (needs_loss) {
        table.at("loss", fmt::format("loss = {}", loss_range.example));
    } else if (const auto loss = table.find("loss")) {
        loss->fail({"has no effect", "no law here depends on the loss", "remove it"});
    }
}

std::size_t phase_of(Table& table, const LearningKeys& keys, std::size_t phases)
{
    if (phases > 1) {
        table.at("phase", "phase = 1");
    }
    const auto number = static_cast<std::size_t>(keys.phase.value_or(1));
    if (number > phases) {
        table.find("phase")->fail({"is no phase", fmt::format("the scenario has {}", phases), "name one of them"});
    }
    return number - 1;
}

void refuse_unstable_batches(Table& table, const Learning& learning)
{
    if (learning.max_global_batch == 0) {
        return;
    }
    int most = learning.as_given.global_batch;
    for (const int batch : learning.global_batch) {
        most = std::max(most, batch);
    }
    if (most > learning.max_global_batch) {
        table.find("max_global_batch")
            ->fail({"is less than a batch of the scenario", fmt::format("a phase or [space] has global_batch = {}", most),
                    "raise it, or remove that batch"});
    }
}

}  // namespace

const SectionTable& learning_table() { return learning_fields(); }

void read_learning(Table table, Scenario& scenario)
{
    LearningKeys keys;
    learning_fields().read_whole(table, Keys::all, keys);
    refuse_unclear_law(table, keys);
    Learning learning;
    learning.phase = phase_of(table, keys, scenario.phases.size());
    learning.as_given = scenario.phases[learning.phase];
    learning.reference_batch = keys.reference_batch;
    learning.critical_batch = keys.critical_batch.value_or(0.0);
    learning.source = keys.source;
    constexpr double of_normal = 1.959964;  // 97.5 % quantile
    learning.spread = std::log(keys.factor) / of_normal;
    if (keys.law != nullptr) {
        const double tokens = learning.as_given.tokens;
        const bool of_loss = keys.law->variable == CriticalBatchLaw::Variable::loss;
        learning.critical_batch = keys.law->critical_batch(of_loss ? *keys.loss : tokens);
        learning.source = fmt::format("{}, {}; {}", keys.law->name, keys.law->definition, keys.law->source);
        const bool of_parameters = keys.law->range == CriticalBatchLaw::Range::parameters;
        const double size = of_parameters ? parameters_of(network_of(*networks(scenario).front())) : tokens;
        learning.extrapolated = std::max(1.0, size / keys.law->range_end);
    }
    learning.max_global_batch = keys.max_global_batch.value_or(0);
    learning.global_batch = scenario.space.global_batch;
    refuse_unstable_batches(table, learning);
    scenario.phases[learning.phase] = at_batch(learning, learning.as_given.global_batch);
    if (!learning.global_batch.empty()) {
        scenario.hardware_parameters.push_back({.target = HardwareTarget::global_batch,
                                                .name = "global_batch",
                                                .levels = {learning.global_batch.begin(), learning.global_batch.end()}});
    }
    scenario.learning = std::move(learning);
}

}  // namespace prismopt
