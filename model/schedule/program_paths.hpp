#pragma once

/// Long paths through a program, found once for all plans that share it.

#include "model/schedule/program.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// A path through the ops of a program, from the begin of the step to the last op of a stage. Its length is
/// the sum of the durations on it and of the transfers between stages.
struct ProgramPath {
    /// Ops with the same duration, and how many of them wait for a transfer on the path.
    struct Count {
        std::uint32_t distribution = 0;
        std::uint32_t ops = 0;
        std::uint32_t transfers = 0;
    };
    int stage = 0;                  // in which it stays as long as it can
    std::vector<Count> own;         // ops there
    std::vector<Count> others;      // ops of other stages
    std::uint32_t first_chunk = 0;  // of its first op, which waits for the chunk's parameters
    std::uint32_t last_chunk = 0;   // of its last op, the last one of its stage
};

struct ProgramPaths {
    int passes = 2;  // of the program
    std::vector<ProgramPath> paths;
};

/// Durations by which paths are chosen.
struct PathTimes {
    std::vector<float> seconds;   // [distribution] of an op
    std::vector<float> slowed;    // [distribution]: of an op in the stage in which the path stays
    std::vector<float> transfer;  // [distribution]: before an op that is fed by another stage
    std::vector<float> after;     // [part]: after the last op of a stage
};

/// Returns long paths of up to `most` stages, spread evenly over the pipeline with its first and last stage,
/// if that stage is slowed. Any path is a lower bound of the step, whatever the durations are.
ProgramPaths program_paths(const Program& program, const PathTimes& times, int most);
/// The same where a stage is slowed by a tenth, a whole backward pass takes twice as long as a forward pass
/// or each part of a split one, and transfers take no time.
ProgramPaths program_paths(const Program& program, int most = 16);

}  // namespace prismopt
