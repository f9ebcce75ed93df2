#pragma once

/// What a higher loss costs in tokens.

#include "model/hardware/hardware.hpp"

#include <optional>
#include <string_view>

namespace prismopt {

/// Relative increase of the loss at equal tokens: an interval, and its middle as the expected value.
struct LossGap {
    double low = 0.0;
    double high = 0.0;

    double expected() const { return 0.5 * (low + high); }
};

/// A published gap of training with linear layers in this precision over the next wider one
/// that has an entry, or over fp32.
struct PublishedGap {
    Precision precision;
    LossGap gap;
    std::string_view source;
};
/// Nothing for fp32 and tf32.
std::optional<PublishedGap> published_loss_gap(Precision precision);

/// Returns the tokens with which a network of so many parameters reaches, despite a gap, the loss that it has
/// without one after `tokens`; nothing if no number of tokens is enough.
///
/// L(N, D) = E + A / N^alpha + B / D^beta with the constants of Besiroglu et al., arXiv 2404.10102, who
/// fitted the runs of Hoffmann et al., arXiv 2203.15556 (70e6 to 16e9 parameters, 5e9 to 500e9 tokens). D'
/// solves (1 + gap) L(N, D') = L(N, D).
std::optional<double> tokens_despite_gap(double parameters, double tokens, double gap);
/// Returns by which factor a run has more parameters or tokens than the runs of that fit, the
/// larger of the two; at least 1.
double beyond_loss_fit(double parameters, double tokens);

}  // namespace prismopt
