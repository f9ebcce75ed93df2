#include "model/run/loss_gap.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

std::optional<PublishedGap> published_loss_gap(Precision precision)
{
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32: break;
        case Precision::bf16:
            return PublishedGap{precision,
                                {0.0, 0.0},
                                "results of FP32, same hyperparameters: Kalamkar et al., arXiv 1905.12322"};
        case Precision::fp8:
        case Precision::fp8_delayed:
        case Precision::fp8_current:
        case Precision::fp8_blockwise:
        case Precision::mxfp8:  // measured with tiles and blocks; of the others an assumption
            return PublishedGap{precision,
                                {0.0, 0.0025},
                                "below 0.25 % throughout: DeepSeek-AI, arXiv 2412.19437, section 3.3"};
        case Precision::nvfp4:
            return PublishedGap{precision,
                                {0.005, 0.015},
                                "below 1 % against FP8, above 1.5 % at the end, the first 2 and last 8 of 62 "
                                "layers (16 % of the linear "
                                "layers) in BF16: NVIDIA, arXiv 2509.25149, sections 3 and 4.1"};
    }
    return std::nullopt;
}

std::optional<double> tokens_despite_gap(double parameters, double tokens, double gap)
{
    constexpr double entropy = 1.8172;
    constexpr double of_parameters = 482.01;
    constexpr double alpha = 0.3478;
    constexpr double of_tokens = 2085.43;
    constexpr double beta = 0.3658;
    const double without_tokens = entropy + of_parameters / std::pow(parameters, alpha);
    const double loss = without_tokens + of_tokens / std::pow(tokens, beta);
    const double left = loss / (1.0 + gap) - without_tokens;
    if (!(left > 0.0)) {
        return std::nullopt;
    }
    return gap == 0.0 ? tokens : std::pow(of_tokens / left, 1.0 / beta);
}

double beyond_loss_fit(double parameters, double tokens)
{
    constexpr double most_parameters = 16e9;
    constexpr double most_tokens = 500e9;
    return std::max({1.0, parameters / most_parameters, tokens / most_tokens});
}

}  // namespace prismopt
