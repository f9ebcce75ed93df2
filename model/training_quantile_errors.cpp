#include "model/training_quantile_errors.hpp"

#include "model/base/parallel.hpp"
#include "model/productive_times.hpp"

#include <algorithm>

namespace prismopt {

namespace {

std::vector<double> smooth_quantiles(std::vector<double> times, const SmoothQuantiles& smooth)
{
    std::sort(times.begin(), times.end());
    return smooth(times);
}

}  // namespace

std::vector<double> training_without_section(const DrawnRun& run, const Sections& of_fleets,
                                             std::size_t excluded)
{
    const Sections of_steps{of_fleets.count, of_fleets.size * static_cast<std::size_t>(run.steps)};
    PhaseDraws others;
    for (const std::vector<double>& phase : run.draws) {
        others.push_back(without_section(phase, of_steps, excluded));
    }
    const std::vector<Phase> phases(run.phases.begin(), run.phases.end());
    std::vector<double> result = productive_times(phases, others, run.steps).seconds;
    const std::vector<double> with_all = without_section(run.productive, of_fleets, excluded);
    const std::vector<double> with_history = without_section(run.training, of_fleets, excluded);
    for (std::size_t f = 0; f < result.size(); ++f) {
        result[f] *= with_history[f] / with_all[f];
    }
    return result;
}

std::vector<double> TrainingQuantileErrors::operator()(const DrawnRun& run, const Confidence& confidence)
{
    const std::size_t fleets = run.training.size();
    const Sections sections = sections_of(fleets, {1, block_fleets});
    if (sections.count == 0) {
        return {};
    }
    const SmoothTrainingQuantiles& smooth = smooth_.try_emplace(fleets, fleets, probabilities_).first->second;
    const std::vector<double> of_all =
        smooth_quantiles({run.training.begin(), run.training.end()}, smooth.all);
    std::vector<std::vector<double>> pseudo_values(probabilities_.size(),
                                                   std::vector<double>(sections.count));
    parallel_for(static_cast<std::int64_t>(sections.count), [&](int, std::int64_t s) {
        const auto section = static_cast<std::size_t>(s);
        const auto of_others =
            smooth_quantiles(training_without_section(run, sections, section), smooth.others);
        for (std::size_t i = 0; i < probabilities_.size(); ++i) {
            pseudo_values[i][section] = pseudo_value(of_all[i], of_others[i], fleets, sections);
        }
    });
    std::vector<double> errors;
    for (const std::vector<double>& values : pseudo_values) {
        errors.push_back(jackknife_estimate(0.0, values, confidence).high);
    }
    return errors;
}

}  // namespace prismopt
