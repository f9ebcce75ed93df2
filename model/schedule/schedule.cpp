#include "model/schedule/schedule.hpp"

#include "model/schedule/orders/rules.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

int group_size(const ScheduleShape& s) { return s.group > 0 ? s.group : s.stages; }

/// Rows whose rules need the same.
std::string any(const ScheduleShape&) { return {}; }
std::string several_stages(const ScheduleShape& s)
{
    return s.stages > 1 ? "" : std::string(name(s.schedule)) + " needs pp > 1; use 1f1b";
}
std::string whole_groups(const ScheduleShape& s)
{
    if (s.stages == 1) {
        return several_stages(s);
    }
    const std::string m = std::to_string(s.microbatches);
    const std::string p = std::to_string(s.stages);
    if (s.group == 0 && s.microbatches % s.stages != 0) {
        return "interleaved needs microbatches (" + m + ") divisible by pp (" + p + "), or an explicit group";
    }
    if (s.group > 0 && s.group < s.stages && s.microbatches > s.group) {
        return "interleaved with group=" + std::to_string(s.group) + " below pp (" + p + ") deadlocks with more microbatches (" +
               m + "); raise group to " + p;
    }
    // Replayed for p to 8, v to 4, N from p to 2p: with a last group of p or more none deadlocks, of fewer a fifth do.
    const int last = s.group > 0 && s.microbatches > s.group ? s.microbatches % s.group : 0;
    if (last > 0 && last < s.stages) {
        return "interleaved with group=" + std::to_string(s.group) + " leaves a last group of " + std::to_string(last) + " of " +
               m + " microbatches, which deadlocks if it is below pp (" + p + "); choose another group";
    }
    return {};
}
std::string two_ways(const ScheduleShape& s)
{
    if (s.stages % 2 != 0 || s.microbatches % 2 != 0) {
        return "dualpipe needs an even pp and an even number of microbatches, not " + std::to_string(s.stages) + " and " +
               std::to_string(s.microbatches);
    }
    return s.microbatches >= 2 * s.stages ? ""
                                          : "dualpipe needs at least 2 pp = " + std::to_string(2 * s.stages) +
                                                " microbatches, not " + std::to_string(s.microbatches);
}
std::string two_rounds(const ScheduleShape& s)
{
    if (s.stages == 1) {
        return several_stages(s);
    }
    return s.microbatches >= 2 * s.stages ? ""
                                          : "dualpipe_v needs at least 2 pp = " + std::to_string(2 * s.stages) +
                                                " microbatches, not " + std::to_string(s.microbatches);
}

using Bubble = std::optional<double>;
/// Narayanan et al., SC21, section 2.2.
Bubble flush_bubble(const ScheduleShape& s, const StageTimes& t) { return (s.stages - 1) * t.sum(); }
Bubble interleaved_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const int n = group_size(s);  // groups that are not whole, or shorter than the pipeline, make it longer
    return n >= s.stages && s.microbatches % n == 0 ? Bubble((s.stages - 1) * t.sum() / s.chunks) : std::nullopt;
}
/// Qi et al., arXiv 2401.10241, table 2; where weights take no longer than what they fill, and all stages come to the steady part.
Bubble zb_h1_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool known = s.microbatches >= 2 * s.stages && t.weight_gradient <= std::min(t.forward, t.input_gradient);
    return known ? Bubble((s.stages - 1) * (t.forward + t.input_gradient - t.weight_gradient)) : std::nullopt;
}
Bubble zb_h2_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool known = s.microbatches >= 2 * s.stages && t.weight_gradient <= std::min(t.forward, t.input_gradient);
    return known ? Bubble((s.stages - 1) * (t.forward + t.input_gradient - 2.0 * t.weight_gradient)) : std::nullopt;
}
/// None with equal times: the same, section 6.
Bubble zb_v_bubble(const ScheduleShape& s, const StageTimes& t)
{
    const bool equal = t.forward == t.input_gradient && t.forward == t.weight_gradient;
    return equal && s.microbatches >= 2 * s.stages ? Bubble(0.0) : std::nullopt;
}
Bubble unknown_bubble(const ScheduleShape&, const StageTimes&) { return std::nullopt; }
/// deepseek-ai/DualPipe, README: (p/2 - 1)(F&B + B - 3W), B the whole backward, of a part of the network. With unequal times a
/// rough figure, and so not given.
Bubble dual_bubble(int parts, const StageTimes& part)
{
    if (part.forward != part.input_gradient || part.forward != part.weight_gradient) {
        return std::nullopt;
    }
    const double backward = part.input_gradient + part.weight_gradient;
    return (0.5 * parts - 1.0) * (part.forward + 2.0 * backward - 3.0 * part.weight_gradient);
}
Bubble dualpipe_bubble(const ScheduleShape& s, const StageTimes& t) { return dual_bubble(s.stages, t); }
Bubble dualpipe_v_bubble(const ScheduleShape& s, const StageTimes& t)
{
    return dual_bubble(2 * s.stages, {t.forward / 2.0, t.input_gradient / 2.0, t.weight_gradient / 2.0});
}

/// (chunk, microbatch) held, from the schedules' papers; see background of each in its row's functions.
int all_held(const ScheduleShape& s, int) { return s.microbatches; }
int one_f_one_b_held(const ScheduleShape& s, int stage) { return s.stages - stage; }
int interleaved_held(const ScheduleShape& s, int stage)
{
    return 2 * (s.stages - stage - 1) + (s.chunks - 1) * std::min(group_size(s), s.microbatches) + 1;
}
int zb_h1_held(const ScheduleShape& s, int) { return s.stages; }
int zb_h2_held(const ScheduleShape& s, int) { return 2 * s.stages - 1; }
int zb_v_held(const ScheduleShape& s, int) { return 2 * s.stages; }
int v_half_held(const ScheduleShape& s, int) { return 2 * ((s.stages + 2) / 2); }  // arXiv 2405.15362, its authors' table
int v_min_held(const ScheduleShape& s, int) { return 2 * ((s.stages + 4) / 3); }   // the same
int dualpipe_held(const ScheduleShape& s, int) { return s.stages + 1; }            // deepseek-ai/DualPipe, README
int dualpipe_v_held(const ScheduleShape& s, int) { return 2 * s.stages + 1; }      // the same, of 2p parts

constexpr ChunkMap loops = ChunkMap::loops;
constexpr ChunkMap vee = ChunkMap::vee;
constexpr std::array<ScheduleRule, 10> rules{
    {{Schedule::gpipe, loops, gpipe, all_held, flush_bubble, any},
     {Schedule::one_f_one_b, loops, one_f_one_b, one_f_one_b_held, flush_bubble, any},
     {Schedule::interleaved, loops, interleaved, interleaved_held, interleaved_bubble, whole_groups},
     {Schedule::zb_h1, loops, zb_h1, zb_h1_held, zb_h1_bubble, several_stages},
     {Schedule::zb_h2, loops, zb_h2, zb_h2_held, zb_h2_bubble, several_stages},
     {Schedule::zb_v, vee, zb_v, zb_v_held, zb_v_bubble, several_stages},
     {Schedule::v_half, vee, v_half, v_half_held, unknown_bubble, several_stages},
     {Schedule::v_min, vee, v_min, v_min_held, unknown_bubble, several_stages},
     {Schedule::dualpipe, ChunkMap::both_ways, dualpipe, dualpipe_held, dualpipe_bubble, two_ways},
     {Schedule::dualpipe_v, vee, dualpipe_v, dualpipe_v_held, dualpipe_v_bubble, two_rounds}}};

const ScheduleRule& rule(Schedule schedule)
{
    return *std::find_if(rules.begin(), rules.end(), [schedule](const ScheduleRule& r) { return r.schedule == schedule; });
}

std::string wrong_chunks(const ScheduleShape& shape)
{
    const int chunks = chunks_of(shape.schedule);
    const std::string schedule(name(shape.schedule));
    if (chunks == 0) {
        return shape.chunks > 1 ? "" : schedule + " needs pp > 1 and v > 1; use 1f1b";
    }
    if (shape.chunks == chunks) {
        return {};
    }
    return chunks == 1 ? schedule + " has one chunk per stage; set v=1 or use interleaved"
                       : schedule + " has two chunks per stage; set v=2";
}

/// Tasks and random keys number microbatches, stages and chunks in 16 bits; a program of 2^25 tasks takes 1.6 GB.
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
        return Infeasible{Reason::pipeline_too_long,
                          std::to_string(shape.microbatches) + " microbatches on " + std::to_string(shape.stages) +
                              " stages; use a larger microbatch or more replicas",
                          0.0};
    }
    std::string why = wrong_chunks(shape);
    if (why.empty()) {
        why = rule(shape.schedule).refusal(shape);
    }
    if (why.empty() && shape.group != 0 && shape.schedule != Schedule::interleaved) {
        why = std::string(name(shape.schedule)) + " has no group; remove group or use interleaved";
    }
    return why.empty() ? std::nullopt : std::optional<Infeasible>({Reason::schedule_undefined, why, 0.0});
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

bool splits_backward(Schedule schedule)
{
    switch (schedule) {
        case Schedule::zb_h1:
        case Schedule::zb_h2:
        case Schedule::zb_v:
        case Schedule::v_half:
        case Schedule::v_min: return true;
        case Schedule::gpipe:
        case Schedule::one_f_one_b:
        case Schedule::interleaved:
        case Schedule::dualpipe:
        case Schedule::dualpipe_v: break;
    }
    return false;
}

ChunkMap chunk_map(Schedule schedule) { return rule(schedule).map; }

int part_of_network(const ScheduleShape& shape, StageChunk position)
{
    if (position.chunk == 0 || chunk_map(shape.schedule) == loops) {
        return position.chunk * shape.stages + position.stage;
    }
    return (chunk_map(shape.schedule) == vee ? 2 * shape.stages : shape.stages) - 1 - position.stage;
}

std::optional<StageChunk> neighbour(const ScheduleShape& shape, StageChunk position, int step)
{
    const int part = part_of_network(shape, position) + step;
    const int p = shape.stages;
    if (part < 0 || part >= network_parts(shape.schedule, p, shape.chunks)) {
        return std::nullopt;
    }
    switch (chunk_map(shape.schedule)) {
        case ChunkMap::loops: return StageChunk{part % p, part / p};
        case ChunkMap::vee: return part < p ? StageChunk{part, 0} : StageChunk{2 * p - 1 - part, 1};
        case ChunkMap::both_ways: break;
    }
    return position.chunk == 0 ? StageChunk{part, 0} : StageChunk{p - 1 - part, 1};
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
    return rule(shape.schedule).bubble(shape, times);
}

int most_held(const ScheduleShape& shape, int stage)
{
    const int all = shape.schedule == Schedule::dualpipe ? shape.microbatches : shape.microbatches * shape.chunks;
    return std::min(rule(shape.schedule).most_held(shape, stage), all);
}

}  // namespace prismopt
