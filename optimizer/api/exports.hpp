#pragma once

/// Plans of a study as settings of training programs (export_targets()).

#include "io/export/launch.hpp"
#include "io/results/results.hpp"
#include "optimizer/api/plans.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace prismopt {

/// Makes the input of export targets: `export_targets().front().make(launch)`.
/// Use it from one thread at a time.
class StudyLaunches {
public:
    explicit StudyLaunches(const Results& results);
    StudyLaunches(StudyLaunches&&) noexcept;
    StudyLaunches& operator=(StudyLaunches&&) noexcept;
    ~StudyLaunches();

    /// Returns a checked number of a plan; nothing asked: of the first plan of the front. Throws InputError.
    std::uint64_t number(std::optional<std::int64_t> asked) const;
    /// Returns the plan in a phase (from 1), or why this version finds it infeasible. `stem`: of the names of
    /// further files; empty: "plan". Throws InputError for a phase that the study does not have.
    std::variant<Launch, Infeasible> launch(std::uint64_t number, int phase = 1,
                                            const std::string& stem = "");
    /// The same. Throws InfeasiblePlan where this version finds the plan infeasible.
    Launch feasible_launch(std::uint64_t number, int phase = 1, const std::string& stem = "");

private:
    struct State;
    std::unique_ptr<State> state_;
};

struct LaunchOptions {
    int phase = 1;             // from 1
    std::string stem = {};     // of the names of further files; empty: "plan"
    bool needs_memory = true;  // a plan that does not fit into memory is infeasible
};
/// Makes that input from a plan that no search found. Throws InputError for a phase
/// that the scenario does not have.
std::variant<Launch, Infeasible> launch_of(const ChosenPlan& chosen, const LaunchOptions& options = {});
/// The same. Throws InfeasiblePlan.
Launch feasible_launch(const ChosenPlan& chosen, const LaunchOptions& options = {});

/// Returns the target of this name. Throws InputError.
const ExportTarget& export_target(const std::string& name);
/// Returns the files of an export, the main one first. Throws InputError, with the reasons, if
/// the target cannot run the plan.
std::vector<ExportFile> exported_files(const ExportTarget& target, const Launch& launch);

}  // namespace prismopt
