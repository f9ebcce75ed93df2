#include "optimizer/fit/fit_json.hpp"

#include "optimizer/accuracy/collective_accuracy.hpp"
#include "optimizer/accuracy/model_accuracy.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace prismopt {

namespace {

using nlohmann::json;

json regions_json(const Components& components)
{
    json regions = json::array();
    const auto fitted = errors_by_region(components.collectives, components.network.fitted_s);
    const auto held_out = errors_by_region(components.collectives, components.network.held_out_s);
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        const RegionErrors& e = fitted[i];
        regions.push_back({{"collective", name(e.kind)},
                           {"size", e.region},
                           {"systems", e.systems},
                           {"rows", e.rows},
                           {"error", e.error},
                           {"bias", e.bias},
                           {"left_out", held_out[i].error}});
    }
    return regions;
}

json systems_json(const Components& components)
{
    struct Errors {
        int rows = 0;
        double absolute = 0.0;
        double signed_sum = 0.0;
        bool doubtful = false;
    };
    std::map<std::string, Errors> systems;
    for (std::size_t i = 0; i < components.collectives.size(); ++i) {
        const MeasuredCollective& row = components.collectives[i];
        const double error = components.network.fitted_s[i] / row.measured_s - 1.0;
        Errors& errors = systems[row.what];
        ++errors.rows;
        errors.absolute += std::abs(error);
        errors.signed_sum += error;
        errors.doubtful = row.doubtful;
    }
    json all = json::array();
    for (const auto& [name, e] : systems) {
        all.push_back({{"system", name},
                       {"apart", e.doubtful},
                       {"rows", e.rows},
                       {"error", e.absolute / e.rows},
                       {"bias", e.signed_sum / e.rows}});
    }
    return all;
}

json kernels_json(const Components& components)
{
    json kernels = json::array();
    const auto fitted =
        kernel_errors(components.kernels, predicted_kernels(components.kernels, components.shares));
    const auto held_out = kernel_errors(components.kernels, kernels_held_out(components.kernels));
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        const KernelErrors& e = fitted[i];
        kernels.push_back({{"kernels", name(e.table)},
                           {"precision", e.precision},
                           {"accelerator", e.accelerator},
                           {"rows", e.rows},
                           {"error", e.error},
                           {"bias", e.bias},
                           {"left_out", held_out[i].error}});
    }
    return kernels;
}

json constants_json(const Components& components)
{
    json constants = json::array();
    const NetworkFit& network = components.network;
    for (std::size_t k = 0; k < network.constants.size(); ++k) {
        constants.push_back({{"name", network.constants[k].name()},
                             {"value", network.constants[k].value},
                             {"deviation", network.deviation[k]}});
    }
    for (const KernelShare& share : components.shares) {
        constants.push_back({{"name", share.accelerator + "." + share.key},
                             {"share", share.value},
                             {"deviation", share.deviation}});
    }
    return constants;
}

}  // namespace

std::string components_json(const Components& components)
{
    return json{{"collectives", regions_json(components)},
                {"systems", systems_json(components)},
                {"kernels", kernels_json(components)},
                {"constants", constants_json(components)}}
        .dump(1);
}

std::string held_out_rows_json(const std::vector<FittedRow>& rows, const std::vector<HeldOutFamily>& families,
                               const std::vector<double>& widening)
{
    json listed = json::array();
    for (const HeldOutFamily& family : families) {
        json of_family = json::array();
        for (const HeldOutRow& held_out : family.rows) {
            const MeasuredRun& run = rows[held_out.row].run;
            const Cluster& cluster = run.cluster;
            const PlanTraits traits = traits_of(run.plan);
            const RunKind kind = kind_of(run.workload, cluster);
            of_family.push_back({{"row", run.row},
                                 {"job", job_of(run)},
                                 {"network", run.workload.name},
                                 {"precision", name(run.workload.precision)},
                                 {"accelerator", cluster.accelerator.name},
                                 {"stack", cluster.stack.name},
                                 {"gpus", run.plan.gpus()},
                                 {"gpus_per_node", cluster.gpus_per_node()},
                                 {"sequence", run.phase().sequence},
                                 {"batch", run.phase().global_batch},
                                 {"kind", key(kind)},
                                 {"widening", widening[static_cast<std::size_t>(kind)]},
                                 {"scatter", held_out.deviations.scatter},
                                 {"log_ratio", -std::log1p(held_out.error)},
                                 {"measured_s", run.measured_s},
                                 {"degrees", traits.degrees},
                                 {"kinds", traits.kinds}});
        }
        json covariance = json::array();
        for (std::size_t i = 0; i < family.rows.size(); ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                covariance.push_back(family.covariance[i * family.rows.size() + j]);
            }
        }
        listed.push_back({{"source", family.source},
                          {"line", family.line},
                          {"known", family.known},
                          {"rows", of_family},
                          {"covariance", covariance}});
    }
    return listed.dump();
}

std::string shortlists_json(const std::vector<ShortlistAccuracy>& groups, const Discrepancy& discrepancy)
{
    json listed = json::array();
    for (const ShortlistAccuracy& group : groups) {
        listed.push_back({{"source", group.source},
                          {"job", group.job},
                          {"one_node", group.one_node},
                          {"plans", group.plans},
                          {"covering", group.covering},
                          {"hit", group.hit},
                          {"exact", group.exact},
                          {"first_regret", group.first_regret},
                          {"three_regret", group.three_regret},
                          {"first_strict", group.first_strict},
                          {"three_strict", group.three_strict},
                          {"random_regret", group.random_regret},
                          {"error", group.error},
                          {"error_after", group.error_after},
                          {"inside", group.inside},
                          {"error_hindsight", group.error_hindsight}});
    }
    json lengths = json::array();
    for (std::size_t k = 0; k < PlanTraits::count; ++k) {
        lengths.push_back({{"trait", PlanTraits::name(k)}, {"length", discrepancy.lengths[k]}});
    }
    return json{{"smallest_judged", smallest_judged_group},
                {"smallest_fitted", smallest_fitted_group},
                {"groups", listed},
                {"discrepancy",
                 {{"groups", discrepancy.groups},
                  {"by_plan", discrepancy.deviation},
                  {"by_job", discrepancy.source},
                  {"repeats", discrepancy.repeat},
                  {"lengths", lengths}}}}
        .dump(1);
}

}  // namespace prismopt
