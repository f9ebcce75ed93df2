#pragma once

/// Compute factors of one set of coupled replicas in a step of 64 fleets; see
/// model/step/graph/coupled_distribution.hpp.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/block_step.hpp"
#include "model/step/sample/length_rows.hpp"

#include <vector>

namespace prismopt {

/// Factors of one set by stage and microbatch.
class CoupledSet {
public:
    /// The graph must outlive this object.
    CoupledSet(const ExecutionGraph& graph, const NoiseTables& noise);

    /// Computes the factors of set number set[lane]. `stage`: factors of its
    /// members, [member * stages + stage].
    void draw_set(const BlockStep& at, const Ints& set, const Floats* stage);

    /// Returns the factors, [stage * rows() + microbatch]; one row per stage if microbatches do not vary.
    const Floats* factors() const { return factor_.data(); }
    int rows() const { return rows_; }
    /// Sets out = mean over microbatches of a stage's factors.
    void mean(int stage, Floats& out) const;

private:
    MemberRows rows_on_stage(int stage, bool vary);
    const Floats* own_rows(std::size_t member, int stage) const;
    void hide_gathers(int stage, Floats& factor) const;

    const ExecutionGraph& graph_;
    int members_;
    int rows_;
    std::vector<std::size_t> power_;  // [stage]: of the microbatch factor, the mean of the stage's passes
    std::size_t powers_ = 1;
    // [(member * powers + power) * rows + microbatch]; a row of ones if they do not vary
    std::vector<Floats> microbatch_;
    std::vector<LengthRows> lengths_;  // [member]; empty if microbatches do not differ in lengths
    std::vector<Floats> on_stage_;     // the same as microbatch_, with the factors of lengths on one stage
    std::vector<Floats> factor_;
};

}  // namespace prismopt
