#include "optimizer/parallel/communicator.hpp"

#include <fmt/format.h>

// The C interface is all that is used.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <stdexcept>
#include <thread>

namespace prismopt {

namespace {

constexpr int message_tag = 0;
constexpr int signal_tag = 1;

/// Calls `done` until it is true. MPI's own waits spin; this one spins only about as
/// long as a short message takes.
template <class Done>
void wait_until(Done done)
{
    using std::chrono::microseconds;
    using Clock = std::chrono::steady_clock;
    const auto spin_end = Clock::now() + microseconds(20);
    auto nap = microseconds(50);
    while (!done()) {
        if (Clock::now() < spin_end) {
            continue;
        }
        std::this_thread::sleep_for(nap);
        nap = std::min(2 * nap, microseconds(200));
    }
}

bool test(MPI_Request& request)
{
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

/// A message on its way. The buffer stays where it is when the struct is moved.
struct Transfer {
    int peer = 0;
    Message message;
    MPI_Request request = MPI_REQUEST_NULL;
};

}  // namespace

struct Communicator::World {
    int rank = 0;
    int size = 1;
    std::vector<Transfer> outgoing;
    std::vector<Transfer> incoming;  // in the order of arrival
    int signal = 0;                  // passed on; rank 0: the last one that arrived
    int signals = 0;                 // passed on; rank 0: those that arrived, negative
    MPI_Request signal_request = MPI_REQUEST_NULL;

    World() = default;
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();

    void drop_sent();
    void accept_arrivals();
};

Communicator::World::~World()
{
    if (std::uncaught_exceptions() > 0) {
        return;
    }
    const auto done = [](Transfer& transfer) { return test(transfer.request); };
    wait_until([&] { return std::all_of(outgoing.begin(), outgoing.end(), done); });
    wait_until([&] { return std::all_of(incoming.begin(), incoming.end(), done); });
    // All are here; signals that nobody has looked at are received, as MPI wants it.
    int missing = 0;
    MPI_Request all_here = MPI_REQUEST_NULL;
    MPI_Iallreduce(&signals, &missing, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &all_here);
    wait_until([&] { return test(all_here); });
    for (; rank == 0 && missing > 0; --missing) {
        MPI_Recv(&signal, 1, MPI_INT, MPI_ANY_SOURCE, signal_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wait_until([&] { return test(signal_request); });
    MPI_Finalize();
}

void Communicator::World::drop_sent()
{
    std::erase_if(outgoing, [](Transfer& transfer) { return test(transfer.request); });
}

/// Starts to receive what has arrived. A large message takes long when its sender computes meanwhile, so
/// nothing waits for it. Open MPI's probe looks at the network after it has searched what is known, so only
/// the second in vain means that nothing came.
void Communicator::World::accept_arrivals()
{
    for (int in_vain = 0; in_vain < 2;) {
        int found = 0;
        MPI_Message handle = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, message_tag, MPI_COMM_WORLD, &found, &handle, &status);
        if (found == 0) {
            ++in_vain;
            continue;
        }
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        Transfer transfer{.peer = status.MPI_SOURCE, .message = Message(static_cast<std::size_t>(count))};
        MPI_Imrecv(transfer.message.data(), count, MPI_BYTE, &handle, &transfer.request);
        incoming.push_back(std::move(transfer));
    }
}

int message_count(std::size_t bytes)
{
    constexpr auto limit = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (bytes > limit) {
        throw std::runtime_error(
            fmt::format("a message of {} bytes exceeds the limit of {} bytes per MPI message; use smaller "
                        "blocks of draws",
                        bytes, limit));
    }
    return static_cast<int>(bytes);
}

Communicator::Communicator() = default;
Communicator::Communicator(std::unique_ptr<World> world) : world_(std::move(world)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

std::string Communicator::library_version()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string all(text.data());
    return all.substr(0, all.find_first_of(",\n"));
}

bool Communicator::launched()
{
    // What launchers set in each process that they start, and in none that a batch script starts itself.
    constexpr std::array variables{
        // mpirun and mpiexec of Open MPI: docs.open-mpi.org, "Environment variables set for MPI applications"
        "OMPI_COMM_WORLD_RANK",
        "PMIX_RANK",  // PMIx servers (srun --mpi=pmix, jsrun, prterun): PMIx Standard 4.1, chapter 1
        // PMI-1 and PMI-2 (Hydra of MPICH and Intel MPI, srun --mpi=pmi2, Flux): Flux RFC 13, "Environment"
        "PMI_RANK",
        // The next, but for srun's, by the names under which other programs look for their rank;
        // their manuals were not at hand.
        "MV2_COMM_WORLD_RANK",  // mpirun_rsh of MVAPICH2
        // srun, of any --mpi: srun(1), "OUTPUT ENVIRONMENT VARIABLES"; a batch script has SLURM_PROCID, too
        "SLURM_STEP_ID",
        "PALS_RANKID",     // mpiexec and aprun of HPE Cray PALS
        "ALPS_APP_PE",     // aprun of Cray ALPS
        "FLUX_TASK_RANK",  // flux run
    };
    return std::any_of(variables.begin(), variables.end(),
                       [](const char* name) { return std::getenv(name) != nullptr; });
}

Communicator Communicator::world(int& argc, char**& argv)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) {
        throw std::runtime_error(
            "this MPI library does not support OpenMP threads (MPI_THREAD_FUNNELED); build it with thread "
            "support");
    }
    auto world = std::make_unique<World>();
    MPI_Comm_rank(MPI_COMM_WORLD, &world->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->size);
    return Communicator(std::move(world));
}

int Communicator::rank() const { return world_ ? world_->rank : 0; }

int Communicator::size() const { return world_ ? world_->size : 1; }

void Communicator::send(int to, Message message)
{
    assert(world_ && to >= 0 && to < size() && to != rank());
    world_->drop_sent();
    const int count = message_count(message.size());
    Transfer transfer{.peer = to, .message = std::move(message)};
    MPI_Isend(transfer.message.data(), count, MPI_BYTE, to, message_tag, MPI_COMM_WORLD, &transfer.request);
    world_->outgoing.push_back(std::move(transfer));
}

std::optional<Arrival> Communicator::try_receive()
{
    if (!world_) {
        return std::nullopt;
    }
    world_->drop_sent();
    world_->accept_arrivals();
    auto& incoming = world_->incoming;
    for (auto it = incoming.begin(); it != incoming.end(); ++it) {
        const int peer = it->peer;
        const bool first_of_peer =
            std::none_of(incoming.begin(), it, [=](const Transfer& earlier) { return earlier.peer == peer; });
        if (first_of_peer && test(it->request)) {
            Arrival arrival{peer, std::move(it->message)};
            incoming.erase(it);
            return arrival;
        }
    }
    return std::nullopt;
}

std::optional<Arrival> Communicator::receive(const std::function<bool()>& give_up)
{
    if (size() == 1) {
        throw std::logic_error("receive() needs a team of at least two ranks");
    }
    std::optional<Arrival> arrival;
    wait_until([&] { return (arrival = try_receive()).has_value() || give_up(); });
    return arrival;
}

Arrival Communicator::receive()
{
    return std::move(*receive([] { return false; }));
}

Message Communicator::broadcast(Message message, const std::function<void()>& poll)
{
    if (!world_) {
        return message;
    }
    int count = rank() == 0 ? message_count(message.size()) : 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    wait_until([&] {
        if (poll) {
            poll();
        }
        return test(request);
    });
    message.resize(static_cast<std::size_t>(count));
    MPI_Ibcast(message.data(), count, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_until([&] { return test(request); });
    return message;
}

void Communicator::pass_on(int signal)
{
    assert(world_ && rank() != 0 && world_->signals == 0);
    world_->signal = signal;
    world_->signals = 1;
    MPI_Isend(&world_->signal, 1, MPI_INT, 0, signal_tag, MPI_COMM_WORLD, &world_->signal_request);
}

std::optional<int> Communicator::passed_on()
{
    if (!world_) {
        return std::nullopt;
    }
    int found = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Improbe(MPI_ANY_SOURCE, signal_tag, MPI_COMM_WORLD, &found, &handle, MPI_STATUS_IGNORE);
    if (found == 0) {
        return std::nullopt;
    }
    MPI_Mrecv(&world_->signal, 1, MPI_INT, &handle, MPI_STATUS_IGNORE);
    --world_->signals;
    return world_->signal;
}

void Communicator::abort(int code)
{
    if (world_) {
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    std::exit(code);
}

}  // namespace prismopt
