#include "io/report/results_json.hpp"

#include "io/base/json_number.hpp"
#include "io/report/deadline_risk.hpp"

#include <nlohmann/json.hpp>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

Json estimate_of(const ResultRow<Estimate>& row, const PlanResults& results)
{
    const Estimate estimate = stated(row.name, row.of(results));
    Json json = estimate_json(estimate);
    if (row.facts.follows_model) {
        json["model_low"] = json_number<Json>(estimate.value * results.model_low);
        json["model_high"] = json_number<Json>(estimate.value * results.model_high);
    }
    return json;
}

Json table_json(const std::vector<double>& values)
{
    Json list = Json::array();
    for (const double value : values) {
        list.push_back(json_number<Json>(value));
    }
    return list.empty() ? Json() : list;
}

}  // namespace

Json estimate_json(const Estimate& e)
{
    return {{"value", json_number<Json>(e.value)},
            {"low", json_number<Json>(e.low)},
            {"high", json_number<Json>(e.high)}};
}

Json results_json(const PlanResults& results, Seconds deadline, bool Outputs::*output)
{
    Json json;
    for (const auto& row : plan_results<Estimate>(output)) {
        json["estimates"][std::string(row.name)] = estimate_of(row, results);
    }
    if (const auto risk = deadline_risk(results, deadline)) {
        Json& missed = json["estimates"]["miss_probability"];
        missed["with_model_error"] = risk->mean;
        missed["model_low"] = risk->low;
        missed["model_high"] = risk->high;
    }
    for (const auto& row : plan_results<double>(output)) {
        json["numbers"][std::string(row.name)] = json_number<Json>(row.of(results));
    }
    for (const auto& row : plan_results<std::vector<double>>(output)) {
        json["quantiles"][std::string(row.name)] = table_json(row.of(results));
    }
    return json;
}

Json columns_json(bool Outputs::*output)
{
    Json list = Json::object();
    const auto add = [&list](const auto& rows) {
        for (const auto& row : rows) {
            list[std::string(row.name)] = {{"units", row.units}, {"description", row.long_name}};
        }
    };
    add(plan_results<Estimate>(output));
    add(plan_results<double>(output));
    return list;
}

}  // namespace prismopt
