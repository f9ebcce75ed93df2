#pragma once

#include <string>

namespace prismopt::bench {

/// The ratios by which the sampler is judged, as one JSON object; medians of five interleaved rounds, under a
/// minute.
///
///     pool_to_roof         op draws per second of many plans whose ops share a distribution, over what the
///                          bandwidth of the first-level cache allows at 24 bytes per op draw: reads of both
///                          draws and of the ends of the stage and of the input; writes of the ends of the
///                          stage and of the op (which here are one)
///     pool_to_scalar       the same over scalar_steps() without factors
///     pool_overhead        share of their time that the loop over ops alone, in the same windows and groups,
///                          does not take: filling and bookkeeping; 1,000 plans
///     mixed_to_scalar      plans with distributions of their own, every factor, common random numbers,
///                          n = 1,024, over scalar_steps()
///     fused_to_scalar      one plan alone, every factor, over scalar_steps()
///     large_to_small       cost per op draw at p = 128, m = 1,024 over that at p = 16, m = 64; the worse of
///                          one plan and sixteen
///     two_threads_to_roof  speed-up of two threads over that of two threads each running the phases alone
///     compile_and_mean_us  compiling a plan (cached schedule, p = 16, m = 64) and its noise-free step
///     costs_us             costs of all layer kinds and collectives of a plan of DeepSeek-V3 (tp 4, ep 32)
///     balanced_to_layers   the same for 126 layers with split = balanced, over split = layers
///     tight_to_layers      ... where the fastest split does not fit into memory
///     predictions_per_s    noise-free predictions with memory, p up to 16, m = 64, one thread
///     sweep_tuples_per_s   raw tuples of the shipped scenario's space judged per second, one thread
///     bounds_per_s         plans of a space with many choices on each axis bounded per second with upper
///                          limits near the best plans, one thread
///     mean_step_growth     bounding a plan (p = 16, m = 2,048) over the same with m = 64; the worst of 1f1b,
///                          interleaved and zb_h1
///     failure_runs_s       seconds of 10,000 histories of 54 days on 16,384 GPUs with all that may happen,
///                          one thread
std::string summary_json();

}  // namespace prismopt::bench
