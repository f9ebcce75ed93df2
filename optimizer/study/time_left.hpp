#pragma once

/// How long a phase of a search will still take, by how fast what is left has shrunk of late.

#include <cstdint>
#include <deque>
#include <string>

namespace prismopt {

class TimeLeft {
public:
    /// "90 s", "25 min", "3.2 h"; "unknown" where the recent past does not say. `now_s` does not go back.
    std::string text(double now_s, std::uint64_t left);

private:
    struct Seen {
        double at_s = 0.0;
        std::uint64_t left = 0;
    };
    std::deque<Seen> seen_;  // the oldest first
};

}  // namespace prismopt
