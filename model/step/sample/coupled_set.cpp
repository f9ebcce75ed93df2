#include "model/step/sample/coupled_set.hpp"

#include <algorithm>

namespace prismopt {

CoupledSet::CoupledSet(const ExecutionGraph& graph, bool microbatches_vary)
    : graph_(graph), members_(graph.placement.coupled),
      rows_(microbatches_vary || graph.lengths != nullptr ? graph.program->shape.microbatches : 1),
      microbatch_(microbatches_vary ? static_cast<std::size_t>(members_) * rows_ : 1),
      factor_(static_cast<std::size_t>(graph.stages()) * rows_)
{
    std::fill_n(microbatch_.front().at, lanes, 1.0F);
    if (graph.lengths != nullptr) {
        lengths_ = std::vector<LengthRows>(static_cast<std::size_t>(members_), LengthRows(graph));
        on_stage_.resize(static_cast<std::size_t>(members_) * rows_);
    }
}

void CoupledSet::take(const BlockStep& at, const Ints& set, const Floats* stage)
{
    const auto rows = static_cast<std::size_t>(rows_);
    const bool vary = at.noise.microbatch_varies;
    const auto replica_of = [&](std::size_t member) {
        Ints replica;
        for (int l = 0; l < lanes; ++l) {
            replica.at[l] = set.at[l] * members_ + static_cast<int>(member);
        }
        return replica;
    };
    for (std::size_t member = 0; vary && member < static_cast<std::size_t>(members_); ++member) {
        at.draw_microbatches(replica_of(member), {microbatch_.data() + member * rows, rows});
    }
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
        lengths_[member].draw(at, replica_of(member));
    }
    const auto stages = static_cast<std::size_t>(graph_.stages());
    for (std::size_t s = 0; s < stages; ++s) {
        const MemberRows own = rows_on_stage(static_cast<int>(s), vary);
        for (std::size_t row = 0; row < rows; ++row) {
            set_factor(graph_.coupled, members_, {stage + s, stages}, {own.first + row, own.stride}, factor_[s * rows + row]);
            hide_gathers(static_cast<int>(s), factor_[s * rows + row]);
        }
    }
}

/// Long microbatches hide what mean ones leave exposed.
void CoupledSet::hide_gathers(int stage, Floats& factor) const
{
    for (int l = 0; !lengths_.empty() && l < lanes; ++l) {
        factor.at[l] = graph_.length_shares[stage].beside_gathers(factor.at[l]);
    }
}

/// Factors of the members' microbatches on one stage; `vary`: apart from lengths.
MemberRows CoupledSet::rows_on_stage(int stage, bool vary)
{
    const auto rows = static_cast<std::size_t>(rows_);
    if (lengths_.empty()) {
        return {microbatch_.data(), vary ? rows : 0};
    }
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
        for (std::size_t row = 0; row < rows; ++row) {
            Floats& factor = on_stage_[member * rows + row];
            factor = vary ? microbatch_[member * rows + row] : microbatch_.front();
            lengths_[member].multiply_by(stage, static_cast<int>(row), factor);
        }
    }
    return {on_stage_.data(), rows};
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
