#pragma once

/// Kinds of kernels of profilers' traces, in which templates have names of thousands of characters.

#include "model/calibration/records/kernel_names.hpp"
#include "model/calibration/trace/trace.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace prismopt {

/// The beginning of a kernel's name, in UTF-8 and without control characters.
std::string kernel_text(std::string_view name);

/// The kind of this name. Throws InputError, which names `path`, where the trace
/// has more kinds than a single job.
std::uint16_t kernel_kind(const std::string& name, const KernelNames& names, Trace& trace,
                          const std::string& path);

}  // namespace prismopt
