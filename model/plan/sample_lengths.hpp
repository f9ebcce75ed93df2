#pragma once

/// Lengths of the samples of a data set, and what microbatches made of them have to
/// compute. docs/methods/lengths.md.

#include "model/base/names.hpp"

#include <array>
#include <functional>
#include <string_view>
#include <vector>

namespace prismopt {

/// How samples become microbatches. `padded`: each sample is padded to the longest of its microbatch.
/// `flattened`: the samples of a microbatch follow each other without padding. `packed`: samples share
/// sequences of full length, which the data set is packed into beforehand. `tokens`: a microbatch has as many
/// samples as fill its tokens, without padding. In all but the first, attention is masked between samples.
enum class Batching { padded, flattened, packed, tokens };
template <>
inline constexpr auto names_of<Batching> = std::to_array<Named<Batching>>({{Batching::padded, "padded"},
                                                                           {Batching::flattened, "flattened"},
                                                                           {Batching::packed, "packed"},
                                                                           {Batching::tokens, "tokens"}});

/// A point of a quantile function: this share of the samples has at most so many tokens.
struct LengthQuantile {
    double share = 0.0;
    double tokens = 0.0;

    bool operator==(const LengthQuantile&) const = default;
};

/// A distribution of lengths, in tokens: its quantile function, linear between its
/// points, from share 0 to share 1.
struct SampleLengths {
    std::vector<LengthQuantile> quantiles;  // neither number decreases
    Batching batching = Batching::padded;

    bool operator==(const SampleLengths&) const = default;
};

/// Returns the quantile function of a lognormal distribution. `sigma`: standard deviation of the logarithm.
std::vector<LengthQuantile> lognormal_lengths(double median, double sigma);

/// Returns the mean tokens of a sample. Samples longer than a sequence are cut.
double mean_tokens(const SampleLengths& lengths, int sequence);
/// Returns the share of a sequence's tokens that are trained on: the rest is padding,
/// or space that no sample fills.
double filled_share(const SampleLengths& lengths, int sequence);

/// Share of all tokens that are in samples of this length.
struct LengthShare {
    double tokens = 0.0;
    double share = 0.0;
};

/// Mean of what microbatches have to compute.
struct LengthMix {
    double tokens = 1.0;               // over those of full sequences
    bool shares_sequences = false;     // samples share a sequence: attention is masked between them
    std::vector<LengthShare> lengths;  // their shares sum to one; padded lengths
};
/// Returns the mean of microbatches of `microbatch` sequences (padded and flattened:
/// samples). `filled`: filled_share().
LengthMix length_mix(const SampleLengths& lengths, int sequence, int microbatch, double filled);
/// Returns the same for the tokens that are trained on, without padding.
LengthMix trained_mix(const SampleLengths& lengths, int sequence, double filled);

/// Work on a sample, in one unit: on each token, and in attention between so many tokens.
struct SampleWork {
    double of_token = 0.0;
    std::function<double(int)> attention;
};
/// Tokens and attention of a microbatch, and its probability.
struct MicrobatchWork {
    double probability = 0.0;
    double tokens = 0.0;
    double attention = 0.0;
};
/// Returns microbatches by rising work.
std::vector<MicrobatchWork> microbatch_work(const SampleLengths& lengths, int sequence, int microbatch,
                                            const SampleWork& work);

/// Returns the standard deviation of the lengths over their mean.
double cv_of(const SampleLengths& lengths, int sequence);
/// Returns whether this quantile of lengths and of their squares is at least their mean.
bool quantiles_reach_means(const SampleLengths& lengths, int sequence, double probability);
/// Returns the skewness of the squares of lengths; zero if all are equal.
double skewness_of_squares(const SampleLengths& lengths, int sequence);

}  // namespace prismopt
