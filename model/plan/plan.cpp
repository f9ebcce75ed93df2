#include "model/plan/plan.hpp"

namespace prismopt {

bool runs_chunks(Schedule schedule, int chunks)
{
    const int own = facts_of(schedule).chunks;
    return own > 0 ? chunks == own : chunks > 1;
}

int network_chunks(Schedule schedule, int stages, int chunks)
{
    return stages * chunks / facts_of(schedule).model_copies;
}

}  // namespace prismopt
