#include "optimizer/calibration_study/written_laws.hpp"

#include "io/scenario/sections/sections.hpp"
#include "io/traces/calibration_toml.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

double cv_of(double variance_of_logs) { return std::sqrt(std::expm1(variance_of_logs)); }

/// How near a family that fits comes to the values' cv: it is chosen by its shape.
constexpr double of_family = 0.03;

const Component* component_of(const Calibration& calibration, const std::string& key)
{
    if (key == "common_communication") {
        return calibration.communication.empty() ? nullptr : &calibration.communication.front();
    }
    const std::string name = key == "common_compute" ? "step" : key == "operation" ? "residual" : key;
    const auto found = std::find_if(calibration.components.begin(), calibration.components.end(),
                                    [&](const Component& component) { return component.name == name; });
    return found == calibration.components.end() ? nullptr : &*found;
}

/// 95 % limits of a law's cv over the cv: of its component, or as a standard deviation of n draws is known, to 1 / sqrt(2 n).
std::pair<double, double> relative_limits(const Calibration& calibration, const CalibratedLaw& law)
{
    const Component* component = component_of(calibration, law.key);
    if (component != nullptr && component->variance > 0.0) {
        return {std::sqrt(component->low / component->variance), std::sqrt(component->high / component->variance)};
    }
    const double error = 1.96 / std::sqrt(2.0 * static_cast<double>(std::max<std::size_t>(1, law.fit.values)));
    return {1.0 - error, 1.0 + error};
}

const Law& law_of(const Variability& variability, const std::string& key)
{
    const std::pair<const char*, const Law*> laws[] = {{"common_compute", &variability.common_compute},
                                                       {"gpu", &variability.gpu},
                                                       {"node", &variability.node},
                                                       {"stage", &variability.stage},
                                                       {"microbatch", &variability.microbatch},
                                                       {"operation", &variability.operation},
                                                       {"common_communication", &variability.common_communication}};
    for (const auto& [name, law] : laws) {
        if (key == name) {
            return *law;
        }
    }
    for (const KernelClassRow& row : kernel_class_rows) {
        if (key == residual_key(row.kernel)) {
            return residual_law(variability, row.kernel);
        }
    }
    throw InputError(key + ": unknown distribution");
}

KnownJob known_job(const std::string& part, const SyntheticJob& job)
{
    const double step = job.step * job.step + job.drift * job.drift;  // a step's quantiles have both
    return {part,
            job,
            {{"common_compute", cv_of(step)},
             {"gpu", cv_of(job.gpu * job.gpu)},
             {"node", 0.0},
             {"stage", cv_of(job.stage * job.stage)},
             {"microbatch", cv_of(job.microbatch * job.microbatch)},
             {"common_communication", cv_of(job.communication_step * job.communication_step)},
             {"operation", cv_of(job.residual * job.residual)},
             {"residual.elementwise", 0.0},
             {"residual.p2p", cv_of(job.communication * job.communication)},
             {"residual.dp_collective", cv_of(job.communication * job.communication)}}};
}

}  // namespace

std::vector<KnownJob> known_jobs()
{
    std::vector<KnownJob> jobs;
    const auto add = [&](const char* part, auto set) {
        SyntheticJob job;
        job.communication = 0.05;
        set(job);
        jobs.push_back(known_job(part, job));
    };
    add("operations only", [](SyntheticJob&) {});
    add("step", [](SyntheticJob& job) { job.step = 0.02; });
    add("drift", [](SyntheticJob& job) {
        job.drift = 0.02;
        job.drift_steps = 20.0;
        job.steps = 2000;
    });
    add("GPU", [](SyntheticJob& job) {
        job.gpu = 0.03;
        job.replicas = 12;
    });
    add("stage in a step", [](SyntheticJob& job) { job.stage = 0.03; });
    add("microbatch", [](SyntheticJob& job) { job.microbatch = 0.1; });
    add("communication of a step", [](SyntheticJob& job) { job.communication_step = 0.1; });
    add("position of a transfer", [](SyntheticJob& job) { job.position = 0.3; });
    add("optimizer in some steps", [](SyntheticJob& job) { job.slow_clip = 2.0; });
    add("all", [](SyntheticJob& job) {
        job.step = 0.02;
        job.gpu = 0.03;
        job.stage = 0.02;
        job.microbatch = 0.1;
        job.communication_step = 0.1;
        job.position = 0.3;
        job.slow_clip = 2.0;
        job.replicas = 8;
    });
    return jobs;
}

std::vector<WrittenLaw> written_laws(const KnownJob& known, unsigned seed)
{
    const Calibration calibration = calibrate(SyntheticTrace(known.job, seed).next());
    const TomlFile file = parse_toml(variability_toml(calibration, "hpc-2024"), "written.toml");
    Table root(file.root, file);
    const Variability read = read_variability(root.section("variability", ""));
    std::vector<WrittenLaw> laws;
    for (const auto& [key, truth] : known.cv) {
        const Law& law = law_of(read, key);
        WrittenLaw written{known.part, key, truth, LawQuantile(law).moments().cv(), 0.0, 0.0, Written::left};
        const auto fitted = std::find_if(calibration.laws.begin(), calibration.laws.end(),
                                         [&, &key = key](const CalibratedLaw& l) { return l.key == key; });
        if (fitted != calibration.laws.end()) {
            written.written = written.cv > 0.0 ? Written::law : Written::constant;
            const auto [low, high] = relative_limits(calibration, *fitted);
            written.low = (1.0 - of_family) * low * written.cv;
            written.high = (1.0 + of_family) * high * written.cv;
        }
        laws.push_back(written);
    }
    return laws;
}

}  // namespace prismopt
