#pragma once

/// Gradients or parameters of a part on their way between replicas, beside compute.

#include <algorithm>

namespace prismopt {

/// Of b buckets one has nothing to hide behind; the others are waited for by what is left of them after the compute beside them.
/// The collective varies by its law and regimes, the compute beside it by those of all the job (site, step). Left out: that a slow GPU,
/// stage or microbatch hides more of it.
struct Exchange {
    float seconds = 0.0F;     // mean, of all buckets
    float beside = 0.0F;      // share that is beside compute: 1 - 1 / b
    float cover_s = 0.0F;     // mean time of that compute
    float all_reduce = 0.0F;  // share of a reduction that all-reduces take, not reduce-scatters

    /// Seconds that are waited for, at factors of the collective and of the compute. Compute that is faster by x seconds hides at most x
    /// less.
    float exposed(float collective = 1.0F, float compute = 1.0F) const
    {
        const float time = seconds * collective;
        return time - beside * std::min(time, cover_s * compute);
    }
};

}  // namespace prismopt
