/// Fails in the way its argument names, to see how the job ends:
/// worker  the work throws on all ranks but 0
/// first   rank 0 throws past its communicator while the others serve
/// caught  rank 0 catches and aborts with code 7

#include "optimizer/parallel/work_scheduler.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

using prismopt::Communicator;
using prismopt::Message;
using prismopt::WorkScheduler;

/// Items enough to last until a worker has failed.
void run(Communicator& team, const std::string& way)
{
    WorkScheduler scheduler(team, [&](const Message& item) -> Message {
        if (way == "worker" && team.rank() != 0) {
            throw std::runtime_error("cannot compute this");
        }
        return item;
    });
    if (team.rank() != 0) {
        scheduler.serve();
        return;
    }
    while (true) {
        for (int i = 0; i < 100; ++i) {
            scheduler.submit({}, [](const Message&) {});
        }
        const std::size_t all = scheduler.outstanding();
        scheduler.wait([&] { return scheduler.outstanding() < all; });
        if (way != "worker") {
            throw std::runtime_error("cannot go on");
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string way = argc > 1 ? argv[1] : "worker";
    try {
        Communicator team = Communicator::world(argc, argv);
        try {
            run(team, way);
        } catch (const std::exception&) {
            if (way == "caught") {
                team.abort(7);
            }
            throw;
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "prismopt: %s\n", error.what());
        return 3;
    }
    return 0;
}
