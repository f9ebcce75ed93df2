#pragma once

/// A training job read from the files that start it: the network, the plan, the batch,
/// and what is known of the machine.

#include "io/authoring/imported/imported_network.hpp"
#include "io/authoring/jobs/job_settings.hpp"
#include "io/toml/catalog.hpp"
#include "model/plan/plan.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct JobFile {
    std::string path;
    std::string text;
};

/// What the user gives. Names of the catalog may be spelled in any case.
struct ImportRequest {
    std::vector<JobFile> files;
    std::string command;                     // that starts them; empty: a script does
    std::map<std::string, std::string> set;  // values of variables and settings
    std::string workload;                    // of the catalog
    std::optional<JobFile> model_config;
    FieldNames field_names;  // of it
    int gpus = 0;
    int node_gpus = 0;
    std::string accelerator;
    std::string instance;
    std::string network;       // link of the catalog between nodes; empty: the files decide
    std::string name = "job";  // of the study
};

/// Steps of a training whose files do not state how many it takes.
inline constexpr double assumed_steps = 1000;

struct ImportedJob {
    std::string format;       // "Megatron-LM arguments"
    std::string software;     // of the catalog, "megatron-lm:core-0.12"
    std::string model;        // network of the catalog; empty: `network` is described
    ImportedNetwork network;  // with precision, optimizer and adapters of the job
    ParallelPlan plan;
    std::string layout;        // with split = given
    std::string node_network;  // link of the catalog between nodes; empty: the usual one
    bool one_port = false;     // which the GPUs of a node share
    int sequence = 0;
    int global_batch = 0;
    double steps = 0.0;                   // 0: not given, then assumed_steps
    double adapter_parameters = 0.0;      // beside each projection, where the trainer has them there; 0: none
    std::vector<std::string> data_lines;  // of [data]
    int gpus = 0;
    int node_gpus = 0;                 // 0: as the accelerator usually comes
    std::string accelerator;           // of the catalog; empty: that of the instance
    std::vector<std::string> scripts;  // paths of those that scripts of the request source or start
    ImportReport report;
};

/// Reads the files of a job. Throws InputError, with file, line and remedy, for what is
/// wrong, and for what is missing.
ImportedJob imported_job(const ImportRequest& request, const Catalog& catalog = Catalog::built_in());

}  // namespace prismopt
