#pragma once

/// Waiting policy of threads at the end of a parallel loop.

namespace prismopt {

/// Makes idle threads yield their cores after some microseconds, so a search can share a machine. By default,
/// libgomp threads spin for milliseconds. This gains little on a dedicated machine, and on a shared machine
/// it occupies the core that the last thread needs. Measured with searches of
/// tests/benchmarks/search/scenarios/gpt-22b.toml on two cores: alone 3.2 s spinning and
/// 3.3 s yielding; beside two busy loops 12.8 s and 4.8 s. libgomp reads its environment before main(),
/// so the program executes itself again. Does nothing if the user has set OMP_WAIT_POLICY or
/// GOMP_SPINCOUNT. `argv`: of main().
void wait_briefly(char** argv);

}  // namespace prismopt
