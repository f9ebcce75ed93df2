#include "optimizer/numerics/attention_cases.hpp"

namespace prismopt {

namespace {

/// Cases with the same inputs.
std::vector<AttentionCase> cases_of(const AttentionGrid& grid, std::size_t sequence, Elements elements)
{
    std::vector<AttentionCase> cases;
    for (const NumberFormat& format : grid.formats) {
        for (const Rounding rounding : grid.roundings) {
            for (const Arithmetic arithmetic : grid.arithmetics) {
                for (const AttentionMethod kernel : grid.kernels) {
                    for (const TileShape& tile : grid.tiles) {
                        cases.push_back({format, rounding, arithmetic, kernel, tile, sequence, grid.head,
                                         elements, grid.causal});
                        if (kernel == AttentionMethod::plain) {
                            break;
                        }
                    }
                }
            }
        }
    }
    return cases;
}

AttentionResult result_of(const AttentionCase& at, const AttentionInputs<float>& in,
                          const AttentionOutputs<double>& exact, std::uint64_t seed)
{
    const AttentionOutputs<float> out =
        emulated_attention(in, at.kernel, at.tile, Emulated(at.format, at.arithmetic, {at.rounding, seed}));
    DeviationCount gradients;
    gradients.add(out.q_gradient, exact.q_gradient);
    gradients.add(out.k_gradient, exact.k_gradient);
    gradients.add(out.v_gradient, exact.v_gradient);
    return {at, deviation(out.output, exact.output), gradients.summary()};
}

}  // namespace

std::vector<AttentionResult> attention_results(const AttentionGrid& grid, std::uint64_t seed)
{
    std::vector<AttentionResult> results;
    for (const Elements elements : grid.elements) {
        for (const std::size_t sequence : grid.sequences) {
            const AttentionInputs<float> in =
                random_attention(sequence, grid.head, grid.causal, seed, elements);
            const AttentionOutputs<double> exact = exact_attention(in);
            for (const AttentionCase& at : cases_of(grid, sequence, elements)) {
                results.push_back(result_of(at, in, exact, seed));
            }
        }
    }
    return results;
}

}  // namespace prismopt
