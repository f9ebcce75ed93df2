#pragma once

/// Reports of results: plain text, CSV and SVG.

#include "io/results/results.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// Text report: the front as a table with units and intervals, infeasible plans by reason, the outcome of the
/// search, sampling error and model error.
std::string text_report(const Results& results);

/// The job in a title: "llama3-405b, 15.6 T tokens on 2,048 to 16,384 h100-sxm GPUs"; the study's
/// name if the workload is unknown.
std::string job_title(const Results& results);

/// The first paragraph of the text report: the best plan, when it is done, its cost, and both errors.
std::string answer_text(const Results& results);

/// "0.93 to 1.9 times as long with other software"; empty where the software is given.
std::string other_software_text(double low, double high);

/// Where the prediction interval of the mean model comes from: measured runs of this hardware
/// (ModelInterval::fitted), or not.
std::string_view model_error_source(bool fitted);

/// Description of the population that quantiles are taken over.
std::string_view population(bool nodes_known);

/// The front as CSV: one line per point, a header with units in the column
/// names. `file`: path of the results.
std::string front_csv(const Results& results, const std::string& file);

/// Plots of the front, distributions and progress in one SVG.
std::string svg_report(const Results& results);

/// One-paragraph summary of a results file (for `inspect`).
std::string summary(const Results& results);

}  // namespace prismopt
