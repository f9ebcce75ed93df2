#include "optimizer/api/results.hpp"

#include "io/base/input_error.hpp"
#include "io/results/journal.hpp"
#include "io/results/results_file.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>

namespace prismopt {

Results open_results(const std::string& path)
{
    Results results = read_results(path);
    if (!results.sealed) {
        log_warning(path +
                    " has no checksum, so damage may go unnoticed: it was written by an older prismopt or by "
                    "another program");
    }
    return results;
}

Results open_results_of_one_job(const std::string& path)
{
    Results results = open_results(path);
    if (!results.machines.machines.empty()) {
        throw InputError(
            fmt::format("{} compares machines for several networks ([[workloads]]), not plans of one job; "
                        "`prismopt report "
                        "{}` prints its machines, and --csv writes them",
                        path, path));
    }
    return results;
}

JournalSummary journal_summary(const std::string& path)
{
    const JournalContents contents = read_journal(path);
    const StudyHead head = head_of(contents, path);
    Scenario scenario;
    try {
        scenario = scenario_from(head.study);
    } catch (const std::exception&) {  // for another version of this program
        if (head.build == this_build()) {
            throw;
        }
    }
    const JournalCount count = count_records(contents);
    return {.build = head.build,
            .command_line = head.options.command_line,
            .scenario_name = scenario.name,
            .scenario_path = scenario.path,
            .seed = scenario.seed,
            .legs = legs_of(contents),
            .answers = count.answers,
            .tuning = count.tuning,
            .lost = count.lost,
            .good_bytes = contents.good_bytes,
            .lost_bytes = contents.lost_bytes,
            .damage = contents.damage};
}

}  // namespace prismopt
