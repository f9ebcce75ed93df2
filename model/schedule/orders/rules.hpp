#pragma once

/// Rows of the table of schedules (model/schedule/schedule.cpp); their functions are in this folder.

#include "model/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One schedule.
struct ScheduleRule {
    Schedule schedule;
    ChunkMap map;
    std::vector<Task> (*order)(const ScheduleShape&, int stage);
    int (*most_held)(const ScheduleShape&, int stage);
    std::optional<double> (*bubble)(const ScheduleShape&, const StageTimes&);
    std::string (*refusal)(const ScheduleShape&);  // reason if undefined, apart from chunks_of(); empty: defined
};

inline Task task(Pass pass, int chunk, int microbatch)
{
    return {pass, static_cast<std::uint16_t>(chunk), static_cast<std::uint16_t>(microbatch)};
}

std::vector<Task> gpipe(const ScheduleShape& shape, int stage);
std::vector<Task> one_f_one_b(const ScheduleShape& shape, int stage);
std::vector<Task> interleaved(const ScheduleShape& shape, int stage);
std::vector<Task> zb_h1(const ScheduleShape& shape, int stage);
std::vector<Task> zb_h2(const ScheduleShape& shape, int stage);
std::vector<Task> zb_v(const ScheduleShape& shape, int stage);
std::vector<Task> v_half(const ScheduleShape& shape, int stage);
std::vector<Task> v_min(const ScheduleShape& shape, int stage);
std::vector<Task> dualpipe(const ScheduleShape& shape, int stage);
std::vector<Task> dualpipe_v(const ScheduleShape& shape, int stage);

}  // namespace prismopt
