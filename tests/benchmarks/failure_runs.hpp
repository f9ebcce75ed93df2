#pragma once

namespace prismopt::bench {

/// Seconds of 10,000 histories of 54 days on 16,384 GPUs at the rate of Llama 3's interruptions
/// (arXiv 2407.21783), one thread. `everything`: six causes, half of them clustered, copies in memory,
/// asynchronous writes, planned stops, unlike nodes, 64 spares.
double failure_runs_s(bool everything);

}  // namespace prismopt::bench
