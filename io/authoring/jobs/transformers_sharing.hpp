#pragma once

/// How trainers above Hugging Face transformers share states among replicas: DeepSpeed and FSDP.

#include "io/authoring/jobs/job_readers.hpp"

#include <string>
#include <string_view>

namespace prismopt {

bool program_is(const JobSettings& settings, std::string_view program);
std::string lower(std::string text);

/// What makes the replicas share their states.
enum class Sharer { none, deepspeed, fsdp };
struct Sharing {
    Sharer by = Sharer::none;
    bool bf16 = false;  // by the name of a configuration that is not there
};

/// Reads sharding, its overlap and offload into the plan of the job.
Sharing read_sharing(JobSettings& settings, ImportedJob& job);

}  // namespace prismopt
