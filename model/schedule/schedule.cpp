#include "model/schedule/schedule.hpp"

#include "model/schedule/orders/rules.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

const ScheduleRule& rule(Schedule schedule)
{
    static const auto by_schedule = [] {
        std::array<ScheduleRule, schedule_facts.size()> rules{};
        for (const auto family :
             {whole_backward_rules(), zero_bubble_rules(), building_block_rules(), dual_pipe_rules()}) {
            for (const ScheduleRule& row : family) {
                rules[static_cast<std::size_t>(row.schedule)] = row;
            }
        }
        return rules;
    }();
    return by_schedule[static_cast<std::size_t>(schedule)];
}

std::optional<Conflict> wrong_chunks(const ScheduleShape& shape)
{
    if (runs_chunks(shape.schedule, shape.chunks)) {
        return std::nullopt;
    }
    switch (facts_of(shape.schedule).chunks) {
        case 0: return Conflict::needs_stages_and_chunks;
        case 1: return Conflict::needs_one_chunk;
        default: return Conflict::needs_two_chunks;
    }
}

/// Tasks and random keys number microbatches, stages and chunks in 16 bits; a
/// program of 2^25 tasks takes 1.6 GB.
constexpr int longest_index = 65535;
constexpr std::int64_t most_tasks = std::int64_t{1} << 25;

}  // namespace

ScheduleShape schedule_shape(const ParallelPlan& plan, int global_batch)
{
    return {plan.schedule, plan.pp, plan.microbatches(global_batch), plan.chunks, plan.group};
}

std::optional<Infeasible> undefined(const ScheduleShape& shape)
{
    const std::int64_t tasks = static_cast<std::int64_t>(shape.microbatches) * shape.stages * shape.chunks;
    if (shape.microbatches > longest_index || shape.stages > longest_index || shape.chunks > longest_index ||
        tasks > most_tasks) {
        return Infeasible{Conflict::pipeline_too_long,
                          {{FactKey::microbatches, shape.microbatches}, {FactKey::stages, shape.stages}}};
    }
    const Facts schedule{{FactKey::schedule, shape.schedule}};
    if (const auto conflict = wrong_chunks(shape)) {
        return Infeasible{*conflict, schedule};
    }
    if (shape.stages == 1 && !facts_of(shape.schedule).one_stage) {
        return Infeasible{Conflict::needs_stages, schedule};
    }
    if (const auto refusal = rule(shape.schedule).refusal; refusal != nullptr) {
        if (auto why = refusal(shape)) {
            return why;
        }
    }
    if (shape.group != 0 && !facts_of(shape.schedule).groups) {
        return Infeasible{Conflict::has_no_group, schedule};
    }
    return std::nullopt;
}

std::variant<TaskOrders, Infeasible> task_orders(const ScheduleShape& shape)
{
    if (auto refusal = undefined(shape)) {
        return *refusal;
    }
    TaskOrders orders;
    for (int stage = 0; stage < shape.stages; ++stage) {
        orders.push_back(rule(shape.schedule).order(shape, stage));
    }
    return orders;
}

bool splits_backward(Schedule schedule) { return rule(schedule).splits_backward; }

ChunkMap chunk_map(Schedule schedule) { return rule(schedule).map; }

int network_chunk_of(const ScheduleShape& shape, StageChunk position)
{
    if (position.chunk == 0 || chunk_map(shape.schedule) == ChunkMap::loops) {
        return position.chunk * shape.stages + position.stage;
    }
    return (chunk_map(shape.schedule) == ChunkMap::vee ? 2 * shape.stages : shape.stages) - 1 -
           position.stage;
}

std::optional<StageChunk> neighbour(const ScheduleShape& shape, StageChunk position, int step)
{
    const int network_chunk = network_chunk_of(shape, position) + step;
    const int p = shape.stages;
    if (network_chunk < 0 || network_chunk >= network_chunks(shape.schedule, p, shape.chunks)) {
        return std::nullopt;
    }
    switch (chunk_map(shape.schedule)) {
        case ChunkMap::loops: return StageChunk{network_chunk % p, network_chunk / p};
        case ChunkMap::vee:
            return network_chunk < p ? StageChunk{network_chunk, 0}
                                     : StageChunk{2 * p - 1 - network_chunk, 1};
        case ChunkMap::both_ways: break;
    }
    return position.chunk == 0 ? StageChunk{network_chunk, 0} : StageChunk{p - 1 - network_chunk, 1};
}

MicrobatchRange microbatches_of(const ScheduleShape& shape, int chunk)
{
    if (chunk_map(shape.schedule) != ChunkMap::both_ways) {
        return {0, shape.microbatches};
    }
    const int half = shape.microbatches / 2;
    return {chunk * half, half};
}

std::optional<double> known_bubble(const ScheduleShape& shape, const StageTimes& times)
{
    const auto bubble = rule(shape.schedule).bubble;
    return bubble != nullptr ? bubble(shape, times) : std::nullopt;
}

int most_held(const ScheduleShape& shape, int stage)
{
    const int all = shape.microbatches * shape.chunks / facts_of(shape.schedule).model_copies;
    return std::min(rule(shape.schedule).most_held(shape, stage), all);
}

int least_held(const ScheduleShape& shape, int stage)
{
    return facts_of(shape.schedule).one_stage ? most_held(shape, stage) : 1;
}

}  // namespace prismopt
