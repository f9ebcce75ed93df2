#pragma once

/// Output of `watch`: what is known of a running job.

#include "optimizer/api/watch.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace prismopt {

/// The exit code that reports this.
int watch_exit_code(const WatchedJob& job);

std::string watch_text(const WatchedJob& job);
nlohmann::json watch_json(const WatchedJob& job);

/// "slower by 3.1 % (2.8 to 3.4 %) since step 1200 (1196 to 1203), found at step 1204".
std::string change_text(const Change& change);
/// "6.93 s per step in steps 6 to 205; predicted 6.90 s (...): compatible".
std::string level_text(const Baseline& baseline, const LevelCheck& level);

}  // namespace prismopt
