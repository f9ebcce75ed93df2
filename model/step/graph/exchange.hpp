#pragma once

/// Exchange of a part's gradients or parameters between replicas, beside compute.

#include <algorithm>

namespace prismopt {

/// Exchange in b buckets, of which one is always exposed. The collective varies with its distribution and
/// per-step factors, the overlapping compute with the factors of the whole job (site, step). Not modelled: a
/// slow GPU, stage or microbatch hides more. docs/methods/collectives.md.
struct Exchange {
    float seconds = 0.0F;     // mean, of all buckets
    float beside = 0.0F;      // share beside compute: 1 - 1 / b
    float cover_s = 0.0F;     // mean time of that compute
    float all_reduce = 0.0F;  // share of a reduction in all-reduces instead of reduce-scatters

    /// Returns the exposed seconds at these factors of collective and compute. If compute is x seconds
    /// shorter it hides at most x less.
    float exposed(float collective = 1.0F, float compute = 1.0F) const
    {
        const float time = seconds * collective;
        return time - beside * std::min(time, cover_s * compute);
    }
};

}  // namespace prismopt
