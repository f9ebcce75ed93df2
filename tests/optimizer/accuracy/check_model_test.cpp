#include "optimizer/accuracy/check_model.hpp"

#include "optimizer/accuracy/model_accuracy.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace prismopt {
namespace {

/// The table that ships: Megatron 22B, 175B, 530B, 1T with two kinds of recompute, and two rows of Llama 3.
/// Held with a margin on what the fit reached; constants belong to accelerators, stacks and links alone.
TEST(CheckModel, ShippedRunsAreMatched)
{
    const CheckedModel checked = check_model(shipped_runs());
    ASSERT_EQ(checked.runs.size(), 10U);
    EXPECT_TRUE(checked.skipped.empty());
    for (const CheckedRun& run : checked.runs) {
        EXPECT_LT(std::abs(run.relative_error()), 0.08)
            << run.run.row << ": " << run.predicted_s << " s, measured " << run.run.measured_s << " s";
        // Noise lengthens; 256 draws are good to 1 %.
        EXPECT_GE(run.predicted_s, 0.99 * run.noise_free_s) << run.run.row;
    }
    const SourceAccuracy total = accuracy_by_source(checked).back();
    EXPECT_LT(total.mean_absolute, 0.035);
}

/// A table of own runs names a scenario and a plan; a plan that cannot be read is skipped.
TEST(CheckModel, OwnRunsAreThoseOfTheirScenarioAndPlan)
{
    const TemporaryFolder folder;
    std::ofstream(folder.file("job.toml")) << good;
    std::ofstream(folder.file("own.csv")) << "run,scenario,design,step_time_s,memory_gb\n"
                                             "first,job.toml,gpus=64 tp=8 pp=2 dp=4 microbatch=2,20.5,61\n"
                                             "second,job.toml,tensor=8,20.5,\n";
    const MeasuredRuns runs = with_folder({}, folder.file(""));
    ASSERT_EQ(runs.runs.size(), 1U);
    const MeasuredRun& run = runs.runs.front();
    EXPECT_EQ(run.source, "own");
    EXPECT_EQ(run.row, "first");
    EXPECT_EQ(run.plan.tp, 8);
    EXPECT_EQ(run.plan.pp, 2);
    EXPECT_EQ(run.plan.microbatch, 2);
    EXPECT_EQ(run.phase().global_batch, 512);
    EXPECT_EQ(run.measured_s, 20.5);
    EXPECT_EQ(run.memory_bytes, 61e9);
    ASSERT_EQ(runs.skipped.size(), 1U);
    EXPECT_EQ(runs.skipped.front().row, "second");
    EXPECT_NE(runs.skipped.front().reason.find("tensor"), std::string::npos);
    const CheckedModel checked = check_model(runs);
    ASSERT_EQ(checked.runs.size(), 1U);
    EXPECT_GT(checked.runs.front().predicted_s, 0.0);
}

/// Tensors have less than the allocator reserved for them, and that is less than the device
/// has in use: its context besides.
TEST(CheckModel, ComparesPeaksOfMemoryByWhatTheyCount)
{
    MeasuredRuns runs;
    runs.runs.assign(3, shipped_runs().runs.front());
    for (MeasuredRun& run : runs.runs) {
        run.cluster.accelerator.memory_reserved = Bytes{3e9};
        run.cluster.accelerator.memory = Bytes{1e15};
        run.cluster.stack.holds.fragmentation = 0.1;
        run.cluster.stack.holds.cached = 0.2;
    }
    runs.runs[1].memory_basis = MemoryBasis::reserved;
    runs.runs[2].memory_basis = MemoryBasis::allocated;
    const CheckedModel checked = check_model(runs);
    ASSERT_EQ(checked.runs.size(), 3U);
    const double allocated = checked.runs[2].memory_bytes;
    EXPECT_NEAR(checked.runs[1].memory_bytes, 1.3 * allocated, 1.0);
    EXPECT_NEAR(checked.runs[0].memory_bytes, 1.3 * allocated + 3e9, 1.0);
}

/// By hand: (0.1^2 + 0.5^2 + 0.3^2) / 3.
TEST(CheckModel, ScoresProbabilitiesOfFitting)
{
    CheckedModel checked;
    checked.runs.resize(2);
    checked.runs[0].fits = 0.9;
    checked.runs[1].fits = 0.5;
    checked.out_of_memory.resize(1);
    checked.out_of_memory[0].fits = 0.3;
    const FitAccuracy accuracy = accuracy_of_fits(checked);
    EXPECT_EQ(accuracy.ran, 2U);
    EXPECT_EQ(accuracy.failed, 1U);
    EXPECT_EQ(accuracy.ran_refused, 0U);
    EXPECT_EQ(accuracy.ran_doubtful, 1U);
    EXPECT_EQ(accuracy.failed_likely, 0U);
    EXPECT_NEAR(accuracy.brier, 0.35 / 3.0, 1e-12);
}

/// Only the memory of a run that ended out of memory is predicted; it is in no error of step times.
TEST(CheckModel, RunsOutOfMemoryAreSeparate)
{
    const TemporaryFolder folder;
    std::ofstream(folder.file("job.toml")) << good;
    std::ofstream(folder.file("own.csv")) << "run,scenario,design,outcome,step_time_s\n"
                                             "first,job.toml,gpus=64 tp=8 pp=2 dp=4 microbatch=2,,20.5\n"
                                             "second,job.toml,gpus=64 tp=1 pp=1 dp=64 microbatch=8,oom,\n"
                                             "third,job.toml,gpus=64 tp=1 pp=1 dp=64 microbatch=8,oom,20.5\n";
    const MeasuredRuns runs = with_folder({}, folder.file(""));
    ASSERT_EQ(runs.runs.size(), 1U);
    ASSERT_EQ(runs.out_of_memory.size(), 1U);
    EXPECT_EQ(runs.skipped.size(), 1U);
    const CheckedModel checked = check_model(runs);
    ASSERT_EQ(checked.out_of_memory.size(), 1U);
    EXPECT_LT(checked.out_of_memory.front().fits, 0.01);
    EXPECT_GT(checked.runs.front().fits, 0.99);
    EXPECT_EQ(accuracy_by_source(checked).back().rows, 1U);
}

/// A machine without a figure, and one without a link, are reasons of their rows; the others are judged.
TEST(CheckModel, RowsThatCannotBeJudgedAreCountedWithTheirReason)
{
    MeasuredRuns runs;
    runs.runs.assign(3, shipped_runs().runs.front());
    runs.runs[0].cluster.accelerator.memory_bandwidth = BytesPerSecond{0.0};
    runs.runs[1].cluster.tiers.front().bandwidth = BytesPerSecond{0.0};
    const CheckedModel checked = check_model(runs);
    EXPECT_EQ(checked.runs.size(), 1U);
    ASSERT_EQ(checked.skipped.size(), 2U);
    EXPECT_NE(checked.skipped[0].reason.find("memory_bandwidth"), std::string::npos)
        << checked.skipped[0].reason;
    EXPECT_NE(checked.skipped[1].reason.find("tier"), std::string::npos) << checked.skipped[1].reason;
}

}  // namespace
}  // namespace prismopt
