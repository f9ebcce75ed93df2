#pragma once

/// The plan that a report is about: the one asked for, otherwise the answer to the study's question,
/// otherwise the best of the front.

#include "io/report/study_notes.hpp"
#include "io/results/results.hpp"
#include "model/base/names.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

enum class SubjectReason { asked, answer, surest, best };
template <>
inline constexpr std::array<Named<SubjectReason>, 4> names_of<SubjectReason>{
    {{SubjectReason::asked, "asked"},
     {SubjectReason::answer, "answer"},
     {SubjectReason::surest, "surest"},
     {SubjectReason::best, "best"}}};

/// The plan that a report is about. It belongs to the results, which must outlive this.
struct Subject {
    const FrontPoint* plan = nullptr;
    SubjectReason reason = SubjectReason::best;
    bool on_front = true;
};

/// Nothing if no plan is asked for and the front is empty.
std::optional<Subject> subject_of(const Results& results, const StudyNotes& notes);

/// What the subject is: "Best training time p99", "Answer", "Surest within the limits", "Plan asked for".
std::string subject_title(const Subject& subject, const Results& results);

/// The plan of this number in the tables of results: of the front, or of the plans that may
/// not fit; null: in none of them.
const FrontPoint* listed_plan(const Results& results, std::uint64_t index);

/// The plans that a report shows: those of the front, then the subject if the front does not have it.
std::vector<const FrontPoint*> shown_plans(const Results& results);

}  // namespace prismopt
