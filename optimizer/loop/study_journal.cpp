#include "optimizer/loop/study_journal.hpp"

#include "io/base/input_error.hpp"
#include "io/results/results_file.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/loop/draw_store.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/study_front.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr std::string_view journal_suffix = ".journal";

/// Kind of a record, and its number within the kind: answers have the numbers of their requests.
enum class RecordKind : std::uint8_t { study, tuning_step, tuned_hardware, answer };

struct Record {
    RecordKind kind = RecordKind::study;
    std::uint64_t number = 0;
    Message content;
};

template <Of<Record> T>
auto members(T& record)
{
    return std::tie(record.kind, record.number, record.content);
}

/// What a scenario's text does not determine, and the text.
auto study_of(Of<Scenario> auto& scenario)
{
    auto& search = scenario.search;
    return std::tie(scenario.path, scenario.text, scenario.seed, search.strategy, search.max_evaluations, search.part,
                    search.parts, scenario.variants);
}

/// Calls `use(record, begin)` for each record that this program wrote.
template <class Use>
void for_each_record(const JournalContents& contents, const Use& use)
{
    for (std::size_t i = 0; i < contents.records.size(); ++i) {
        try {
            use(decode<Record>(contents.records[i]), contents.begins[i]);
        } catch (const std::runtime_error&) {  // another program appended it
        }
    }
}

}  // namespace

std::uint64_t study_hash(const Scenario& scenario)
{
    std::string options = fmt::format(" {} {} {}/{} ", scenario.search.strategy, scenario.search.max_evaluations,
                                      scenario.search.part, scenario.search.parts);
    for (const ChosenValues& values : scenario.variants) {
        options += variant_text(scenario.choices, values) + ' ';
    }
    return study_hash(scenario.text, scenario.seed, release() + options + commit());
}

namespace {

/// Throws InputError if the file is not a results file, or belongs to a search that was stopped.
void check_finished(const std::string& path)
{
    const std::string remedy = fmt::format("give the --out file of a stopped search, or its journal, {}", journal_path("OUT"));
    bool provisional = false;
    try {
        provisional = read_results(path).provisional;
    } catch (const InputError& error) {
        throw InputError(fmt::format("nothing to resume: {}\n{}", error.what(), remedy));
    }
    if (provisional) {
        throw InputError(
            fmt::format("{}: its search was stopped, but its journal {} is missing; copy the journal beside it, or search "
                        "again with --force",
                        path, journal_path(path)));
    }
}

std::optional<Results> readable_results(const std::string& path)
{
    if (!file_exists(path)) {
        return std::nullopt;
    }
    try {
        return read_results(path);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

bool answers(const Answer& answer, const Request& request)
{
    if (const auto* sweep = std::get_if<Sweep>(&answer)) {
        const auto* range = std::get_if<SweepRange>(&request);
        return range != nullptr && range->begin == sweep->range.begin && range->end == sweep->range.end;
    }
    const auto& evaluation = std::get<Evaluation>(answer);
    const auto* point = std::get_if<PointRequest>(&request);
    return point != nullptr && point->index == evaluation.index && point->rung == evaluation.rung &&
           point->source == evaluation.source;
}

}  // namespace

bool is_journal(const std::string& path) { return path.ends_with(journal_suffix); }

std::string results_path_of(const std::string& path)
{
    return is_journal(path) ? path.substr(0, path.size() - journal_suffix.size()) : path;
}

std::string journal_path(const std::string& out) { return out + std::string(journal_suffix); }

void remove_journal(const std::string& out)
{
    std::error_code ignored;
    std::filesystem::remove(journal_path(out), ignored);
    std::filesystem::remove(draws_path(journal_path(out)), ignored);
}

bool file_exists(const std::string& path)
{
    std::error_code error;
    const bool found = std::filesystem::exists(path, error);
    if (error) {
        throw InputError(fmt::format("{}: {}; name another file", path, error.message()));
    }
    return found;
}

Message study_record(const Scenario& scenario)
{
    return std::apply([](const auto&... values) { return (Packer() << ... << values).take(); }, study_of(scenario));
}

Scenario scenario_from(std::span<const std::byte> record)
{
    Scenario stored;
    Unpacker in(record);
    std::apply([&in](auto&... values) { (in >> ... >> values); }, study_of(stored));
    Scenario scenario = parse_scenario(stored.text, stored.path);
    study_of(scenario) = study_of(stored);
    return scenario;
}

std::optional<Scenario> journaled_scenario(const std::string& path)
{
    const std::string journal = journal_path(results_path_of(path));
    if (!file_exists(journal)) {
        if (file_exists(results_path_of(path))) {
            check_finished(results_path_of(path));
            return std::nullopt;
        }
        throw InputError(fmt::format(
            "{}: nothing to resume: neither this file nor {} exists; give the --out file of a stopped search", path, journal));
    }
    std::optional<Message> study;
    for_each_record(read_journal(journal), [&](Record record, std::uint64_t) {
        if (record.kind == RecordKind::study && !study) {
            study = std::move(record.content);
        }
    });
    if (!study) {
        throw InputError(fmt::format(
            "{} does not contain a study (its records are missing or damaged); start the search again with --force", journal));
    }
    return scenario_from(*study);
}

void refuse_results_of_another_study(const Scenario& journaled, const std::string& out)
{
    const std::optional<Results> results = readable_results(out);
    if (!results) {
        return;
    }
    const StudyInfo& there = results->study;
    const std::string& strategy = journaled.search.strategy;
    const bool named = !facts_of_strategy(strategy).chooses;  // results hold what it chose
    std::string differs;
    if (there.scenario_text != journaled.text) {
        differs = fmt::format("scenario (\"{}\" in the journal, \"{}\" in the results)", journaled.name, there.scenario_name);
    } else if (there.seed != journaled.seed) {
        differs = fmt::format("seed ({} in the journal, {} in the results)", journaled.seed, there.seed);
    } else if (there.parts != journaled.search.parts || there.held != std::vector{journaled.search.part}) {
        differs = fmt::format("part of the space ({}/{} in the journal, {}/{} in the results)", journaled.search.part,
                              journaled.search.parts, fmt::join(there.held, ","), there.parts);
    } else if (named && there.strategy != strategy) {
        differs = fmt::format("strategy ({} in the journal, {} in the results)", strategy, there.strategy);
    } else {
        return;
    }
    throw InputError(fmt::format(
        "{} and {} belong to different studies: their {} differs; nothing was changed\nto continue the journal, move {} "
        "elsewhere and resume again; to keep these results, move the journal beside the results of its own study",
        journal_path(out), out, differs, out));
}

JournalCount count_records(const JournalContents& contents)
{
    JournalCount count;
    std::set<std::uint64_t> numbers;
    for_each_record(contents, [&](const Record& record, std::uint64_t) {
        count.tuning += record.kind == RecordKind::tuning_step || record.kind == RecordKind::tuned_hardware ? 1 : 0;
        if (record.kind == RecordKind::answer) {
            numbers.insert(record.number);
        }
    });
    count.answers = numbers.size();
    count.lost = numbers.empty() ? 0 : *numbers.rbegin() + 1 - numbers.size();
    return count;
}

StudyJournal::StudyJournal(const std::string& path, const Scenario& scenario, bool resume) : path_(path)
{
    if (resume) {
        const JournalContents contents = read_journal(path);
        for_each_record(contents, [this](Record record, std::uint64_t begin) {
            if (record.kind == RecordKind::answer) {
                known_.emplace(record.number, Known{std::move(record.content), begin});
            } else if (record.kind == RecordKind::tuning_step) {
                std::string question;
                Message answer;
                Unpacker(record.content) >> question >> answer;
                tuning_.answers.emplace(std::move(question), std::move(answer));
            } else if (record.kind == RecordKind::tuned_hardware) {
                Unpacker(record.content) >> tuning_.tuned.emplace();
            }
        });
        if (!contents.damage.empty()) {
            const JournalCount count = count_records(contents);
            log_warning(fmt::format("{}: {}; {} answers are reused, and {} missing ones between them are computed again", path,
                                    contents.damage, count.answers, count.lost));
        }
    }
    try {
        writer_ = std::make_unique<JournalWriter>(path, study_hash(scenario));
    } catch (const FileError& error) {
        throw InputError(error.what());  // nothing is computed yet: another place is for the user to choose
    }
    if (!resume) {
        for (const std::uint64_t copy : {0, 1}) {  // without it no other record is of use
            writer_->append(encode(Record{RecordKind::study, copy, study_record(scenario)}));
        }
        writer_->sync();
    }
}

KnownTuning StudyJournal::take_tuning() { return std::move(tuning_); }

void StudyJournal::append_tuning(const std::string& question, const Message& answer)
{
    append(encode(Record{RecordKind::tuning_step, 0, (Packer() << question << answer).take()}));
}

void StudyJournal::finish_tuning(const std::vector<ChosenValues>& tuned)
{
    append(encode(Record{RecordKind::tuned_hardware, 0, encode(tuned)}));
}

FullAnswer StudyJournal::take_answer(std::uint64_t number, const Request& request)
{
    const auto node = known_.extract(number);
    const Known& record = node.mapped();
    FullAnswer known;
    try {
        known = decode_full_answer(record.content);
    } catch (const std::runtime_error&) {
        refuse_record(number, record.begin);
    }
    if (!answers(known.answer, request)) {
        refuse_record(number, record.begin);
    }
    return known;
}

/// Throws. The checksum of the record matches, so it is not the trace of a crash.
void StudyJournal::refuse_record(std::uint64_t number, std::uint64_t begin) const
{
    throw InputError(
        fmt::format("{}: the record at byte {} does not answer request {} of this study, so it was not written by this search; "
                    "the records before it are valid and nothing was changed\nto continue from them: truncate -s {} {}, then "
                    "prismopt resume {}; or start again with --force",
                    path_, begin, number, begin, path_, results_path_of(path_)));
}

void StudyJournal::append(std::uint64_t number, const FullAnswer& answer)
{
    append(encode(Record{RecordKind::answer, number, encode(answer)}));
}

void StudyJournal::append(const Message& record)
{
    writer_->append(record);
    const auto now = std::chrono::steady_clock::now();
    if (now - synced_ > std::chrono::seconds(1)) {
        writer_->sync();
        synced_ = now;
    }
}

}  // namespace prismopt
