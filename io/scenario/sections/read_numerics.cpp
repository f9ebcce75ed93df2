#include "io/scenario/sections/sections.hpp"

#include "model/base/root.hpp"
#include "model/hardware/kernel_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

constexpr Range deviation_range{"largest deviation, as a multiple of that of the reference", 0, 1e9, "25",
                                Range::Ends::open_low};
constexpr Range gap_range{"relative increase of the loss at equal tokens", 0, 1, "0.0025"};

struct MaxDeviation {
    Precision reference = Precision::bf16;
    AttentionKernel kernel = AttentionKernel::flash;
    double factor = 0.0;
};

const Fields<MaxDeviation>& max_deviation_fields()
{
    static const auto fields =
        Fields<MaxDeviation>("max_deviation", "largest deviation of operators from their results in FP64")
            .choice("reference", &MaxDeviation::reference, "bf16",
                    "precision of the reference, whose attention kernel is in kernel")
            .choice("kernel", &MaxDeviation::kernel, "flash", "attention kernel of the reference")
            .number("factor", &MaxDeviation::factor, deviation_range)
            .required();
    return fields;
}

struct GapOfPrecision {
    std::string precision;  // name of a choice of [space]
    double low = 0.0;
    double high = 0.0;
};

const Fields<GapOfPrecision>& loss_gap_fields()
{
    static const auto fields =
        Fields<GapOfPrecision>("[[numerics.loss_gap]]",
                               "increase of the loss by a precision, over that of the workload")
            .text("precision", &GapOfPrecision::precision, "fp8", "one of precision in [space], by its name")
            .required()
            .number("low", &GapOfPrecision::low, gap_range)
            .number("high", &GapOfPrecision::high, gap_range)
            .required();
    return fields;
}

/// The section as written.
struct NumericsKeys {
    bool accepted = false;
    std::optional<MaxDeviation> max_deviation;
    std::vector<GapOfPrecision> loss_gap;
    bool published = false;
};

void read_loss_gap(const Value& value, NumericsKeys& keys)
{
    if (!value.is_list()) {
        value.choice({"published"}, "sources of loss gaps",
                     "give a list, as in [{ precision = \"fp8\", low = 0, high = 0.0025 }]");
        keys.published = true;
        return;
    }
    for (const Value& element : value.list("{ precision = \"fp8\", high = 0.0025 }")) {
        Table table = element.table("{ precision = \"fp8\", high = 0.0025 }");
        GapOfPrecision gap;
        loss_gap_fields().read_whole(table, Keys::all, gap);
        if (gap.low > gap.high) {
            table.find("low")->fail(
                {"is more than high", "they are the ends of an interval", "exchange them"});
        }
        if (std::any_of(keys.loss_gap.begin(), keys.loss_gap.end(),
                        [&](const GapOfPrecision& other) { return other.precision == gap.precision; })) {
            table.find("precision")
                ->fail({"is listed twice", "each precision has one loss gap", "remove one of the two"});
        }
        keys.loss_gap.push_back(gap);
    }
}

const Fields<NumericsKeys>& numerics_fields()
{
    static const auto fields = [] {
        Fields<NumericsKeys> all(
            "[numerics]", "what choices of precision and attention kernel cost in learning, or may deviate");
        const auto table_of_gaps = []() -> const SectionTable& { return loss_gap_fields(); };
        const auto table_of_deviation = []() -> const SectionTable& { return max_deviation_fields(); };
        all.custom({"loss_gap",
                    "increase of the loss by each precision, converted to tokens; \"published\": those of "
                    "docs/learning.md",
                    "\"published\"",
                    {choice_shape([] { return std::vector<std::string>{"published"}; }),
                     {.kind = ValueShape::Kind::section, .section = table_of_gaps, .list = true}}},
                   [](const Value& value, NumericsKeys& keys, Keys) { read_loss_gap(value, keys); })
            .custom({"max_deviation",
                     "choices that deviate more, as measured by prismopt numerics, are excluded",
                     "{ reference = \"bf16\", factor = 25 }",
                     {{.kind = ValueShape::Kind::section, .section = table_of_deviation}}},
                    [](const Value& value, NumericsKeys& keys, Keys) {
                        Table table = value.table("{ reference = \"bf16\", factor = 25 }");
                        max_deviation_fields().read_whole(table, Keys::all, keys.max_deviation.emplace());
                    })
            .flag("accept_numerics", &NumericsKeys::accepted,
                  "search precisions and attention kernels as if they did not affect learning");
        return all;
    }();
    return fields;
}

/// Kinds of 8 bits have one published gap together.
Precision with_gap(Precision precision) { return has_8_bits(precision) ? Precision::fp8 : precision; }

/// Each published gap is over the next wider precision, so those between the
/// workload's and the chosen one add up.
std::optional<LossGap> published_gap(Precision of, Precision chosen)
{
    std::optional<LossGap> sum;
    for (const auto& [step, text] : names_of<Precision>) {  // from many bits to few
        const auto found = published_loss_gap(step);
        if (found && step == with_gap(step) && step > with_gap(of) && step <= with_gap(chosen)) {
            const LossGap before = sum.value_or(LossGap{});
            sum = LossGap{before.low + found->gap.low, before.high + found->gap.high};
        }
    }
    return sum;
}

/// By choice of precision: the given gap, or the published one over that of the workload.
std::map<std::string, LossGap> gaps_of(const NumericsKeys& keys, const Scenario& scenario)
{
    std::map<std::string, LossGap> gaps;
    for (const GapOfPrecision& given : keys.loss_gap) {
        gaps[given.precision] = {given.low, given.high};
    }
    for (const PrecisionChoice& chosen : scenario.space.precision) {
        if (const auto gap = published_gap(scenario.workload.precision, chosen.precision);
            keys.published && gap) {
            gaps[chosen.name] = *gap;
        }
    }
    return gaps;
}

bool chosen(const Scenario& scenario, const std::string& precision)
{
    const std::vector<PrecisionChoice>& choices = scenario.space.precision;
    return std::any_of(choices.begin(), choices.end(),
                       [&](const PrecisionChoice& choice) { return choice.name == precision; });
}

/// A gap is over the precision of the workload, so all networks must have the same.
void refuse_gaps_of_several_precisions(Table& table, const Scenario& scenario)
{
    for (const Workload* network : networks(scenario)) {
        if (network->precision != scenario.workload.precision) {
            table.find("loss_gap")
                ->fail(
                    {"is over one precision, but the networks have several",
                     fmt::format("{} is trained in {}, and {} in {}", scenario.workload.name,
                                 name(scenario.workload.precision), network->name, name(network->precision)),
                     "give all networks the same precision, or use max_deviation"});
        }
    }
}

void refuse_unpublished_gaps(Table& table, const Scenario& scenario,
                             const std::map<std::string, LossGap>& gaps)
{
    for (const PrecisionChoice& choice : scenario.space.precision) {
        if (with_gap(choice.precision) > with_gap(scenario.workload.precision) &&
            !gaps.contains(choice.name)) {
            table.find("loss_gap")
                ->fail({fmt::format("has no gap of {}", choice.name),
                        fmt::format("none is published over {}, that of the workload, and it would be free",
                                    name(scenario.workload.precision)),
                        fmt::format(
                            "give it, as in [{{ precision = \"{}\", high = 0.001 }}], or use max_deviation",
                            choice.name)});
        }
    }
}

/// Gaps of precisions that no plan has, and, without a limit of the deviation, precisions that would be free.
void refuse_other_gaps(Table& table, const Scenario& scenario, const NumericsKeys& keys)
{
    for (const GapOfPrecision& gap : keys.loss_gap) {
        if (!chosen(scenario, gap.precision)) {
            table.find("loss_gap")
                ->fail({fmt::format("has {}, which has no effect", gap.precision),
                        "precision in [space] does not have it", "add it there, or remove it here"});
        }
    }
    if (keys.loss_gap.empty() || keys.max_deviation || keys.accepted) {
        return;
    }
    for (const PrecisionChoice& choice : scenario.space.precision) {
        const auto given = [&choice](const GapOfPrecision& gap) { return gap.precision == choice.name; };
        if (choice.precision > scenario.workload.precision &&
            std::none_of(keys.loss_gap.begin(), keys.loss_gap.end(), given)) {
            table.find("loss_gap")
                ->fail(
                    {fmt::format("lacks {}", choice.name),
                     fmt::format("it has fewer bits than {}, that of the workload, and would be free",
                                 name(scenario.workload.precision)),
                     fmt::format("add {{ precision = \"{}\", high = ... }}, or max_deviation", choice.name)});
        }
    }
}

void refuse_limit_below_all(Table& table, const Scenario& scenario, const MaxDeviation& limit)
{
    double least = std::numeric_limits<double>::infinity();
    for (const ChoiceOfSpace& choice : choices_of_space(scenario)) {
        least = std::min(least, deviation_from({.precision = limit.reference, .kernel = limit.kernel},
                                               choice.numeric()));
    }
    if (least > limit.factor) {
        table.find("max_deviation")
            ->fail({"excludes all choices of [space]",
                    fmt::format("the least deviation is {:.3g} times that of the reference", least),
                    "give a larger factor, or add choices"});
    }
}

/// What is stated twice, or about nothing.
void refuse_idle_keys(Table& table, const Scenario& scenario, const NumericsKeys& keys)
{
    const auto refuse = [&table](const char* key, const char* reason, const char* remedy) {
        if (const auto value = table.find(key)) {
            value->fail({"has no effect", reason, remedy});
        }
    };
    const bool priced = keys.published || !keys.loss_gap.empty();
    const bool kernels = !scenario.space.attention_kernel.empty();
    if (scenario.space.precision.empty()) {
        refuse("loss_gap", "[space] has no choice of precision",
               "add precision = [...] to [space], or remove it");
    }
    if (scenario.space.precision.empty() && !kernels) {
        for (const char* key : {"max_deviation", "accept_numerics"}) {
            refuse(key, "[space] has no choice of precision or attention kernel",
                   "add precision = [...] or attention_kernel = [...] to [space], or remove it");
        }
    }
    if (keys.accepted && (keys.max_deviation || (priced && !kernels))) {
        refuse("accept_numerics", "loss_gap or max_deviation states what the choices do to learning",
               "remove it, or the other");
    }
}

/// The largest gap that some number of tokens makes up for.
double largest_gap(const Scenario& scenario, const Workload& network, double too_large)
{
    const auto is_made_up_for = [&](double gap) { return bool(factor_of_gap(scenario, network, gap)); };
    return bisect({0.0, too_large}, {.halvings = 20}, is_made_up_for).low;
}

void refuse_gap_without_end(Table& table, const Scenario& scenario,
                            const std::map<std::string, LossGap>& gaps)
{
    for (const auto& [precision, gap] : gaps) {
        for (const Workload* network : networks(scenario)) {
            if (!factor_of_gap(scenario, *network, gap.high)) {
                table.find("loss_gap")
                    ->fail({"cannot be made up for",
                            fmt::format("no number of tokens reaches the loss of {} with the gap of {}",
                                        network->name, precision),
                            fmt::format("remove {} from precision in [space], or give gaps below {:.4f} "
                                        "(docs/learning.md)",
                                        precision, largest_gap(scenario, *network, gap.high))});
            }
        }
    }
}

}  // namespace

const SectionTable& numerics_table() { return numerics_fields(); }

void read_numerics(Table table, Scenario& scenario)
{
    NumericsKeys keys;
    numerics_fields().read_whole(table, Keys::all, keys);
    refuse_idle_keys(table, scenario, keys);
    refuse_other_gaps(table, scenario, keys);
    scenario.numerics.priced = keys.published || !keys.loss_gap.empty();
    scenario.numerics.published = keys.published;
    if (scenario.numerics.priced) {
        refuse_gaps_of_several_precisions(table, scenario);
    }
    scenario.numerics.loss_gap = gaps_of(keys, scenario);
    if (keys.published) {
        refuse_unpublished_gaps(table, scenario, scenario.numerics.loss_gap);
    }
    refuse_gap_without_end(table, scenario, scenario.numerics.loss_gap);
    if (keys.max_deviation) {
        refuse_limit_below_all(table, scenario, *keys.max_deviation);
        scenario.numerics.reference = {.precision = keys.max_deviation->reference,
                                       .kernel = keys.max_deviation->kernel};
        scenario.numerics.max_deviation = keys.max_deviation->factor;
    }
    scenario.numerics.accepted = keys.accepted;
}

}  // namespace prismopt
