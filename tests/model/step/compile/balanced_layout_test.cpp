#include "model/step/compile/balanced_layout.hpp"

#include "model/step/compile/memory.hpp"
#include "tests/support/workload_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace prismopt {
namespace {

constexpr double rounding = 1e-6;  // of the search's whole numbers

struct Case {
    LayerCosts costs;
    ParallelPlan plan;
    std::shared_ptr<const Program> program;
    Accelerator accelerator;
    SoftwareStack stack;
    OptimizerSettings optimizer;

    Case(LayerCosts of, Schedule schedule, int pp, int v, int microbatches) : costs(std::move(of))
    {
        plan.schedule = schedule;
        plan.pp = pp;
        plan.chunks = v;
        plan.sharding = Sharding::none;
        plan.split = LayerSplit::balanced;
        program = std::get<std::shared_ptr<const Program>>(compiled_program({schedule, pp, microbatches, v}));
    }

    MemoryModel memory_model() const { return {accelerator, stack, optimizer}; }
    int all_chunks() const { return network_chunks(plan.schedule, plan.pp, plan.chunks); }
    int layers() const { return static_cast<int>(costs.layers.size()); }

    std::vector<Chunk> balanced(double capacity) const
    {
        return std::get<std::vector<Chunk>>(
            balanced_layout(costs, *program, plan, memory_model(), Bytes{capacity}));
    }
    /// Seconds that the busiest stage takes for the forward and backward passes of a microbatch.
    double busiest(const std::vector<Chunk>& chunks) const
    {
        const bool splits = splits_backward(plan.schedule);
        const auto seconds = [splits](const LayerCost& c) {
            return c.forward.compute_s +
                   (splits ? c.input_gradient.compute_s + c.weight_gradient.compute_s : c.backward.compute_s);
        };
        double most = 0.0;
        for (int stage = 0; stage < plan.pp; ++stage) {
            double sum = 0.0;
            for (int chunk = 0; chunk < plan.chunks; ++chunk) {
                const Chunk& c = chunks[network_chunk_of(program->shape, {stage, chunk})];
                for (int layer = c.first_layer; layer < c.first_layer + c.layers; ++layer) {
                    sum += seconds(costs.kinds[costs.layers[layer]]);
                }
                sum += (c.embedding ? seconds(costs.embedding) : 0.0) + (c.head ? seconds(costs.head) : 0.0);
            }
            most = std::max(most, sum);
        }
        return most;
    }
    double memory(const std::vector<Chunk>& chunks) const
    {
        std::vector<ChunkContents> made_of;
        for (const Chunk& chunk : chunks) {
            made_of.emplace_back(chunk, costs);
        }
        return fullest(memory_by_stage(*program, made_of, plan, memory_model())).total().si;
    }
    /// Calls visit(chunks) for each contiguous split of embedding, layers and head.
    void each_split(const std::function<void(const std::vector<Chunk>&)>& visit) const
    {
        std::vector<int> units(all_chunks(), 1);
        const std::function<void(int, int)> fill = [&](int chunk, int left) {
            if (chunk + 1 == all_chunks()) {
                units[chunk] = left;
                visit(chunks_of_units(units));
                return;
            }
            for (units[chunk] = 1; units[chunk] <= left - (all_chunks() - 1 - chunk); ++units[chunk]) {
                fill(chunk + 1, left - units[chunk]);
            }
        };
        fill(0, layers() + 2);
    }
    /// The busiest stage of the best split that fits; infinite: none does.
    double best(double capacity) const
    {
        double least = std::numeric_limits<double>::infinity();
        each_split([&](const std::vector<Chunk>& chunks) {
            if (memory(chunks) <= capacity) {
                least = std::min(least, busiest(chunks));
            }
        });
        return least;
    }
    std::optional<std::vector<Chunk>> even(LayerSplit split) const
    {
        ParallelPlan even = plan;
        even.split = split;
        auto result = layout(layers(), even);
        auto* chunks = std::get_if<std::vector<Chunk>>(&result);
        return chunks != nullptr ? std::optional(*chunks) : std::nullopt;
    }
};

/// Layers of a few kinds whose times and memory have nothing to do with each other.
LayerCosts uneven(int layers, std::mt19937& random)
{
    std::uniform_real_distribution<double> any(0.2, 3.0);
    LayerCosts costs;
    costs.kinds.resize(1 + random() % 4);
    const auto set = [&](LayerCost& c) {
        c.forward.compute_s = any(random);
        c.backward.compute_s = 2.0 * any(random);
        c.input_gradient.compute_s = any(random);
        c.weight_gradient.compute_s = any(random);
        c.saved_bytes = any(random);
        c.held_bytes = 0.5 * any(random);
        c.workspace_bytes = any(random);
        c.parameters.all = any(random);
    };
    std::for_each(costs.kinds.begin(), costs.kinds.end(), set);
    set(costs.embedding);
    set(costs.head);
    for (int layer = 0; layer < layers; ++layer) {
        costs.layers.push_back(static_cast<int>(random() % costs.kinds.size()));
    }
    return costs;
}

/// Capacities from below what any split needs to more than the fastest needs.
std::vector<double> capacities(const Case& c)
{
    double least = std::numeric_limits<double>::infinity();
    c.each_split([&](const std::vector<Chunk>& chunks) { least = std::min(least, c.memory(chunks)); });
    const double fastest = c.memory(c.balanced(std::numeric_limits<double>::infinity()));
    return {0.99 * least, least, 0.5 * (least + fastest), 0.9 * fastest, 2.0 * fastest};
}

/// With one chunk a stage it is the best of all contiguous splits that fit; where none fits, the best of all.
TEST(BalancedLayout, IsTheBestOfAllSplitsThatFit)
{
    std::mt19937 random(7);
    int limited = 0;
    for (int i = 0; i < 120; ++i) {
        const auto schedule = std::array{Schedule::one_f_one_b, Schedule::gpipe, Schedule::zb_h1}[i % 3];
        const int pp = 2 + i % 4;
        const Case c(uneven(pp - 2 + static_cast<int>(random() % 7), random), schedule, pp, 1, 2 * pp);
        const double fastest = c.best(std::numeric_limits<double>::infinity());
        for (const double capacity : capacities(c)) {
            const std::vector<Chunk> chunks = c.balanced(capacity);
            const double best = c.best(capacity);
            EXPECT_EQ(c.memory(chunks) <= capacity, std::isfinite(best)) << i;
            EXPECT_NEAR(c.busiest(chunks), std::isfinite(best) ? best : fastest, rounding * fastest) << i;
            limited += std::isfinite(best) && best > fastest * (1.0 + rounding) ? 1 : 0;
        }
    }
    EXPECT_GT(limited, 20);  // where memory decides
}

/// With several chunks a stage it is no worse than the even splits that fit. Over layers that differ up
/// to fifteenfold, and with memory for none to all splits, it is the best of all in most cases, and
/// seldom finds none where one fits.
TEST(BalancedLayout, IsNoWorseThanEvenSplits)
{
    std::mt19937 random(11);
    struct Shape {
        Schedule schedule;
        int pp, v;
    };
    int cases = 0;
    int not_best = 0;
    double excess = 0.0;
    int fitting = 0;
    int found = 0;
    for (const Shape& shape : {Shape{Schedule::interleaved, 2, 2}, Shape{Schedule::interleaved, 3, 2},
                               Shape{Schedule::interleaved, 2, 3}, Shape{Schedule::zb_v, 2, 2},
                               Shape{Schedule::zb_v, 3, 2}, Shape{Schedule::v_half, 3, 2},
                               Shape{Schedule::dualpipe_v, 3, 2}, Shape{Schedule::dualpipe, 4, 2}}) {
        for (int i = 0; i < 12; ++i) {
            const int all_chunks = network_chunks(shape.schedule, shape.pp, shape.v);
            const Case c(uneven(all_chunks + static_cast<int>(random() % 5), random), shape.schedule,
                         shape.pp, shape.v, 6 * shape.pp);
            for (const double capacity : capacities(c)) {
                const std::vector<Chunk> chunks = c.balanced(capacity);
                const bool fits = c.memory(chunks) <= capacity;
                for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
                    const auto even = c.even(split);
                    if (even && c.memory(*even) <= capacity) {
                        EXPECT_TRUE(fits) << name(shape.schedule) << " " << i;
                        EXPECT_LE(c.busiest(chunks), c.busiest(*even) * (1.0 + rounding))
                            << name(shape.schedule) << " " << i;
                    }
                }
                const double best = c.best(capacity);
                fitting += std::isfinite(best) ? 1 : 0;
                found += fits ? 1 : 0;
                if (fits) {
                    ++cases;
                    not_best += c.busiest(chunks) > best * (1.0 + rounding) ? 1 : 0;
                    excess += c.busiest(chunks) / best - 1.0;
                }
            }
        }
    }
    EXPECT_LE(not_best, 0.15 * cases);
    EXPECT_LE(excess, 0.03 * cases);
    EXPECT_LE(fitting - found, 0.1 * fitting);
    RecordProperty("not_best", std::to_string(not_best) + " of " + std::to_string(cases));
    RecordProperty("mean_excess", std::to_string(excess / cases));
    RecordProperty("missed", std::to_string(fitting - found) + " of " + std::to_string(fitting));
}

/// Equal layers: the remainder goes to the middle.
TEST(BalancedLayout, KeepsTheEndsShort)
{
    LayerCosts costs;
    costs.kinds.resize(1);
    costs.kinds.front().forward.compute_s = 1.0;
    costs.layers.assign(10, 0);
    const auto lengths = [](const std::vector<Chunk>& chunks) {
        std::vector<int> layers;
        for (const Chunk& chunk : chunks) {
            layers.push_back(chunk.layers);
        }
        return layers;
    };
    const double enough = 1e12;
    EXPECT_EQ(lengths(Case(costs, Schedule::one_f_one_b, 4, 1, 8).balanced(enough)),
              (std::vector{2, 3, 3, 2}));
    EXPECT_EQ(lengths(Case(costs, Schedule::one_f_one_b, 3, 1, 8).balanced(enough)), (std::vector{3, 4, 3}));
    // A V has the first and the last chunk on one stage: three and two on each.
    const Case vee(costs, Schedule::zb_v, 2, 2, 8);
    EXPECT_DOUBLE_EQ(vee.busiest(vee.balanced(enough)), 5.0);
    // A head as long as two layers.
    costs.head.forward.compute_s = 2.0;
    EXPECT_EQ(lengths(Case(costs, Schedule::one_f_one_b, 4, 1, 8).balanced(enough)),
              (std::vector{3, 3, 3, 1}));
}

/// As many chunks as layers and two: embedding and head have one of their own.
/// One chunk more is one too many.
TEST(BalancedLayout, FillsEachChunk)
{
    LayerCosts costs;
    costs.kinds.resize(1);
    costs.kinds.front().forward.compute_s = 1.0;
    costs.layers.assign(4, 0);
    const Case six(costs, Schedule::one_f_one_b, 6, 1, 8);
    const std::vector<Chunk> chunks = six.balanced(1e12);
    EXPECT_EQ(chunks.front().layers, 0);
    EXPECT_EQ(chunks[1].layers, 1);
    EXPECT_EQ(chunks.back().layers, 0);
    const Case seven(costs, Schedule::one_f_one_b, 7, 1, 8);
    const auto refused =
        balanced_layout(costs, *seven.program, seven.plan, seven.memory_model(), Bytes{1e12});
    EXPECT_EQ(std::get<Infeasible>(refused).reason(), Reason::layers_and_chunks);
    const Case one(costs, Schedule::one_f_one_b, 1, 1, 8);
    EXPECT_EQ(one.balanced(1e12).front().layers, 4);
}

}  // namespace
}  // namespace prismopt
