#include "io/traces/planned_event.hpp"

#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace prismopt {

namespace {

// Words of administrators, and of Slurm: states MAINT and PLANNED (slurm.schedmd.com/sinfo.html, NODE STATE CODES), the reason
// "Reboot ASAP" of `scontrol reboot` (scontrol.html).
constexpr std::array planned_words{"maintenance", "maint",   "scheduled", "planned",     "update", "updates",
                                   "updating",    "upgrade", "upgrades",  "upgrading",   "test",   "testing",
                                   "tests",       "reimage", "reimaging", "reprovision", "asap",   "change"};
constexpr std::array failure_words{"unscheduled", "unplanned", "emergency", "fail",  "fails", "failed",    "failure",
                                   "failing",     "error",     "errors",    "fault", "lost",  "responding"};

template <class Words>
bool any_of(const std::vector<std::string>& words, const Words& named)
{
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return std::find(named.begin(), named.end(), word) != named.end(); });
}

}  // namespace

bool is_planned_event(std::string_view reason, std::string_view state)
{
    const std::vector<std::string> of_reason = letter_words(reason);
    const std::vector<std::string> of_state = letter_words(state);
    return any_of(of_state, planned_words) || (any_of(of_reason, planned_words) && !any_of(of_reason, failure_words));
}

}  // namespace prismopt
