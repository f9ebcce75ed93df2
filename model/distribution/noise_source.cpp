#include "model/distribution/noise_source.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace prismopt {

namespace {

/// Sources of one distribution each, with where it is and where its table is (null: none of that kind).
struct Row {
    NoiseKind kind;
    const char* name;
    Distribution Variability::*distribution;
    QuantileTable NoiseTables::*table;
};
constexpr auto rows = std::to_array<Row>({
    {NoiseKind::common_step, "common_step", &Variability::common_step, nullptr},
    {NoiseKind::common_compute, "common_compute", &Variability::common_compute, &NoiseTables::common_compute},
    {NoiseKind::common_communication, "common_communication", &Variability::common_communication,
     &NoiseTables::common_communication},
    {NoiseKind::microbatch, "microbatch", &Variability::microbatch, &NoiseTables::microbatch},
    {NoiseKind::operation, "operation", &Variability::operation, nullptr},
    {NoiseKind::expert_imbalance, "expert_imbalance", &Variability::expert_imbalance, nullptr},
    {NoiseKind::gpu, "gpu", &Variability::gpu, nullptr},
    {NoiseKind::node, "node", &Variability::node, &NoiseTables::node},
    {NoiseKind::stage, "stage", &Variability::stage, &NoiseTables::stage},
    {NoiseKind::site, "site", &Variability::site, &NoiseTables::site},
});

const Row& row_of(NoiseKind kind)
{
    return *std::find_if(rows.begin(), rows.end(), [kind](const Row& row) { return row.kind == kind; });
}

QuantileTable always_one()
{
    return QuantileTable([](double, bool) { return 1.0; });
}

/// Of the class, all within it, and the class that varies as it does.
void remove_residual(NoiseTables& tables, KernelClass kind)
{
    for (const KernelClassRow& row : kernel_class_rows) {
        if (is_within(row.kernel, kind) || row.varies_as == kind) {
            tables.residual[static_cast<std::size_t>(row.kernel)] = KernelDistribution();
        }
    }
    for (const ExchangeTable& row : exchange_tables) {
        if (is_within(row.kernel, kind)) {
            tables.*row.table = always_one();
        }
    }
    if (kind == KernelClass::p2p) {
        tables.p2p = always_one();
        tables.p2p_by_score = StandardDistribution([](double, bool) { return 1.0; }, tables.node_probability);
        tables.p2p_is_smooth = true;
    }
}

}  // namespace

std::vector<NoiseSource> noise_sources(std::span<const NetworkTier> tiers)
{
    std::vector<NoiseSource> sources;
    for (const KernelClassRow& row : kernel_class_rows) {
        sources.push_back({NoiseKind::residual, static_cast<std::size_t>(row.kernel), std::string(row.name)});
    }
    for (const Row& row : rows) {
        sources.push_back({row.kind, 0, row.name});
    }
    sources.push_back({NoiseKind::lengths, 0, "lengths"});
    for (std::size_t t = 0; t < tiers.size(); ++t) {
        sources.push_back({NoiseKind::tier, t, tiers[t].name + ".variability"});
    }
    return sources;
}

const Distribution& distribution_of(const NoiseSource& source, const Variability& variability)
{
    static const Distribution constant;
    switch (source.kind) {
        case NoiseKind::residual:
            return residual_distribution(variability, static_cast<KernelClass>(source.index));
        case NoiseKind::lengths: return constant;
        case NoiseKind::tier: return variability.tier.empty() ? constant : variability.tier[source.index];
        default: return variability.*row_of(source.kind).distribution;
    }
}

NoiseTables without(NoiseTables tables, const NoiseSource& source)
{
    switch (source.kind) {
        case NoiseKind::residual: remove_residual(tables, static_cast<KernelClass>(source.index)); break;
        case NoiseKind::tier:
            if (!tables.tier.empty()) {
                tables.tier[source.index] = always_one();
            }
            break;
        case NoiseKind::common_step:
            std::fill(tables.common_step.begin(), tables.common_step.end(), 1.0);
            tables.step_varies = false;
            break;
        case NoiseKind::operation: tables.operation = KernelDistribution(); break;
        case NoiseKind::expert_imbalance: tables.expert_imbalance.distribution = KernelDistribution(); break;
        case NoiseKind::lengths: tables.lengths_vary = false; break;
        case NoiseKind::gpu:
            for (auto& [width, distributions] : tables.group) {
                std::fill(distributions.begin(), distributions.end(), always_one());
            }
            break;
        default: tables.*row_of(source.kind).table = always_one(); break;
    }
    tables.node_varies = tables.node_varies && source.kind != NoiseKind::node;
    tables.stage_varies = tables.stage_varies && source.kind != NoiseKind::stage;
    tables.microbatch_varies = tables.microbatch_varies && source.kind != NoiseKind::microbatch;
    if (source.kind == NoiseKind::microbatch) {
        tables.microbatch_powers = {};
    }
    return tables;
}

bool is_of_graph(const NoiseSource& source)
{
    if (source.kind == NoiseKind::residual) {
        const auto kind = static_cast<KernelClass>(source.index);
        return kind != KernelClass::p2p && !is_within(kind, KernelClass::dp_collective);
    }
    return source.kind == NoiseKind::operation || source.kind == NoiseKind::expert_imbalance ||
           source.kind == NoiseKind::gpu || source.kind == NoiseKind::common_step ||
           source.kind == NoiseKind::lengths;
}

}  // namespace prismopt
