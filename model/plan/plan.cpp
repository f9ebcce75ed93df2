#include "model/plan/plan.hpp"

namespace prismopt {

int chunks_of(Schedule schedule)
{
    switch (schedule) {
        case Schedule::gpipe:
        case Schedule::one_f_one_b:
        case Schedule::zb_h1:
        case Schedule::zb_h2: return 1;
        case Schedule::zb_v:
        case Schedule::v_half:
        case Schedule::v_min:
        case Schedule::dualpipe:
        case Schedule::dualpipe_v: return 2;
        case Schedule::interleaved: break;
    }
    return 0;
}

bool runs_chunks(Schedule schedule, int chunks) { return chunks_of(schedule) > 0 ? chunks == chunks_of(schedule) : chunks > 1; }

bool needs_stages(Schedule schedule) { return schedule != Schedule::gpipe && schedule != Schedule::one_f_one_b; }

int network_parts(Schedule schedule, int stages, int chunks)
{
    // Both chunks of a stage belong to different copies of the network.
    return schedule == Schedule::dualpipe ? stages : stages * chunks;
}

std::string category(Reason reason, int phase)
{
    return std::string(name(reason)) + (phase > 1 ? " in phase " + std::to_string(phase) : "");
}

std::string Infeasible::category() const { return prismopt::category(reason, phase); }

bool names_no_plan(std::string_view category)
{
    return category == name(Reason::same_plan) || category == name(Reason::schedule_undefined);
}

}  // namespace prismopt
