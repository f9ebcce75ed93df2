#pragma once

/// What the machine can do at best with the loops that the sampler is made of. Seconds for the
/// work named, by the calling thread.

namespace prismopt::bench {

/// Rows of 64 numbers in the first-level cache: out = max(a, b) + c, three reads and a
/// write. Returns bytes a second.
double first_level_bytes_per_s();

/// Seconds an op draw when generator, tables and max-plus run one after the other on data in the first-level
/// cache: what one plan alone cannot beat.
double phases_s_per_op_draw();

}  // namespace prismopt::bench
