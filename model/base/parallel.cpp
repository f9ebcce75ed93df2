#include "model/base/parallel.hpp"

#include <omp.h>

namespace prismopt {

int parallel_threads() { return omp_get_max_threads(); }

void parallel_for(std::int64_t count, const std::function<void(int thread, std::int64_t i)>& body)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < count; ++i) {
        body(omp_get_thread_num(), i);
    }
}

}  // namespace prismopt
