#pragma once

/// The laws that `calibrate` writes for jobs whose variance is known.

#include "model/calibration/trace/synthetic_job.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A job with some parts of the variance, and the coefficients of variation of the laws that this is; zero: nothing varies.
struct KnownJob {
    std::string part;
    SyntheticJob job;
    std::vector<std::pair<std::string, double>> cv;  // by key of [variability]
};

/// Each part of the variance in turn, beside operations' own, and all at once; 1,000 steps and more.
std::vector<KnownJob> known_jobs();

enum class Written { law, constant, left };

/// A law as a scenario reads it from what was written.
struct WrittenLaw {
    std::string part;
    std::string key;
    double truth = 0.0;
    double cv = 0.0;
    double low = 0.0, high = 0.0;  // 95 % limits
    Written written = Written::left;

    /// Within the limits; of a part that is not there: no law.
    bool right() const
    {
        return truth > 0.0 ? written == Written::law && low <= truth && truth <= high : written != Written::law;
    }
};

std::vector<WrittenLaw> written_laws(const KnownJob& known, unsigned seed);

}  // namespace prismopt
