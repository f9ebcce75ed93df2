#include "model/plan/plan.hpp"

namespace prismopt {

bool runs_chunks(Schedule schedule, int chunks)
{
    const int own = facts_of(schedule).chunks;
    return own > 0 ? chunks == own : chunks > 1;
}

int network_parts(Schedule schedule, int stages, int chunks) { return stages * chunks / facts_of(schedule).model_copies; }

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
