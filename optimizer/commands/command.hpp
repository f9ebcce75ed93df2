#pragma once

/// The commands of the program. Each takes the arguments after its name and returns the exit code.

#include "io/authoring/imported/imported_network.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/stop.hpp"

#include <boost/program_options.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

inline constexpr int exit_done = 0;
inline constexpr int exit_failure = 1;
inline constexpr int exit_wrong_input = 2;
inline constexpr int exit_infeasible = 3;
inline constexpr int exit_changed = 4;
inline constexpr int exit_unexpected_level = 5;
inline constexpr int exit_silent = 6;
inline constexpr int exit_call_again = 75;  // EX_TEMPFAIL

struct ExitCode {
    int code;
    const char* meaning;
};
/// All exit codes, as help and the manual page list them.
const std::vector<ExitCode>& exit_codes();

/// An option, for completion and the manual page.
struct OptionText {
    std::string name;    // without dashes
    std::string letter;  // of its short form, without a dash; empty: it has none
    std::string value;   // name of its value; empty: it has none
    std::string does;
};

/// How a command was started. Team and list outlive the command.
struct Call {
    std::string command_line;  // as typed
    Communicator& team;
    std::vector<OptionText>* listing = nullptr;  // if set, the command only lists its options here
};

int search_command(const std::vector<std::string>& words, const Call& call);
int resume_command(const std::vector<std::string>& words, const Call& call);
int predict_command(const std::vector<std::string>& words, const Call& call);
int sensitivity_command(const std::vector<std::string>& words, const Call& call);
int validate_command(const std::vector<std::string>& words, const Call& call);
int calibrate_command(const std::vector<std::string>& words, const Call& call);
int components_command(const std::vector<std::string>& words, const Call& call);
int check_model_command(const std::vector<std::string>& words, const Call& call);
int numerics_command(const std::vector<std::string>& words, const Call& call);
int inspect_command(const std::vector<std::string>& words, const Call& call);
int merge_command(const std::vector<std::string>& words, const Call& call);
int export_command(const std::vector<std::string>& words, const Call& call);
int completion_command(const std::vector<std::string>& words, const Call& call);
int manual_command(const std::vector<std::string>& words, const Call& call);
int init_command(const std::vector<std::string>& words, const Call& call);
int explain_command(const std::vector<std::string>& words, const Call& call);
int improve_command(const std::vector<std::string>& words, const Call& call);
int import_command(const std::vector<std::string>& words, const Call& call);
int compare_command(const std::vector<std::string>& words, const Call& call);
int shortlist_command(const std::vector<std::string>& words, const Call& call);
int learn_command(const std::vector<std::string>& words, const Call& call);
int report_command(const std::vector<std::string>& words, const Call& call);
int watch_command(const std::vector<std::string>& words, const Call& call);

struct Command {
    const char* name;
    const char* argument;  // its positional argument
    const char* does;
    const char* example;  // what --help shows
    int (*run)(const std::vector<std::string>&, const Call&);
    bool parallel = false;  // uses all ranks; other commands run on rank 0 only
};
/// Options of a command, including --help, as the command itself declares them.
std::vector<OptionText> options_of(const Command& command, const Call& call);
/// All commands, in the order that help shows them.
const std::vector<Command>& commands();

/// The positional argument of a command: none, one word, several, or any number of words.
struct Positional {
    Positional(const char* one) : name(one) {}  // NOLINT: a plain name is the usual case
    Positional(const char* word, int count) : name(word), most(count) {}

    std::string name;
    int most = 1;  // -1: any number
};

/// Parses the options and the positional argument (may be empty) of a command. Throws InputError with a
/// pointer to --help if that fails; prints help and returns nothing for --help.
std::optional<boost::program_options::variables_map> parse_options(
    const std::string& command, const boost::program_options::options_description& options,
    const Positional& positional, const std::vector<std::string>& words, const Call& call);

/// Adds the option --max-time; returns its value.
void add_max_time_option(boost::program_options::options_description& options, const char* does);
std::optional<std::chrono::duration<double>> max_time_of(const boost::program_options::variables_map& values);
/// For commands without a checkpoint: a function that throws Stopped once --max-time is over. `left`:
/// description of the output at that time.
Pause stop_after(const boost::program_options::variables_map& values, const Call& call,
                 const char* left = "nothing was saved");

/// Adds the option --catalog, which may be repeated; returns the files that it names.
void add_catalog_option(boost::program_options::options_description& options);
std::vector<std::string> catalogs_of(const boost::program_options::variables_map& values);

/// Adds the options --model-class and --field, which say how a config.json is read; returns their values.
void add_field_options(boost::program_options::options_description& options);
FieldNames field_names_of(const boost::program_options::variables_map& values);

/// Adds the option --seed; replaces the seed of the scenario by its value.
void add_seed_option(boost::program_options::options_description& options);
void set_seed(const boost::program_options::variables_map& values, Scenario& scenario);
/// Throws InputError if it is negative.
std::uint64_t checked_seed(std::int64_t seed);

}  // namespace prismopt
