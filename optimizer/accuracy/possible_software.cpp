#include "optimizer/accuracy/possible_software.hpp"

#include "io/trainers/trainer.hpp"

#include <cmath>
#include <numbers>

namespace prismopt {

StepsBySoftware::StepsBySoftware(const Setting& setting)
{
    for (const PossibleSoftware& software : setting.cluster.possible) {
        const Job& job = jobs_.emplace_back(Job{.workload = setting.workload,
                                                .phases = {setting.phase},
                                                .cluster = with_software(setting.cluster, software)});
        compilers_.emplace_back(Setting{job.workload, job.phases.front(), job.cluster, setting.noise,
                                        no_memory_limit, setting.orders});
    }
}

std::vector<std::optional<double>> StepsBySoftware::log_ratios(const ParallelPlan& plan)
{
    std::vector<std::optional<double>> steps;
    for (NoiseFreeCompiler& compiler : compilers_) {
        steps.push_back(compiler.log_step(plan));
    }
    std::vector<std::optional<double>> ratios;
    for (std::size_t k = 0; k < jobs_.size(); ++k) {
        const Job& job = jobs_[k];
        const bool assumed = k == 0;  // the prediction is of it
        const bool possible = assumed || runs(job.cluster.software.trainer, {plan, job.phases.front(), job});
        ratios.push_back(possible && steps[k] && steps.front() ? std::optional(*steps[k] - *steps.front())
                                                               : std::nullopt);
    }
    return ratios;
}

std::size_t drawn_software(std::span<const PossibleSoftware> possible, std::size_t draw)
{
    // Multiples of the golden ratio fill the unit interval evenly (Knuth, "The Art of Computer
    // Programming", volume 3, section 6.4).
    double left = std::fmod((static_cast<double>(draw) + 0.5) * std::numbers::phi, 1.0);
    for (std::size_t k = 0; k + 1 < possible.size(); ++k) {
        left -= possible[k].weight;
        if (left < 0.0) {
            return k;
        }
    }
    return possible.size() - 1;
}

}  // namespace prismopt
