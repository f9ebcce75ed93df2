#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr std::string_view components_example =
    R"([{ weight = 0.9, family = "lognormal", cv = 0.02 }, { weight = 0.1, at = 1.5, family = "constant" }])";

/// A number that a family may need. Ranges of shapes are wider than any published fit of durations.
struct Parameter {
    std::string_view key;
    Range range;
};
using Ends = Range::Ends;
constexpr Parameter cv{"cv", {"standard deviation over mean", 0, 3, "0.02"}};
constexpr Parameter shift{"shift", {"shortest duration relative to the mean", 0, 1, "0.9", Ends::open_high}};
constexpr Parameter degrees{"degrees_of_freedom",
                            {"degrees of freedom, not necessarily an integer", 1, 1e6, "1.5"}};
constexpr Parameter scale{
    "scale", {"scale of the distribution relative to its median", 0, 10, "0.02", Ends::open_low}};
constexpr Parameter shape{"shape",
                          {"zero: exponential tail; positive: tail as x^(-1/shape); negative: bounded tail",
                           -1, 2, "0.2"}};
constexpr Parameter tail_probability{"tail_probability",
                                     {"probability of the tail", 0, 0.5, "0.05", Ends::open_low}};
constexpr Parameter tail_scale{
    "tail_scale", {"scale of the tail relative to the mean of the core", 0, 1000, "0.05", Ends::open_low}};
constexpr Parameter weight{"weight", {"probability of the component", 0, 1, "0.1", Ends::open_low}};
constexpr Parameter place{"at",
                          {"location of the component; 1.5 is 50 % slower", 0, 1000, "1.5", Ends::open_low}};
constexpr Range probability_range{"a probability", 0, 1, "0.01"};
constexpr Range excess_range{"slowdown of the slow mode; 0.1 is 10 %", 0, 1000, "0.1", Ends::open_low};
constexpr Range cap_range{"largest factor relative to the family's mean or median", 1, 1e6, "20",
                          Ends::open_low};
constexpr Range duration_range{"a measured duration, in any unit", 0, 1e18, "1.02", Ends::open_low};

double number(Table& table, const Parameter& parameter)
{
    return table.at(parameter.key, fmt::format("{} = {}", parameter.key, parameter.range.example))
        .number(parameter.range);
}

Family read_family(Table& table);

Family read_empirical(Table& table)
{
    Empirical empirical;
    for (const Value& value : table.at("values", "values = [0.98, 1.0, 1.03]").list("[0.98, 1.0, 1.03]")) {
        empirical.values.push_back(value.number(duration_range));
    }
    return empirical;
}

Family read_mixture(Table& table)
{
    const Value listed = table.at("parts", fmt::format("parts = {}", components_example));
    Mixture mixture;
    double total = 0.0;
    for (const Value& value : listed.list(components_example)) {
        Table row = value.table(distribution_example);
        MixtureComponent component;
        component.weight = number(row, weight);
        if (const auto at = row.find(place.key)) {
            component.at = at->number(place.range);
        }
        component.family = read_family(row);
        row.refuse_unknown_keys();
        total += component.weight;
        mixture.components.push_back(std::move(component));
    }
    constexpr double rounding = 1e-6;  // of weights with few digits, such as thirds
    if (std::abs(total - 1.0) > rounding) {
        listed.fail({fmt::format("has weights that sum to {:.6g}", total),
                     "the weights of a mixture must sum to 1", "change a weight or add a part"});
    }
    for (MixtureComponent& component : mixture.components) {
        component.weight /= total;
    }
    return mixture;
}

Family read_pareto_tail(Table& table)
{
    Table core = table.section("core", fmt::format("core = {}", distribution_example));
    ParetoTail tail;
    const Family family = read_family(core);
    core.refuse_unknown_keys();
    const auto* mixture = std::get_if<Mixture>(&family);
    tail.core = mixture != nullptr ? *mixture : Mixture{{{1.0, 1.0, family}}};
    tail.probability = number(table, tail_probability);
    tail.shape = number(table, shape);
    tail.scale = number(table, tail_scale);
    return tail;
}

struct FamilyRow {
    std::string name;
    std::vector<std::string_view> keys;
    Family (*read)(Table&);
};

const std::vector<FamilyRow> families{
    {"constant", {}, [](Table&) -> Family { return Constant{}; }},
    {"normal", {cv.key}, [](Table& t) -> Family { return Normal{number(t, cv)}; }},
    {"lognormal", {cv.key}, [](Table& t) -> Family { return LogNormal{number(t, cv)}; }},
    {"gamma", {cv.key}, [](Table& t) -> Family { return Gamma{number(t, cv)}; }},
    {"weibull", {cv.key}, [](Table& t) -> Family { return Weibull{number(t, cv)}; }},
    {"shifted-gamma",
     {cv.key, shift.key},
     [](Table& t) -> Family {
         return ShiftedGamma{number(t, cv), number(t, shift)};
     }},
    {"student-t",
     {degrees.key, scale.key},
     [](Table& t) -> Family {
         return StudentT{number(t, degrees), number(t, scale)};
     }},
    {"gev",
     {shape.key, scale.key},
     [](Table& t) -> Family {
         return GeneralizedExtremeValue{number(t, shape), number(t, scale)};
     }},
    {"pareto-tail", {"core", tail_probability.key, shape.key, tail_scale.key}, read_pareto_tail},
    {"mixture", {"parts"}, read_mixture},
    {"empirical", {"values"}, read_empirical}};

bool has_key(const FamilyRow& row, std::string_view key)
{
    return std::find(row.keys.begin(), row.keys.end(), key) != row.keys.end();
}

std::vector<std::string> owners_of(std::string_view key)
{
    std::vector<std::string> owners;
    for (const FamilyRow& row : families) {
        if (has_key(row, key)) {
            owners.push_back(row.name);
        }
    }
    return owners;
}

std::vector<std::string> family_names()
{
    std::vector<std::string> names(families.size());
    std::transform(families.begin(), families.end(), names.begin(),
                   [](const FamilyRow& row) { return row.name; });
    return names;
}

/// A part of a mixture: a family with a weight and a place.
const SectionTable& mixture_component_table()
{
    static const SectionTable table = [] {
        SectionTable table_of_component("a part of a mixture",
                                        "the keys of a family, with weight and location");
        for (const Parameter& parameter : {weight, place}) {
            table_of_component.add({std::string(parameter.key),
                                    std::string(parameter.range.meaning),
                                    std::string(parameter.range.example),
                                    {{.kind = ValueShape::Kind::number, .range = parameter.range}},
                                    parameter.key == weight.key ? Need::required : Need::optional});
        }
        for (const KeyInfo& key : distribution_table().keys()) {
            table_of_component.add(key);
        }
        return table_of_component;
    }();
    return table;
}

void refuse_keys_of_others(Table& table, const FamilyRow& family)
{
    for (const FamilyRow& row : families) {
        for (const std::string_view key : row.keys) {
            const auto value = has_key(family, key) ? std::nullopt : table.find(key);
            if (!value) {
                continue;
            }
            std::vector<std::string> owners = owners_of(key);
            const std::string last = owners.back();
            owners.pop_back();
            const bool one = owners.empty();
            value->fail({fmt::format("does not belong to the family \"{}\"", family.name),
                         one ? fmt::format("'{}' is for {}", key, last)
                             : fmt::format("'{}' is for {} and {}", key, fmt::join(owners, ", "), last),
                         one ? fmt::format("remove it or write family = \"{}\"", last)
                             : "remove it or change the family"});
        }
    }
}

Family read_family(Table& table)
{
    const std::string name =
        table.at("family", "family = \"lognormal\"").choice(family_names(), "families of distributions");
    const auto row =
        std::find_if(families.begin(), families.end(), [&](const FamilyRow& r) { return r.name == name; });
    refuse_keys_of_others(table, *row);
    return row->read(table);
}

SlowMode read_slow_mode(Table& table)
{
    SlowMode slow;
    const auto probability = table.find("slow_probability");
    const auto excess = table.find("slow_excess");
    if (probability) {
        slow.probability = probability->number(probability_range);
    }
    if (excess) {
        slow.excess = excess->number(excess_range);
    }
    if (probability && !excess) {
        probability->fail(
            {"is given without slow_excess", "a slow mode needs both", "add slow_excess = 0.1"});
    }
    if (excess && !probability) {
        excess->fail(
            {"is given without slow_probability", "a slow mode needs both", "add slow_probability = 0.01"});
    }
    return slow;
}

/// A cap cuts tails. Where it would cut a mode or the median, something else was meant.
void read_cap(Table& table, Distribution& distribution)
{
    const auto cap = table.find("cap");
    if (cap) {
        distribution.cap = cap->number(cap_range);
    }
    double slowest = distribution.slow.probability > 0.0 ? 1.0 + distribution.slow.excess : 1.0;
    if (const auto* mixture = std::get_if<Mixture>(&distribution.family)) {
        double slowest_component = 0.0;
        for (const MixtureComponent& p : mixture->components) {
            slowest_component = std::max(slowest_component, p.at);
        }
        slowest *= slowest_component;
    }
    const auto fail = [&](std::string why) {
        const Complaint complaint{
            cap ? "cuts off too much"
                : fmt::format("needs a cap above the default of {:.15g}", distribution.cap),
            std::move(why), fmt::format("write for example cap = {:.6g}", 2.0 * std::ceil(slowest))};
        cap ? cap->fail(complaint) : table.fail(complaint);
    };
    if (slowest > distribution.cap) {
        fail(fmt::format("the slowest mode is at {:.6g}", slowest));
    }
    constexpr double most = 0.5;
    if (const double beyond = beyond_cap(distribution); beyond > most) {
        fail(fmt::format("{:.3g} % of the distribution lies beyond it", 100.0 * beyond));
    }
}

}  // namespace

const SectionTable& distribution_table()
{
    static const SectionTable table = [] {
        const auto numbers = [](const Range& range) {
            return std::vector<ValueShape>{{.kind = ValueShape::Kind::number, .range = range}};
        };
        const auto quoted = [](std::string_view text) { return std::string(text); };
        SectionTable distribution("a distribution",
                                  "a distribution of factors, by its family; it is scaled to a mean of one");
        distribution.add({"family",
                          "family of the distribution, which determines its other keys",
                          in_quotes("lognormal"),
                          {choice_shape(family_names)},
                          Need::required});
        for (const Parameter& parameter : {cv, shift, degrees, scale, shape, tail_probability, tail_scale}) {
            distribution.add(
                {quoted(parameter.key),
                 fmt::format("{} ({})", parameter.range.meaning, fmt::join(owners_of(parameter.key), ", ")),
                 quoted(parameter.range.example), numbers(parameter.range)});
        }
        distribution.add({"values",
                          "measured durations, in any unit (empirical)",
                          "[0.98, 1.0, 1.03]",
                          {{.kind = ValueShape::Kind::number, .range = duration_range, .list = true}}});
        distribution.add({"core",
                          "distribution below the tail (pareto-tail)",
                          std::string(distribution_example),
                          {distribution_shape()}});
        distribution.add(
            {"parts",
             "components with weight and location (mixture)",
             std::string(components_example),
             {{.kind = ValueShape::Kind::section, .section = mixture_component_table, .list = true}}});
        distribution.add({"slow_probability", "probability of an additional slow mode", "0.01",
                          numbers(probability_range)});
        distribution.add({"slow_excess", quoted(excess_range.meaning), "0.1", numbers(excess_range)});
        distribution.add({"cap", quoted(cap_range.meaning), "20", numbers(cap_range), Need::optional,
                          fmt::format("{:g}", Distribution{}.cap)});
        distribution.add({"source", "source of the numbers", in_quotes("measured on our cluster"), {{}}});
        return distribution;
    }();
    return table;
}

ValueShape distribution_shape() { return {.kind = ValueShape::Kind::section, .section = distribution_table}; }

Distribution read_distribution(const Value& value, const std::string& default_source)
{
    Table table = value.table(distribution_example);
    Distribution distribution;
    distribution.family = read_family(table);
    distribution.slow = read_slow_mode(table);
    read_cap(table, distribution);
    const auto source = table.find("source", default_source.empty() ? Keys::all : Keys::some,
                                   "source = \"measured on our cluster\"");
    distribution.source = source ? source->text("measured on our cluster") : default_source;
    table.refuse_unknown_keys();
    return distribution;
}

}  // namespace prismopt
