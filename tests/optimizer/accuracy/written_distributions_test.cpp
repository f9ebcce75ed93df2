/// The distributions that `calibrate` writes for jobs with known variance. jobs/calibration_study judges
/// more of them, by their intervals.

#include "io/scenario/sections/sections.hpp"
#include "io/traces/calibration_toml.hpp"
#include "tests/support/synthetic_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

struct KnownDistribution {
    std::string key;
    double log_deviation = 0.0;  // zero: absent
    Distribution Variability::*distribution;
};

/// Those of a job, except for the residuals of classes.
std::vector<KnownDistribution> known_distributions(const SyntheticJob& job)
{
    return {{"common_compute", job.step, &Variability::common_compute},
            {"gpu", job.gpu, &Variability::gpu},
            {"node", 0.0, &Variability::node},
            {"stage", job.stage, &Variability::stage},
            {"microbatch", job.microbatch, &Variability::microbatch},
            {"common_communication", job.communication_step, &Variability::common_communication},
            {"operation", job.residual, &Variability::operation}};
}

bool written(const Calibration& calibration, const std::string& key)
{
    return std::any_of(calibration.distributions.begin(), calibration.distributions.end(),
                       [&](const CalibratedDistribution& distribution) { return distribution.key == key; });
}

double cv_of(const Distribution& distribution) { return DistributionQuantile(distribution).moments().cv(); }
double cv_of(double log_deviation) { return std::sqrt(std::expm1(log_deviation * log_deviation)); }

/// Each part of the variance in turn: the written distribution has its cv, and no distribution is
/// written of what does not vary.
TEST(WrittenDistributions, HaveTheVarianceOfTheJob)
{
    std::vector<SyntheticJob> jobs(4);
    for (SyntheticJob& job : jobs) {
        job.communication = 0.05;
        job.steps = 400;
    }
    jobs[1].step = 0.02;
    jobs[2].gpu = 0.03;
    jobs[2].replicas = 12;
    jobs[3].communication_step = 0.1;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Calibration calibration = calibrate(SyntheticTrace(jobs[i], 7).next());
        const TomlFile file = parse_toml(variability_toml(calibration, "hpc-2024"), "written.toml");
        Table root(file.root, file);
        const Variability read = read_variability(root.section("variability", ""));
        for (const KnownDistribution& known : known_distributions(jobs[i])) {
            const std::string what = "job " + std::to_string(i) + ", " + known.key;
            const double truth = cv_of(known.log_deviation);
            const double found = cv_of(read.*known.distribution);
            if (truth > 0.0) {
                EXPECT_TRUE(written(calibration, known.key)) << what;
                // Gross errors: beyond three standard errors of the spread of 24 GPUs (1/sqrt(48)), and of a
                // distribution of 400 steps (1/sqrt(800)).
                EXPECT_NEAR(found, truth, known.key == "gpu" ? 0.5 * truth : 0.12 * truth) << what;
            } else {
                EXPECT_TRUE(!written(calibration, known.key) || found < 0.01) << what << ' ' << found;
            }
        }
        for (const KernelClass kernel : {KernelClass::p2p, KernelClass::dp_collective}) {
            EXPECT_NEAR(cv_of(residual_distribution(read, kernel)), cv_of(jobs[i].communication),
                        0.12 * cv_of(jobs[i].communication))
                << i;
        }
        EXPECT_FALSE(written(calibration, "node")) << i;
        EXPECT_FALSE(written(calibration, "residual.elementwise")) << i;
    }
}

}  // namespace
}  // namespace prismopt
