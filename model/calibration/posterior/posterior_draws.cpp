#include "model/calibration/posterior/posterior_draws.hpp"

#include "model/base/random.hpp"
#include "model/base/statistics.hpp"

namespace prismopt {

double posterior_normal(std::uint64_t seed, std::size_t draw, PosteriorKind kind, std::size_t component)
{
    const Counter counter{static_cast<std::uint32_t>(draw), 0, static_cast<std::uint32_t>(component),
                          use(Stream::posterior, Purpose::search, static_cast<std::uint32_t>(kind))};
    const double uniform = (philox(seed, counter)[0] + 0.5) / 4294967296.0;  // 2^32
    return normal_quantile(uniform);
}

}  // namespace prismopt
