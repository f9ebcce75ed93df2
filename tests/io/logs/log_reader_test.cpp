#include "io/logs/log_reader.hpp"
#include "io/base/input_error.hpp"
#include "tests/io/refusal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

LogOptions plan_of_log(std::string trainer = "")
{
    return {.path = "job.log",
            .trainer = std::move(trainer),
            .tokens_per_step = 4096000.0,
            .sequences_per_step = 1000.0,
            .gpus = 64};
}

/// Reads a whole text.
std::vector<LoggedStep> steps_of(const std::string& text, LogReader& reader)
{
    reader.add(text);
    reader.finish();
    return reader.drain();
}

/// A text with the lines of a trainer, and what they mean.
struct FormatCase {
    std::string trainer;
    std::string log;
    std::vector<double> seconds;
    std::vector<std::int64_t> numbers;
    std::vector<std::int64_t> steps;
    double memory = 0.0;
};

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::vector<FormatCase> format_cases()
{
    return {
        {"megatron",
         "using world size: 64\n"
         " [2026-03-01 10:00:00.123456] iteration       10/    5000 | consumed samples:        10240 | "
         "elapsed time per "
         "iteration (ms): 9812.4 | "
         "throughput per GPU (TFLOP/s/GPU): 401.2 | learning rate: 1.5E-04 | global batch size:  1024 | lm "
         "loss: 9.1E+00 | loss "
         "scale: 1.0 | "
         "grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
         "[Rank 0] (after 10 iterations) memory (MB) | allocated: 100.0 | max allocated: 2048.0 | reserved: "
         "1.0 | max reserved: "
         "9.0\n"
         " [2026-03-01 10:01:40] iteration       20/    5000 | consumed samples:        20480 | elapsed time "
         "per iteration (ms): "
         "9700.0 | lm loss: 8E+00 |\n",
         {9.8124, 9.7},
         {10, 20},
         {1, 10},
         2.0 * gib},
        // Primus: the last interval / the mean of the run
        {"megatron",
         " iteration        1/     100 | consumed samples:  128 | elapsed time per iteration (ms): "
         "2500.5/2600.0 | throughput "
         "per GPU (TFLOP/s/GPU): 310.0/300.0 |\n"
         " iteration        2/     100 | consumed samples:  256 | elapsed time per iteration (ms): "
         "2400.0/2500.2 | throughput "
         "per GPU (TFLOP/s/GPU): 310.0/300.0 |\n",
         {2.5005, 2.4},
         {1, 2},
         {1, 1}},
        // MindSpeed's FSDP2 trainer
        {"megatron",
         " iteration        1/     100 | consumed samples:  128 | consumed tokens:  4096 | elapsed time per "
         "iteration (ms): "
         "812.25 |\n",
         {0.81225},
         {1},
         {1}},
        // Megatron-Bridge prints both; the line with a number counts
        {"megatron",
         "Step Time : 9.81s GPU utilization: 401.2MODEL_TFLOP/s/GPU\n"
         " [2026-03-01 10:00:00] iteration        1/    5000 | consumed samples: 1024 | elapsed time per "
         "iteration (ms): 9812.4 "
         "| lm loss: 9E+00 |\n"
         "Step Time : 9.70s GPU utilization: 401.2MODEL_TFLOP/s/GPU\n"
         " [2026-03-01 10:00:10] iteration        2/    5000 | consumed samples: 2048 | elapsed time per "
         "iteration (ms): 9700.0 "
         "| lm loss: 9E+00 |\n",
         {9.8124, 9.7},
         {1, 2},
         {1, 1}},
        {"bridge",
         "Step Time : 9.81s GPU utilization: 401.2MODEL_TFLOP/s/GPU\nStep Time : 9.70s GPU utilization: "
         "401.2MODEL_TFLOP/s/GPU\n",
         {9.81, 9.7},
         {1, 2},
         {1, 1}},
        {"nemo",
         "Training epoch 0, iteration 0/999 | lr: 1.499e-07 | global_batch_size: 512 | global_step: 0 | "
         "reduced_train_loss: "
         "11.03 | train_step_timing in s: 48.3\n"
         "Training epoch 0, iteration 1/999 | lr: 2.9e-07 | global_batch_size: 512 | global_step: 1 | "
         "train_step_timing in s: "
         "12.34 | consumed_samples: 1024\n",
         {48.3, 12.34},
         {1, 2},
         {1, 1}},
        {"nemo-bar",
         "Epoch 0: :  47%|####7     | 7/15 [06:19<07:13, reduced_train_loss=11.50, global_step=6.000, "
         "train_step_timing in "
         "s=49.50]\r"
         "Epoch 0: :  47%|####7     | 7/15 [06:19<07:13, reduced_train_loss=11.50, global_step=6.000, "
         "train_step_timing in "
         "s=49.50]\r"
         "Epoch 0: :  53%|#####3    | 8/15 [06:29<07:03, reduced_train_loss=11.50, global_step=7.000, "
         "train_step_timing in "
         "s=9.50, val_loss=1.0]\n",
         {49.5, 9.5},
         {7, 8},
         {1, 1}},
        {"automodel",
         "2026-01-01 | INFO | step 5 | epoch 0 | loss 2.1000 | grad_norm 1.0000 | lr 1.00e-05 | mem 41.50 "
         "GiB | tps "
         "409600.00(6400.00/gpu) | num_label_tokens 4000000\n",
         {10.0},
         {5},
         {1},
         41.5 * gib},
        {"torchtitan",
         "[rank0]:[titan] 2026-01-01 10:00:00,000 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  8.12345  "
         "\x1b[38;2;180;60;0mgrad_norm:  1.2000  "
         "\x1b[38;2;54;234;195mmemory: 40.00GiB(50.00%)  \x1b[34mtps: 6,400  \x1b[36mtflops: 390.10  "
         "\x1b[35mmfu: "
         "39.45%\x1b[39m\n"
         "[rank0]:[titan] 2026-01-01 10:01:40,000 - root - INFO - step: 20  loss:  8.1  grad_norm:  1.2000  "
         "memory: "
         "44.00GiB(55.00%)  tps: 12,800  "
         "tflops: 390.10  mfu: N/A\n",
         {10.0, 5.0},
         {10, 20},
         {1, 10},
         44.0 * gib},
        {"maxtext",
         "completed step: 0, seconds: 31.500, TFLOP/s/device: 12.345, Tokens/s/device: 100.000, "
         "total_weights: 65536, loss: "
         "10.874\n"
         "completed profiler activation step: 1\n"
         "Rampup Batch Size Phase, completed step: 2, seconds: 3.250, live slice count: 4, TFLOP/s/device: "
         "212.345, "
         "Tokens/s/device: 1000.000, total_weights: 65536\n",
         {31.5, 3.25},
         {1, 3},
         {1, 1}},
        {"deepspeed-pipeline",
         "steps: 10 loss: 5.5508 lm loss: 5.5103 iter time (s): 0.936 samples/sec: 136.706\nsteps: 20 loss: "
         "5.5 iter time (s): "
         "0.900 samples/sec: 142.2\n",
         {0.936, 0.9},
         {10, 20},
         {1, 10}},
        {"deepspeed",
         "[2026-01-01 10:00:00,000] [INFO] [timer.py:264:stop] epoch=0/micro_step=80/global_step=10, "
         "RunningAvgSamplesPerSec=99.1, "
         "CurrSamplesPerSec=100.0, MemAllocated=10.0GB, MaxMemAllocated=20.5GB\n",
         {10.0},
         {10},
         {1},
         20.5 * gib},
        {"nanotron",
         "08/31/2026 14:37:01 [INFO|DP=0|PP=0|TP=0]: iteration: 1 / 20000 | consumed_tokens: 4.19M | "
         "elapsed_time_per_iteration_ms: 6.2K | tokens_per_sec: 676K | global_batch_size: 1.02K | lm_loss: "
         "11.1\n"
         "08/31/2026 14:37:07 [INFO|DP=0|PP=0|TP=0]: iteration: 2 / 20000 | consumed_tokens: 8.38M | "
         "time_per_iteration_ms: 843 "
         "| tokens_per_sec: 676K\n",
         {6200.0 / 1000.0, 0.843},
         {1, 2},
         {1, 1}},
        // perf/time_per_step stands for timing_s/step; other metrics end in "step" too
        {"verl",
         "(TaskRunner pid=4711) step:1 - actor/pg_loss:0.01 - timing_s/gen:91.5 - timing_s/step:195.1 - "
         "perf/time_per_step:195.1 - perf/throughput:524.5\n"
         "(TaskRunner pid=4711) step:2 - training/global_step:7 - perf/time_per_step:192.25\n",
         {195.1, 192.25},
         {1, 2},
         {1, 1}},
        {"composer",
         "[batch=11/4800]:\n\t Train time/epoch: 0\n\t Train throughput/batches_per_sec: 0.2500\n\t Train "
         "throughput/device/batches_per_sec: 0.01\n"
         "[epoch=1][batch=12/4800]:\n\t Train throughput/batches_per_sec: 0.2000\n",
         {4.0, 5.0},
         {11, 12},
         {1, 1}},
        {"olmo-core",
         "2026-01-01 10:00:00\tlogger\tINFO\t[step=10/4800,epoch=1,eta=3h]\n    "
         "throughput/device/TPS=7,064\n    "
         "throughput/device/BPS (actual avg)=0.41\n    throughput/device/BPS=0.5\n"
         "[step=20/4800,epoch=1,eta=3h]\n    throughput/device/BPS=0.4\n",
         {2.0, 2.5},
         {10, 20},
         {1, 10}},
        // Steps in samples: multiples of the batch that the log states
        {"mllog",
         "0: :::MLLOG {\"time_ms\": 1, \"key\": \"global_batch_size\", \"value\": 512, \"metadata\": {}}\n"
         "0: :::MLLOG {\"time_ms\": 2, \"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 5.5}, "
         "\"metadata\": "
         "{\"step\": 1536.0}}\n"
         "0: :::MLLOG {\"time_ms\": 3, \"key\": \"tracked_stats\", \"value\": {\"train_step_timing\": 5.25, "
         "\"reduced_train_loss\": 2.7}, \"metadata\": {\"samples_count\": 2048}}\n"
         "0: :::MLLOG {\"time_ms\": 4, \"key\": \"eval_accuracy\", \"value\": 2.7, \"metadata\": {\"step\": "
         "2048}}\n",
         {5.5, 5.25},
         {3, 4},
         {1, 1}},
        // ... or steps
        {"mllog",
         ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 5.5}, \"metadata\": "
         "{\"step\": 31}}\n"
         ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 5.25}, \"metadata\": "
         "{\"step\": 63}}\n",
         {5.5, 5.25},
         {31, 63},
         {1, 32}},
        // Whole seconds are averaged over a minute, and the remainder over the rest
        {"llama-factory",
         "{\"current_steps\": 10, \"total_steps\": 300, \"loss\": 1.2, \"elapsed_time\": \"0:01:02\", "
         "\"remaining_time\": "
         "\"0:40:11\"}\n"
         "{\"current_steps\": 20, \"total_steps\": 300, \"loss\": 1.2, \"elapsed_time\": \"0:02:05\", "
         "\"remaining_time\": "
         "\"0:40:11\"}\n"
         "{\"current_steps\": 25, \"total_steps\": 300, \"loss\": 1.2, \"elapsed_time\": \"0:02:35\"}\n",
         {6.3, 6.0},
         {20, 25},
         {10, 5}},
        // Bars of other loops have a description, or another length
        {"hf",
         "Loading checkpoint shards: 100%|##########| 4/4 [00:05<00:00,  1.2s/it]\n"
         "  0%|          | 1/100 [00:06<41:40,  6.21s/it]\r  0%|          | 1/100 [00:06<41:40,  6.21s/it]\r"
         "  6%|          | 6/100 [00:37<41:40,  6.21s/it]\r"
         " 10%|#         | 10/100 [01:02<41:40,  6.21s/it]{'loss': 2.1, 'epoch': 0.1}\n"
         " 50%|#####     | 4/8 [00:03<00:03,  1.2it/s]\r"
         " 12%|#         | 12/100 [1:01:02<41:40, 300.00s/it]\n",
         {6.2, 1800.0},
         {10, 12},
         {10, 2}},
        {"csv",
         "\"Step\",\"run-7 - iteration-time\",\"run-7 - "
         "iteration-time__MIN\"\n\"10\",\"6.25\",\"6.25\"\n\"20\",\"\",\"\"\n"
         "\"30\",\"6.5\",\"6.5\"\n",
         {6.25, 6.5},
         {10, 30},
         {1, 1}},
        {"numbers", "# seconds\n1.5\n\n 1.25 \n", {1.5, 1.25}, {1, 2}, {1, 1}},
        {"csv", "step,loss,step_time_ms\n7,3.1,1500\n8,3.0,1250\n", {1.5, 1.25}, {7, 8}, {1, 1}},
    };
}

TEST(LogReader, ReadsEveryFormByItselfAndByName)
{
    for (const FormatCase& c : format_cases()) {
        for (const std::string& given : {std::string(), c.trainer}) {
            SCOPED_TRACE(c.trainer + (given.empty() ? " found" : " named") + ": " + c.log.substr(0, 60));
            LogReader reader(plan_of_log(given));
            const std::vector<LoggedStep> steps = steps_of(c.log, reader);
            ASSERT_THAT(steps, SizeIs(c.seconds.size()));
            EXPECT_EQ(reader.trainer(), c.trainer);
            EXPECT_DOUBLE_EQ(reader.peak_memory(), c.memory);
            for (std::size_t i = 0; i < steps.size(); ++i) {
                EXPECT_NEAR(steps[i].seconds, c.seconds[i], 1e-9);
                EXPECT_EQ(steps[i].number, c.numbers[i]);
                EXPECT_EQ(steps[i].steps, c.steps[i]);
            }
        }
    }
}

TEST(LogReader, GivesTheBatchByTheSamplesSoFar)
{
    const auto line = [](int step, int samples) {
        return " iteration " + std::to_string(step) + "/1000 | consumed samples: " + std::to_string(samples) +
               " | elapsed time per iteration (ms): 28.1 |\n";
    };
    const auto batches = [](const std::string& text) {
        LogReader reader(plan_of_log());
        std::vector<double> found;
        for (const LoggedStep& step : steps_of(text, reader)) {
            found.push_back(step.sequences);
        }
        return found;
    };
    EXPECT_THAT(batches(line(1, 128) + line(2, 256) + line(3, 512)), ElementsAre(128.0, 128.0, 256.0));
    EXPECT_THAT(batches(line(10, 1280) + line(20, 2560)), ElementsAre(128.0, 128.0));
    EXPECT_THAT(batches(line(7, 1000) + line(8, 1128)), ElementsAre(0.0, 128.0));  // after a ramp
    // The job was restarted.
    EXPECT_THAT(batches(line(1, 128) + line(2, 256) + line(1, 128)), ElementsAre(128.0, 128.0, 128.0));
}

TEST(LogReader, FindsMetricsInSections)
{
    for (const char* column :
         {"perf/step_time", "timing/step_time", "time_metrics/end_to_end(s)", "run - perf/step_time",
          "time/step", "perf/step_time_seconds", "timing/train/total_step_time"}) {
        LogReader reader(plan_of_log());
        const std::vector<LoggedStep> steps = steps_of(
            "Step,loss,eval/step_time," + std::string(column) + "\n1,3.0,99,6.2\n2,2.9,99,6.4\n", reader);
        ASSERT_THAT(steps, SizeIs(2)) << column;
        EXPECT_EQ(steps[1].seconds, 6.4) << column;
        EXPECT_EQ(steps[1].number, 2) << column;
    }
    LogReader reader(plan_of_log());
    EXPECT_THAT(steps_of("Step,perf/step_time_ms\n1,6200\n", reader).at(0).seconds, 6.2);
}

TEST(LogReader, NamesTheColumnsOfATableWithoutStepTimes)
{
    LogReader reader(plan_of_log());
    const std::string text = refusal_of([&] { reader.add("_step,_runtime,train/loss\n1,6,3.0\n"); });
    EXPECT_THAT(text, HasSubstr("job.log:1: "));
    EXPECT_THAT(text, HasSubstr("_runtime"));
    EXPECT_THAT(text, HasSubstr("step_time_s"));
}

TEST(LogReader, GivesTheBatchThatLinesState)
{
    LogReader reader(plan_of_log());
    const auto steps = steps_of(
        " iteration 1/ 100 | consumed samples: 512 | elapsed time per iteration (ms): 3100.0 | global batch "
        "size:  512 |\n"
        " iteration 2/ 100 | consumed samples: 1536 | elapsed time per iteration (ms): 6200.0 | global batch "
        "size: 1024 |\n"
        " iteration 3/ 100 | elapsed time per iteration (ms): 6200.0 |\n",
        reader);
    ASSERT_THAT(steps, SizeIs(3));
    EXPECT_EQ(steps[0].sequences, 512.0);
    EXPECT_EQ(steps[1].sequences, 1024.0);
    EXPECT_EQ(steps[1].samples, 1536.0);
    EXPECT_EQ(steps[2].sequences, 0.0);
    LogReader rounded(plan_of_log());  // of a plan with 1000
    const auto of_nanotron = steps_of(
        "[INFO]: iteration: 1 / 9 | time_per_iteration_ms: 6.2K | global_batch_size: 1K | x: 1\n"
        "[INFO]: iteration: 2 / 9 | time_per_iteration_ms: 6.2K | global_batch_size: 1.02K | x: 1\n",
        rounded);
    ASSERT_THAT(of_nanotron, SizeIs(2));
    EXPECT_EQ(of_nanotron[0].sequences, 1000.0);
    EXPECT_EQ(of_nanotron[1].sequences, 1020.0);
}

TEST(LogReader, CountsALineOfWholeSecondsFromTheStartOfItsProcess)
{
    LogReader reader(plan_of_log());
    const auto bar = [](int step, const std::string& elapsed) {
        return " 1%|  | " + std::to_string(step) + "/1000 [" + elapsed + "<41:40,  6.2s/it]\r";
    };
    // The process goes on from step 40 after it has printed 59.
    const auto steps =
        steps_of(bar(49, "00:12") + bar(59, "01:14") + bar(41, "00:06") + bar(51, "01:08"), reader);
    ASSERT_THAT(steps, SizeIs(2));
    EXPECT_DOUBLE_EQ(steps[0].seconds, 6.2);
    EXPECT_DOUBLE_EQ(steps[1].seconds, 6.2);
    EXPECT_TRUE(steps[1].restarted);
    EXPECT_EQ(reader.restarts(), 1);
    EXPECT_EQ(steps[1].lines, 2);
    EXPECT_EQ(steps[1].first, 41);
}

TEST(LogReader, HasACaseForEveryForm)
{
    const std::vector<FormatCase> cases = format_cases();
    for (const LogFormat& format : log_formats()) {
        EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const FormatCase& c) {
            return c.trainer == format.name;
        })) << format.name;
    }
}

TEST(LogReader, ChunksDoNotMatter)
{
    for (const FormatCase& c : format_cases()) {
        SCOPED_TRACE(c.log.substr(0, 60));
        for (const std::size_t size : {1UL, 7UL}) {
            LogReader reader(plan_of_log());
            std::vector<double> seconds;
            for (std::size_t at = 0; at < c.log.size(); at += size) {
                reader.add(std::string_view(c.log).substr(at, size));
            }
            reader.finish();
            for (const LoggedStep& step : reader.drain()) {
                seconds.push_back(step.seconds);
            }
            ASSERT_THAT(seconds, SizeIs(c.seconds.size()));
            for (std::size_t i = 0; i < seconds.size(); ++i) {
                EXPECT_NEAR(seconds[i], c.seconds[i], 1e-9);
            }
        }
    }
}

TEST(LogReader, HalfALineIsNotReadWhereReadingStops)
{
    LogReader reader(plan_of_log());
    reader.add("1.25\n1.26\n1.27\n0.");
    reader.finish(true);
    EXPECT_THAT(reader.drain(), SizeIs(3));
}

TEST(LogReader, APartialLastLineWaits)
{
    LogReader reader(plan_of_log());
    reader.add("1.5\n12");
    EXPECT_THAT(reader.drain(), SizeIs(1));
    reader.add(".5\n");
    const auto steps = reader.drain();
    ASSERT_THAT(steps, SizeIs(1));
    EXPECT_DOUBLE_EQ(steps.front().seconds, 12.5);
}

std::string megatron(int iteration, const std::string& ms, const std::string& prefix = "")
{
    return prefix + " iteration " + std::to_string(iteration) +
           "/ 100 | consumed samples: 1 | elapsed time per iteration (ms): " + ms + " | lm loss: 1.0 |\n";
}

std::vector<std::int64_t> numbers_of(const std::vector<LoggedStep>& steps)
{
    std::vector<std::int64_t> numbers;
    for (const LoggedStep& step : steps) {
        numbers.push_back(step.number);
    }
    return numbers;
}

TEST(LogReader, NoticesRestarts)
{
    LogReader reader(plan_of_log());
    const auto steps = steps_of(megatron(1, "10.0") + megatron(2, "10.0") + megatron(3, "10.0") +
                                    megatron(2, "11.0") + megatron(3, "12.0"),
                                reader);
    EXPECT_THAT(numbers_of(steps), ElementsAre(1, 2, 3, 2, 3));
    EXPECT_TRUE(steps[3].restarted);
    EXPECT_FALSE(steps[4].restarted);
    EXPECT_EQ(reader.restarts(), 1);
}

/// A job that handles the signal makes a few steps more; one that goes on was another's, or a step's of srun.
TEST(LogReader, CountsARestartAfterATimeLimit)
{
    const std::string limit = "*** JOB 7 ON n1 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***\n";
    const auto line = [](int number) {
        return fmt::format(" iteration {:8}/    5000 | elapsed time per iteration (ms): 50000.0 |\n", number);
    };
    const auto at_limits = [](const std::string& text) {
        LogReader reader(plan_of_log("megatron"));
        steps_of(text, reader);
        return reader.restarts_at_time_limits();
    };
    EXPECT_EQ(at_limits(line(1) + line(2) + limit + line(1)), 1);
    EXPECT_EQ(at_limits(line(1) + line(2) + limit + line(3) + line(1)), 1);
    EXPECT_EQ(at_limits(line(1) + line(2) + limit + line(3) + line(4) + line(5) + line(1)), 0);
    EXPECT_EQ(at_limits(line(1) + line(2) + limit + line(1) + line(2) + line(1)), 1);
}

TEST(LogReader, LeavesTornLinesOut)
{
    LogReader reader(plan_of_log());
    const auto steps =
        steps_of(megatron(1, "10.0") + " iteration 2/ 100 | elapsed time per itera" + megatron(3, "30.0") +
                     " iteration 4/ 100 | elapsed time per iteration (ms): 12warning: slow\n" +
                     megatron(5, "50.0") + " iteration 6/ 100 | elapsed time per iteration (ms): 60\n",
                 reader);
    EXPECT_THAT(numbers_of(steps), ElementsAre(1, 3, 5));
    EXPECT_DOUBLE_EQ(steps[1].seconds, 0.03);
    EXPECT_EQ(steps[1].steps, 2);  // the only difference known so far
}

TEST(LogReader, ReadsTwoLinesThatWereJoined)
{
    LogReader reader(plan_of_log());
    std::string first = megatron(1, "10.0");
    first.pop_back();
    EXPECT_THAT(numbers_of(steps_of(first + megatron(2, "20.0") + megatron(3, "20.0"), reader)),
                ElementsAre(1, 2, 3));
}

TEST(LogReader, ReadsOneRankOfSeveral)
{
    LogReader reader(plan_of_log());
    const auto steps = steps_of(megatron(1, "10.0", "[default3]:") + megatron(1, "11.0", "[default1]:") +
                                    megatron(2, "21.0", "[default1]:") + megatron(2, "20.0", "[default3]:") +
                                    megatron(3, "30.0", " 3: ") + megatron(3, "30.0", "[default3]:"),
                                reader);
    EXPECT_THAT(numbers_of(steps), ElementsAre(1, 2, 3));
    EXPECT_DOUBLE_EQ(steps[1].seconds, 0.02);
    EXPECT_EQ(reader.restarts(), 0);
}

TEST(LogReader, AveragesOverTheIntervalWhereALineIsMissing)
{
    LogReader reader(plan_of_log());
    const auto steps = steps_of(megatron(10, "1.0") + megatron(20, "1.0") + megatron(40, "1.0"), reader);
    EXPECT_EQ(steps[2].steps, 10);
}

/// The message of the error that a text causes.
std::string refusal(const std::string& text, LogOptions options)
{
    try {
        LogReader reader(std::move(options));
        steps_of(text, reader);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(LogReader, RefusesRanksThatWriteByTurns)
{
    const auto lines = [](int first, int last) {
        std::string text;
        for (int step = first; step <= last; ++step) {
            text +=
                " iteration " + std::to_string(step) + "/ 5000 | elapsed time per iteration (ms): 1000.0 |\n";
        }
        return text;
    };
    std::string two_ranks;
    std::string restarts;
    std::string begins_again;
    for (int block = 0; block < 10; ++block) {
        const int first = 1 + 5 * block;
        two_ranks += lines(first, first + 4) + lines(first, first + 4);
        restarts += lines(1 + 5 * block, 8 + 5 * block);  // from a checkpoint of every fifth step
        begins_again += lines(1, 3 + block);              // before the first checkpoint
    }
    EXPECT_THAT(refusal(two_ranks, plan_of_log()), HasSubstr("lines of one rank"));
    EXPECT_EQ(refusal(restarts, plan_of_log()), "");
    EXPECT_EQ(refusal(begins_again, plan_of_log()), "");
}

TEST(LogReader, RefusesWhatIsNoStepTime)
{
    EXPECT_THAT(refusal("1.5\nabc\n", plan_of_log()), HasSubstr("job.log:2:"));
    EXPECT_THAT(refusal("1.5\n-2\n", plan_of_log()), HasSubstr("job.log:2:"));
    EXPECT_THAT(refusal("1.5\nnan\n", plan_of_log()), HasSubstr("job.log:2:"));
    EXPECT_THAT(refusal("step,seconds\n1,2\n2\n", plan_of_log()), HasSubstr("job.log:3:"));
    EXPECT_THAT(refusal("step,seconds\n1,2\nx,2\n", plan_of_log()), HasSubstr("job.log:3:"));
    EXPECT_THAT(refusal("step,loss\n1,2\n", plan_of_log("csv")), HasSubstr("step_time_s"));
    EXPECT_THAT(refusal("[batch=11/4800]:\n\t Train throughput/batches_per_sec: 5e-324\n", plan_of_log()),
                HasSubstr("job.log:2: the line has no step time above 0"));
    EXPECT_THAT(refusal("[step=99999999999999999999/4800,epoch=1,eta=3h]\n    throughput/device/BPS=0.43\n",
                        plan_of_log()),
                HasSubstr("the line has no step number"));
    EXPECT_THAT(refusal("", plan_of_log("megatrno")), HasSubstr("did you mean 'megatron'"));
    EXPECT_THAT(refusal("step: 1  loss: 1.0  tps: 100  tflops: 1.0\n", {.path = "job.log", .trainer = ""}),
                HasSubstr("job.log:1:"));
}

TEST(LogReader, FindsNothingInOtherText)
{
    LogReader reader(plan_of_log());
    EXPECT_THAT(steps_of("hello\nloading 3/4 shards\n{\"step\": 1}\n", reader), SizeIs(0));
    EXPECT_EQ(reader.trainer(), "");
    EXPECT_EQ(reader.lines(), 3);
}

/// NeMo counts from 0, so that its last step has the number that it prints.
TEST(LogReader, KnowsTheStepsOfTheWholeTraining)
{
    LogReader nemo(plan_of_log("nemo"));
    steps_of("Training epoch 0, iteration 30/49 | lr: 1e-5 | train_step_timing in s: 1.5\n", nemo);
    EXPECT_EQ(nemo.total_steps(), 50.0);
    LogReader megatron(plan_of_log("megatron"));
    steps_of(" iteration       10/    5000 | elapsed time per iteration (ms): 9812.4 | lm loss: 9.1E+00 |\n",
             megatron);
    EXPECT_EQ(megatron.total_steps(), 5000.0);
}

}  // namespace
}  // namespace prismopt
