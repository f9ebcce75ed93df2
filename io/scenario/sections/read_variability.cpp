#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/sections.hpp"

#include "model/distribution/chain_distribution.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

void refuse_far_cap(const Value& value, const Distribution& distribution)
{
    if (distribution.cap > farthest_cap_of_ops) {
        value.fail(
            {fmt::format("has a cap of {:.6g}", distribution.cap),
             "distributions of kernels and operations are composed on grids that are too coarse for it",
             fmt::format("write cap = {:.6g} or less", farthest_cap_of_ops)});
    }
}

const Fields<Variability>& residual_fields(bool of_catalog)
{
    const auto made = [](bool catalog) {
        Fields<Variability> fields(
            "residual",
            "one distribution per kernel class; a class without a distribution inherits that of its parent");
        for (const KernelClassRow& row : kernel_class_rows) {
            const bool outer = inherits_from(row) == row.kernel;
            fields.custom({std::string(row.name),
                           std::string(row.help),
                           std::string(distribution_example),
                           {distribution_shape()},
                           outer ? Need::complete : Need::optional,
                           outer ? "" : fmt::format("as {}", name(inherits_from(row)))},
                          [kernel = row.kernel, catalog](const Value& value, Variability& variability, Keys) {
                              const Distribution distribution =
                                  read_distribution(value, catalog ? "" : "scenario");
                              refuse_far_cap(value, distribution);
                              variability.residual[static_cast<std::size_t>(kernel)] = distribution;
                          });
        }
        return fields;
    };
    static const auto entries = made(true);
    static const auto sections = made(false);
    return of_catalog ? entries : sections;
}

template <bool of_catalog>
const SectionTable& residual_table()
{
    return residual_fields(of_catalog);
}

constexpr std::string_view exponents_example = "{ forward = [0.9, 1.1], backward = [0.9, 1.1] }";
constexpr Range exponent_range{"an exponent of the microbatch factor", 0, 3, "1.1"};

const Fields<MicrobatchExponents>& exponent_fields()
{
    static const auto fields = [] {
        Fields<MicrobatchExponents> made("microbatch_exponent",
                                         "exponents of the microbatch factor along the pipeline");
        const auto list = [&](const char* key, const char* help,
                              std::vector<double> MicrobatchExponents::*member) {
            made.custom({key,
                         help,
                         "[0.9, 1.1]",
                         {{.kind = ValueShape::Kind::number, .range = exponent_range, .list = true}}},
                        [member](const Value& value, MicrobatchExponents& exponents, Keys) {
                            for (const Value& exponent : value.list("[0.9, 1.1]")) {
                                (exponents.*member).push_back(exponent.number(exponent_range));
                            }
                        });
        };
        list("forward", "of forward passes, from the first part of the pipeline to the last; default: all 1",
             &MicrobatchExponents::forward);
        list("backward", "of backward passes, in the same order; default: all 1",
             &MicrobatchExponents::backward);
        return made;
    }();
    return fields;
}

const SectionTable& exponent_table() { return exponent_fields(); }

/// Where a distribution of a catalog's profile must name its source.
using Read = Fields<Variability>::Read;
Read reader(Distribution Variability::*distribution, bool of_catalog)
{
    return [distribution, of_catalog](const Value& value, Variability& variability, Keys) {
        variability.*distribution = read_distribution(value, of_catalog ? "" : "scenario");
        if (distribution == &Variability::operation || distribution == &Variability::expert_imbalance) {
            refuse_far_cap(value, variability.*distribution);
        }
    };
}

Fields<Variability> factors(const char* title, const char* help, bool of_catalog)
{
    Fields<Variability> fields(title, help);
    struct Row {
        const char* key;
        Distribution Variability::*distribution;
        Need need;
        const char* help;
    };
    // Most jobs say it by the regimes of compute and communication, and by their kernels.
    const Row rows[] = {
        {"common_step", &Variability::common_step, Need::optional,
         "per-step factor of all compute and communication"},
        {"operation", &Variability::operation, Need::optional,
         "factor of a whole forward or backward pass, shared by its kernels"},
        {"expert_imbalance", &Variability::expert_imbalance, Need::optional,
         "factor, per microbatch and layer, of the busiest expert-parallel rank's load beyond the mean "
         "(imbalance - 1)"},
        {"gpu", &Variability::gpu, Need::complete, "per-GPU factor of compute, constant over a run"},
        {"node", &Variability::node, Need::complete, "per-node factor of compute, constant over a run"},
        {"site", &Variability::site, Need::complete, "per-job factor of compute, constant over a run"},
        {"common_compute", &Variability::common_compute, Need::complete, "per-step factor of all compute"},
        {"common_communication", &Variability::common_communication, Need::complete,
         "per-step factor of all communication"},
        {"stage", &Variability::stage, Need::complete,
         "per-step factor of each pipeline stage of each replica"},
        {"microbatch", &Variability::microbatch, Need::complete,
         "per-step factor of each microbatch of each replica"}};
    const auto shape = [] { return std::vector{distribution_shape()}; };
    for (const Row& row : rows) {
        fields.custom({row.key, row.help, std::string(distribution_example), shape(), row.need},
                      reader(row.distribution, of_catalog));
    }
    fields.number("expert_imbalance_correlation", &Variability::expert_imbalance_correlation,
                  {"correlation of expert_imbalance between the layers of a microbatch", 0.0, 1.0, "0.5"});
    fields.custom(
        {"microbatch_exponent",
         "exponents of the microbatch factor by pass, from the first part of the pipeline to the last",
         std::string(exponents_example),
         {{.kind = ValueShape::Kind::section, .section = exponent_table}}},
        [](const Value& value, Variability& variability, Keys keys) {
            Table exponents = value.table(exponents_example);
            exponent_fields().read_whole(exponents, keys, variability.microbatch_exponent);
        });
    fields.custom({"residual",
                   "factor of a single kernel or blocking collective, by kernel class",
                   fmt::format("{{ gemm = {} }}", distribution_example),
                   {{.kind = ValueShape::Kind::section,
                     .section = of_catalog ? residual_table<true> : residual_table<false>}},
                   Need::complete},
                  [of_catalog](const Value& value, Variability& variability, Keys keys) {
                      Table classes = value.table(fmt::format("{{ gemm = {} }}", distribution_example));
                      residual_fields(of_catalog).read_whole(classes, keys, variability);
                  });
    return fields;
}

}  // namespace

const Fields<Variability>& variability_profile_fields()
{
    static const auto fields = factors("a variability profile", "how durations vary", true);
    return fields;
}

const Fields<Variability>& variability_fields()
{
    static const auto fields =
        Fields<Variability>("[variability]", "how durations vary: random factors with mean one")
            .base("profile", variability_kind, catalog_variability, "variability profile from the catalog")
            .include(factors("[variability]", "", false));
    return fields;
}

Variability read_variability(Table table)
{
    Variability variability;
    variability_fields().read_whole(table, Keys::all, variability);
    return variability;
}

}  // namespace prismopt
