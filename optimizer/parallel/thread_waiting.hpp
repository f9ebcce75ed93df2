#pragma once

/// How threads wait for each other at the end of a parallel loop.

namespace prismopt {

/// Lets threads that have nothing to do give up their core after some microseconds. libgomp lets them spin for milliseconds, which is
/// of little use where each has a core, and where another program runs beside takes the core that the last thread needs. Measured by
/// searches of tests/benchmarks/search/scenarios/gpt-22b.toml on two cores: alone 3.2 s spinning and 3.3 s so, beside two busy loops 12.8 and
/// 4.8 s.
/// The library reads its environment before main(), so the program starts itself again. Kept where the user has set
/// OMP_WAIT_POLICY or GOMP_SPINCOUNT. `argv` is main()'s.
void wait_briefly(char** argv);

}  // namespace prismopt
