#include "model/step/graph/length_factors.hpp"

#include <cstddef>
#include <iterator>

namespace prismopt {

namespace {

/// The value of the microbatch at each probability; one where none has any, as the
/// attention of a network without.
QuantileTable table_of(const std::vector<MicrobatchWork>& microbatches, double MicrobatchWork::*value)
{
    const std::size_t count = microbatches.size();
    std::vector<double> up_to(count);  // probability of this one and those before,
    std::vector<double> from(count);   // and of this one and those after
    double below = 0.0;
    double above = 0.0;
    double mean = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        below += microbatches[i].probability;
        up_to[i] = below;
        above += microbatches[count - 1 - i].probability;
        from[count - 1 - i] = above;
        mean += microbatches[i].probability * (microbatches[i].*value);
    }
    const auto at = [&](double p, bool upper) {
        if (upper) {
            const auto after = std::partition_point(from.begin(), from.end(),
                                                    [p](double probability) { return probability >= p; });
            return after == from.begin() ? count - 1 : static_cast<std::size_t>(after - from.begin()) - 1;
        }
        const auto place = std::lower_bound(up_to.begin(), up_to.end(), p);
        return std::min(static_cast<std::size_t>(place - up_to.begin()), count - 1);
    };
    return QuantileTable(
        [&](double p, bool upper) { return mean > 0.0 ? microbatches[at(p, upper)].*value / mean : 1.0; });
}

}  // namespace

LengthFactors length_factors(const std::vector<MicrobatchWork>& microbatches)
{
    return {table_of(microbatches, &MicrobatchWork::tokens),
            table_of(microbatches, &MicrobatchWork::attention)};
}

}  // namespace prismopt
