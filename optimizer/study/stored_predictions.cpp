#include "optimizer/study/stored_predictions.hpp"

#include "io/base/input_error.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/hardware_bench.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <variant>

namespace prismopt {

namespace {

/// Relative difference up to which step times are of one model. One build predicts the same bits, and other
/// compilers change the last digits only; 1 % is the precision with which a shortlist is measured.
constexpr double same_model = 0.01;

/// Values that the file does not have agree with all.
bool agree(double stored_s, double predicted_s)
{
    return !(stored_s > 0.0) || std::abs(predicted_s / stored_s - 1.0) <= same_model;
}

/// `stored`, `predicted`: in words, by the build that wrote the results and by this one.
InputError other_predictions(const Results& results, const FrontPoint& plan, const std::string& stored,
                             const std::string& predicted)
{
    return InputError(fmt::format(
        "results of {}: plan {} has {} by {}, which wrote them, and {} by {}, so stored and new predictions "
        "cannot be mixed; search again with this version (prismopt init --from RESULTS --out again.toml, "
        "then prismopt search again.toml), or use the version that wrote the results",
        results.study.scenario_name, plan.index, stored, build_text(results.study.build), predicted,
        build_text(this_build())));
}

void refuse_other_step(const Results& results, const FrontPoint& plan, const std::string& step,
                       double stored_s, double predicted_s)
{
    if (!agree(stored_s, predicted_s)) {
        throw other_predictions(results, plan, fmt::format("a {} of {:.4g} s", step, stored_s),
                                fmt::format("of {:.4g} s", predicted_s));
    }
}

void refuse_other_noise_free_step(const StudyModel& model, const Results& results, const FrontPoint& plan,
                                  HardwareBench& bench)
{
    const Point point = model.designs.space().point(plan.index);
    Predictor& predictor = bench.of(model.designs.variant(point));
    const auto compiled = predictor.compile(model.designs.plan(point), CompileFor::noise_free_step);
    const double stored_s = plan.prediction.noise_free_step_s;
    if (const auto* why = std::get_if<Infeasible>(&compiled)) {
        throw other_predictions(results, plan, fmt::format("a noise-free step of {:.4g} s", stored_s),
                                fmt::format("is infeasible ({})", infeasible_text(*why)));
    }
    const CompiledPlan& first_phase = std::get<CompiledRun>(compiled).phases.front();
    refuse_other_step(results, plan, "noise-free step", stored_s, noise_free_step(first_phase.graph).step_s);
}

/// The mean step of a feasible plan, at the draws that confirm a front.
double confirmed_mean_step(const StudyModel& model, const FrontPoint& plan, HardwareBench& bench)
{
    const Point point = model.designs.space().point(plan.index);
    Predictor& predictor = bench.of(model.designs.variant(point));
    const ParallelPlan parallel = model.designs.plan(point);
    const Rung& rung = model.scenario.search.confirm;
    const SamplerOptions sampler = model.sampler({Purpose::confirm});
    const PhaseDraws draws = predictor.sample(parallel, {0, rung.fleets, rung.steps}, sampler);
    return predictor.summarise(parallel, draws, rung.steps, sampler, Confidence{}).step.mean.value;
}

}  // namespace

void refuse_other_predictions(const StudyModel& model, const Results& results, const Pause& pause)
{
    HardwareBench bench(model.scenario, model.problem);
    for (const FrontPoint& plan : results.front) {
        pause();
        refuse_other_noise_free_step(model, results, plan, bench);
    }
    if (results.front.empty() || results.provisional) {
        return;  // provisional fronts are of the draws of the search, which may be few
    }
    const FrontPoint& first = results.front.front();
    refuse_other_step(results, first, "mean step", first.prediction.step.mean.value,
                      confirmed_mean_step(model, first, bench));
}

}  // namespace prismopt
