#include "io/authoring/jobs/job_settings.hpp"

#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

namespace prismopt {

namespace {

/// "null" of YAML and Python's "None", and the placeholder of exports (io/export/launch.hpp).
bool is_nothing(std::string_view text)
{
    constexpr std::array<std::string_view, 8> nothing{"null", "Null", "NULL", "None",
                                                      "none", "~",    "",     "FILL_IN"};
    return std::find(nothing.begin(), nothing.end(), text) != nothing.end();
}

bool says_false(std::string_view text)
{
    constexpr std::array<std::string_view, 7> no{"false", "False", "off", "no", "0", "FALSE", "No"};
    return std::find(no.begin(), no.end(), text) != no.end();
}

/// "1_000", "2.5e6", "4096.0".
std::optional<double> number_in(std::string text)
{
    std::erase(text, '_');
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && std::isfinite(number)
               ? std::optional(number)
               : std::nullopt;
}

/// Of a list as YAML, Python or a command line writes it.
std::vector<std::string> list_words(std::string_view text)
{
    std::vector<std::string> words(1);
    for (const char c : text) {
        if (c == ' ' || c == ',' || c == '[' || c == ']' || c == '\'' || c == '"') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    std::erase(words, "");
    return words;
}

bool same_but_for_case(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Whether two texts state one value: "True" and "true", "1e8" and "100000000".
bool same_value(const std::string& a, const std::string& b)
{
    if (same_but_for_case(a, b) || (says_true(a) && says_true(b)) || (says_false(a) && says_false(b))) {
        return true;
    }
    const auto number = number_in(a);
    return number && number == number_in(b);
}

/// The value of a setting; of a flag "true".
std::string value_of(const JobSetting& setting) { return setting.values.empty() ? "true" : setting.text(); }

/// Whether a setting states what its program does anyway; "auto" leaves it to the program.
bool is_usual(const TrainerSetting& row, const JobSetting& setting)
{
    const std::string value = value_of(setting);
    return row.usual.empty() || is_nothing(value) || value == "auto" ||
           same_value(value, std::string(row.usual));
}

}  // namespace

bool says_true(std::string_view text)
{
    constexpr std::array<std::string_view, 7> yes{"true", "True", "on", "yes", "1", "TRUE", "Yes"};
    return std::find(yes.begin(), yes.end(), text) != yes.end();
}

JobSettings::JobSettings(const TrainerSettings& table, const JobSettingList& given) : table_(table)
{
    for (const JobSetting& setting : given) {
        Entry entry{known_setting(table, setting.name, setting.option), setting};
        if (entry.known.dialect != nullptr && entry.known.dialect->inverse &&
            entry.setting.values.size() == 1) {
            std::string& value = entry.setting.values.front();
            if (says_true(value)) {
                value = "false";
            } else if (says_false(value)) {
                value = "true";
            }
        }
        const auto same = std::find_if(entries_.begin(), entries_.end(), [&entry](const Entry& other) {
            const bool pattern = entry.known.row != nullptr && entry.known.row->name.ends_with('*');
            return entry.known.row != nullptr && !pattern ? other.known.row == entry.known.row
                                                          : other.setting.name == entry.setting.name;
        });
        if (same == entries_.end()) {
            entries_.push_back(std::move(entry));
        } else {
            *same = std::move(entry);
        }
    }
    refuse_missing();
    refuse_other_values();
}

namespace {

/// Names in order, each once, without what explains them.
std::vector<std::string> names_asked_for(const std::vector<std::string>& missing)
{
    std::vector<std::string> names;
    for (const std::string& text : missing) {
        const std::string name = text.substr(0, text.find(" ("));
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> names_once(std::vector<std::string> names)
{
    std::vector<std::string> once;
    for (std::string& name : names) {
        if (std::find(once.begin(), once.end(), name) == once.end()) {
            once.push_back(std::move(name));
        }
    }
    return once;
}

/// Values that a setting takes, those of its dialect before those of its row; empty: any.
std::string_view accepted_values(const KnownSetting& known)
{
    if (known.dialect != nullptr && !known.dialect->values.empty()) {
        return known.dialect->values;
    }
    if (known.row != nullptr) {
        return known.row->values;
    }
    return {};
}

}  // namespace

void JobSettings::refuse_missing() const
{
    std::vector<std::string> lines;
    std::vector<std::string> missing;
    InputPlace place;
    for (const Entry& entry : entries_) {
        const bool needed = entry.known.row != nullptr && entry.known.row->effect == SettingEffect::read;
        if (needed && !entry.setting.missing.empty()) {
            if (lines.empty()) {
                place = entry.setting.place;
            }
            const std::vector<std::string> names = names_once(entry.setting.missing);
            lines.push_back(fmt::format("{}{} needs {}",
                                        lines.empty() ? "" : entry.setting.place.text() + ": ",
                                        entry.setting.name, listed(names)));
            missing.insert(missing.end(), names.begin(), names.end());
        }
    }
    if (lines.empty()) {
        return;
    }
    std::string remedy = "add";
    for (const std::string& name : names_asked_for(missing)) {
        remedy += fmt::format(" --set '{}=VALUE'", name);
    }
    throw InputError(place, fmt::format("{}: no value is known", fmt::join(lines, "\n  ")),
                     remedy + " (empty for none)");
}

void JobSettings::refuse_other_values() const
{
    for (const Entry& entry : entries_) {
        const std::vector<std::string> values = list_words(accepted_values(entry.known));
        if (values.empty() || !entry.setting.missing.empty()) {
            continue;
        }
        for (const std::string& word : list_words(entry.setting.text())) {
            const std::string name = word.substr(word.find_last_of('.') + 1);  // AttnBackend.flash
            const bool known = is_nothing(name) ||
                               std::any_of(values.begin(), values.end(), [&name](const std::string& value) {
                                   return same_but_for_case(value, name);
                               });
            if (!known) {
                throw InputError(entry.setting.place,
                                 fmt::format("{} = {} is no value that {} takes", entry.setting.name,
                                             printable(word), table_.program),
                                 fmt::format("use one of {}", listed(values)));
            }
        }
    }
}

JobSettings::Entry* JobSettings::find(std::string_view row)
{
    const auto found = std::find_if(entries_.begin(), entries_.end(), [row](const Entry& entry) {
        return entry.known.row != nullptr && entry.known.row->name == row;
    });
    return found == entries_.end() ? nullptr : &*found;
}

const JobSettings::Entry* JobSettings::find(std::string_view row) const
{
    return const_cast<JobSettings*>(this)->find(row);  // NOLINT: the same search
}

bool JobSettings::given(std::string_view row) const
{
    const Entry* entry = find(row);
    const bool flag = entry != nullptr && entry->setting.values.empty();
    return entry != nullptr && (flag || !is_nothing(entry->setting.text()));
}

bool JobSettings::gives_any(std::string_view beginning) const
{
    return std::any_of(entries_.begin(), entries_.end(),
                       [beginning](const Entry& entry) { return entry.setting.name.starts_with(beginning); });
}

std::string JobSettings::stated(std::string_view row) const
{
    return given(row) ? value_of(find(row)->setting) : "";
}

std::optional<std::string> JobSettings::taken(std::string_view row)
{
    if (Entry* entry = find(row)) {
        entry->used = true;
        if (given(row)) {
            return value_of(entry->setting);
        }
        if (entry->setting.text() != "FILL_IN") {
            return std::nullopt;  // stated as null
        }
    }
    const std::string usual(usual_value(table_, row));
    const auto same = [row](const ImportedValue& value) { return value.name == row; };
    if (!usual.empty() && std::none_of(more_.defaults.begin(), more_.defaults.end(), same)) {
        const KnownSetting known = known_setting(table_, row);
        more_.defaults.push_back(
            {std::string(row), usual, known.row == nullptr ? "" : std::string(known.row->key), {}});
    }
    return usual.empty() ? std::nullopt : std::optional(usual);
}

std::string JobSettings::text(std::string_view row) { return taken(row).value_or(""); }

std::vector<std::string> JobSettings::texts(std::string_view row)
{
    const std::string text = taken(row).value_or("");
    const Entry* entry = find(row);
    if (entry != nullptr && entry->setting.values.size() > 1) {
        return entry->setting.values;
    }
    return list_words(text);
}

std::vector<std::string> JobSettings::values(std::string_view row)
{
    taken(row);
    const Entry* entry = find(row);
    return entry == nullptr ? std::vector<std::string>{} : entry->setting.values;
}

bool JobSettings::flag(std::string_view row)
{
    const std::string value = text(row);
    if (!value.empty() && !says_true(value) && !says_false(value)) {
        fail(row, "is neither true nor false", "write true or false");
    }
    return says_true(value);
}

double JobSettings::number(std::string_view row)
{
    const std::string value = text(row);
    const auto number = number_in(value);
    if (!number) {
        fail(row, "is not a number", fmt::format("write a number, or override it: --set {}=NUMBER", row));
    }
    return *number;
}

int JobSettings::count(std::string_view row)
{
    const double value = number(row);
    if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max()) {
        fail(row, "is not a whole number", fmt::format("write one, or override it: --set {}=NUMBER", row));
    }
    return static_cast<int>(value);
}

int JobSettings::count(std::string_view row, int usual, const std::string& why)
{
    if (given(row)) {
        return count(row);
    }
    taken(row);
    const KnownSetting known = known_setting(table_, row);
    more_.defaults.push_back({std::string(row),
                              fmt::format("{} ({})", usual, why),
                              known.row == nullptr ? "" : std::string(known.row->key),
                              {}});
    return usual;
}

int JobSettings::required(std::string_view row)
{
    if (!given(row) && usual_value(table_, row).empty()) {
        refuse_slip_for(row);
        throw InputError(fmt::format(
            "{} is not given in the files; add --set {}=NUMBER, or one more FILE that states it", row, row));
    }
    return count(row);
}

void JobSettings::refuse_slip_for(std::string_view row) const
{
    for (const Entry& entry : entries_) {
        if (entry.known.row == nullptr && likely_setting(table_, entry.setting.name) == row) {
            throw InputError(entry.setting.place,
                             fmt::format("{} is no setting of {}", printable(entry.setting.name),
                                         table_.program),
                             fmt::format("write {}, which is not given in the files", row));
        }
    }
}

void JobSettings::fail(std::string_view row, const std::string& reason, const std::string& remedy) const
{
    const Entry* entry = find(row);
    if (entry == nullptr) {
        throw InputError(fmt::format("{} {}; {}", row, reason, remedy));
    }
    throw InputError(
        entry->setting.place,
        fmt::format("{} = {} {}", entry->setting.name, printable(value_of(entry->setting)), reason), remedy);
}

void JobSettings::assume(const std::string& what)
{
    if (std::find(more_.assumed.begin(), more_.assumed.end(), what) == more_.assumed.end()) {
        more_.assumed.push_back(what);
    }
}

void JobSettings::no_key(std::string_view row, const std::string& what)
{
    Entry* entry = find(row);
    if (entry == nullptr) {
        more_.no_key.push_back({std::string(row), "", what, {}});
        return;
    }
    entry->without_key = true;
    more_.no_key.push_back({entry->setting.name, entry->setting.text(), what, entry->setting.place});
}

ImportReport JobSettings::report() const
{
    ImportReport all = more_;
    for (const Entry& entry : entries_) {
        const std::string key = entry.known.row == nullptr ? "" : std::string(entry.known.row->key);
        const ImportedValue value{entry.setting.name, entry.setting.text(), key, entry.setting.place};
        const TrainerSetting* row = entry.known.row;
        const bool placeholder = value.value == "FILL_IN";
        const bool changes =
            row != nullptr && (row->effect == SettingEffect::no_key ||
                               (row->effect == SettingEffect::by_default && !is_usual(*row, entry.setting)));
        if (row == nullptr) {
            const std::string_view likely = likely_setting(table_, value.name);
            const std::string guess = likely.empty() ? "" : fmt::format("perhaps {}", likely);
            all.unknown.push_back({value.name, value.value, guess, value.place});
        } else if (changes) {
            all.no_key.push_back(value);
        } else if (row->effect == SettingEffect::by_default && !row->usual.empty()) {
            all.irrelevant.push_back({value.name, value.value, "", value.place});  // `key` is of other values
        } else if (row->effect != SettingEffect::read || placeholder) {
            all.irrelevant.push_back(value);
        } else if (entry.used) {
            all.read.push_back(value);
        } else if (!entry.without_key) {
            all.unused.push_back(value);
        }
    }
    for (std::vector<ImportedValue>* list :
         {&all.read, &all.no_key, &all.irrelevant, &all.unused, &all.unknown}) {
        std::stable_sort(list->begin(), list->end(), [](const ImportedValue& a, const ImportedValue& b) {
            return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
        });
    }
    return all;
}

}  // namespace prismopt
