#pragma once

/// Ranks and the messages between them. Only the source file of this header uses MPI.

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

/// `bytes` as an MPI count. Throws std::runtime_error beyond 2^31 - 1.
int message_count(std::size_t bytes);

/// A team of ranks. Waiting ranks sleep, so an idle rank does not occupy its core.
class Communicator {
public:
    /// A team of one rank, without MPI.
    Communicator();

    /// All ranks that mpirun or srun started. Create it once, before anything else in main.
    static Communicator world(int& argc, char**& argv);
    /// Whether a known launcher of parallel programs started this process.
    static bool launched();
    /// Name and version of the MPI library in use.
    static std::string library_version();

    /// Waits for the other ranks, then finalises MPI. Does neither during stack unwinding, because the other
    /// ranks may wait for this one: the launcher then ends the job when the process exits. After an exception
    /// that was caught, call `abort`.
    ~Communicator();
    Communicator(Communicator&&) noexcept;
    Communicator& operator=(Communicator&&) noexcept;

    int rank() const;
    int size() const;

    /// Returns at once and keeps the message until it is sent, so two ranks may send to
    /// each other before they receive.
    void send(int to, Message message);

    /// The next message that has arrived completely, from any rank; messages of one rank stay in order.
    std::optional<Arrival> try_receive();

    /// Waits for the next message. Returns nothing once `give_up`, which is polled, is true.
    std::optional<Arrival> receive(const std::function<bool()>& give_up);
    Arrival receive();

    /// Returns the message of rank 0 on every rank; each rank must call it. Calls
    /// `poll` repeatedly while waiting.
    Message broadcast(Message message, const std::function<void()>& poll = {});

    /// Forwards a signal that a rank other than 0 received to rank 0; at most once.
    void pass_on(int signal);
    /// On rank 0: a signal that another rank has forwarded, or nothing.
    std::optional<int> passed_on();

    /// Ends the process on all ranks.
    [[noreturn]] void abort(int code);

private:
    struct World;
    explicit Communicator(std::unique_ptr<World> world);

    std::unique_ptr<World> world_;  // none for a team of one
};

}  // namespace prismopt
