#pragma once

/// Factors of compute of one replica's microbatches, by the lengths of their samples, in a step of 64 fleets.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/block_step.hpp"

#include <vector>

namespace prismopt {

/// Tokens and attention of the microbatches of one replica, over their means.
class LengthRows {
public:
    /// The graph must outlive this object, and its microbatches must differ.
    explicit LengthRows(const ExecutionGraph& graph);

    /// Draws those of one replica, or of a replica per lane.
    void draw(const BlockStep& at, std::uint32_t replica);
    void draw(const BlockStep& at, const Ints& replica);

    /// Multiplies by the factor of a microbatch on a stage.
    void multiply_by(int stage, int microbatch, Floats& out) const;
    /// Multiplies by the mean factor of the microbatches on a stage.
    void multiply_by_mean(int stage, Floats& out) const;

private:
    template <class Draw>
    void lookup_all(Draw&& draw);

    const ExecutionGraph& graph_;
    std::vector<Floats> tokens_;     // [microbatch]
    std::vector<Floats> attention_;  // [microbatch]
    Floats mean_tokens_{};
    Floats mean_attention_{};
};

}  // namespace prismopt
