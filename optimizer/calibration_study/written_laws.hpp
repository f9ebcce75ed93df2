#pragma once

/// The distributions that `calibrate` writes for jobs with known variance.

#include "model/calibration/trace/synthetic_job.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A job with some components of the variance, and the coefficients of variation of the true distributions; zero: constant.
struct KnownJob {
    std::string part;
    SyntheticJob job;
    std::vector<std::pair<std::string, double>> cv;  // by key of [variability]
};

/// Jobs with each variance component in turn, in addition to that of operations, and with all; 1,000 steps and more.
std::vector<KnownJob> known_jobs();

enum class Written { law, constant, left };

/// A distribution as a scenario reads it from the written file.
struct WrittenLaw {
    std::string part;
    std::string key;
    double truth = 0.0;
    double cv = 0.0;
    double low = 0.0, high = 0.0;  // 95 % confidence interval
    Written written = Written::left;

    /// Whether the cv is inside its interval; for an absent component: whether no distribution was written.
    bool right() const
    {
        return truth > 0.0 ? written == Written::law && low <= truth && truth <= high : written != Written::law;
    }
};

std::vector<WrittenLaw> written_laws(const KnownJob& known, unsigned seed);

}  // namespace prismopt
