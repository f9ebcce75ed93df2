#include "model/step/sample/op_window.hpp"

#include "model/distribution/vector_lanes.hpp"

#include <array>

namespace prismopt {

namespace {

/// Names the op in random keys: what gives the input's gradient has the same draws in every schedule.
constexpr std::uint32_t random_kind(Pass pass)
{
    return is_forward(pass) ? 0 : pass == Pass::weight_gradient ? 2 : 1;
}

/// Scores, or draws of the distribution where one is shared.
template <class R>
[[gnu::always_inline]] inline void draw_row(const NormalScores& scores, const StandardDistribution* shared,
                                            const Words& bits, Floats& out)
{
    for (int v = 0; v < R::per_row; ++v) {
        typename R::Float z;
        normal_score<R>(scores, R::at(bits, v), z);
        if (shared != nullptr) {
            standard_draw<R>(*shared, z);
        }
        R::at(out, v) = z;
    }
}

template <class R>
[[gnu::always_inline]] inline void draw_op(const NoiseTables& noise, const SharedDistributions& shared,
                                           const std::array<Words, 4>& words, OpDraws& draws)
{
    draw_row<R>(noise.scores, shared.compute, words[0], draws.compute);
    if (shared.communicates) {
        draw_row<R>(noise.scores, shared.communication, words[1], draws.communication);
    }
    if (noise.p2p_is_smooth) {
        draw_row<R>(noise.scores, &noise.p2p_by_score, words[2], draws.transfer);
        return;
    }
    for (int l = 0; l < lanes; ++l) {
        draws.transfer.at[l] = noise.p2p(words[2].at[l]);
    }
}

/// Scores become draws of an op's own distribution; draws of the one distribution stay.
template <class Has>
[[gnu::always_inline]] inline void spread(const StandardDistribution* distribution, typename Has::Float& z)
{
    if constexpr (!Has::one_distribution) {
        standard_draw<typename Has::R>(*distribution, z);
    }
}

/// What the ops of a window have, so that the loop over them asks for nothing that is not there.
template <class Registers, bool OneDistribution, bool Communication, bool Factors, bool Microbatch>
struct Have {
    using R = Registers;
    using Float = typename R::Float;
    static constexpr bool one_distribution = OneDistribution;
    static constexpr bool communication = Communication;
    static constexpr bool factors = Factors;
    static constexpr bool microbatch = Microbatch;
};

/// A plan on its way through a window.
struct Run {
    const PipelineRun& plan;
    Floats gathered;  // when an op may begin that waits for its chunk's parameters
};

/// An op of one plan: its numbers, and the rows that it reads and writes.
template <class Has>
struct PlanOp {
    [[gnu::always_inline]] PlanOp(const ProgramOp& op, Run& run)
        : distribution(run.plan.distribution[op.distribution]), compute_s(distribution.compute_s),
          compute_spread_s(distribution.compute_spread_s), transfer_s(distribution.transfer_s),
          input(&run.plan.slot[op.in]), before(&run.plan.slot[op.before]), output(&run.plan.slot[op.out])
    {
        if (op.first_of_chunk && run.plan.gathered != nullptr) {
            run.gathered = run.plan.gathered[op.stage_chunk];
            wait_for(*before, run.gathered);
            before = &run.gathered;
        }
        if constexpr (Has::communication) {
            communication_s = distribution.communication_s;
            communication_spread_s = distribution.communication_spread_s;
        }
        if constexpr (Has::factors) {
            const int rows = run.plan.factor_rows;
            transfer_factor = run.plan.transfer_factor + distribution.transfer_tier;
            factor = run.plan.compute_factor + op.stage * rows + (rows > 1 ? op.microbatch : 0);
            communication_factor = run.plan.communication_factor;
        }
        if constexpr (Has::microbatch) {
            const std::uint32_t* first = run.plan.first_of_power;
            microbatch =
                run.plan.microbatch + (first != nullptr ? first[op.distribution] : 0) + op.microbatch;
        }
    }

    const OpSpread& distribution;
    float compute_s;
    float compute_spread_s;
    float transfer_s;
    float communication_s = 0.0F;
    float communication_spread_s = 0.0F;
    const Floats* input;
    const Floats* before;
    Floats* output;
    const Floats* transfer_factor = nullptr;
    const Floats* factor = nullptr;
    const Floats* communication_factor = nullptr;
    const Floats* microbatch = nullptr;
};

/// Draws of an op in one register each.
template <class Has>
struct VectorDraws {
    typename Has::Float compute;
    typename Has::Float communication;
    typename Has::Float transfer;
};

/// The op's end in the v-th register of a row.
template <class Has>
[[gnu::always_inline]] inline void end_op(const PlanOp<Has>& op, const VectorDraws<Has>& draw, int v)
{
    using R = typename Has::R;
    using Float = typename R::Float;
    Float compute = draw.compute;
    spread<Has>(op.distribution.compute_distribution, compute);
    R::multiply_add(op.compute_spread_s, compute, op.compute_s, compute);
    Float arrival;
    if constexpr (Has::factors) {
        const Float transfer_s = op.transfer_s * R::at(*op.transfer_factor, v);
        R::multiply_add(transfer_s, draw.transfer, R::at(*op.input, v), arrival);
    } else {
        R::multiply_add(op.transfer_s, draw.transfer, R::at(*op.input, v), arrival);
    }
    const Float free = R::at(*op.before, v);
    Float time = arrival > free ? arrival : free;
    if constexpr (Has::microbatch) {
        compute = compute * R::at(*op.microbatch, v);
    }
    if constexpr (Has::factors) {
        R::multiply_add(compute, R::at(*op.factor, v), time, time);
    } else {
        time = time + compute;
    }
    if constexpr (Has::communication) {
        Float communication = draw.communication;
        spread<Has>(op.distribution.communication_distribution, communication);
        R::multiply_add(op.communication_spread_s, communication, op.communication_s, communication);
        if constexpr (Has::factors) {
            R::multiply_add(communication, R::at(*op.communication_factor, v), time, time);
        } else {
            time = time + communication;
        }
    }
    R::at(*op.output, v) = time;
}

/// After the last backward of a chunk: beside what follows, or (not overlapped) the stage's end joins later.
[[gnu::always_inline]] inline void reduce_gradients(const ProgramOp& op, const PipelineRun& plan)
{
    if (plan.reduce == nullptr) {
        return;
    }
    Floats& gradients_end = plan.gradients_end[op.stage];
    if (plan.overlapped) {
        wait_for(plan.slot[op.out], gradients_end);
    }
    add(plan.reduce[op.stage_chunk], gradients_end);
}

template <class Has, class... PlanOps>
[[gnu::always_inline]] inline void end_ops(const OpDraws& draws, const PlanOps&... ops)
{
    using R = typename Has::R;
#pragma GCC unroll 4
    for (int v = 0; v < R::per_row; ++v) {
        VectorDraws<Has> draw;
        draw.compute = R::at(draws.compute, v);
        draw.transfer = R::at(draws.transfer, v);
        if constexpr (Has::communication) {
            draw.communication = R::at(draws.communication, v);
        }
        (end_op(ops, draw, v), ...);
    }
}

/// Plans that go together read each draw once.
template <class Has, class... Runs>
[[gnu::always_inline]] inline void run_ops(std::span<const ProgramOp> ops, const OpDraws* draws,
                                           Runs&... runs)
{
    for (const ProgramOp& op : ops) {
        end_ops<Has>(*draws++, PlanOp<Has>(op, runs)...);
        if (op.last_of_chunk) {
            (reduce_gradients(op, runs.plan), ...);
        }
    }
}

template <class R, bool OneDistribution, bool Communication, class... Runs>
[[gnu::always_inline]] inline void run_kind(std::span<const ProgramOp> ops, const OpDraws* draws,
                                            const PipelineRun& kind, Runs&... runs)
{
    if (kind.microbatch != nullptr) {
        run_ops<Have<R, OneDistribution, Communication, true, true>>(ops, draws, runs...);
    } else if (kind.compute_factor != nullptr) {
        run_ops<Have<R, OneDistribution, Communication, true, false>>(ops, draws, runs...);
    } else {
        run_ops<Have<R, OneDistribution, Communication, false, false>>(ops, draws, runs...);
    }
}

bool same_kind(const PipelineRun& a, const PipelineRun& b)
{
    return (a.microbatch == nullptr) == (b.microbatch == nullptr) &&
           (a.compute_factor == nullptr) == (b.compute_factor == nullptr);
}

template <class R, bool OneDistribution, class... Runs>
[[gnu::always_inline]] inline void run_plans(std::span<const ProgramOp> ops, const OpDraws* draws,
                                             bool communicates, const PipelineRun& kind, Runs&&... runs)
{
    communicates ? run_kind<R, OneDistribution, true>(ops, draws, kind, runs...)
                 : run_kind<R, OneDistribution, false>(ops, draws, kind, runs...);
}

}  // namespace

void fill_draws(std::span<const ProgramOp> ops, const DrawKeys& keys, const NoiseTables& noise,
                const SharedDistributions& shared, OpDraws* draws)
{
    on_registers([&](auto registers) PRISMOPT_INLINE {
        std::array<Words, 4> words;
        OpDraws* out = draws;
        for (const ProgramOp& op : ops) {
            const auto event =
                (static_cast<std::uint32_t>(op.microbatch) << 16) | keys.first_slot[op.stage_chunk];
            keys.philox.draw(keys.step_replica, event,
                             use(Stream::residual, keys.purpose, random_kind(op.pass)), words);
            draw_op<decltype(registers)>(noise, shared, words, *out++);
        }
    });
}

void standard_draws(const NormalScores& scores, const StandardDistribution& distribution, const Words& bits,
                    Floats& out)
{
    on_registers([&](auto registers)
                     PRISMOPT_INLINE { draw_row<decltype(registers)>(scores, &distribution, bits, out); });
}

void run_window(std::span<const ProgramOp> ops, const OpDraws* draws, const SharedDistributions& shared,
                std::span<const PipelineRun* const> plans)
{
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        static_assert(plans_together == 4);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            const PipelineRun& plan = *plans[i];
            if (!shared.one_distribution()) {
                run_plans<R, false>(ops, draws, shared.communicates, plan, Run{plan, {}});
            } else if (i + plans_together <= plans.size() && same_kind(plan, *plans[i + 1]) &&
                       same_kind(plan, *plans[i + 2]) && same_kind(plan, *plans[i + 3])) {
                // Looking up distributions takes more than reading draws does: only
                // plans that share one go together.
                run_plans<R, true>(ops, draws, shared.communicates, plan, Run{plan, {}},
                                   Run{*plans[i + 1], {}}, Run{*plans[i + 2], {}}, Run{*plans[i + 3], {}});
                i += plans_together - 1;
            } else {
                run_plans<R, true>(ops, draws, shared.communicates, plan, Run{plan, {}});
            }
        }
    });
}

}  // namespace prismopt
