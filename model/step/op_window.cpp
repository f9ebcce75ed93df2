#include "model/step/op_window.hpp"

#include "model/step/vector_clones.hpp"
#include "model/step/vector_lanes.hpp"

#include <array>

namespace prismopt {

namespace {

PRISMOPT_VECTOR_CLONES
void normal_scores(const NormalScores& scores, const Words& bits, Floats& out)
{
    for (int v = 0; v < vectors; ++v) {
        normal_score(scores, vector_at(bits, v), vector_at(out, v));
    }
}

/// Scores, or draws of the law where one is shared.
void draw_row(const NormalScores& scores, const StandardLaw* shared, const Words& bits, Floats& out)
{
    if (shared != nullptr) {
        standard_draws(scores, *shared, bits, out);
    } else {
        normal_scores(scores, bits, out);
    }
}

/// Rows of one op of one plan.
struct OpRows {
    const OpDraws& draws;
    const OpSpread& law;
    const StandardLaw* compute_law;  // null: the draws are of the law already
    const StandardLaw* communication_law;
    const Floats* input;  // end of the op that feeds this one; null: none
    Floats& end;          // of the stage
    Floats* out;          // where the consumer looks; null: none
};

PRISMOPT_VECTOR_CLONES
void run_op(const OpRows& op, const PipelineRun& run, const Floats& compute_factor, const Floats* microbatch)
{
    const OpSpread& law = op.law;
    for (int v = 0; v < vectors; ++v) {
        FloatVector start = vector_at(op.end, v);
        const FloatVector network = vector_at(*run.communication_factor, v);
        if (op.input != nullptr) {
            const FloatVector arrival = vector_at(*op.input, v) + law.transfer_s * network * vector_at(op.draws.transfer, v);
            start = arrival > start ? arrival : start;
        }
        FloatVector factor = vector_at(compute_factor, v);
        if (microbatch != nullptr) {
            factor = factor * vector_at(*microbatch, v);
        }
        FloatVector z = vector_at(op.draws.compute, v);
        if (op.compute_law != nullptr) {
            standard_draw(*op.compute_law, z);
        }
        FloatVector duration = factor * (law.compute_s + law.compute_spread_s * z);
        if (law.communication_s > 0.0F) {
            FloatVector c = vector_at(op.draws.communication, v);
            if (op.communication_law != nullptr) {
                standard_draw(*op.communication_law, c);
            }
            duration = duration + network * (law.communication_s + law.communication_spread_s * c);
        }
        const FloatVector end = start + duration;
        vector_at(op.end, v) = end;
        if (op.out != nullptr) {
            vector_at(*op.out, v) = end;
        }
    }
}

}  // namespace

void fill_draws(std::span<const ProgramOp> ops, const DrawKeys& keys, const NoiseTables& noise, const SharedLaws& shared,
                OpDraws* draws)
{
    std::array<Words, 4> words;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const ProgramOp& op = ops[i];
        const auto event = (static_cast<std::uint32_t>(op.microbatch) << 16) | keys.first_slot[op.stage * keys.chunks + op.chunk];
        philox_lanes(keys.seed, keys.fleet, keys.step_replica, event,
                     use(Stream::residual, keys.purpose, static_cast<std::uint32_t>(op.pass)), words);
        draw_row(noise.scores, shared.compute, words[0], draws[i].compute);
        draw_row(noise.scores, shared.communication, words[1], draws[i].communication);
        look_up(noise.p2p, words[2], draws[i].transfer);
    }
}

PRISMOPT_VECTOR_CLONES
void standard_draws(const NormalScores& scores, const StandardLaw& law, const Words& bits, Floats& out)
{
    for (int v = 0; v < vectors; ++v) {
        normal_score(scores, vector_at(bits, v), vector_at(out, v));
        standard_draw(law, vector_at(out, v));
    }
}

void run_window(std::span<const ProgramOp> ops, const OpDraws* draws, const SharedLaws& shared, const PipelineRun& run)
{
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const ProgramOp& op = ops[i];
        const int part = op.stage * run.chunks + op.chunk;
        Floats& end = run.stage_end[op.stage];
        if (op.first_of_chunk) {
            wait_for(run.gathered[part], end);
        }
        const OpSpread& law = run.law[2 * part + static_cast<int>(op.pass)];
        const OpRows rows{draws[i],
                          law,
                          shared.compute == nullptr ? law.compute_law : nullptr,
                          shared.communication == nullptr ? law.communication_law : nullptr,
                          op.in < 0 ? nullptr : run.slot + op.in,
                          end,
                          op.out < 0 ? nullptr : run.slot + op.out};
        run_op(rows, run, run.compute_factor[op.stage], run.microbatch == nullptr ? nullptr : run.microbatch + op.microbatch);
        if (op.last_of_chunk) {
            if (run.overlapped) {
                wait_for(end, run.gradients_end[op.stage]);
            }
            add(run.reduce[part], run.gradients_end[op.stage]);
        }
    }
}

}  // namespace prismopt
