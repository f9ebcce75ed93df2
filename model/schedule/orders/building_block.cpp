/// Schedules that repeat a building block: Qi et al., Pipeline Parallelism with
/// Controllable Memory, arXiv 2405.15362.

#include "model/schedule/orders/rules.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

namespace {

constexpr int period = 6;  // slots of a microbatch: F, B and W of two chunks

/// Slots of a microbatch's passes on one stage, those of microbatch 0.
struct Block {
    int forward_0;
    int forward_1;
    int input_1;
    int input_0;
};

/// Weight gradients go to the two slots that the others leave free; then all tasks run in the order of their
/// slots, each as soon as it can.
std::vector<Task> repeated(const Block& block, int count)
{
    std::array<bool, period> taken{};
    for (const int slot : {block.forward_0, block.forward_1, block.input_1, block.input_0}) {
        taken[slot % period] = true;
    }
    const auto next_free = [&taken](int slot) {
        while (taken[slot % period]) {
            ++slot;
        }
        taken[slot % period] = true;
        return slot;
    };
    const int weight_1 = next_free(block.input_1);
    const int weight_0 = next_free(block.input_0);
    // Each pass has its own place in the period: one round over them a period, no sorting of microbatches.
    struct Row {
        int at;
        Pass pass;
        int chunk;
    };
    std::array<Row, period> rows{{{block.forward_0, Pass::forward, 0},
                                  {block.forward_1, Pass::forward, 1},
                                  {block.input_1, Pass::input_gradient, 1},
                                  {block.input_0, Pass::input_gradient, 0},
                                  {weight_1, Pass::weight_gradient, 1},
                                  {weight_0, Pass::weight_gradient, 0}}};
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.at % period < b.at % period; });
    std::vector<Task> order;
    order.reserve(static_cast<std::size_t>(period) * count);
    for (int round = 0; static_cast<int>(order.size()) < period * count; ++round) {
        for (const Row& row : rows) {
            const int k = round - row.at / period;
            if (k >= 0 && k < count) {
                order.push_back(task(row.pass, row.chunk, k));
            }
        }
    }
    return order;
}

/// Offsets as in the authors' code (sail-sg/zero-bubble-pipeline-parallelism): half of 1F1B's activations.
std::vector<Task> v_half(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    const int k = p % 2 == 0 ? 3 : 0;
    return repeated({2 * stage, 3 * p - stage - 2, 3 * p + k + 2 * stage - 1, 6 * p + k - stage - 2},
                    shape.microbatches);
}

/// The same, a third of them.
std::vector<Task> v_min(const ScheduleShape& shape, int stage)
{
    const int p = shape.stages;
    const int k = p % 3 == 0 ? 2 : 0;
    return repeated({stage, 2 * p - stage - 1, 2 * p + k + stage, 4 * p + k - stage - 1}, shape.microbatches);
}

/// (chunk, microbatch) held: arXiv 2405.15362, its authors' table.
int v_half_held(const ScheduleShape& s, int) { return 2 * ((s.stages + 2) / 2); }
int v_min_held(const ScheduleShape& s, int) { return 2 * ((s.stages + 4) / 3); }

constexpr auto rules_of_building_blocks = std::to_array<ScheduleRule>({
    {Schedule::v_half, ChunkMap::vee, true, v_half, v_half_held, nullptr, nullptr},
    {Schedule::v_min, ChunkMap::vee, true, v_min, v_min_held, nullptr, nullptr},
});

}  // namespace

std::span<const ScheduleRule> building_block_rules() { return rules_of_building_blocks; }

}  // namespace prismopt
