#include "io/scenario/sections/sections.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace prismopt {

namespace {

constexpr Range phase_range{
    "number of the phase whose tokens depend on its batch; needed with several phases", 1, 1000, "1"};
constexpr Range reference_range{"batch to which the tokens of the phase belong, in tokens", 1, 1e12,
                                "16.8e6"};
constexpr Range critical_range{
    "critical batch in tokens: the batch at which tokens and steps to the same loss are both twice their "
    "minimum",
    1, 1e12, "20e6"};
constexpr Range last_loss_range{
    "loss at the end of the phase in nats per token, for a formula that depends on it", 0.01, 100, "2.5"};
constexpr Range critical_factor_range{
    "factor by which the critical batch may be too high or too low, with 95 % probability", 1, 1000, "2",
    Range::Ends::open_low};
constexpr Range trained_range{"tokens trained so far at the reference batch", 0, 1e18, "100e9"};
constexpr Range critical_then_range{"critical batch in tokens at that point", 0, 1e12, "4e6"};
constexpr Range stage_tokens_range{"tokens to train at this batch", 1, 1e18, "252e6"};
constexpr Range stage_batch_range{"global batch in sequences", 1, 100'000'000, "512"};
constexpr Range rate_range{"peak learning rate, to compare the largest batch with those of published runs", 0,
                           1, "8e-5", Range::Ends::open_low};
constexpr Range epsilon_range{"epsilon of Adam, for the same comparison", 0, 1, "1e-8",
                              Range::Ends::open_low};
constexpr Range most_range{"largest global batch in sequences at which training is stable", 1, 100'000'000,
                           "4096"};

/// Published critical batches differ by factors of two and more (docs/learning.md). An assumption.
constexpr double usual_factor = 2.0;

std::vector<std::string> formula_names()
{
    std::vector<std::string> names;
    for (const CriticalBatchFormula& formula : critical_batch_formulas()) {
        names.emplace_back(formula.name);
    }
    return names;
}

/// The section as written.
struct LearningKeys {
    std::optional<int> phase;
    double reference_batch = 0.0;
    std::vector<CriticalBatch> critical_batch;
    std::string source;
    const CriticalBatchFormula* formula = nullptr;
    std::optional<double> loss;
    double factor = usual_factor;
    std::vector<RampStage> ramp;
    std::optional<int> max_global_batch;
    std::optional<double> learning_rate;
    std::optional<double> epsilon;
};

const Fields<CriticalBatch>& critical_batch_fields()
{
    static const auto fields =
        Fields<CriticalBatch>("[[learning.critical_batch]]", "the critical batch at one point of a run")
            .amount("tokens", &CriticalBatch::tokens, trained_range)
            .required()
            .amount("batch", &CriticalBatch::batch, critical_then_range)
            .required();
    return fields;
}

const Fields<RampStage>& ramp_fields()
{
    static const auto fields =
        Fields<RampStage>("[[learning.ramp]]",
                          "a part of the phase, before the rest, with a batch of its own")
            .amount("tokens", &RampStage::tokens, stage_tokens_range)
            .required()
            .integer("global_batch", &RampStage::global_batch, stage_batch_range)
            .required();
    return fields;
}

/// A number, or numbers of tokens and batches of which each two are connected by a line.
std::vector<CriticalBatch> read_critical_batch(const Value& value)
{
    if (!value.is_list()) {
        return {{0.0, value.amount(critical_range)}};
    }
    std::vector<CriticalBatch> points;
    for (const Value& element : value.list("{ tokens = 0, batch = 1e6 }")) {
        Table table = element.table("{ tokens = 0, batch = 1e6 }");
        CriticalBatch point;
        critical_batch_fields().read_whole(table, Keys::all, point);
        if (!points.empty() && point.tokens <= points.back().tokens) {
            table.find("tokens")->fail({"is not more than that of the point before",
                                        "points are in the order of the run",
                                        "sort them by tokens, and give each number of tokens once"});
        }
        points.push_back(point);
    }
    return points;
}

std::vector<RampStage> read_ramp(const Value& value)
{
    std::vector<RampStage> ramp;
    for (const Value& element : value.list("{ tokens = 252e6, global_batch = 512 }")) {
        Table table = element.table("{ tokens = 252e6, global_batch = 512 }");
        ramp_fields().read_whole(table, Keys::all, ramp.emplace_back());
    }
    return ramp;
}

ValueShape list_of(const SectionTable& (*section)())
{
    return {.kind = ValueShape::Kind::section, .section = section, .list = true};
}

const Fields<LearningKeys>& learning_fields()
{
    static const auto fields = [] {
        Fields<LearningKeys> all("[learning]",
                                 "what the global batch costs: tokens and steps to the same loss");
        all.integer("phase", &LearningKeys::phase, phase_range)
            .amount("reference_batch", &LearningKeys::reference_batch, reference_range)
            .required()
            .custom({"critical_batch",
                     std::string(critical_range.meaning) +
                         "; or a list of its values by the tokens trained so far",
                     std::string(critical_range.example),
                     {{.kind = ValueShape::Kind::number, .range = critical_range},
                      {.kind = ValueShape::Kind::text},
                      list_of([]() -> const SectionTable& { return critical_batch_fields(); })}},
                    [](const Value& value, LearningKeys& keys, Keys) {
                        keys.critical_batch = read_critical_batch(value);
                    })
            .text("source", &LearningKeys::source, "measured on a 1B model",
                  "where the critical batch is from")
            .custom({"formula",
                     "published formula of the critical batch",
                     in_quotes(formula_names().back()),
                     {choice_shape(formula_names)}},
                    [](const Value& value, LearningKeys& keys, Keys) {
                        const std::string chosen =
                            value.choice(formula_names(), "formulas of the critical batch");
                        const auto formulas = critical_batch_formulas();
                        keys.formula = &*std::find_if(formulas.begin(), formulas.end(),
                                                      [&chosen](const CriticalBatchFormula& formula) {
                                                          return formula.name == chosen;
                                                      });
                    })
            .number("loss", &LearningKeys::loss, last_loss_range)
            .number("factor", &LearningKeys::factor, critical_factor_range)
            .custom({"ramp",
                     "batches before that of the phase, in order; not together with global_batch in [space]",
                     "[{ tokens = 252e6, global_batch = 512 }]",
                     {list_of([]() -> const SectionTable& { return ramp_fields(); })}},
                    [](const Value& value, LearningKeys& keys, Keys) { keys.ramp = read_ramp(value); })
            .integer("max_global_batch", &LearningKeys::max_global_batch, most_range)
            .number("learning_rate", &LearningKeys::learning_rate, rate_range)
            .number("epsilon", &LearningKeys::epsilon, epsilon_range);
        return all;
    }();
    return fields;
}

/// Either a formula, with the loss where it needs one, or a critical batch with its source.
void refuse_unclear_distribution(Table& table, const LearningKeys& keys)
{
    const std::string formulas = fmt::format("{}", fmt::join(formula_names(), ", "));
    if (keys.formula == nullptr) {
        table.at("critical_batch",
                 fmt::format("{}, or formula = one of {}", critical_range.example, formulas));
        table.at("source", "source = \"measured on a 1B model\"");
    } else if (const auto given = table.find("critical_batch")) {
        given->fail(
            {"cannot be combined with formula", "both give the critical batch", "remove one of the two"});
    } else if (const auto source = table.find("source")) {
        source->fail({"has no effect", "the formula states its own source", "remove it"});
    }
    const bool needs_loss =
        keys.formula != nullptr && keys.formula->variable == CriticalBatchFormula::Variable::loss;
    if (needs_loss) {
        table.at("loss", fmt::format("loss = {}", last_loss_range.example));
    } else if (const auto loss = table.find("loss")) {
        loss->fail({"has no effect", "no formula here depends on the loss", "remove it"});
    }
}

std::size_t phase_of(Table& table, const LearningKeys& keys, std::size_t phases)
{
    if (phases > 1) {
        table.at("phase", "phase = 1");
    }
    const auto number = static_cast<std::size_t>(keys.phase.value_or(1));
    if (number > phases) {
        table.find("phase")->fail(
            {"does not exist", fmt::format("the number of phases is {}", phases), "name one of them"});
    }
    return number - 1;
}

/// A batch in sequences where tokens are meant.
void refuse_sequences(Table& table, const LearningKeys& keys, int sequence)
{
    const auto refuse = [&](const char* key, double batch) {
        if (batch < sequence) {
            table.find(key)->fail({"is less than one sequence",
                                   fmt::format("a sequence has {} tokens", sequence),
                                   fmt::format("give the batch in tokens: {:.0f} for {:.6g} sequences",
                                               batch * sequence, batch)});
        }
    };
    refuse("reference_batch", keys.reference_batch);
    if (keys.critical_batch.size() == 1) {
        refuse("critical_batch", keys.critical_batch.front().batch);
    }
}

void refuse_more_than_the_run(Table& table, const LearningKeys& keys, const Phase& phase)
{
    if (keys.reference_batch > phase.tokens) {
        table.find("reference_batch")
            ->fail({"is more than the tokens of the phase",
                    fmt::format("it trains {:.6g} tokens", phase.tokens),
                    "give the batch in which these tokens reach the loss"});
    }
}

void refuse_unstable_batches(Table& table, const LearningKeys& keys, const Learning& learning)
{
    if (!keys.max_global_batch) {
        return;
    }
    const int most = std::max(learning.as_given.global_batch, learning.largest_choice());
    if (most > *keys.max_global_batch) {
        table.find("max_global_batch")
            ->fail({"is less than a batch of the scenario",
                    fmt::format("a phase, the ramp or [space] has global_batch = {}", most),
                    "raise it, or remove that batch"});
    }
}

void refuse_ramp(Table& table, const Learning& learning, const std::vector<Phase>& phases)
{
    const auto ramp = table.find("ramp");
    if (!ramp) {
        return;
    }
    if (!learning.global_batch.empty()) {
        ramp->fail({"cannot be combined with global_batch in [space]", "a ramp belongs to one batch",
                    "remove one of the two"});
    }
    if (phases.size() <= learning.ramp.size()) {
        ramp->fail({"is longer than the run",
                    fmt::format("the loss of the phase is reached in stage {}", phases.size()),
                    "give it fewer tokens"});
    }
}

}  // namespace

const SectionTable& learning_table() { return learning_fields(); }

void read_learning(Table table, Scenario& scenario)
{
    LearningKeys keys;
    learning_fields().read_whole(table, Keys::all, keys);
    refuse_unclear_distribution(table, keys);
    Learning learning;
    learning.phase = phase_of(table, keys, scenario.phases.size());
    learning.as_given = scenario.phases[learning.phase];
    refuse_sequences(table, keys, learning.as_given.sequence);
    refuse_more_than_the_run(table, keys, learning.as_given);
    learning.reference_batch = keys.reference_batch;
    learning.critical = keys.critical_batch;
    learning.source = keys.source;
    constexpr double of_normal = 1.959964;  // 97.5 % quantile
    learning.spread = std::log(keys.factor) / of_normal;
    if (keys.formula != nullptr) {
        double tokens = 0.0;  // of the run, to the end of the phase
        for (std::size_t i = 0; i <= learning.phase; ++i) {
            tokens += scenario.phases[i].tokens;
        }
        const bool of_loss = keys.formula->variable == CriticalBatchFormula::Variable::loss;
        learning.critical = {{0.0, keys.formula->critical_batch(of_loss ? *keys.loss : tokens)}};
        learning.source =
            fmt::format("{}, {}; {}", keys.formula->name, keys.formula->definition, keys.formula->source);
        learning.extrapolated =
            std::max(keys.formula->values.beyond(of_loss ? *keys.loss : tokens),
                     keys.formula->parameters.beyond(parameters_of(network_of(*networks(scenario).front()))));
    } else if (learning.critical.size() > 1) {
        learning.extrapolated = std::max(1.0, learning.as_given.tokens / learning.critical.back().tokens);
    }
    learning.learning_rate = keys.learning_rate.value_or(0.0);
    learning.epsilon = keys.epsilon.value_or(0.0);
    learning.limited = keys.max_global_batch.has_value();
    learning.ramp = keys.ramp;
    learning.global_batch = scenario.space.global_batch;
    refuse_unstable_batches(table, keys, learning);
    const std::vector<Phase> phases = phases_of(learning, learning.as_given.global_batch);
    refuse_ramp(table, learning, phases);
    const auto phase = scenario.phases.begin() + static_cast<std::ptrdiff_t>(learning.phase);
    scenario.phases.insert(scenario.phases.erase(phase), phases.begin(), phases.end());
    if (!learning.global_batch.empty()) {
        StudyChoice choice{.name = "global_batch"};
        for (const int sequences : learning.global_batch) {
            choice.values.emplace_back(GlobalBatch{sequences});
            choice.labels.push_back(std::to_string(sequences));
        }
        scenario.choices.push_back(std::move(choice));
    }
    scenario.learning = std::move(learning);
}

}  // namespace prismopt
