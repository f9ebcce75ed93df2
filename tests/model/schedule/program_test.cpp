#include "model/schedule/program.hpp"

#include "tests/support/random_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace prismopt {
namespace {

std::vector<ScheduleShape> program_shapes()
{
    std::vector<ScheduleShape> list;
    for (const int p : {1, 2, 3, 4, 8, 16}) {
        for (const int m : {1, 2, p - 1, p, 2 * p, 4 * p}) {
            if (m > 0) {
                list.push_back({Schedule::gpipe, p, m, 1});
                list.push_back({Schedule::one_f_one_b, p, m, 1});
            }
            if (p > 1 && m > 0 && m % p == 0) {
                list.push_back({Schedule::interleaved, p, m, 2});
                list.push_back({Schedule::interleaved, p, m, 4});
            }
        }
    }
    return list;
}

std::shared_ptr<const Program> program_of(const ScheduleShape& shape)
{
    return std::get<std::shared_ptr<const Program>>(compiled_program(shape));
}

using Key = std::tuple<Pass, int, int>;  // pass, chunk of the network, microbatch

int position(const Program& program, const ProgramOp& op)
{
    return op.chunk * program.shape.stages + op.stage;
}

/// Runs the program on names instead of times: each op must find in its slot the
/// very result that it waits for.
TEST(Program, FindsInEverySlotWhatItWaitsFor)
{
    for (const ScheduleShape& shape : program_shapes()) {
        const auto program = program_of(shape);
        const int chunks = shape.stages * shape.chunks;
        std::vector<std::optional<Key>> slot(program->slots);
        std::vector<int> readers(program->slots, 0);  // still to come
        std::vector<std::optional<Key>> latest(shape.stages);
        std::set<Key> done;
        const auto read = [&](std::int32_t from, const Key& expected) {
            ASSERT_TRUE(slot[from].has_value());
            ASSERT_EQ(*slot[from], expected);
            ASSERT_GT(readers[from]--, 0);
        };
        for (const ProgramOp& op : program->ops) {
            const int at = position(*program, op);
            const int from = at + (op.pass == Pass::forward ? -1 : 1);
            const int to = at + (op.pass == Pass::forward ? 1 : -1);
            ASSERT_EQ(op.in != Program::start, from >= 0 && from < chunks);
            ASSERT_EQ(op.before != Program::start, latest[op.stage].has_value());
            if (op.in != Program::start) {
                read(op.in, Key(op.pass, from, op.microbatch));
            }
            if (op.before != Program::start) {
                read(op.before, *latest[op.stage]);
            }
            if (op.pass == Pass::backward) {
                ASSERT_EQ(done.count({Pass::forward, at, op.microbatch}), 1U);
            }
            ASSERT_NE(op.out, Program::start);
            ASSERT_EQ(readers[op.out], 0) << "overwritten before all have read it";
            slot[op.out] = Key(op.pass, at, op.microbatch);
            readers[op.out] = to >= 0 && to < chunks ? 2 : 1;
            latest[op.stage] = slot[op.out];
            ASSERT_TRUE(done.insert({op.pass, at, op.microbatch}).second);
        }
        EXPECT_EQ(done.size(), 2UL * chunks * shape.microbatches);
        for (int stage = 0; stage < shape.stages; ++stage) {
            read(program->last[stage], *latest[stage]);
        }
        EXPECT_EQ(readers, std::vector<int>(program->slots, 0));
    }
}

TEST(Program, KeepsTheOrderOfEveryStage)
{
    for (const ScheduleShape& shape : program_shapes()) {
        const auto program = program_of(shape);
        const auto orders = std::get<TaskOrders>(task_orders(shape));
        std::vector<std::size_t> next(orders.size(), 0);
        for (const ProgramOp& op : program->ops) {
            const Task& expected = orders[op.stage].at(next[op.stage]++);
            EXPECT_EQ(std::tie(op.pass, op.chunk, op.microbatch),
                      std::tie(expected.pass, expected.chunk, expected.microbatch));
        }
    }
}

TEST(Program, MarksTheFirstForwardAndTheLastBackwardOfEveryChunk)
{
    for (const ScheduleShape& shape : program_shapes()) {
        const auto program = program_of(shape);
        std::map<int, std::size_t> first;
        std::map<int, std::size_t> last;
        for (std::size_t i = 0; i < program->ops.size(); ++i) {
            const ProgramOp& op = program->ops[i];
            if (op.pass == Pass::forward) {
                first.emplace(position(*program, op), i);
            } else {
                last[position(*program, op)] = i;
            }
        }
        for (std::size_t i = 0; i < program->ops.size(); ++i) {
            const ProgramOp& op = program->ops[i];
            EXPECT_EQ(op.first_of_chunk, op.pass == Pass::forward && first[position(*program, op)] == i);
            EXPECT_EQ(op.last_of_chunk, op.pass == Pass::backward && last[position(*program, op)] == i);
        }
    }
}

/// The live state is what is still to be read, not the whole step.
TEST(Program, NeedsFewSlots)
{
    EXPECT_EQ(program_of({Schedule::one_f_one_b, 1, 64, 1})->slots, 2);  // the start, and the latest end
    EXPECT_LE(program_of({Schedule::one_f_one_b, 16, 512, 1})->slots, 16 * 16);
}

TEST(Program, KnowsHowFarBeforeAnOpItsFeederIs)
{
    for (const ScheduleShape& shape : long_shapes()) {
        const Program& program = *program_of(shape);
        std::map<std::int32_t, std::size_t> writer;
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            const ProgramOp& op = program.ops[i];
            EXPECT_EQ(program.fed_by[i], op.in == Program::start ? 0 : i - writer.at(op.in));
            writer[op.out] = i;
        }
    }
}

/// By comparison of all ops; and they are most of the program.
TEST(Program, RepeatsWhatItSaysItRepeats)
{
    for (const ScheduleShape& shape : long_shapes()) {
        const Program& program = *program_of(shape);
        std::size_t repeated = 0;
        std::size_t end = 0;
        for (const Repeats& repeats : program.repeats) {
            EXPECT_GE(repeats.first, end);
            EXPECT_GE(repeats.count(), 4U);
            std::set<int> stages;
            for (std::size_t i = repeats.first; i + repeats.period < repeats.end; ++i) {
                const ProgramOp& op = program.ops[i];
                const ProgramOp& other = program.ops[i + repeats.period];
                ASSERT_EQ(op.stage_chunk, other.stage_chunk) << name(shape.schedule);
                ASSERT_EQ(op.pass, other.pass) << name(shape.schedule);
                ASSERT_EQ(program.fed_by[i], program.fed_by[i + repeats.period]) << name(shape.schedule);
                ASSERT_FALSE((op.first_of_chunk || op.last_of_chunk) && i > repeats.first)
                    << name(shape.schedule);
                stages.insert(op.stage);
            }
            EXPECT_EQ(stages.size(), static_cast<std::size_t>(shape.stages));
            end = repeats.end;
            repeated += repeats.end - repeats.first;
        }
        EXPECT_GE(repeated, program.ops.size() * 2 / 3) << name(shape.schedule);
    }
}

/// Of the whole program, it lacks repetitions alone, and few ops of many microbatches stay.
TEST(Program, IsShortenedByRepetitions)
{
    for (ScheduleShape shape : long_shapes()) {
        shape.microbatches *= 8;
        const Program& whole = *program_of(shape);
        const Program& program = *std::get<std::shared_ptr<const Program>>(shortened_program(shape));
        EXPECT_EQ(program.ops.size() + program.omitted, whole.ops.size());
        EXPECT_EQ(program.fed_by.size(), program.ops.size());
        EXPECT_LT(program.ops.size(), whole.ops.size() / 2) << name(shape.schedule);
        EXPECT_EQ(program.ops_of_pipeline(), whole.ops_of_pipeline());
        EXPECT_EQ(program.op_count, whole.op_count);
        ASSERT_EQ(program.repeats.size(), whole.repeats.size());
        std::size_t lacking = 0;
        std::size_t at = 0;  // op
        const auto compare_until = [&](std::size_t end) {
            for (; at < end; ++at) {
                ASSERT_EQ(program.ops[at].distribution, whole.ops[at + lacking].distribution)
                    << name(shape.schedule);
                ASSERT_EQ(program.fed_by[at], whole.fed_by[at + lacking]) << name(shape.schedule);
            }
        };
        for (std::size_t i = 0; i < whole.repeats.size(); ++i) {
            const Repeats& kept = program.repeats[i];
            EXPECT_EQ(kept.omitted, whole.spare(whole.repeats[i]));
            EXPECT_EQ(program.spare(kept), kept.omitted) << "nothing to omit twice";
            compare_until(kept.first + kept.period);
            lacking += kept.omitted * kept.period;
            EXPECT_EQ(kept.end + lacking, whole.repeats[i].end);
        }
        compare_until(program.ops.size());
        EXPECT_EQ(lacking, program.omitted);
    }
}

/// Other programs push it out of the smaller of two caches, from which it comes
/// without what bounds do not need.
TEST(Program, IsShortenedToTheSameAgain)
{
    const ScheduleShape shape{Schedule::zb_v, 4, 600, 2};
    const auto ops_of = [](const ScheduleShape& of) {
        return std::get<std::shared_ptr<const Program>>(shortened_program(of));
    };
    const auto first = ops_of(shape);
    for (int stages = 90; stages < 106; ++stages) {
        ops_of({Schedule::one_f_one_b, stages, 1024, 1});
    }
    const auto again = ops_of(shape);
    ASSERT_NE(first, again) << "the cache is larger than this test expects";
    ASSERT_EQ(first->ops.size(), again->ops.size());
    EXPECT_EQ(first->fed_by, again->fed_by);
    EXPECT_EQ(first->omitted, again->omitted);
    EXPECT_EQ(first->op_count, again->op_count);
    for (std::size_t i = 0; i < first->ops.size(); ++i) {
        const ProgramOp& a = first->ops[i];
        const ProgramOp& b = again->ops[i];
        EXPECT_EQ(std::tie(a.stage, a.chunk, a.microbatch, a.pass, a.first_of_chunk, a.last_of_chunk,
                           a.stage_chunk, a.distribution),
                  std::tie(b.stage, b.chunk, b.microbatch, b.pass, b.first_of_chunk, b.last_of_chunk,
                           b.stage_chunk, b.distribution));
    }
}

TEST(Program, RefusesAScheduleThatDeadlocks)
{
    const ScheduleShape shape{Schedule::one_f_one_b, 2, 1, 1};
    const TaskOrders circle{{{Pass::backward, 0, 0}, {Pass::forward, 0, 0}},
                            {{Pass::forward, 0, 0}, {Pass::backward, 0, 0}}};
    const CompiledProgram result = compile_program(shape, circle);
    ASSERT_TRUE(std::holds_alternative<Infeasible>(result));
    EXPECT_EQ(std::get<Infeasible>(result).reason(), Reason::deadlock);
    EXPECT_EQ(std::get<Infeasible>(result).facts, (Facts{{FactKey::tasks, 4}}));
}

TEST(Program, IsCompiledOnceForAShape)
{
    const ScheduleShape shape{Schedule::one_f_one_b, 3, 5, 1};
    EXPECT_EQ(program_of(shape), program_of(shape));
    EXPECT_EQ(std::get<Infeasible>(compiled_program({Schedule::gpipe, 3, 5, 2})).reason(),
              Reason::schedule_undefined);
}

}  // namespace
}  // namespace prismopt
