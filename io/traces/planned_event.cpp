#include "io/traces/planned_event.hpp"

#include "model/base/words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace prismopt {

namespace {

// Words and phrases of administrators, and of Slurm: states MAINT and PLANNED (slurm.schedmd.com/sinfo.html,
// NODE STATE CODES), the reason "Reboot ASAP" of `scontrol reboot` (scontrol.html). "PM" alone may be a time
// of day, and "reboot" alone follows crashes.
constexpr std::array planned_phrases{
    "maintenance", "maint",   "scheduled", "planned",  "preventive", "pm cycle",     "pm window",
    "update",      "updates", "updated",   "updating", "upgrade",    "upgrades",     "upgraded",
    "upgrading",   "patch",   "patches",   "patched",  "patching",   "test",         "tests",
    "testing",     "burn in", "burnin",    "reimage",  "reimaging",  "reprovision",  "reprovisioning",
    "rolling",     "asap",    "change",    "wartung",  "geplant",    "decommission", "decommissioned"};

// A node in maintenance may be switched off: silence alone does not make its state a failure.
constexpr std::array silence_words{"responding", "unresponsive", "unreachable", "lost"};

// Xid, ECC: NVIDIA's driver (docs.nvidia.com/deploy/xid-errors); MCE, NMI, oops, panic, lockup: Linux
// (docs.kernel.org/admin-guide).
constexpr std::array failure_words{
    "unscheduled", "unplanned",     "unexpected",  "unexpectedly", "ungeplant", "emergency", "incident",
    "fail",        "fails",         "failed",      "failure",      "failures",  "failing",   "error",
    "errors",      "fault",         "faults",      "faulty",       "xid",       "sxid",      "ecc",
    "dbe",         "uncorrectable", "uncorrected", "rma",          "panic",     "panicked",  "oops",
    "mce",         "nmi",           "lockup",      "segfault",     "crash",     "crashes",   "crashed",
    "crashing",    "hang",          "hangs",       "hanging",      "hung",      "stuck",     "freeze",
    "froze",       "frozen",        "fell",        "fallen",       "dead",      "died",      "broken",
    "broke",       "defect",        "defective",   "bad",          "corrupt",   "corrupted", "corruption",
    "overheat",    "overheating",   "overheated",  "timeout",      "degraded",  "flapping",  "dropped",
    "abort",       "aborted",       "loss",        "leak",         "leaking",   "outage"};

/// Whether the words of a phrase follow each other in `words`.
template <class Phrases>
bool any_of(const std::vector<std::string>& words, const Phrases& phrases)
{
    return std::any_of(phrases.begin(), phrases.end(), [&](const char* phrase) {
        const std::vector<std::string> phrase_words = letter_words(phrase);
        return std::search(words.begin(), words.end(), phrase_words.begin(), phrase_words.end()) !=
               words.end();
    });
}

}  // namespace

bool is_planned_event(std::string_view reason, std::string_view state)
{
    const std::vector<std::string> of_reason = letter_words(reason);
    if (any_of(of_reason, failure_words)) {
        return false;
    }
    if (any_of(letter_words(state), planned_phrases)) {
        return true;
    }
    return any_of(of_reason, planned_phrases) && !any_of(of_reason, silence_words);
}

}  // namespace prismopt
