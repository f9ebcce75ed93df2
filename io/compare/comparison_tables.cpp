#include "io/base/json_number.hpp"
#include "io/compare/compare.hpp"
#include "io/compare/comparison_json.hpp"
#include "io/report/csv_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

constexpr int comparison_format_version = 1;

Json interval(const Estimate& estimate)
{
    return {{"value", json_number<Json>(estimate.value)},
            {"low", json_number<Json>(estimate.low)},
            {"high", json_number<Json>(estimate.high)}};
}

}  // namespace

nlohmann::ordered_json compared_studies(const Comparison& comparison)
{
    Json all = Json::array();
    for (const ComparedStudy& study : comparison.studies) {
        Json best = Json::object();
        for (std::size_t k = 0; k < study.best.size(); ++k) {
            const BestValue& value = study.best[k];
            best[comparison.objectives[k].name] = {
                {"point", value.point},
                {"plan", value.plan},
                {"estimate", interval(value.value)},
                {"model_low", json_number<Json>(value.with_model_error.low)},
                {"model_high", json_number<Json>(value.with_model_error.high)},
                {"change", json_number<Json>(value.change)}};
        }
        all.push_back({{"name", study.name},
                       {"study", study.scenario},
                       {"file", study.file},
                       {"seed", study.seed},
                       {"software", json_text<Json>(study.software)},
                       {"hardware", json_text<Json>(study.hardware)},
                       {"provisional", study.provisional},
                       {"front_points", study.front_points},
                       {"hypervolume", json_number<Json>(study.hypervolume)},
                       {"best", std::move(best)}});
    }
    return all;
}

std::string comparison_json(const std::vector<NamedResults>& studies, std::vector<ComparedPair> pairs)
{
    const Comparison comparison = compared(studies, std::move(pairs));
    Json objectives = Json::array();
    for (const ObjectiveInfo& objective : comparison.objectives) {
        objectives.push_back({{"name", objective.name}, {"units", objective.units}});
    }
    const Json described{
        {"format", "prismopt comparison"},       {"format_version", comparison_format_version},
        {"objectives", std::move(objectives)},   {"studies", compared_studies(comparison)},
        {"pairs", pairs_json(comparison.pairs)}, {"differences", comparison.differences}};
    return described.dump(1) + "\n";
}

std::string comparison_csv(const std::vector<NamedResults>& studies)
{
    const Comparison comparison = compared(studies);
    std::string text = "name,study,file,seed,software,hardware,provisional,front_points,hypervolume";
    for (const ObjectiveInfo& objective : comparison.objectives) {
        for (const char* what : {"", "_low", "_high", "_model_low", "_model_high"}) {
            text += "," + csv_column("best_" + objective.name, what, objective.units);
        }
        text += fmt::format(",change_{0},point_{0},plan_{0}", objective.name);
    }
    text += "\n";
    for (const ComparedStudy& study : comparison.studies) {
        text += fmt::format("{},{},{},{},{},{},{},{},{}", csv_field(study.name), csv_field(study.scenario),
                            csv_field(study.file), study.seed, csv_field(study.software),
                            csv_field(study.hardware), study.provisional ? 1 : 0, study.front_points,
                            csv_number(study.hypervolume));
        for (std::size_t k = 0; k < comparison.objectives.size(); ++k) {
            if (study.best.empty()) {
                text += ",,,,,,,,";
                continue;
            }
            const BestValue& best = study.best[k];
            for (const double value : {best.value.value, best.value.low, best.value.high,
                                       best.with_model_error.low, best.with_model_error.high, best.change}) {
                text += "," + csv_number(value);
            }
            text += fmt::format(",{},{}", best.point, csv_field(best.plan));
        }
        text += "\n";
    }
    return text;
}

}  // namespace prismopt
