#include "io/report/study_json.hpp"

#include "io/base/json_number.hpp"
#include "io/report/space_counts.hpp"
#include "io/toml/date.hpp"
#include "io/words/infeasible_text.hpp"
#include "io/words/rejected_text.hpp"
#include "model/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace prismopt {

using Json = nlohmann::ordered_json;

Json space_json(const Results& results)
{
    Json rejected = Json::array();
    for (const Rejected& row : results.rejected) {
        if (row.count > 0 && !names_no_plan(row.reason)) {
            rejected.push_back({{"reason", row.reason},
                                {"count", row.count},
                                {"nearest", json_text<Json>(nearest_text(row))},
                                {"facts", nearest_miss(row) ? Json::parse(row.nearest) : Json()}});
        }
    }
    const SpaceCounts counts = space_counts(results.feasible, results.rejected);
    return {{"combinations", results.raw_tuples}, {"examined", counts.examined},
            {"feasible", results.feasible},       {"infeasible", counts.infeasible},
            {"not_plans", counts.not_plans},      {"rejected", std::move(rejected)}};
}

Json variants_json(const VariantCounts& counts)
{
    Json excluded = Json::array();
    for (const ExcludedVariants& of : counts.excluded) {
        excluded.push_back({{"reason", of.why.category()},
                            {"conflict", name(of.why.conflict)},
                            {"count", of.count},
                            {"first", of.first},
                            {"detail", detail_text(of.why)},
                            {"remedy", remedy_text(of.why)}});
    }
    return {{"combinations", counts.combinations}, {"excluded", std::move(excluded)}};
}

Json job_json(const StudyNotes& notes)
{
    return {{"model", json_text<Json>(notes.model)},
            {"parameters", notes.parameters > 0.0 ? json_number<Json>(notes.parameters) : Json()},
            {"tokens", notes.model.empty() ? Json() : json_number<Json>(notes.tokens)},
            {"task", notes.model.empty() ? Json() : Json(name(notes.task))},
            {"accelerator", json_text<Json>(notes.accelerator)},
            {"software", json_text<Json>(notes.trained_with)},
            {"phases", notes.phases > 0 ? Json(notes.phases) : Json()},
            {"start", notes.start ? Json(date_text(*notes.start)) : Json()},
            {"deadline_s", notes.deadline.si > 0.0 ? Json(notes.deadline.si) : Json()}};
}

}  // namespace prismopt
