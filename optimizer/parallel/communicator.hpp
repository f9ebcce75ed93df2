#pragma once

/// Ranks and the messages between them. The source of this header is the only one that knows MPI.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

using Message = std::vector<std::byte>;

/// A message and the rank that sent it.
using Arrival = std::pair<int, Message>;

/// `bytes` as the count MPI takes; std::runtime_error beyond 2^31 - 1.
int message_count(std::size_t bytes);

/// A team of ranks. Waiting ranks sleep: an idle one leaves its core to others.
class Communicator {
public:
    /// A team of one, which needs no MPI.
    Communicator();

    /// All ranks that mpirun or srun started. To be created once, before anything else in main.
    static Communicator world(int& argc, char**& argv);
    /// Whether a launcher of parallel programs that we know started this process.
    static bool launched();
    /// Name and version of the MPI library that runs.
    static std::string library_version();

    /// Waits for the other ranks, then ends MPI. While an exception passes it does neither, for the others may wait for
    /// this rank: the launcher then ends the job when the process exits. An exception caught earlier needs `abort`.
    ~Communicator();
    Communicator(Communicator&&) noexcept;
    Communicator& operator=(Communicator&&) noexcept;

    int rank() const;
    int size() const;

    /// Returns at once and keeps the message until it has gone, so two ranks may send to each other before they receive.
    void send(int to, Message message);

    /// The next message that has arrived completely, from any rank; messages of one rank stay in order.
    std::optional<Arrival> try_receive();

    /// The same, waiting for one; nothing once `give_up`, which is asked all the time, is true.
    std::optional<Arrival> receive(const std::function<bool()>& give_up);
    Arrival receive();

    /// The message of rank 0, on every rank; each rank must call it. `look` is called all the time while it waits.
    Message broadcast(Message message, const std::function<void()>& look = {});

    /// A signal that a rank other than 0 got, for rank 0; at most once.
    void pass_on(int signal);
    /// Rank 0: a signal that another rank has passed on, or nothing.
    std::optional<int> passed_on();

    /// Ends the process on all ranks.
    [[noreturn]] void abort(int code);

private:
    struct World;
    explicit Communicator(std::unique_ptr<World> world);

    std::unique_ptr<World> world_;  // none for a team of one
};

}  // namespace prismopt
