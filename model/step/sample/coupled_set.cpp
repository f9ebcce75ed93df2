#include "model/step/sample/coupled_set.hpp"

#include <algorithm>

namespace prismopt {

CoupledSet::CoupledSet(const ExecutionGraph& graph, const NoiseTables& noise)
    : graph_(graph), members_(graph.placement.coupled),
      rows_(noise.microbatch_varies || graph.lengths != nullptr ? graph.program->shape.microbatches : 1),
      power_(static_cast<std::size_t>(graph.stages()), 0),
      powers_(std::max<std::size_t>(1, noise.microbatch_powers.tables.size())),
      microbatch_(noise.microbatch_varies ? static_cast<std::size_t>(members_) * powers_ * rows_ : 1),
      factor_(static_cast<std::size_t>(graph.stages()) * rows_)
{
    std::fill_n(microbatch_.front().at, lanes, 1.0F);
    if (!noise.microbatch_powers.tables.empty()) {
        for (int stage = 0; stage < graph.stages(); ++stage) {
            power_[static_cast<std::size_t>(stage)] =
                noise.microbatch_powers.index_of_both(stage, graph.stages());
        }
    }
    if (graph.lengths != nullptr) {
        lengths_ = std::vector<LengthRows>(static_cast<std::size_t>(members_), LengthRows(graph));
        on_stage_.resize(static_cast<std::size_t>(members_) * rows_);
    }
}

void CoupledSet::draw_set(const BlockStep& at, const Ints& set, const Floats* stage)
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
        const std::size_t own = powers_ * rows;
        at.draw_microbatches(replica_of(member), {microbatch_.data() + member * own, own});
    }
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
        lengths_[member].draw(at, replica_of(member));
    }
    const auto stages = static_cast<std::size_t>(graph_.stages());
    for (std::size_t s = 0; s < stages; ++s) {
        const MemberRows own = rows_on_stage(static_cast<int>(s), vary);
        for (std::size_t row = 0; row < rows; ++row) {
            set_factor(graph_.coupled, members_, {stage + s, stages}, {own.first + row, own.stride},
                       factor_[s * rows + row]);
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

/// Factors of a member's microbatches on one stage, apart from lengths.
const Floats* CoupledSet::own_rows(std::size_t member, int stage) const
{
    const std::size_t power = power_[static_cast<std::size_t>(stage)];
    return microbatch_.data() + (member * powers_ + power) * static_cast<std::size_t>(rows_);
}

/// Factors of the members' microbatches on one stage; `vary`: apart from lengths.
MemberRows CoupledSet::rows_on_stage(int stage, bool vary)
{
    const auto rows = static_cast<std::size_t>(rows_);
    if (lengths_.empty()) {
        return {own_rows(0, stage), vary ? powers_ * rows : 0};
    }
    for (std::size_t member = 0; member < lengths_.size(); ++member) {
        for (std::size_t row = 0; row < rows; ++row) {
            Floats& factor = on_stage_[member * rows + row];
            factor = vary ? own_rows(member, stage)[row] : microbatch_.front();
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
