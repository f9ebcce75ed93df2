/// What the detector says of public series of step times, in the folder that PRISMOPT_DATA names.

#include "io/base/csv.hpp"
#include "io/logs/log_reader.hpp"
#include "model/run/changes/change_detector.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace prismopt {
namespace {

class PublicSeries : public testing::Test {
protected:
    void SetUp() override
    {
        const char* folder = std::getenv("PRISMOPT_DATA");
        if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / "mlperf_step_series.csv")) {
            GTEST_SKIP() << "PRISMOPT_DATA names no folder with mlperf_step_series.csv";
        }
        rows_ = read_csv((std::filesystem::path(folder) / "mlperf_step_series.csv").string());
    }

    /// The detector after a series, read as a log with a number per line.
    ChangeDetector after(const std::string& system, const std::string& result, int baseline) const
    {
        for (const CsvRow& row : rows_) {
            if (row.text("system") == system && row.text("result_file") == result) {
                std::string log = row.text("step_times_s_space_separated");
                std::replace(log.begin(), log.end(), ' ', '\n');
                LogOptions options;
                options.path = system;
                LogReader reader(options);
                reader.add(log);
                reader.finish();
                ChangeDetector detector({.baseline = baseline});
                for (const LoggedStep& step : reader.take()) {
                    detector.add({step.number, step.seconds, step.steps, step.restarted});
                }
                return detector;
            }
        }
        throw std::runtime_error("no series of " + system);
    }

    std::vector<CsvRow> rows_;
};

TEST_F(PublicSeries, SteadyJobsHaveNoChanges)
{
    for (const char* system : {"eos_n64_ngc23.09_nemo", "b200_n8_preview_nemo", "eos_n32_ngc24.09_nemo"}) {
        for (const char* result : {"result_0.txt", "result_1.txt", "result_2.txt"}) {
            const ChangeDetector detector = after(system, result, 200);
            EXPECT_TRUE(detector.baseline()) << system << result;
            EXPECT_TRUE(detector.changes().empty()) << system << result;
        }
    }
}

TEST_F(PublicSeries, AJobThatBecomesSlowerIsFound)
{
    for (const char* result : {"result_0.txt", "result_1.txt", "result_2.txt"}) {  // 2.73 s at first, 3.2 s after 200 steps
        const ChangeDetector detector = after("3072xBM.GPU.H100.8", result, 50);
        const std::vector<Change> changes = detector.changes();
        ASSERT_FALSE(changes.empty()) << result;
        EXPECT_GT(changes.front().size, 0.03) << result;
        EXPECT_LT(changes.front().since, 100) << result;
    }
}

TEST_F(PublicSeries, SingleSlowStepsAreSpikes)
{
    const ChangeDetector detector = after("eos_n64_ngc23.09_nemo", "result_1.txt", 200);
    ASSERT_FALSE(detector.spikes().empty());
    double largest = 0.0;
    for (const Spike& spike : detector.spikes()) {
        largest = std::max(largest, spike.excess);
    }
    EXPECT_NEAR(largest, 0.25, 0.02);
}

}  // namespace
}  // namespace prismopt
