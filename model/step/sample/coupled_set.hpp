#pragma once

/// The compute factors of one set of coupled replicas in a step of 64 fleets. See model/step/graph/coupled_law.hpp.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/block_step.hpp"

#include <vector>

namespace prismopt {

class CoupledSet {
public:
    /// The graph must outlive it.
    CoupledSet(const ExecutionGraph& graph, bool microbatches_vary);

    /// Takes the factors of set number set[lane]. `stage`: its members' own, [member * stages + stage].
    void take(const BlockStep& at, const Ints& set, const Floats* stage);

    /// [stage * rows() + microbatch]; one row a stage where microbatches do not vary.
    const Floats* factors() const { return factor_.data(); }
    int rows() const { return rows_; }
    /// Mean over microbatches of a stage's factors.
    void mean(int stage, Floats& out) const;

private:
    const ExecutionGraph& graph_;
    int members_;
    int rows_;
    std::vector<Floats> microbatch_;  // [member * rows + microbatch]; a row of ones where they do not vary
    std::vector<Floats> factor_;
};

}  // namespace prismopt
