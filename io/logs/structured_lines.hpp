#pragma once

/// Lines of logs that are more than keys followed by numbers: progress bars, JSON, lists of metrics.

#include "io/logs/log_formats.hpp"

namespace prismopt {

/// tqdm's bar of a loop over steps: " 12%|#  | 12/100 [01:23<10:05,  6.88s/it]". Bars with a description are
/// of other loops (checkpoints, data sets). The quantity is the elapsed time.
std::optional<StatedStep> parse_progress_bar(std::string_view line);

/// A line of JSON with current_steps and elapsed_time ("0:01:23", "1 day, 2:03:04").
std::optional<StatedStep> parse_llama_factory_line(std::string_view line);

/// "step:12 - actor/loss:0.01 - timing_s/step:92.1". The quantity is that time, or perf/time_per_step.
std::optional<StatedStep> parse_verl_line(std::string_view line);

/// ":::MLLOG {...}" with the step time of tracked_stats. The step may count samples, which the batch shows.
std::optional<StatedStep> parse_mllog_line(std::string_view line);

/// Sequences of the event global_batch_size of such a line.
std::optional<double> mllog_batch(std::string_view line);

}  // namespace prismopt
