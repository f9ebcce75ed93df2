#include "optimizer/parallel/thread_waiting.hpp"

#include <cstdlib>

#include <unistd.h>

namespace prismopt {

void wait_briefly(char** argv)
{
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
        return;
    }
    setenv("GOMP_SPINCOUNT", "1000", 1);
    execv("/proc/self/exe", argv);  // returns where there is no such file: then they spin
}

}  // namespace prismopt
