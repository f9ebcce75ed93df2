#include "model/distribution/noise_tables.hpp"

#include "model/base/parallel.hpp"
#include "model/base/statistics.hpp"
#include "model/distribution/group_distribution.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace prismopt {

namespace {

Quantile quantile_of(const Distribution& distribution)
{
    return [q = DistributionQuantile(distribution)](double p, bool upper) { return q(p, upper); };
}

/// Mean 0, deviation 1: gamma with shape 4 / skewness^2, shifted; normal at skewness zero.
Quantile standard_distribution(double skewness)
{
    if (skewness == 0.0) {
        return normal_quantile;
    }
    const double shape = 4.0 / (skewness * skewness);
    // Without promotion to long double, which takes thrice the time for digits that a
    // table of floats does not hold.
    using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
    return [shape, distribution = boost::math::gamma_distribution<double, Plain>(
                       shape, 1.0 / std::sqrt(shape))](double p, bool upper) {
        const double x = upper ? boost::math::quantile(boost::math::complement(distribution, p))
                               : boost::math::quantile(distribution, p);
        return x - std::sqrt(shape);
    };
}

/// Whether the distribution by scores gives what the table gives, relative to the mean of one: at 16
/// places of each octave, both sides.
bool follows(const StandardDistribution& distribution, const NormalScores& scores, const QuantileTable& table)
{
    constexpr float tolerance = 2e-4F;
    for (int octave = 0; octave < 31; ++octave) {
        for (std::uint32_t place = 16; place < 32; ++place) {
            const auto low = static_cast<std::uint32_t>((static_cast<std::uint64_t>(place) << octave) >> 4);
            for (const std::uint32_t bits : {low, ~low}) {
                const float exact = table(bits);
                if (std::abs(distribution(scores(bits)) - exact) > tolerance * std::max(1.0F, exact)) {
                    return false;
                }
            }
        }
    }
    return true;
}

std::int32_t nearest_step(double exponent)
{
    return static_cast<std::int32_t>(std::lround(exponent / MicrobatchPowers::step));
}

MicrobatchPowers microbatch_powers(const Variability& variability)
{
    MicrobatchPowers powers;
    if (variability.microbatch_exponent.none() || DistributionQuantile(variability.microbatch).constant()) {
        return powers;
    }
    powers.exponents = variability.microbatch_exponent;
    std::vector<double> all{1.0};  // of the pass without exponents
    for (const std::vector<double>* list : {&powers.exponents.forward, &powers.exponents.backward}) {
        all.insert(all.end(), list->begin(), list->end());
    }
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    powers.first = nearest_step(*least);
    for (std::int32_t exponent = powers.first; exponent <= nearest_step(*most); ++exponent) {
        powers.tables.emplace_back(power_of(variability.microbatch, exponent * MicrobatchPowers::step));
    }
    return powers;
}

/// Segment cv of a group distribution; the inverse of the position used by group_factor().
double group_cv(int index) { return index == 0 ? 0.0 : 1e-3 * std::exp2(0.5 * (index - 1)); }

std::vector<GroupDistribution> group_distributions(const Distribution& gpu)
{
    const std::vector<double> nodes = group_nodes(quantile_of(gpu));
    std::vector<std::optional<GroupDistribution>> made(NoiseTables::group_distributions);
    parallel_for(NoiseTables::group_distributions,
                 [&](int, std::int64_t i) { made[i].emplace(nodes, group_cv(static_cast<int>(i))); });
    std::vector<GroupDistribution> groups;
    for (std::optional<GroupDistribution>& group : made) {
        groups.push_back(std::move(*group));
    }
    return groups;
}

/// Reads and writes the numbers of all tables in one order.
template <class Visit>
void visit(NoiseTables& tables, Visit&& number)
{
    const auto table = [&](QuantileTable& t) {
        t.pieces().resize(2 * QuantileTable::segments);
        for (std::uint64_t& piece : t.pieces()) {
            number(piece);
        }
    };
    for (KernelDistribution& distribution : tables.residual) {
        distribution.for_numbers(number);
    }
    tables.operation.for_numbers(number);
    tables.expert_imbalance.distribution.for_numbers(number);
    number(tables.expert_imbalance.correlation);
    const auto pieces = [&](auto& p) {
        for (auto& row : p.coefficient) {
            for (float& c : row) {
                number(c);
            }
        }
    };
    pieces(tables.scores.octave);
    for (double& p : tables.node_probability) {
        number(p);
    }
    tables.standard.resize(NoiseTables::standard_distributions);
    for (auto& t : tables.standard) {
        pieces(t.piece);
    }
    for (auto& [degree, distributions] : tables.group) {
        distributions.resize(NoiseTables::group_distributions);
        for (auto& t : distributions) {
            table(t);
        }
    }
    for (auto* t : {&tables.node, &tables.site, &tables.common_compute, &tables.common_communication,
                    &tables.stage, &tables.microbatch, &tables.p2p, &tables.dp_all_gather,
                    &tables.dp_reduce_scatter, &tables.dp_all_reduce, &tables.exponential}) {
        table(*t);
    }
    for (auto& regime : tables.tier) {
        table(regime);
    }
    tables.common_step.resize(NoiseTables::step_node_probabilities().size());
    for (double& value : tables.common_step) {
        number(value);
    }
    for (QuantileTable& power : tables.microbatch_powers.tables) {
        table(power);
    }
    for (std::vector<double>* list :
         {&tables.microbatch_powers.exponents.forward, &tables.microbatch_powers.exponents.backward}) {
        for (double& exponent : *list) {
            number(exponent);
        }
    }
    number(tables.microbatch_powers.first);
    number(tables.step_varies);
    pieces(tables.p2p_by_score.piece);
    number(tables.p2p_is_smooth);
    number(tables.node_varies);
    number(tables.stage_varies);
    number(tables.microbatch_varies);
    number(tables.lengths_vary);
}

}  // namespace

std::uint32_t MicrobatchPowers::index(bool forward, int chunk, int chunks) const
{
    const double exponent =
        exponent_of_chunk(forward ? exponents.forward : exponents.backward, chunk, chunks);
    return static_cast<std::uint32_t>(nearest_step(exponent) - first);
}

std::uint32_t MicrobatchPowers::index_of_both(int chunk, int chunks) const
{
    const double sum = exponent_of_chunk(exponents.forward, chunk, chunks) +
                       exponent_of_chunk(exponents.backward, chunk, chunks);
    return static_cast<std::uint32_t>(nearest_step(0.5 * sum) - first);
}

int NoiseTables::standard_index(double skewness)
{
    return static_cast<int>(
        std::clamp(std::round(skewness * per_unit_skewness), 0.0, standard_distributions - 1.0));
}

std::vector<TailProbability> NoiseTables::step_node_probabilities()
{
    constexpr int octaves = 31;
    constexpr int per_octave = 8;
    std::vector<TailProbability> nodes;
    for (int k = 0; k <= octaves * per_octave; ++k) {
        nodes.push_back({0.5 * std::exp2(static_cast<double>(k) / per_octave - octaves), false});
    }
    for (int k = octaves * per_octave - 1; k >= 0; --k) {
        nodes.push_back({nodes[k].p, true});
    }
    return nodes;
}

QuantileTable NoiseTables::group_factor(int tensor_parallel_degree, double segment_cv) const
{
    const auto& distributions = group.at(tensor_parallel_degree);
    int above = 1;
    while (above < group_distributions - 1 && group_cv(above) < segment_cv) {
        ++above;
    }
    const double low = group_cv(above - 1);
    const double weight = std::clamp((segment_cv - low) / (group_cv(above) - low), 0.0, 1.0);
    return {distributions[above - 1], distributions[above], weight};
}

NoiseTables build_noise_tables(const Variability& variability, std::span<const int> tensor_parallel_degrees)
{
    NoiseTables tables;
    for (const KernelClassRow& row : kernel_class_rows) {  // what a class inherits from comes before it
        const auto k = static_cast<std::size_t>(row.kernel);
        tables.residual[k] = variability.residual[k]
                                 ? KernelDistribution(quantile_of(*variability.residual[k]))
                                 : tables.residual[static_cast<std::size_t>(inherits_from(row))];
    }
    tables.operation = KernelDistribution(quantile_of(variability.operation));
    tables.expert_imbalance = {KernelDistribution(quantile_of(variability.expert_imbalance)),
                               variability.expert_imbalance_correlation};
    tables.scores = NormalScores(standard_distribution(0.0));
    tables.node_probability = StandardDistribution::node_probabilities();
    for (int i = 0; i < NoiseTables::standard_distributions; ++i) {
        tables.standard.emplace_back(
            standard_distribution(static_cast<double>(i) / NoiseTables::per_unit_skewness),
            tables.node_probability);
        tables.standard.back().standardise(tables.node_probability);
    }
    const std::vector<GroupDistribution> groups = group_distributions(variability.gpu);
    for (const int width : tensor_parallel_degrees) {
        for (const auto& group : groups) {
            tables.group[width].emplace_back(group.factor(width));
        }
    }
    const auto table = [](const Distribution& distribution) {
        return QuantileTable(quantile_of(distribution));
    };
    tables.node = table(variability.node);
    tables.site = table(variability.site);
    tables.common_compute = table(variability.common_compute);
    tables.common_communication = table(variability.common_communication);
    tables.stage = table(variability.stage);
    tables.microbatch = table(variability.microbatch);
    tables.microbatch_powers = microbatch_powers(variability);
    const Distribution& p2p = residual_distribution(variability, KernelClass::p2p);
    tables.p2p = table(p2p);
    tables.p2p_by_score = StandardDistribution(quantile_of(p2p), tables.node_probability);
    tables.p2p_is_smooth = follows(tables.p2p_by_score, tables.scores, tables.p2p);
    for (const ExchangeTable& row : exchange_tables) {
        tables.*row.table = table(residual_distribution(variability, row.kernel));
    }
    const auto varies = [](const Distribution& distribution) {
        return !DistributionQuantile(distribution).constant();
    };
    if (std::any_of(variability.tier.begin(), variability.tier.end(), varies)) {
        std::transform(variability.tier.begin(), variability.tier.end(), std::back_inserter(tables.tier),
                       table);
    }
    tables.exponential =
        QuantileTable([](double p, bool upper) { return upper ? -std::log(p) : -std::log1p(-p); });
    const DistributionQuantile step(variability.common_step);
    for (const TailProbability& node : NoiseTables::step_node_probabilities()) {
        tables.common_step.push_back(step(node.p, node.upper));
    }
    tables.step_varies = !step.constant();
    tables.node_varies = !DistributionQuantile(variability.node).constant();
    tables.stage_varies = !DistributionQuantile(variability.stage).constant();
    tables.microbatch_varies = !DistributionQuantile(variability.microbatch).constant();
    return tables;
}

std::vector<std::byte> NoiseTables::encode() const
{
    std::vector<std::byte> bytes;
    const auto put = [&bytes](const auto& number) {
        const auto* raw = reinterpret_cast<const std::byte*>(&number);
        bytes.insert(bytes.end(), raw, raw + sizeof number);
    };
    put(static_cast<std::int32_t>(group.size()));
    for (const auto& row : group) {
        put(static_cast<std::int32_t>(row.first));
    }
    put(static_cast<std::int32_t>(tier.size()));
    put(static_cast<std::int32_t>(microbatch_powers.tables.size()));
    put(static_cast<std::int32_t>(microbatch_powers.exponents.forward.size()));
    put(static_cast<std::int32_t>(microbatch_powers.exponents.backward.size()));
    NoiseTables copy = *this;
    visit(copy, put);
    return bytes;
}

NoiseTables NoiseTables::decode(std::span<const std::byte> bytes)
{
    NoiseTables tables;
    const auto get = [&bytes](auto& number) {
        if (bytes.size() < sizeof number) {
            throw std::runtime_error("noise tables are truncated");
        }
        std::memcpy(&number, bytes.data(), sizeof number);
        bytes = bytes.subspan(sizeof number);
    };
    std::int32_t widths = 0;
    get(widths);
    for (std::int32_t i = 0; i < widths; ++i) {
        std::int32_t width = 0;
        get(width);
        tables.group[width] = {};
    }
    std::int32_t tiers = 0;
    get(tiers);
    tables.tier.resize(static_cast<std::size_t>(tiers));
    std::int32_t count = 0;
    get(count);
    tables.microbatch_powers.tables.resize(static_cast<std::size_t>(count));
    for (std::vector<double>* list :
         {&tables.microbatch_powers.exponents.forward, &tables.microbatch_powers.exponents.backward}) {
        get(count);
        list->resize(static_cast<std::size_t>(count));
    }
    visit(tables, get);
    return tables;
}

}  // namespace prismopt
