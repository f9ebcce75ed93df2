#include "io/trainers/trainer_settings.hpp"

#include "io/toml/nearest.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace prismopt {

namespace {

/// Command lines write "-" where files write "_".
bool same_letter(char a, char b) { return a == b || (a == '-' && b == '_') || (a == '_' && b == '-'); }

std::string with_dashes(std::string_view name)
{
    std::string text(name);
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

bool begins(std::string_view text, std::string_view beginning)
{
    return text.size() >= beginning.size() &&
           std::equal(beginning.begin(), beginning.end(), text.begin(), same_letter);
}
bool same(std::string_view a, std::string_view b) { return a.size() == b.size() && begins(a, b); }

/// The row of exactly that name, else the longest pattern.
const TrainerSetting* row_of(const TrainerSettings& table, std::string_view name)
{
    const TrainerSetting* best = nullptr;
    for (const TrainerSetting& row : table.rows) {
        if (same(row.name, name)) {
            return &row;
        }
        const bool pattern = row.name.ends_with('*') && begins(name, row.name.substr(0, row.name.size() - 1));
        if (pattern && (best == nullptr || row.name.size() > best->name.size())) {
            best = &row;
        }
    }
    return best;
}

const SettingDialect* dialect_of(const TrainerSettings& table, std::string_view name)
{
    const auto found =
        std::find_if(table.dialect.begin(), table.dialect.end(),
                     [name](const SettingDialect& dialect) { return same(dialect.name, name); });
    return found == table.dialect.end() ? nullptr : &*found;
}

/// The name as it is written, then with each other prefix.
std::vector<std::string> spellings(const TrainerSettings& table, std::string_view name)
{
    std::vector<std::string> all{std::string(name)};
    for (const SettingPrefix& prefix : table.prefixes) {
        if (begins(name, prefix.name)) {
            all.push_back(std::string(prefix.of) + std::string(name.substr(prefix.name.size())));
        }
    }
    return all;
}

constexpr std::size_t shortest_beginning = 4;  // shorter ones are names of scripts' own options

/// The only row that begins so; nullptr: none, or several.
const TrainerSetting* abbreviated(const TrainerSettings& table, std::string_view name)
{
    const TrainerSetting* found = nullptr;
    for (const TrainerSetting& row : table.rows) {
        if (name.size() >= shortest_beginning && !row.name.ends_with('*') && begins(row.name, name)) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &row;
        }
    }
    return found;
}

}  // namespace

KnownSetting known_setting(const TrainerSettings& table, std::string_view name, bool option)
{
    const std::vector<std::string> all = spellings(table, name);
    for (const std::string& spelling : all) {
        if (const SettingDialect* dialect = dialect_of(table, spelling)) {
            return {row_of(table, dialect->of.empty() ? dialect->name : dialect->of), dialect};
        }
    }
    const TrainerSetting* pattern = nullptr;  // that of another prefix before that of the whole name
    for (const std::string& spelling : all) {
        const TrainerSetting* row = row_of(table, spelling);
        if (row != nullptr && !row->name.ends_with('*')) {
            return {row, nullptr};
        }
        if (row != nullptr) {
            pattern = row;
        }
    }
    const bool in_section = name.find('.') != std::string_view::npos;  // of another program: "accelerate."
    if (pattern == nullptr && table.abbreviations && option && !in_section) {
        return {abbreviated(table, name), nullptr};
    }
    return {pattern, nullptr};
}

std::string_view likely_setting(const TrainerSettings& table, std::string_view name)
{
    std::string_view likely;
    for (const std::string& spelling : spellings(table, name)) {
        for (const TrainerSetting& row : table.rows) {
            if (spelling.size() < shortest_beginning || row.name.ends_with('*')) {
                continue;
            }
            if (one_slip(with_dashes(spelling), with_dashes(row.name))) {
                return row.name;
            }
            if (likely.empty() && begins(row.name, spelling)) {
                likely = row.name;
            }
        }
    }
    return likely;
}

std::string_view usual_value(const TrainerSettings& table, std::string_view row)
{
    for (const SettingDialect& dialect : table.dialect) {
        if (same(dialect.of.empty() ? dialect.name : dialect.of, row) && !dialect.usual.empty()) {
            return dialect.usual;
        }
    }
    const TrainerSetting* own = row_of(table, row);
    return own == nullptr ? std::string_view{} : own->usual;
}

}  // namespace prismopt
