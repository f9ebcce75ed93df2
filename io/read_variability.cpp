#include "io/sections.hpp"

#include "model/noise/chain_law.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr std::string_view law_example = "{ family = \"lognormal\", cv = 0.02 }";

void refuse_far_cap(const Value& value, const Law& law)
{
    if (law.cap > farthest_cap_of_ops) {
        value.fail({fmt::format("has the cap {:.6g}", law.cap),
                    "laws of kernels and operations are composed on grids that are too coarse for it",
                    fmt::format("write cap = {:.6g} or less", farthest_cap_of_ops)});
    }
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
    // Most jobs say it by the regimes of compute and communication, and by their kernels.
    for (const Row& row : {Row{"common_step", &variability.common_step}, Row{"operation", &variability.operation}}) {
        if (const auto value = table.find(row.key)) {
            *row.law = read_law(*value, default_source);
            if (row.law == &variability.operation) {
                refuse_far_cap(*value, *row.law);
            }
        }
    }
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
                refuse_far_cap(*value, variability.residual[i]);
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

}  // namespace prismopt
