/// What the detector says of public series of step times, in the folder that PRISMOPT_DATA names.

#include "io/base/csv.hpp"
#include "io/logs/log_reader.hpp"
#include "model/run/changes/change_detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace prismopt {
namespace {

/// A series. The steps of three jobs become slower by more than 10 % by themselves, and
/// their deviation grows tenfold.
struct PublicJob {
    std::string name;
    bool grows = false;
    std::vector<double> seconds;
};

class PublicSeries : public testing::Test {
protected:
    void SetUp() override
    {
        const char* folder = std::getenv("PRISMOPT_DATA");
        if (folder == nullptr ||
            !std::filesystem::exists(std::filesystem::path(folder) / "mlperf_step_series.csv")) {
            GTEST_SKIP() << "PRISMOPT_DATA names no folder with mlperf_step_series.csv";
        }
        for (const CsvRow& row :
             read_csv((std::filesystem::path(folder) / "mlperf_step_series.csv").string())) {
            std::istringstream numbers(row.text("step_times_s_space_separated"));
            PublicJob job{row.text("system") + " " + row.text("result_file"),
                          row.text("system") == "3072xBM.GPU.H100.8",
                          {}};
            for (double seconds = 0.0; numbers >> seconds;) {
                job.seconds.push_back(seconds);
            }
            jobs_.push_back(job);
        }
    }

    /// The detector after a series, read as a log with a number per line.
    static ChangeDetector after(const std::vector<double>& series, int baseline)
    {
        std::ostringstream log;
        for (const double seconds : series) {
            log << seconds << "\n";
        }
        LogOptions options;
        options.path = "series";
        LogReader reader(options);
        reader.add(log.str());
        reader.finish();
        ChangeDetector detector({.baseline = baseline});
        for (const LoggedStep& step : reader.drain()) {
            detector.add({step.number, step.seconds, step.steps, step.restarted});
        }
        return detector;
    }

    const std::vector<double>& series_of(const std::string& name) const
    {
        return std::find_if(jobs_.begin(), jobs_.end(),
                            [&](const PublicJob& job) { return job.name == name; })
            ->seconds;
    }

    std::vector<PublicJob> jobs_;
};

constexpr int short_baseline = 100;
constexpr std::int64_t first_change = 106;  // after the baseline and five steps of warm-up
constexpr std::int64_t least_rest = 40;

/// A series slower by `size` from a random step on: steps to the first change that is found; 0: none.
std::int64_t delay_of(const PublicJob& job, double size, std::uint64_t seed)
{
    std::mt19937_64 generator(seed);
    const auto steps = std::ssize(job.seconds);
    const std::int64_t at =
        std::uniform_int_distribution<std::int64_t>(first_change, steps - least_rest + 1)(generator);
    ChangeDetector detector({.baseline = short_baseline});
    for (std::int64_t number = 1; number <= steps; ++number) {
        const double seconds = job.seconds[static_cast<std::size_t>(number) - 1];
        detector.add({number, seconds * (number >= at ? 1.0 + size : 1.0), 1, false});
        const std::vector<Change> changes = detector.changes();
        if (number >= at && !changes.empty() && changes.back().found == number && changes.back().size > 0.0) {
            return number - at + 1;
        }
    }
    return 0;
}

TEST_F(PublicSeries, SteadyJobsHaveNoChanges)
{
    for (const PublicJob& job : jobs_) {
        for (const int baseline : {50, 100, 200}) {
            if (!job.grows && std::ssize(job.seconds) >= baseline + 5) {
                const ChangeDetector detector = after(job.seconds, baseline);
                EXPECT_TRUE(detector.baseline()) << job.name << baseline;
                EXPECT_TRUE(detector.changes().empty()) << job.name << baseline;
            }
        }
    }
}

TEST_F(PublicSeries, InjectedShiftsAreFound)
{
    struct Case {
        double size;
        std::int64_t within;
        double share;
    };
    constexpr int injections = 5;
    for (const Case& expected : {Case{0.02, 40, 0.95}, Case{0.05, 12, 0.99}, Case{0.1, 6, 0.99}}) {
        double found = 0.0;
        double all = 0.0;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            for (std::uint64_t k = 0; k < injections && !jobs_[i].grows; ++k) {
                const std::int64_t delay = delay_of(jobs_[i], expected.size, injections * i + k);
                found += delay > 0 && delay <= expected.within ? 1.0 : 0.0;
                all += 1.0;
            }
        }
        EXPECT_GE(found / all, expected.share) << expected.size;
    }
}

TEST_F(PublicSeries, AJobThatBecomesSlowerIsFound)
{
    for (const PublicJob& job : jobs_) {
        if (job.grows) {  // 2.73 s at first, 3.2 s after 200 steps
            const std::vector<Change> changes = after(job.seconds, 50).changes();
            ASSERT_FALSE(changes.empty()) << job.name;
            EXPECT_GT(changes.front().size, 0.03) << job.name;
            EXPECT_LT(changes.front().since, 100) << job.name;
        }
    }
}

TEST_F(PublicSeries, SingleSlowStepsAreSpikes)
{
    const ChangeDetector detector = after(series_of("eos_n64_ngc23.09_nemo result_1.txt"), 200);
    ASSERT_FALSE(detector.spikes().empty());
    double largest = 0.0;
    for (const Spike& spike : detector.spikes()) {
        largest = std::max(largest, spike.excess);
    }
    EXPECT_NEAR(largest, 0.25, 0.02);
}

}  // namespace
}  // namespace prismopt
