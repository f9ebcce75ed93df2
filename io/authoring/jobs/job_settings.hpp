#pragma once

/// Settings of a job read through the table of its trainer. What is read, taken from the trainer's
/// defaults, or left is recorded.

#include "io/authoring/jobs/job_setting.hpp"
#include "io/trainers/trainer_settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// A setting and what it gives.
struct ImportedValue {
    std::string name;  // as the file spells it
    std::string value;
    std::string key;   // of the scenario, or axis of the plan; of an unknown setting: what it may mean
    InputPlace place;  // of a default: none
};

/// What an import did with each setting.
struct ImportReport {
    std::vector<ImportedValue> read;
    std::vector<ImportedValue> defaults;  // of the trainer
    std::vector<std::string> assumed;     // neither in the files nor a default of the trainer
    // change time or memory, but no key states them: `key` says what they are
    std::vector<ImportedValue> no_key;
    std::vector<ImportedValue> irrelevant;  // to time and memory
    std::vector<ImportedValue> unused;      // have no effect beside the others
    std::vector<ImportedValue> unknown;     // the trainer's table does not have them
};

class JobSettings {
public:
    /// Of a setting that is given several times, the last counts. Throws InputError where what a setting
    /// needs has no value, or one that the trainer does not take.
    JobSettings(const TrainerSettings& table, const JobSettingList& given);

    /// Whether the files state it, and not as null.
    bool given(std::string_view row) const;
    /// Whether the files state any setting whose name begins so.
    bool gives_any(std::string_view beginning) const;
    /// The value that the files state, without recording it as read; empty: none.
    std::string stated(std::string_view row) const;
    /// Its value, or the trainer's default; empty: none.
    std::string text(std::string_view row);
    std::vector<std::string> texts(std::string_view row);
    /// The values as the file lists them.
    std::vector<std::string> values(std::string_view row);
    bool flag(std::string_view row);
    /// Throws InputError for what is no number.
    int count(std::string_view row);
    double number(std::string_view row);
    /// The same where the trainer's default follows from other settings.
    int count(std::string_view row, int usual, const std::string& why);
    /// The same for what a job must state: throws InputError where it does not.
    int required(std::string_view row);
    [[noreturn]] void fail(std::string_view row, const std::string& reason, const std::string& remedy) const;

    void assume(const std::string& what);
    /// Records a setting without a key that the table does not mark, or that has one only in part.
    void no_key(std::string_view row, const std::string& what);
    ImportReport report() const;
    const TrainerSettings& table() const { return table_; }
    /// Throws InputError if a name that the table does not have is likely a slip for the row.
    void refuse_slip_for(std::string_view row) const;

private:
    struct Entry {
        KnownSetting known;
        JobSetting setting;
        bool used = false;
        bool without_key = false;
    };
    void refuse_missing() const;
    void refuse_other_values() const;
    Entry* find(std::string_view row);
    const Entry* find(std::string_view row) const;
    /// The value of the row, recorded as read or as default; nullopt: neither.
    std::optional<std::string> taken(std::string_view row);

    TrainerSettings table_;
    std::vector<Entry> entries_;
    ImportReport more_;  // defaults, assumptions
};

/// Whether a text stands for true: "true", "True", "on", "yes", "1".
bool says_true(std::string_view text);

}  // namespace prismopt
