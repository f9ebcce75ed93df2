#include "model/step/compile/memory.hpp"

#include "model/step/compile/stage_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace prismopt {

namespace {

/// Of a stage whose chunks all keep as much.
double peak_of_equal_chunks(const Program& program, int stage, const Activations& kept)
{
    double peak = 0.0;
    for (const HeldPasses& passes : program.most_held[stage]) {
        peak = std::max(peak, passes.saved * kept.saved + passes.held * kept.held);
    }
    return peak;
}

/// Largest sum of what is kept over the schedule, by stage. `kept`: [stage * v + chunk].
std::vector<double> peak_activations(const Program& program, const std::vector<Activations>& kept)
{
    if (program.shape.chunks == 1) {
        std::vector<double> peak;
        peak.reserve(program.shape.stages);
        for (int stage = 0; stage < program.shape.stages; ++stage) {
            peak.push_back(peak_of_equal_chunks(program, stage, kept[stage]));
        }
        return peak;
    }
    std::vector<double> held(program.shape.stages, 0.0);
    std::vector<double> peak(program.shape.stages, 0.0);
    std::size_t done = 0;
    const auto run_until = [&](std::size_t end) {
        for (; done < end; ++done) {
            const ProgramOp& op = program.ops[done];
            const Activations& own = kept[op.stage * program.shape.chunks + op.chunk];
            if (is_forward(op.pass)) {
                held[op.stage] += own.saved;
            } else if (op.pass == Pass::input_gradient) {
                held[op.stage] += own.held - own.saved;
            } else {
                held[op.stage] -= op.pass == Pass::weight_gradient ? own.held : own.saved;
            }
            peak[op.stage] = std::max(peak[op.stage], held[op.stage]);
        }
    };
    for (const Repeats& repeats : program.repeats) {
        // What is held changes by as much in each repetition: it is most in the first one or the last one.
        const std::size_t spare = program.spare(repeats);
        run_until(repeats.first);
        const std::vector<double> before = held;
        run_until(repeats.first + repeats.period);
        for (std::size_t stage = 0; stage < held.size(); ++stage) {
            constexpr double rounding = 1e-9;
            const double change = held[stage] - before[stage];
            held[stage] +=
                std::abs(change) > rounding * peak[stage] ? static_cast<double>(spare) * change : 0.0;
        }
        done += (spare - repeats.omitted) * repeats.period;
    }
    run_until(program.ops.size());
    return peak;
}

/// Bytes of one microbatch more in flight, whose forward pass runs beside a backward pass (Megatron-Core,
/// schedules.py: one more warm-up pass): of the chunk that keeps most.
double kept_beside(const ParallelPlan& plan, double most) { return plan.pairs_microbatches() ? most : 0.0; }

Activations kept_by(const ChunkContents& chunk)
{
    return {chunk.sum(&LayerCost::saved_bytes), chunk.sum(&LayerCost::held_bytes)};
}

}  // namespace

ChunkContents::ChunkContents(const Chunk& chunk, const LayerCosts& costs)
{
    for (int layer = chunk.first_layer; layer < chunk.first_layer + chunk.layers; ++layer) {
        const LayerCost* cost = &costs.kinds[costs.layers[layer]];
        if (!counted.empty() && counted.back().cost == cost) {
            ++counted.back().count;
            continue;
        }
        const auto known =
            std::find_if(counted.begin(), counted.end(),
                         [cost](const CountedLayer& counted_layer) { return counted_layer.cost == cost; });
        if (known == counted.end()) {
            counted.push_back({cost, 1});
        } else {
            ++known->count;
        }
    }
    kinds_ = counted.size();
    if (chunk.embedding) {
        counted.push_back({&costs.embedding, 1});
    }
    if (chunk.head) {
        counted.push_back({&costs.head, 1});
    }
    both_ends_ = chunk.embedding && chunk.head;
}

Parameters ChunkContents::parameters() const
{
    Parameters all;
    for (const CountedLayer& counted_layer : counted) {
        Parameters own = counted_layer.cost->parameters.times(counted_layer.count);
        // A matrix that embedding and head share is there once where one chunk holds both.
        const double again = both_ends_ ? own.tied : 0.0;
        own.all -= again;
        own.ends -= again;
        own.frozen -= own.frozen > 0.0 ? again : 0.0;
        own.tied = 0.0;
        all += own;
    }
    return all;
}

double ChunkContents::sum(double LayerCost::*bytes) const
{
    double all = 0.0;
    for (const CountedLayer& counted_layer : counted) {
        all += counted_layer.count * counted_layer.cost->*bytes;
    }
    return all;
}

double ChunkContents::largest(double LayerCost::*bytes) const
{
    double most = 0.0;
    for (const CountedLayer& counted_layer : counted) {
        most = std::max(most, counted_layer.cost->*bytes);
    }
    return most;
}

ChunkPass ChunkContents::pass(PassCost LayerCost::*pass) const
{
    ChunkPass result;
    for (const CountedLayer& counted_layer : counted) {
        result.passes.push_back({&(counted_layer.cost->*pass), counted_layer.count});
    }
    return result;
}

ChunkPass ChunkContents::layers(PassCost LayerCost::*pass) const
{
    ChunkPass result = this->pass(pass);
    result.passes.resize(kinds_);
    return result;
}

const std::vector<double>& ActivationPeaks::of(const Program& program, std::vector<Activations> kept)
{
    const auto same = [&](const Known& known) { return known.shape == program.shape && known.kept == kept; };
    auto* found = std::find_if(known_.begin(), known_.end(), same);
    if (found == known_.end()) {
        found = known_.begin() + static_cast<std::ptrdiff_t>(oldest_);
        oldest_ = (oldest_ + 1) % known_.size();
        *found = {program.shape, std::move(kept), {}};
        found->peaks = peak_activations(program, found->kept);
    }
    return found->peaks;
}

std::vector<MemoryUse> memory_by_stage(const Program& program, std::span<const ChunkContents> chunks,
                                       const ParallelPlan& plan, const MemoryModel& model,
                                       ActivationPeaks& known)
{
    std::vector<StageContents> contents(plan.pp);
    std::vector<Activations> kept;
    std::vector<double> largest(plan.pp, 0.0);  // [stage]: of what a chunk keeps
    for (int network_position = 0; network_position < plan.pp * plan.chunks; ++network_position) {
        const int stage = network_position / plan.chunks;
        const ChunkContents& chunk =
            chunks[network_chunk_of(program.shape, {stage, network_position % plan.chunks})];
        contents[stage].add(chunk);
        kept.push_back(kept_by(chunk));
        largest[stage] = std::max(largest[stage], kept.back().saved);
    }
    const std::vector<double>& activations = known.of(program, std::move(kept));
    std::vector<MemoryUse> uses;
    uses.reserve(plan.pp);
    for (int stage = 0; stage < plan.pp; ++stage) {
        const double saved = activations[stage] + kept_beside(plan, largest[stage]);
        uses.push_back(contents[stage].peak(stage, saved, {plan, model, program.shape.microbatches}));
    }
    return uses;
}

MemoryUse memory_of_equal_chunks(int stage, const ChunkContents& chunk, const Program& program,
                                 const ParallelPlan& plan, const MemoryModel& model)
{
    StageContents contents;
    for (int k = 0; k < plan.chunks; ++k) {
        contents.add(chunk);
    }
    const Activations kept = kept_by(chunk);
    const double saved = peak_of_equal_chunks(program, stage, kept) + kept_beside(plan, kept.saved);
    return contents.peak(stage, saved, {plan, model, program.shape.microbatches});
}

Bytes least_memory_of(int stage, const ScheduleShape& shape, std::span<const Chunk> chunks,
                      const LayerCosts& costs, const ParallelPlan& plan, const MemoryModel& model)
{
    StageContents contents;
    double all = 0.0;
    double smallest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < shape.chunks; ++k) {
        const ChunkContents chunk(chunks[network_chunk_of(shape, {stage, k})], costs);
        contents.add(chunk);
        const double saved = kept_by(chunk).saved;
        all += saved;
        smallest = std::min(smallest, saved);
    }
    // Of two copies of the network, a microbatch passes through one: one chunk of the stage.
    const double of_microbatch = facts_of(shape.schedule).model_copies > 1 ? smallest : all;
    return contents.peak(stage, least_held(shape, stage) * of_microbatch, {plan, model, shape.microbatches})
        .total();
}

std::vector<HeldPasses> held_at_peaks(const Program& program, std::span<const Activations> kept)
{
    std::vector<HeldPasses> now(kept.size());
    std::vector<HeldPasses> most(kept.size());
    std::vector<double> peak(program.shape.stages, 0.0);
    for (const ProgramOp& op : program.ops) {
        HeldPasses& own = now[op.stage_chunk];
        if (is_forward(op.pass)) {
            ++own.saved;
        } else if (op.pass == Pass::input_gradient) {
            --own.saved;
            ++own.held;
        } else {
            --(op.pass == Pass::weight_gradient ? own.held : own.saved);
        }
        const int first = op.stage * program.shape.chunks;
        double bytes = 0.0;
        for (int stage_chunk = first; stage_chunk < first + program.shape.chunks; ++stage_chunk) {
            bytes += now[stage_chunk].saved * kept[stage_chunk].saved +
                     now[stage_chunk].held * kept[stage_chunk].held;
        }
        if (bytes > peak[op.stage]) {
            peak[op.stage] = bytes;
            std::copy_n(now.begin() + first, program.shape.chunks, most.begin() + first);
        }
    }
    return most;
}

const MemoryUse& fullest(std::span<const MemoryUse> stages)
{
    return *std::max_element(stages.begin(), stages.end(),
                             [](const MemoryUse& a, const MemoryUse& b) { return a.total() < b.total(); });
}

}  // namespace prismopt
