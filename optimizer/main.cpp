/// prismopt: searches parallel training plans of large models by the distribution of their training time.

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/posix_file.hpp"
#include "io/toml/nearest.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/parallel/thread_waiting.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/memory.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void print_help()
{
    fmt::print(
        "Usage: prismopt COMMAND [ARGUMENT] [OPTION]...\nprismopt COMMAND --help lists the options of a "
        "command.\n\n");
    for (const auto& command : prismopt::commands()) {
        fmt::print("  {:<13}{:<12}{}\n", command.name, command.argument, command.does);
    }
    fmt::print("\nExamples:\n");
    for (const auto& command : prismopt::commands()) {
        fmt::print("  {}\n", command.example);
    }
    fmt::print("\nExit codes:\n");
    for (const auto& exit : prismopt::exit_codes()) {
        fmt::print("  {:>2}  {}\n", exit.code, exit.meaning);
    }
}

/// Program name, compiler and libraries, one per line.
void print_version()
{
    fmt::print("{}\ncompiler: {}\nMPI: {}\nHDF5: {}\n", prismopt::program_name(), prismopt::compiler(),
               prismopt::Communicator::library_version(), prismopt::hdf5_version());
}

int dispatch(const std::vector<std::string>& words, const prismopt::Call& call)
{
    if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        if (call.team.rank() == 0) {
            print_help();
        }
        return words.empty() ? prismopt::exit_wrong_input : prismopt::exit_done;
    }
    if (words[0] == "--version") {
        if (call.team.rank() == 0) {
            print_version();
        }
        return prismopt::exit_done;
    }
    for (const auto& command : prismopt::commands()) {
        if (words[0] == command.name) {
            return command.run({words.begin() + 1, words.end()}, call);
        }
    }
    std::vector<std::string> names;
    for (const auto& command : prismopt::commands()) {
        names.emplace_back(command.name);
    }
    throw prismopt::InputError(fmt::format("unknown command '{}'{}; prismopt --help lists all", words[0],
                                           prismopt::guess_of(words[0], names)));
}

bool is_parallel(const std::vector<std::string>& words)
{
    const auto& all = prismopt::commands();
    return !words.empty() && std::any_of(all.begin(), all.end(), [&words](const prismopt::Command& command) {
        return command.parallel && words[0] == command.name;
    });
}

/// MPI under a launcher of parallel programs; otherwise one process without MPI, which saves a
/// third of a second at the start.
prismopt::Communicator team_of_process(int& argc, char**& argv)
{
    return prismopt::Communicator::launched() ? prismopt::Communicator::world(argc, argv)
                                              : prismopt::Communicator();
}

/// What was asked for is not known: std::bad_alloc does not say.
std::string exhausted_text(const std::vector<std::string>& words)
{
    const auto gigabytes = [](double bytes) { return fmt::format("{:.2g} GB", bytes / 1e9); };
    const std::optional<double> limit = prismopt::memory_limit_bytes();
    const std::string used =
        fmt::format("memory is exhausted after {}{}", gigabytes(prismopt::peak_memory_bytes()),
                    limit ? fmt::format(" (ulimit -v allows {})", gigabytes(*limit)) : "");
    if (!is_parallel(words)) {
        return used + "; use a machine with more memory, or a smaller input";
    }
    return fmt::format(
        "{}; the journal keeps what was computed: request about {} for each rank (sbatch --mem or "
        "--mem-per-cpu, or "
        "fewer ranks on each node), then continue with --continue or prismopt resume",
        used, gigabytes(2.0 * std::max(prismopt::peak_memory_bytes(), limit.value_or(0.0))));
}

/// Failures of the machine have a message of their own (std::runtime_error, std::system_error).
/// What the standard library and other libraries throw of their own accord does not name an input:
/// it is a fault of this program.
std::string reason(const std::exception& error, const std::vector<std::string>& words)
{
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
        return exhausted_text(words);
    }
    if (dynamic_cast<const std::runtime_error*>(&error) != nullptr) {
        return error.what();
    }
    return fmt::format(
        "internal error in prismopt {} ({}); this is a fault of the program, not of its input: please report "
        "it with the "
        "input and the command line",
        words.empty() ? "" : words.front(), error.what());
}

const std::vector<std::string>* words_of_call = nullptr;
const std::terminate_handler usual_end = std::get_terminate();

/// Exceptions do not leave threads of a parallel region, so memory that is
/// exhausted there has its message here.
void end_with_reason()
{
    try {
        if (const std::exception_ptr error = std::current_exception()) {
            std::rethrow_exception(error);
        }
    } catch (const std::bad_alloc& error) {
        prismopt::print_error(reason(error, *words_of_call));
        std::_Exit(prismopt::exit_failure);
    } catch (...) {
        usual_end();  // a fault of the program
    }
    usual_end();
}

constexpr const char* output_text =
    "cannot write to standard output; check its destination and the free disk space";

}  // namespace

int main(int argc, char** argv)
{
    prismopt::make_write_failures_errors();
    prismopt::wait_briefly(argv);
    const std::vector<std::string> words(argv + 1, argv + argc);
    words_of_call = &words;
    std::set_terminate(end_with_reason);
    if (is_parallel(words) && std::find(words.begin(), words.end(), "--dry-run") == words.end()) {
        prismopt::catch_stop_signals();  // also signals that arrive while MPI starts; they end a dry run
    }
    auto team = team_of_process(argc, argv);
    prismopt::start_log();
    std::string command_line = "prismopt";
    for (const std::string& word : words) {
        command_line.append(" ").append(prismopt::escape_controls(word));
    }
    try {
        const int code = dispatch(words, {command_line, team});
        if (std::fflush(stdout) != 0) {
            throw std::runtime_error(output_text);
        }
        return code;
    } catch (const prismopt::InputError& error) {
        if (team.rank() == 0) {
            prismopt::print_error(error.what());
        }
        return prismopt::exit_wrong_input;
    } catch (const prismopt::InfeasiblePlan& error) {
        prismopt::print_error(error.what());
        return prismopt::exit_infeasible;
    } catch (const std::exception& error) {
        prismopt::print_error(fmt::format("rank {}: {}", team.rank(),
                                          std::ferror(stdout) != 0 ? output_text : reason(error, words)));
        if (team.size() > 1) {
            team.abort(prismopt::exit_failure);
        }
        return prismopt::exit_failure;
    }
}
