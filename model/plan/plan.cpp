#include "model/plan/plan.hpp"

#include <charconv>

namespace prismopt {

bool runs_chunks(Schedule schedule, int chunks)
{
    const int own = facts_of(schedule).chunks;
    return own > 0 ? chunks == own : chunks > 1;
}

int network_parts(Schedule schedule, int stages, int chunks)
{
    return stages * chunks / facts_of(schedule).model_copies;
}

namespace {

constexpr std::string_view in_phase = " in phase ";

}  // namespace

std::string category(Reason reason, int phase)
{
    return std::string(name(reason)) + (phase > 1 ? std::string(in_phase) + std::to_string(phase) : "");
}

int phase_of(std::string_view category)
{
    const std::size_t place = category.rfind(in_phase);
    int phase = 1;
    if (place != std::string_view::npos) {
        std::from_chars(category.data() + place + in_phase.size(), category.data() + category.size(), phase);
    }
    return phase;
}

bool is_of(std::string_view category, Reason reason)
{
    return category.substr(0, category.rfind(in_phase)) == name(reason);
}

std::string Infeasible::category() const { return prismopt::category(reason, phase); }

bool names_no_plan(std::string_view category)
{
    return category == name(Reason::same_plan) || category == name(Reason::schedule_undefined);
}

}  // namespace prismopt
