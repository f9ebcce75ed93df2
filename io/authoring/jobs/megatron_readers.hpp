#pragma once

/// Parts of the import of Megatron's settings.

#include "io/authoring/jobs/job_settings.hpp"
#include "model/network/workload.hpp"

namespace prismopt {

/// The layers, embedding and head that the settings describe; the vocabulary is padded for `tp`.
void describe_megatron_network(JobSettings& s, int tp, Workload& w);
void read_megatron_precision(JobSettings& s, Workload& w);
void read_megatron_optimizer(JobSettings& s, Workload& w);

}  // namespace prismopt
