#include "model/step/op_window.hpp"

#include "model/step/vector_clones.hpp"
#include "model/step/vector_lanes.hpp"

#include <array>

namespace prismopt {

namespace {

/// Names the op in random keys: what gives the input's gradient has the same draws in every schedule.
constexpr std::uint32_t random_kind(Pass pass) { return is_forward(pass) ? 0 : pass == Pass::weight_gradient ? 2 : 1; }

/// Scores, or draws of the law where one is shared.
[[gnu::always_inline]] inline void draw_row(const NormalScores& scores, const StandardLaw* shared, const Words& bits, Floats& out)
{
    for (int v = 0; v < vectors; ++v) {
        FloatVector z;
        normal_score(scores, vector_at(bits, v), z);
        if (shared != nullptr) {
            standard_draw(*shared, z);
        }
        vector_at(out, v) = z;
    }
}

PRISMOPT_VECTOR_CLONES
void draw_op(const NoiseTables& noise, const SharedLaws& shared, const std::array<Words, 4>& words, OpDraws& draws)
{
    draw_row(noise.scores, shared.compute, words[0], draws.compute);
    if (shared.communicates) {
        draw_row(noise.scores, shared.communication, words[1], draws.communication);
    }
    if (noise.p2p_is_smooth) {
        draw_row(noise.scores, &noise.p2p_by_score, words[2], draws.transfer);
        return;
    }
    for (int l = 0; l < lanes; ++l) {
        draws.transfer.at[l] = noise.p2p(words[2].at[l]);
    }
}

/// After the last backward of a chunk: beside what follows, or (not overlapped) the stage's end joins later.
[[gnu::always_inline]] inline void reduce_gradients(const PipelineRun& run, int part, const Floats& end, Floats& gradients_end)
{
    if (run.overlapped) {
        wait_for(end, gradients_end);
    }
    add(run.reduce[part], gradients_end);
}

/// Scores become draws of an op's own law; draws of the one law stay.
template <bool OneLaw>
[[gnu::always_inline]] inline void spread(const StandardLaw* law, FloatVector& z)
{
    if constexpr (!OneLaw) {
        standard_draw(*law, z);
    }
}

/// What the ops of a window have, so that the loop over them asks for nothing that is not there.
template <bool OneLaw, bool Communication, bool Factors, bool Microbatch>
[[gnu::always_inline]] inline void run_ops(std::span<const ProgramOp> ops, const OpDraws* draws, const PipelineRun& run)
{
    const int rows = run.factor_rows;
    Floats* const slots = run.slot;
    Floats gathered;
    for (const ProgramOp& op : ops) {
        const OpSpread& law = run.law[op.law];
        const Floats& input = slots[op.in];
        const Floats* before = &slots[op.before];
        Floats& output = slots[op.out];
        if (op.first_of_chunk && run.gathered != nullptr) {
            gathered = run.gathered[op.part];
            wait_for(*before, gathered);
            before = &gathered;
        }
        const Floats* factor = nullptr;
        const Floats* transfer_factor = nullptr;
        const Floats* microbatch = nullptr;
        if constexpr (Factors) {
            transfer_factor = run.transfer_factor + law.transfer_tier;
            factor = run.compute_factor + op.stage * rows + (rows > 1 ? op.microbatch : 0);
        }
        if constexpr (Microbatch) {
            microbatch = run.microbatch + op.microbatch;
        }
        const OpDraws& draw = *draws++;
        const float compute_s = law.compute_s;
        const float compute_spread_s = law.compute_spread_s;
        const float transfer_s = law.transfer_s;
        const float communication_s = law.communication_s;
        const float communication_spread_s = law.communication_spread_s;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            FloatVector transfer = transfer_s * vector_at(draw.transfer, v);
            FloatVector z = vector_at(draw.compute, v);
            spread<OneLaw>(law.compute_law, z);
            FloatVector compute = compute_s + compute_spread_s * z;
            if constexpr (Factors) {
                transfer = transfer * vector_at(*transfer_factor, v);
                compute = compute * vector_at(*factor, v);
            }
            if constexpr (Microbatch) {
                compute = compute * vector_at(*microbatch, v);
            }
            const FloatVector arrival = vector_at(input, v) + transfer;
            const FloatVector free = vector_at(*before, v);
            FloatVector time = (arrival > free ? arrival : free) + compute;
            if constexpr (Communication) {
                FloatVector c = vector_at(draw.communication, v);
                spread<OneLaw>(law.communication_law, c);
                FloatVector communication = communication_s + communication_spread_s * c;
                if constexpr (Factors) {
                    communication = communication * vector_at(*run.communication_factor, v);
                }
                time = time + communication;
            }
            vector_at(output, v) = time;
        }
        if (op.last_of_chunk && run.reduce != nullptr) {
            reduce_gradients(run, op.part, output, run.gradients_end[op.stage]);
        }
    }
}

template <bool OneLaw, bool Communication>
[[gnu::always_inline]] inline void run_ops(std::span<const ProgramOp> ops, const OpDraws* draws, const PipelineRun& run)
{
    if (run.microbatch != nullptr) {
        run_ops<OneLaw, Communication, true, true>(ops, draws, run);
    } else if (run.compute_factor != nullptr) {
        run_ops<OneLaw, Communication, true, false>(ops, draws, run);
    } else {
        run_ops<OneLaw, Communication, false, false>(ops, draws, run);
    }
}

}  // namespace

void fill_draws(std::span<const ProgramOp> ops, const DrawKeys& keys, const NoiseTables& noise, const SharedLaws& shared,
                OpDraws* draws)
{
    std::array<Words, 4> words;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const ProgramOp& op = ops[i];
        const auto event = (static_cast<std::uint32_t>(op.microbatch) << 16) | keys.first_slot[op.part];
        keys.philox.draw(keys.step_replica, event, use(Stream::residual, keys.purpose, random_kind(op.pass)), words);
        draw_op(noise, shared, words, draws[i]);
    }
}

PRISMOPT_VECTOR_CLONES
void standard_draws(const NormalScores& scores, const StandardLaw& law, const Words& bits, Floats& out)
{
    draw_row(scores, &law, bits, out);
}

PRISMOPT_VECTOR_CLONES
void run_window(std::span<const ProgramOp> ops, const OpDraws* draws, const SharedLaws& shared, const PipelineRun& run)
{
    if (shared.one_law()) {
        shared.communicates ? run_ops<true, true>(ops, draws, run) : run_ops<true, false>(ops, draws, run);
    } else {
        shared.communicates ? run_ops<false, true>(ops, draws, run) : run_ops<false, false>(ops, draws, run);
    }
}

}  // namespace prismopt
