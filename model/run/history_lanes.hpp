#pragma once

/// Inner loops of histories: 64 runs side by side, plain arithmetic, compiled for several vector widths.

#include "model/base/random.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <vector>

namespace prismopt {

using Doubles = Lanes<double>;

/// Parameters by which time becomes saved work: the members of FailureModel with these names.
struct HistoryPace {
    double interval_s = 0.0;
    double stall_s = 0.0;
    double lag_s = 0.0;
    double memory_interval_s = 0.0;
    double pace = 1.0;
};

/// State of 64 histories in one part.
struct HistoryState {
    Doubles wall;
    Doubles restart;     // at the beginning of the next attempt
    Doubles productive;  // of the part
    Doubles saved;       // productive time up to the last checkpoint
    Ints running;        // 1, or 0 if the part is done
};

/// One attempt of each lane: a restart, if any, then training until the next failure or the end.
/// Lanes that are done have zeros.
struct HistoryRound {
    Doubles ran;        // seconds
    Doubles restarted;  // of those
    Doubles work;       // productive seconds among them
    Doubles stored;     // of those, up to the last checkpoint in storage
    Doubles copied;     // of those, up to the last copy in memory
    Doubles ends;       // stops for checkpoints, in seconds, of lanes that end here
    Ints source;        // cause that fails first
    Ints fails;         // 1: it ends the attempt
    int failing = 0;    // number of lanes that fail
};

/// Runs each lane until the first clock expires (`due[source]`: seconds of running) or to its end. Updates
/// wall and running of lanes that end, and all clocks.
void run_to_failures(const HistoryPace& pace, std::vector<Doubles>& due, HistoryState& state,
                     HistoryRound& round);

/// Finds the smallest of the rows and its index, lane by lane.
void earliest(const std::vector<Doubles>& rows, Ints& which, Doubles& smallest);

}  // namespace prismopt
