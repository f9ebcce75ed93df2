#include "model/numerics/attention.hpp"

#include "model/numerics/flash_attention.hpp"
#include "model/numerics/plain_attention.hpp"
#include "model/numerics/random_tensor.hpp"

namespace prismopt {

AttentionInputs<float> random_attention(std::size_t sequence, std::size_t head, bool causal,
                                        std::uint64_t seed, Elements elements)
{
    std::uint32_t tensor = 0;
    const auto random = [&] {
        Matrix<float> a =
            random_tensor({.seed = seed, .tensor = tensor++, .elements = elements}, sequence, head);
        round_elements(a, element::bf16, {}, {});
        return a;
    };
    AttentionInputs<float> in{
        .q = random(), .k = random(), .v = random(), .output_gradient = random(), .causal = causal};
    return in;
}

AttentionOutputs<double> exact_attention(const AttentionInputs<float>& in)
{
    const AttentionInputs<double> wide{widened(in.q), widened(in.k), widened(in.v),
                                       widened(in.output_gradient), in.causal};
    return plain_attention(wide, ExactArithmetic());
}

AttentionOutputs<float> emulated_attention(const AttentionInputs<float>& in, AttentionMethod kernel,
                                           const TileShape& tile, const Emulated& arithmetic)
{
    switch (kernel) {
        case AttentionMethod::plain: return plain_attention(in, arithmetic);
        case AttentionMethod::flash: return flash_attention(in, tile, arithmetic);
    }
    return {};
}

Matrix<float> emulated_output(const AttentionInputs<float>& in, AttentionMethod kernel, const TileShape& tile,
                              const Emulated& arithmetic)
{
    switch (kernel) {
        case AttentionMethod::plain: return plain_forward(in, arithmetic).output;
        case AttentionMethod::flash: return flash_output(in, tile, arithmetic);
    }
    return {};
}

}  // namespace prismopt
