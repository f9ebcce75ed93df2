#pragma once

/// The commands of the program. Each takes the words behind its name and returns the exit code.

#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/stop.hpp"

#include <boost/program_options.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace prismopt {

inline constexpr int exit_done = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_wrong_input = 2;
inline constexpr int exit_infeasible = 3;
inline constexpr int exit_call_again = 75;  // EX_TEMPFAIL

struct ExitCode {
    int code;
    const char* meaning;
};
/// All of them, as help and the manual page list them.
const std::vector<ExitCode>& exit_codes();

/// The one plan that a command was asked about cannot run; ends it with exit_infeasible.
class InfeasiblePlan : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// An option as completion and the manual tell it.
struct OptionText {
    std::string name;   // without dashes
    std::string value;  // what follows it; empty: nothing
    std::string does;
};

/// What a command needs to know of how it was started.
struct Call {
    std::string command_line;  // as typed
    Communicator& team;
    std::vector<OptionText>* listing = nullptr;  // the command only tells its options, here
};

int search_command(const std::vector<std::string>& words, const Call& call);
int resume_command(const std::vector<std::string>& words, const Call& call);
int predict_command(const std::vector<std::string>& words, const Call& call);
int sensitivity_command(const std::vector<std::string>& words, const Call& call);
int validate_command(const std::vector<std::string>& words, const Call& call);
int calibrate_command(const std::vector<std::string>& words, const Call& call);
int check_model_command(const std::vector<std::string>& words, const Call& call);
int inspect_command(const std::vector<std::string>& words, const Call& call);
int merge_command(const std::vector<std::string>& words, const Call& call);
int export_command(const std::vector<std::string>& words, const Call& call);
int completion_command(const std::vector<std::string>& words, const Call& call);
int manual_command(const std::vector<std::string>& words, const Call& call);
int init_command(const std::vector<std::string>& words, const Call& call);
int compare_command(const std::vector<std::string>& words, const Call& call);
int report_command(const std::vector<std::string>& words, const Call& call);

struct Command {
    const char* name;
    const char* argument;  // its positional argument
    const char* does;
    const char* example;  // what --help shows
    int (*run)(const std::vector<std::string>&, const Call&);
    bool parallel = false;  // uses all ranks; the others leave them idle
};
/// Its options, --help among them; asks the command itself, so that there is one table.
std::vector<OptionText> options_of(const Command& command, const Call& call);
/// All commands, in the order that help shows them.
const std::vector<Command>& commands();

/// What stands in a command without an option's name: nothing, one word, or any number of them.
struct Positional {
    Positional(const char* one) : name(one) {}  // NOLINT: a plain name is the usual case
    Positional(const char* name_, int most_) : name(name_), most(most_) {}

    std::string name;
    int most = 1;  // -1: any number
};

/// Options of one command, its positional argument (may be empty) among them. Throws InputError for what cannot be parsed, with the
/// way to help; prints help and returns nothing for --help.
std::optional<boost::program_options::variables_map> parse_options(const std::string& command,
                                                                   const boost::program_options::options_description& options,
                                                                   const Positional& positional,
                                                                   const std::vector<std::string>& words, const Call& call);

/// The option --max-time, and its value.
void add_max_time_option(boost::program_options::options_description& options, const char* does);
std::optional<std::chrono::duration<double>> max_time_of(const boost::program_options::variables_map& values);
/// For commands that have no state to keep: throws Stopped, with the next step for the user, when --max-time is over.
Pause stop_after(const boost::program_options::variables_map& values, const Call& call);

/// The option --seed, and its value in place of the scenario's.
void add_seed_option(boost::program_options::options_description& options);
void take_seed(const boost::program_options::variables_map& values, Scenario& scenario);

}  // namespace prismopt
