#include "model/run/history_lanes.hpp"

#include "model/base/registers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

void earliest(const std::vector<Doubles>& rows, Ints& which, Doubles& smallest)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        std::fill_n(smallest.at, lanes, std::numeric_limits<double>::infinity());
        std::fill_n(which.at, lanes, 0);
        std::int32_t row = 0;
        for (const Doubles& values : rows) {
            for (int l = 0; l < lanes; ++l) {
                const bool earlier = values.at[l] < smallest.at[l];
                smallest.at[l] = earlier ? values.at[l] : smallest.at[l];
                which.at[l] = earlier ? row : which.at[l];
            }
            ++row;
        }
    });
}

void run_to_failures(const HistoryPace& pace, std::vector<Doubles>& due, HistoryState& state,
                     HistoryRound& round)
{
    on_registers([&](auto) PRISMOPT_INLINE {
        Doubles gap;
        earliest(due, round.source, gap);
        for (int l = 0; l < lanes; ++l) {
            const double productive = state.productive.at[l];
            const double interval = pace.interval_s < productive ? pace.interval_s : productive;
            const double cycle = interval * pace.pace + pace.stall_s;
            const double left = productive - state.saved.at[l];
            const double writes = std::ceil(left / interval) - 1.0;
            const double to_the_end = left * pace.pace + (writes > 0.0 ? writes : 0.0) * pace.stall_s;
            const double restart = state.restart.at[l];
            const bool running = state.running.at[l] != 0;
            const bool fails = running && gap.at[l] < restart + to_the_end;
            const double ran = fails ? gap.at[l] : restart + to_the_end;
            const double restarted = ran < restart ? ran : restart;
            const double trained = ran - restarted;
            const double cycles = std::floor(trained / cycle);
            const double into = (trained - cycles * cycle) / pace.pace;
            const double written = trained - pace.lag_s;
            round.ran.at[l] = running ? ran : 0.0;
            round.restarted.at[l] = running ? restarted : 0.0;
            round.work.at[l] = cycles * interval + (into < interval ? into : interval);
            round.stored.at[l] = std::floor((written > 0.0 ? written : 0.0) / cycle) * interval;
            round.copied.at[l] = 0.0;
            round.fails.at[l] = fails ? 1 : 0;
            const bool ends = running && !fails;
            round.ends.at[l] = ends ? to_the_end - left : 0.0;
            state.wall.at[l] += ends ? ran : 0.0;
            state.running.at[l] = fails ? 1 : 0;
        }
        if (pace.memory_interval_s > 0.0) {
            for (int l = 0; l < lanes; ++l) {
                round.copied.at[l] =
                    std::floor(round.work.at[l] / pace.memory_interval_s) * pace.memory_interval_s;
            }
        }
        for (Doubles& clock : due) {
            for (int l = 0; l < lanes; ++l) {
                clock.at[l] -= round.ran.at[l];
            }
        }
        round.failing = 0;
        for (int l = 0; l < lanes; ++l) {
            round.failing += round.fails.at[l];
        }
    });
}

}  // namespace prismopt
