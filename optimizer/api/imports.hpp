#pragma once

/// Scenarios from the files that start a training job.

#include "io/authoring/jobs/imported_job.hpp"
#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct JobImport {
    ImportedJob job;
    Scenario scenario;   // as its text is read
    std::string text;    // of the scenario
    std::string design;  // the job's plan, as plan_with() and --design read it
};

/// Reads the files of a job. `catalogs`: files with entries of the user. Throws InputError.
JobImport import_job(const ImportRequest& request, const std::vector<std::string>& catalogs = {});

/// What was read, taken from the trainer's defaults, assumed, or has no key; with `all`, also what
/// changes neither time nor memory.
std::string import_text(const JobImport& of, bool all = false);
/// The same for programs, with plan, phase and network.
std::string import_json(const JobImport& of);
/// What makes the plan of a job doubtful, a sentence each: unknown settings, those that no key states,
/// what was assumed; empty: nothing.
std::vector<std::string> import_doubts(const JobImport& of);

}  // namespace prismopt
