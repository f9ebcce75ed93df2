#pragma once

/// Settings of training programs, a row each: what a job file may state, what the program takes
/// otherwise, and which key of a scenario or axis of a plan it gives. Jobs are imported through these
/// tables; the exports write rows of them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace prismopt {

enum class SettingEffect {
    read,       // gives keys or axes
    no_key,     // changes time or memory, but no key states it
    none,       // changes neither
    by_default  // what the program does anyway, or what follows from other settings; with a usual value,
                // any other value is as no_key
};

struct TrainerSetting {
    // as the program spells it, without dashes; with a trailing *: all names that begin so
    std::string_view name;
    // "tp" of [space]; "workload.hidden", "phase.sequence_length"; of no_key, and of by_default with a usual
    // value: what it is, in words
    std::string_view key = {};
    std::string_view usual = {};  // the program's value where it is not given; empty: off, none, or required
    SettingEffect effect = SettingEffect::read;
    std::string_view values = {};  // that the program takes, separated by blanks; empty: any
};

/// Another program's spelling of a setting, or its default where that differs.
struct SettingDialect {
    std::string_view name;         // of the program
    std::string_view of;           // row of the table; empty: the same
    std::string_view usual = {};   // empty: as in the row
    bool inverse = false;          // true means false there
    std::string_view values = {};  // empty: as in the row
};

/// Another beginning of names: "model." of a section whose settings have the names of rows, or
/// "fsdp_config.fsdp_" for "fsdp_config.".
struct SettingPrefix {
    std::string_view name;
    std::string_view of = {};  // what rows have instead; empty: nothing
};

/// The settings of a program. All that it refers to is static: rows, dialects and literals.
struct TrainerSettings {
    std::string_view program;
    std::span<const TrainerSetting> rows;
    std::span<const SettingDialect> dialect = {};
    std::span<const SettingPrefix> prefixes = {};
    // whether unique beginnings of its options count as the options, as in Python's argparse by default
    bool abbreviations = false;
};

/// Rows of one program, and those that it shares with others.
template <std::size_t A, std::size_t B>
constexpr std::array<TrainerSetting, A + B> joined(const std::array<TrainerSetting, A>& a,
                                                   const std::array<TrainerSetting, B>& b)
{
    std::array<TrainerSetting, A + B> all{};
    std::copy(a.begin(), a.end(), all.begin());
    std::copy(b.begin(), b.end(), all.begin() + A);
    return all;
}

/// Row and dialect of a name, in a static table.
struct KnownSetting {
    const TrainerSetting* row = nullptr;  // nullptr: unknown
    const SettingDialect* dialect = nullptr;
};
/// The row of a name in a job file: as the dialect has it, else as it is written or with another prefix,
/// else by the longest pattern; "-" and "_" are the same. An `option` of a command line that begins exactly
/// one row means that row, if the program takes abbreviations.
KnownSetting known_setting(const TrainerSettings& table, std::string_view name, bool option = false);
/// The row that an unknown name may be a slip for: it begins so, or one edit away; empty: none.
std::string_view likely_setting(const TrainerSettings& table, std::string_view name);
/// The program's default of a row; empty: none.
std::string_view usual_value(const TrainerSettings& table, std::string_view row);

/// Megatron-LM, and programs that reuse its names with other defaults.
const TrainerSettings& megatron_settings();
const TrainerSettings& megatron_deepspeed_settings();
const TrainerSettings& slime_settings();
const TrainerSettings& bridge_settings();
const TrainerSettings& nemo1_settings();
const TrainerSettings& primus_settings();

const TrainerSettings& torchtitan_settings();

/// Trainers above Hugging Face transformers.
const TrainerSettings& transformers_settings();
const TrainerSettings& trl_settings();
const TrainerSettings& llama_factory_settings();
const TrainerSettings& swift_settings();
const TrainerSettings& axolotl_settings();

const TrainerSettings& maxtext_settings();
const TrainerSettings& nanotron_settings();
const TrainerSettings& verl_settings();

}  // namespace prismopt
