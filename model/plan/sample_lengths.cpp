#include "model/plan/sample_lengths.hpp"

#include "model/base/random.hpp"
#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

/// Samples that stand for a data set, equally probable.
constexpr int samples_of_set = 4096;
/// Lengths that stand for all in means, at most.
constexpr std::size_t lengths_of_mix = 512;
/// Samples that are packed together: so many that the last sequences, which are not full, count for little.
constexpr std::size_t samples_together = 1024;
constexpr double sequences_together = 64.0;
/// Sequences and microbatches of which distributions are made, and most samples drawn for them.
constexpr std::size_t packed_sequences = 4096;
constexpr std::size_t drawn_microbatches = 8192;
constexpr std::size_t most_samples = std::size_t{1} << 19;

/// Whether sequences are filled, with as many samples as that takes.
bool fills_sequences(Batching batching)
{
    return batching == Batching::packed || batching == Batching::tokens;
}

/// Random numbers of the order of samples do not depend on the study's seed: the lengths
/// of a data set are its property.
constexpr std::uint64_t order_seed = 1;

std::uint32_t below(std::uint32_t limit, std::uint32_t epoch, std::uint32_t place)
{
    const auto words = philox(order_seed, {epoch, 0, place, use(Stream::data_order, Purpose::search)});
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(words[0]) * limit) >> 32);
}

double quantile(const SampleLengths& lengths, double share)
{
    const std::vector<LengthQuantile>& points = lengths.quantiles;
    const auto after =
        std::upper_bound(points.begin(), points.end(), share,
                         [](double value, const LengthQuantile& point) { return value < point.share; });
    if (after == points.begin() || after == points.end()) {
        return after == points.begin() ? points.front().tokens : points.back().tokens;
    }
    const LengthQuantile& low = *std::prev(after);
    return low.tokens + (after->tokens - low.tokens) * (share - low.share) / (after->share - low.share);
}

/// The lengths of a data set in rising order, cut to a sequence, in whole tokens.
std::vector<int> samples_of(const SampleLengths& lengths, int sequence)
{
    std::vector<int> samples;
    samples.reserve(samples_of_set);
    for (int i = 0; i < samples_of_set; ++i) {
        const double tokens = std::round(quantile(lengths, (i + 0.5) / samples_of_set));
        samples.push_back(static_cast<int>(std::clamp(tokens, 1.0, static_cast<double>(sequence))));
    }
    return samples;
}

double mean_of(const std::vector<int>& samples)
{
    return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// Calls visit(tokens) for samples in random order, epoch after epoch, until it returns false.
template <class Visit>
void for_samples_in_random_order(std::vector<int> samples, Visit&& visit)
{
    for (std::uint32_t epoch = 0;; ++epoch) {
        for (std::size_t i = samples.size(); i > 1; --i) {
            std::swap(samples[i - 1],
                      samples[below(static_cast<std::uint32_t>(i), epoch, static_cast<std::uint32_t>(i))]);
        }
        for (const int tokens : samples) {
            if (!visit(tokens)) {
                return;
            }
        }
    }
}

/// The samples of one sequence or microbatch.
struct Filled {
    double tokens = 0.0;
    double attention = 0.0;
};

/// Puts samples into sequences, the longest first, each where least room is left
/// after it (best fit, decreasing).
template <class Attention>
void pack(std::vector<int>& samples, int sequence, const Attention& attention, std::vector<Filled>& sequences)
{
    std::sort(samples.begin(), samples.end(), std::greater<>());
    std::multimap<int, std::size_t> room;  // tokens left, and the sequence
    for (const int tokens : samples) {
        auto place = room.lower_bound(tokens);
        std::size_t index = 0;
        int left = sequence;
        if (place == room.end()) {
            index = sequences.size();
            sequences.emplace_back();
        } else {
            index = place->second;
            left = place->first;
            room.erase(place);
        }
        sequences[index].tokens += tokens;
        sequences[index].attention += attention(tokens);
        room.emplace(left - tokens, index);
    }
    samples.clear();
}

template <class Attention>
std::vector<Filled> packed_sequences_of(const SampleLengths& lengths, int sequence,
                                        const Attention& attention)
{
    std::vector<Filled> sequences;
    std::vector<int> together;
    double tokens_together = 0.0;
    std::size_t drawn = 0;
    for_samples_in_random_order(samples_of(lengths, sequence), [&](int tokens) {
        together.push_back(tokens);
        tokens_together += tokens;
        ++drawn;
        if (together.size() < samples_together || tokens_together < sequences_together * sequence) {
            return true;
        }
        pack(together, sequence, attention, sequences);
        tokens_together = 0.0;
        return sequences.size() < packed_sequences && drawn < most_samples;
    });
    return sequences;
}

template <class Attention>
std::vector<Filled> single_samples(const SampleLengths& lengths, int sequence, const Attention& attention)
{
    std::vector<Filled> all;
    for (const int tokens : samples_of(lengths, sequence)) {
        all.push_back({static_cast<double>(tokens), attention(tokens)});
    }
    return all;
}

/// Microbatches of several packed sequences, or samples, in random order.
std::vector<Filled> microbatches_of(const std::vector<Filled>& sequences, int microbatch)
{
    if (microbatch == 1) {
        return sequences;
    }
    std::vector<Filled> microbatches(std::clamp(most_samples / static_cast<std::size_t>(microbatch),
                                                std::size_t{1024}, drawn_microbatches));
    const auto count = static_cast<std::uint32_t>(sequences.size());
    for (std::size_t i = 0; i < microbatches.size(); ++i) {
        for (int k = 0; k < microbatch; ++k) {
            const Filled& own =
                sequences[below(count, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k))];
            microbatches[i].tokens += own.tokens;
            microbatches[i].attention += own.attention;
        }
    }
    return microbatches;
}

/// Whole samples in random order, each in the microbatch in whose tokens its middle lies: in
/// the mean, a microbatch is filled.
template <class Attention>
std::vector<Filled> filled_microbatches(const SampleLengths& lengths, int sequence, int microbatch,
                                        const Attention& attention)
{
    const double tokens_of_one = static_cast<double>(sequence) * microbatch;
    std::vector<Filled> microbatches(1);
    double end = 0.0;
    std::size_t drawn = 0;
    for_samples_in_random_order(samples_of(lengths, sequence), [&](int tokens) {
        const auto place = static_cast<std::size_t>((end + 0.5 * tokens) / tokens_of_one);
        microbatches.resize(std::max(microbatches.size(), place + 1));
        microbatches[place].tokens += tokens;
        microbatches[place].attention += attention(tokens);
        end += tokens;
        return ++drawn < most_samples && microbatches.size() <= packed_sequences;
    });
    microbatches.pop_back();  // not full
    return microbatches;
}

/// Probability that the longest of `microbatch` samples is each of these, which are in rising order.
std::vector<double> longest_of(std::size_t samples, int microbatch)
{
    const auto all_below = [&](std::size_t count) {
        const double share = static_cast<double>(count) / static_cast<double>(samples);
        double power = 1.0;
        double square = share;
        for (int left = microbatch; left > 0; left /= 2) {
            power *= left % 2 == 1 ? square : 1.0;
            square *= square;
        }
        return power;
    };
    std::vector<double> probabilities(samples);
    for (std::size_t i = 0; i < samples; ++i) {
        probabilities[i] = all_below(i + 1) - all_below(i);
    }
    return probabilities;
}

/// Neighbours become one length with their mean, where there are many.
std::vector<LengthShare> merged(const std::vector<LengthShare>& all)
{
    std::vector<LengthShare> different;
    for (const LengthShare& of : all) {
        if (!different.empty() && different.back().tokens == of.tokens) {
            different.back().share += of.share;
        } else {
            different.push_back(of);
        }
    }
    const std::size_t together = (different.size() + lengths_of_mix - 1) / lengths_of_mix;
    std::vector<LengthShare> result;
    for (std::size_t first = 0; first < different.size(); first += together) {
        LengthShare sum;
        for (std::size_t i = first; i < std::min(first + together, different.size()); ++i) {
            sum.tokens += different[i].share * different[i].tokens;
            sum.share += different[i].share;
        }
        if (sum.share > 0.0) {
            result.push_back({sum.tokens / sum.share, sum.share});
        }
    }
    return result;
}

/// Samples of these lengths, with a probability each.
LengthMix mix_of(const std::vector<int>& samples, const std::vector<double>& probabilities)
{
    double mean = 0.0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        mean += probabilities[i] * samples[i];
    }
    std::vector<LengthShare> shares;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        shares.push_back({static_cast<double>(samples[i]), probabilities[i] * samples[i] / mean});
    }
    return {.tokens = mean, .shares_sequences = false, .lengths = merged(shares)};
}

LengthMix mix_of(const std::vector<int>& samples)
{
    return mix_of(samples, std::vector<double>(samples.size(), 1.0 / static_cast<double>(samples.size())));
}

/// The moments of the lengths to some power, over their mean.
struct Spread {
    double mean = 0.0;
    double variance = 0.0;
    double third = 0.0;
};
Spread spread_of_squares(const std::vector<int>& samples)
{
    Spread spread;
    const auto count = static_cast<double>(samples.size());
    for (const int tokens : samples) {
        spread.mean += static_cast<double>(tokens) * tokens / count;
    }
    for (const int tokens : samples) {
        const double off = static_cast<double>(tokens) * tokens / spread.mean - 1.0;
        spread.variance += off * off / count;
        spread.third += off * off * off / count;
    }
    return spread;
}

}  // namespace

std::vector<LengthQuantile> lognormal_lengths(double median, double sigma)
{
    constexpr int points = 512;
    constexpr double farthest = 4.5;  // standard deviations: one sample in 300,000
    std::vector<LengthQuantile> quantiles{{0.0, median * std::exp(-farthest * sigma)}};
    for (int i = 0; i <= points; ++i) {
        const double score = farthest * (2.0 * i / points - 1.0);
        quantiles.push_back({0.5 * std::erfc(-score / std::sqrt(2.0)), median * std::exp(sigma * score)});
    }
    quantiles.push_back({1.0, quantiles.back().tokens});
    return quantiles;
}

double mean_tokens(const SampleLengths& lengths, int sequence)
{
    return mean_of(samples_of(lengths, sequence));
}

double filled_share(const SampleLengths& lengths, int sequence)
{
    if (lengths.batching == Batching::tokens) {
        return 1.0;
    }
    if (!fills_sequences(lengths.batching)) {
        return mean_tokens(lengths, sequence) / sequence;
    }
    const std::vector<Filled> sequences = packed_sequences_of(lengths, sequence, [](int) { return 0.0; });
    const double tokens = std::accumulate(sequences.begin(), sequences.end(), 0.0,
                                          [](double sum, const Filled& own) { return sum + own.tokens; });
    return tokens / static_cast<double>(sequences.size()) / sequence;
}

LengthMix length_mix(const SampleLengths& lengths, int sequence, int microbatch, double filled)
{
    const std::vector<int> samples = samples_of(lengths, sequence);
    if (lengths.batching == Batching::padded) {
        LengthMix mix = mix_of(samples, longest_of(samples.size(), microbatch));
        mix.tokens /= sequence;
        return mix;
    }
    LengthMix mix = mix_of(samples);
    mix.shares_sequences = true;
    if (!fills_sequences(lengths.batching)) {
        mix.tokens = filled;
        return mix;
    }
    mix.tokens = 1.0;
    // What is left of a packed sequence is computed, but attends to little.
    for (LengthShare& of : mix.lengths) {
        of.share *= filled;
    }
    if (filled < 1.0) {
        mix.lengths.insert(mix.lengths.begin(), {1.0, 1.0 - filled});
    }
    return mix;
}

LengthMix trained_mix(const SampleLengths& lengths, int sequence, double filled)
{
    LengthMix mix = mix_of(samples_of(lengths, sequence));
    mix.tokens = filled;
    mix.shares_sequences = lengths.batching != Batching::padded;
    return mix;
}

std::vector<MicrobatchWork> microbatch_work(const SampleLengths& lengths, int sequence, int microbatch,
                                            const SampleWork& work)
{
    std::map<int, double> known;
    const auto attention_of = [&](int tokens) {
        const auto [found, is_new] = known.emplace(tokens, 0.0);
        if (is_new) {
            found->second = work.attention(tokens);
        }
        return found->second;
    };
    std::vector<MicrobatchWork> result;
    if (lengths.batching == Batching::padded) {
        const std::vector<int> samples = samples_of(lengths, sequence);
        const std::vector<double> probabilities = longest_of(samples.size(), microbatch);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            result.push_back({probabilities[i], static_cast<double>(samples[i]), attention_of(samples[i])});
        }
        return result;
    }
    std::vector<Filled> all;
    switch (lengths.batching) {
        case Batching::packed:
            all = microbatches_of(packed_sequences_of(lengths, sequence, attention_of), microbatch);
            for (Filled& own : all) {
                // What no sample fills is computed as well.
                own.tokens = static_cast<double>(sequence) * microbatch;
            }
            break;
        case Batching::flattened:
            all = microbatches_of(single_samples(lengths, sequence, attention_of), microbatch);
            break;
        default: all = filled_microbatches(lengths, sequence, microbatch, attention_of); break;
    }
    for (const Filled& own : all) {
        result.push_back({1.0 / static_cast<double>(all.size()), own.tokens, own.attention});
    }
    const auto work_of = [&work](const MicrobatchWork& own) {
        return work.of_token * own.tokens + own.attention;
    };
    std::stable_sort(result.begin(), result.end(), [&](const MicrobatchWork& a, const MicrobatchWork& b) {
        return work_of(a) < work_of(b);
    });
    return result;
}

double cv_of(const SampleLengths& lengths, int sequence)
{
    const std::vector<int> samples = samples_of(lengths, sequence);
    const double mean = mean_of(samples);
    return std::sqrt(std::max(0.0, spread_of_squares(samples).mean / (mean * mean) - 1.0));
}

bool quantiles_reach_means(const SampleLengths& lengths, int sequence, double probability)
{
    const std::vector<int> samples = samples_of(lengths, sequence);
    const auto place = static_cast<std::size_t>(probability * static_cast<double>(samples.size()));
    const double at = samples[std::min(place, samples.size() - 1)];
    return at >= mean_of(samples) && at * at >= spread_of_squares(samples).mean;
}

double skewness_of_squares(const SampleLengths& lengths, int sequence)
{
    const Spread spread = spread_of_squares(samples_of(lengths, sequence));
    return spread.variance > 0.0 ? spread.third / (spread.variance * std::sqrt(spread.variance)) : 0.0;
}

}  // namespace prismopt
