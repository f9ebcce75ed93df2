#include "model/step/sample/length_rows.hpp"

#include "model/step/sample/lane_kernels.hpp"

namespace prismopt {

LengthRows::LengthRows(const ExecutionGraph& graph)
    : graph_(graph), tokens_(graph.program->shape.microbatches), attention_(graph.program->shape.microbatches)
{
}

template <class Draw>
void LengthRows::lookup_all(Draw&& draw)
{
    std::array<Words, 4> words;
    mean_tokens_ = Floats{};
    mean_attention_ = Floats{};
    for (std::size_t mb = 0; mb < tokens_.size(); ++mb) {
        if (mb % 4 == 0) {
            draw(static_cast<std::uint32_t>(mb / 4), words);
        }
        lookup(graph_.lengths->tokens, words[mb % 4], tokens_[mb]);
        lookup(graph_.lengths->attention, words[mb % 4], attention_[mb]);
        add(tokens_[mb], mean_tokens_);
        add(attention_[mb], mean_attention_);
    }
    const auto count = static_cast<float>(tokens_.size());
    for (int l = 0; l < lanes; ++l) {
        mean_tokens_.at[l] /= count;
        mean_attention_.at[l] /= count;
    }
}

void LengthRows::draw(const BlockStep& at, std::uint32_t replica)
{
    lookup_all(
        [&](std::uint32_t event, std::array<Words, 4>& words) { at.draw_lengths(replica, event, words); });
}

void LengthRows::draw(const BlockStep& at, const Ints& replica)
{
    lookup_all(
        [&](std::uint32_t event, std::array<Words, 4>& words) { at.draw_lengths(replica, event, words); });
}

void LengthRows::multiply_by(int stage, int microbatch, Floats& out) const
{
    const LengthShares& shares = graph_.length_shares[stage];
    const auto row = static_cast<std::size_t>(microbatch);
    for (int l = 0; l < lanes; ++l) {
        out.at[l] *= shares.factor(tokens_[row].at[l], attention_[row].at[l]);
    }
}

void LengthRows::multiply_by_mean(int stage, Floats& out) const
{
    const LengthShares& shares = graph_.length_shares[stage];
    for (int l = 0; l < lanes; ++l) {
        out.at[l] *= shares.factor(mean_tokens_.at[l], mean_attention_.at[l]);
    }
}

}  // namespace prismopt
