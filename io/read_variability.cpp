#include "io/sections.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr Range cv_range{"standard deviation over mean", 0, 3, "0.02"};
constexpr Range probability_range{"a probability", 0, 1, "0.01"};
constexpr Range excess_range{"how much slower the slow mode is; 0.1 is 10 %", 0, 1000, "0.1", Range::Ends::open_low};
constexpr Range cap_range{"the longest factor before truncation", 1, 1e6, "20", Range::Ends::open_low};
constexpr Range duration_range{"a measured duration, in any unit", 0, 1e18, "1.02", Range::Ends::open_low};
constexpr std::string_view law_example = "{ family = \"lognormal\", cv = 0.02 }";
const std::vector<std::string> families{"constant", "normal", "lognormal", "gamma", "empirical"};

Family read_family(Table& table)
{
    const std::string family = table.at("family", "family = \"lognormal\"").choice(families, "families of distributions");
    const bool measured = family == "empirical";
    const bool varies = family != "constant";
    const auto cv = table.find("cv");
    const auto values = table.find("values");
    if (cv && (measured || !varies)) {
        cv->fail({fmt::format("does not belong to the family \"{}\"", family), "cv is for normal, lognormal and gamma",
                  "remove it or change the family"});
    }
    if (values && !measured) {
        values->fail({fmt::format("does not belong to the family \"{}\"", family), "values are for empirical",
                      "remove it or write family = \"empirical\""});
    }
    if (measured) {
        Empirical empirical;
        for (const Value& value : table.at("values", "values = [0.98, 1.0, 1.03]").list("[0.98, 1.0, 1.03]")) {
            empirical.values.push_back(value.number(duration_range));
        }
        return empirical;
    }
    if (!varies) {
        return Constant{};
    }
    const double figure = table.at("cv", "cv = 0.02").number(cv_range);
    if (family == "normal") {
        return Normal{figure};
    }
    if (family == "lognormal") {
        return LogNormal{figure};
    }
    return Gamma{figure};
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
        probability->fail({"has no slow_excess beside it", "a slow mode needs both", "add slow_excess = 0.1"});
    }
    if (excess && !probability) {
        excess->fail({"has no slow_probability beside it", "a slow mode needs both", "add slow_probability = 0.01"});
    }
    return slow;
}

Law read_law(const Value& value, const std::string& default_source)
{
    Table table = value.table(law_example);
    Law law;
    law.family = read_family(table);
    law.slow = read_slow_mode(table);
    if (const auto cap = table.find("cap")) {
        law.cap = cap->number(cap_range);
    }
    const auto source =
        table.find("source", default_source.empty() ? Keys::all : Keys::some, "source = \"where the figures are from\"");
    law.source = source ? source->text("measured on our cluster") : default_source;
    table.refuse_unknown_keys();
    return law;
}

}  // namespace

void read_variability_fields(Table& table, Keys keys, const std::string& default_source, Variability& variability)
{
    struct Row {
        const char* key;
        Law* law;
    };
    const Row rows[] = {{"gpu", &variability.gpu},
                        {"node", &variability.node},
                        {"site", &variability.site},
                        {"common_compute", &variability.common_compute},
                        {"common_communication", &variability.common_communication},
                        {"stage", &variability.stage},
                        {"microbatch", &variability.microbatch}};
    for (const Row& row : rows) {
        if (const auto value = table.find(row.key, keys, fmt::format("{} = {}", row.key, law_example))) {
            *row.law = read_law(*value, default_source);
        }
    }
    if (const auto residual = table.find("residual", keys, "residual = { gemm = ..., one law a kernel class }")) {
        Table classes = residual->table(fmt::format("{{ gemm = {} }}", law_example));
        for (std::size_t i = 0; i < kernel_classes; ++i) {
            if (const auto value =
                    classes.find(kernel_class_names[i], keys, fmt::format("{} = {}", kernel_class_names[i], law_example))) {
                variability.residual[i] = read_law(*value, default_source);
            }
        }
        classes.refuse_unknown_keys();
    }
    table.refuse_unknown_keys();
}

Variability read_variability(Table table)
{
    Variability variability;
    const auto profile = table.find("profile");
    if (profile) {
        variability = catalog_variability(profile->choice(catalog_variabilities(), "variability profiles of the catalog"));
    }
    read_variability_fields(table, profile ? Keys::some : Keys::all, "scenario", variability);
    return variability;
}

Reliability read_reliability(Table table)
{
    Reliability reliability;
    reliability.node_failure_rate = table.at("node_failure_rate", "node_failure_rate = \"3.79e-3 /day\"")
                                        .quantity<PerSecond>("3.79e-3 /day", Sign::zero_or_more);
    reliability.restart = table.at("restart", "restart = \"10 min\"").quantity<Seconds>("10 min", Sign::zero_or_more);
    reliability.checkpoint_interval = table.at("checkpoint_interval", "checkpoint_interval = \"0 s\" (chosen by Young's formula)")
                                          .quantity<Seconds>("30 min", Sign::zero_or_more);
    reliability.checkpoint_write =
        table.at("checkpoint_write", "checkpoint_write = \"30 s\"").quantity<Seconds>("30 s", Sign::zero_or_more);
    if (const auto source = table.find("source")) {
        source->text("measured on our cluster");
    }
    table.refuse_unknown_keys();
    return reliability;
}

}  // namespace prismopt
