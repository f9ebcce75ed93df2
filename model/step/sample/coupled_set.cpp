#include "model/step/sample/coupled_set.hpp"

#include <algorithm>

namespace prismopt {

CoupledSet::CoupledSet(const ExecutionGraph& graph, bool microbatches_vary)
    : graph_(graph), members_(graph.placement.coupled), rows_(microbatches_vary ? graph.program->shape.microbatches : 1),
      microbatch_(microbatches_vary ? static_cast<std::size_t>(members_) * rows_ : 1),
      factor_(static_cast<std::size_t>(graph.stages()) * rows_)
{
    std::fill_n(microbatch_.front().at, lanes, 1.0F);
}

void CoupledSet::take(const BlockStep& at, const Ints& set, const Floats* stage)
{
    const auto rows = static_cast<std::size_t>(rows_);
    const bool vary = at.noise.microbatch_varies;
    for (std::size_t member = 0; vary && member < static_cast<std::size_t>(members_); ++member) {
        Ints replica;
        for (int l = 0; l < lanes; ++l) {
            replica.at[l] = set.at[l] * members_ + static_cast<int>(member);
        }
        at.draw_microbatches(replica, {microbatch_.data() + member * rows, rows});
    }
    const auto stages = static_cast<std::size_t>(graph_.stages());
    for (std::size_t s = 0; s < stages; ++s) {
        for (std::size_t row = 0; row < rows; ++row) {
            set_factor(graph_.coupled, members_, {stage + s, stages}, {microbatch_.data() + row, vary ? rows : 0},
                       factor_[s * rows + row]);
        }
    }
}

void CoupledSet::mean(int stage, Floats& out) const
{
    out = Floats{};
    for (int row = 0; row < rows_; ++row) {
        add(factor_[static_cast<std::size_t>(stage) * rows_ + row], out);
    }
    for (float& m : out.at) {
        m /= static_cast<float>(rows_);
    }
}

}  // namespace prismopt
