#include "io/traces/planned_event.hpp"

#include <algorithm>
#include <array>
#include <cctype>
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

/// In lower case, parted by everything that is no letter.
std::vector<std::string> words_of_event(std::string_view text)
{
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

template <class Words>
bool any_of(const std::vector<std::string>& words, const Words& named)
{
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return std::find(named.begin(), named.end(), word) != named.end(); });
}

}  // namespace

bool is_planned_event(std::string_view reason, std::string_view state)
{
    const std::vector<std::string> of_reason = words_of_event(reason);
    const std::vector<std::string> of_state = words_of_event(state);
    return any_of(of_state, planned_words) || (any_of(of_reason, planned_words) && !any_of(of_reason, failure_words));
}

}  // namespace prismopt
