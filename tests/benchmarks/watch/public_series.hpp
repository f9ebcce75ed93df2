#pragma once

/// Public series of step times, with injected changes and with their ends excluded.

#include <string>
#include <vector>

namespace prismopt::bench {

struct Series {
    std::string name;
    int job = 0;         // jobs of a system have one number
    bool grows = false;  // its steps become slower by more than 10 %, and their deviation tenfold
    std::vector<double> seconds;
};

/// Step times of MLPerf's GPT-3 jobs (mlperf_step_series.csv).
std::vector<Series> public_series(const std::string& folder);

/// Sections of results/watch.md.
std::string untouched_section(const std::vector<Series>& all);
std::string injected_section(const std::vector<Series>& all);
std::string forecast_section(const std::vector<Series>& all);

}  // namespace prismopt::bench
