#include "io/trainers/trainer_settings.hpp"

#include <algorithm>

namespace prismopt {

namespace {

/// Command lines write "-" where files write "_".
bool same_letter(char a, char b) { return a == b || (a == '-' && b == '_') || (a == '_' && b == '-'); }

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

std::string_view without_section(const TrainerSettings& table, std::string_view name)
{
    for (const std::string_view section : table.sections) {
        if (begins(name, section)) {
            return name.substr(section.size());
        }
    }
    return name;
}

/// The only row that begins so; nullptr: none, or several.
const TrainerSetting* abbreviated(const TrainerSettings& table, std::string_view name)
{
    constexpr std::size_t shortest = 4;
    const TrainerSetting* found = nullptr;
    for (const TrainerSetting& row : table.rows) {
        if (name.size() >= shortest && !row.name.ends_with('*') && begins(row.name, name)) {
            if (found != nullptr) {
                return nullptr;
            }
            found = &row;
        }
    }
    return found;
}

}  // namespace

KnownSetting known_setting(const TrainerSettings& table, std::string_view name, bool prefixes)
{
    const std::string_view inner = without_section(table, name);
    for (const std::string_view spelling : {name, inner}) {
        if (const SettingDialect* dialect = dialect_of(table, spelling)) {
            return {row_of(table, dialect->of.empty() ? dialect->name : dialect->of), dialect};
        }
    }
    const TrainerSetting* whole = row_of(table, name);
    const TrainerSetting* row =
        whole != nullptr && !whole->name.ends_with('*') ? whole : row_of(table, inner);
    if (row == nullptr) {
        row = whole;
    }
    if (row == nullptr && prefixes) {
        row = abbreviated(table, inner);
    }
    return {row, nullptr};
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
