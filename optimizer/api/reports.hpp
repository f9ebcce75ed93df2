#pragma once

/// Reports of results: text, JSON, CSV and SVG (report.hpp, report_json.hpp), figures (report_figures.hpp),
/// HTML, and several studies compared.

#include "io/compare/compare.hpp"
#include "io/html/report_page.hpp"
#include "io/plots/report_figures.hpp"
#include "io/report/report.hpp"
#include "io/report/report_json.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// text_report() with notes on where the process groups of the front's plans lie, and on axes
/// that the space holds at one value.
std::string text_with_placements(const Results& results);

/// The keys of [question], separated by commas, for these results. Throws InputError.
Question asked_question(const Results& results, const std::string& keys);

/// The plan of this number, for Results::subject: of the tables of results, otherwise predicted with
/// the draws that confirmed the front. Throws InputError for numbers that the space does not have, and
/// for those of infeasible plans.
FrontPoint asked_subject(const Results& results, std::int64_t number);

/// The HTML page of a study. `file`: path of the results; `sensitivity`: of an output of `sensitivity --json`
/// for a plan of the front, or empty. Throws InputError if that file is something else.
std::string html_report(const Results& results, const std::string& file, const std::string& sensitivity = "");

/// A study for pages of several. `file`: path of the results. If this version cannot read their scenario, the
/// note says so and there are no timelines.
ReportedStudy reported_study(const Results& results, const std::string& file);

/// Objectives that not all of several studies have.
enum class OtherObjectives { refused, dropped };
/// Reduces studies to the objectives that all of them have. Throws InputError if there are
/// none, or if others are refused.
void share_objectives(std::vector<NamedResults>& studies, OtherObjectives others);

/// The HTML page of several studies with the same objectives, named by study_names().
std::string comparison_page(const std::vector<NamedResults>& studies);

}  // namespace prismopt
