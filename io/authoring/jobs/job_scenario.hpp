#pragma once

/// The scenario of an imported job.

#include "io/authoring/jobs/imported_job.hpp"

#include <string>

namespace prismopt {

/// A starter scenario with the job's network, batch, machine and software, whose [space] has the job's plan
/// among others. `trainer`: searches only plans that it runs, of which the job's is one; empty: of any.
/// Throws InputError for machines that it cannot describe.
std::string job_scenario(const ImportedJob& job, const ImportRequest& request,
                         const Catalog& catalog = Catalog::built_in(), const std::string& trainer = {});

}  // namespace prismopt
