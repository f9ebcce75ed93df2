#include "optimizer/api/search.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/loop/study_journal.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

constexpr double most_time_s = 1e9;  // 32 years: clocks count nanoseconds

void refuse_wrong_time(const StudyOptions& options)
{
    if (!options.max_time) {
        return;
    }
    const double seconds = options.max_time->count();
    if (!(seconds >= 0.0 && seconds <= most_time_s)) {
        throw InputError({},
                         fmt::format("--max-time {:g} s is not between 0 and {:g} s", seconds, most_time_s),
                         "leave it out for a search without a limit");
    }
}

}  // namespace

StudyEnd search(const Scenario& scenario, const StudyOptions& options)
{
    if (options.out.empty()) {
        throw InputError({}, "a search needs a results file", "set out, for example to study.h5");
    }
    refuse_wrong_time(options);
    Communicator alone;
    return run_study([&] { return std::optional(scenario); }, alone, options);
}

StudyEnd resume(const std::string& path, StudyOptions options)
{
    refuse_wrong_time(options);
    options.resume = true;
    options.out = results_path_of(path);
    Communicator alone;
    return run_study([&] { return resumable_scenario(path); }, alone, options);
}

std::optional<Scenario> resumable_scenario(const std::string& path)
{
    std::optional<Scenario> scenario = journaled_scenario(path);
    if (scenario) {
        refuse_results_of_another_study(*scenario, results_path_of(path));
    }
    return scenario;
}

}  // namespace prismopt
