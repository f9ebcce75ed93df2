#pragma once

/// The inner loops of histories: 64 runs side by side, plain arithmetic, compiled for several vector widths.

#include "model/base/random.hpp"
#include "model/step/sample/lane_kernels.hpp"

#include <vector>

namespace prismopt {

using Doubles = Lanes<double>;

/// How time becomes saved work: FailureModel's fields of these names.
struct HistoryPace {
    double interval_s = 0.0;
    double stall_s = 0.0;
    double lag_s = 0.0;
    double memory_interval_s = 0.0;
    double pace = 1.0;
};

struct HistoryState {
    Doubles wall;
    Doubles restart;     // that the next attempt begins with
    Doubles productive;  // of the part
    Doubles saved;       // productive time behind the last checkpoint
    Ints running;        // 1, or 0 where the part is done
};

/// An attempt: a restart, if any, then training, to the next failure or the end. Lanes that are done have zeros.
struct HistoryRound {
    Doubles ran;        // seconds
    Doubles restarted;  // of those
    Doubles work;       // productive seconds among them
    Doubles stored;     // of those, behind the last checkpoint that is in storage
    Doubles copied;     // ... behind the last copy in memory
    Doubles ends;       // seconds that a lane that ends here stood still for checkpoints
    Ints source;        // whose clock strikes first
    Ints fails;         // 1: that ends the attempt
    int failing = 0;    // lanes that do
};

/// Runs each lane until the first of the clocks strikes (`due[source]`: seconds of running), or to its end; advances wall and running
/// of those that end, and all clocks.
void run_to_failures(const HistoryPace& pace, std::vector<Doubles>& due, HistoryState& state, HistoryRound& round);

/// The smallest of the rows and which it is.
void earliest(const std::vector<Doubles>& rows, Ints& which, Doubles& smallest);

}  // namespace prismopt
