#include "optimizer/api/search.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/loop/study_journal.hpp"

namespace prismopt {

StudyEnd search(const Scenario& scenario, const StudyOptions& options)
{
    if (options.out.empty()) {
        throw InputError({}, "a search needs a results file", "set out, for example to study.h5");
    }
    Communicator alone;
    return run_study([&] { return std::optional(scenario); }, alone, options);
}

StudyEnd resume(const std::string& path, StudyOptions options)
{
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
