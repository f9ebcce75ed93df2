#include "optimizer/loop/study_journal.hpp"

#include "io/base/input_error.hpp"
#include "io/results/results_file.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/loop/draw_store.hpp"
#include "optimizer/loop/study_key.hpp"
#include "optimizer/parallel/bytes.hpp"
#include "optimizer/parallel/launch.hpp"
#include "optimizer/parallel/work_item.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/study_front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace prismopt {

template <Of<KeptOptions> T>
auto members(T& options)
{
    return std::tie(options.command_line, options.posterior, options.max_time_s, options.most_legs);
}

template <Of<StudyHead> T>
auto members(T& head)
{
    return std::tie(head.build, head.options, head.study);
}

template <Of<Leg> T>
auto members(T& leg)
{
    return std::tie(leg.started, leg.job, leg.nodes, leg.ranks, leg.threads, leg.seconds, leg.saved, leg.end);
}

namespace {

constexpr std::string_view journal_suffix = ".journal";

/// What a killed leg took is known up to so long before.
constexpr std::chrono::seconds between_leg_records{10};

/// Kind of a record, and its number within the kind: answers have the numbers of their
/// requests, legs their positions.
enum class RecordKind : std::uint8_t { study, tuning_step, tuned_hardware, answer, leg };

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
    return std::tie(scenario.path, scenario.text, scenario.seed, search.strategy, search.max_evaluations,
                    search.space_part, search.space_parts, scenario.variants);
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
    std::string options =
        fmt::format(" {} {} {}/{} ", scenario.search.strategy, scenario.search.max_evaluations,
                    scenario.search.space_part, scenario.search.space_parts);
    for (const ChosenValues& values : scenario.variants) {
        options += variant_text(scenario.choices, values) + ' ';
    }
    const BuildIdentity& build = this_build();
    return study_hash(scenario.text, scenario.seed,
                      build.version + options + build.commit + " " + build.catalog);
}

namespace {

/// Throws InputError if the file is not a results file, or belongs to a search that was stopped.
void check_finished(const std::string& path, const std::string& remedy)
{
    bool provisional = false;
    try {
        provisional = read_results(path).provisional;
    } catch (const InputError& error) {
        throw InputError(fmt::format("nothing to resume: {}\n{}", error.what(), remedy));
    }
    if (provisional) {
        throw InputError(
            fmt::format("{}: its search was stopped, but its journal {} is missing; copy the journal beside "
                        "it, or search "
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
    return std::apply([](const auto&... values) { return (Packer() << ... << values).release(); },
                      study_of(scenario));
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
            check_finished(results_path_of(path),
                           fmt::format("give the --out file of a stopped search, or its journal, {}",
                                       journal_path("OUT")));
            return std::nullopt;
        }
        throw InputError(fmt::format(
            "{}: nothing to resume: neither this file nor {} exists; give the --out file of a stopped search",
            path, journal));
    }
    const StudyHead head = head_of(read_journal(journal), journal);
    if (const std::string_view differs = difference(head.build, this_build()); !differs.empty()) {
        throw InputError(fmt::format(
            "{} was written by {}, and this is {}: the {} differs, and so may the results; nothing was "
            "changed\ncontinue with the "
            "program that wrote it, or start the search again with --force",
            journal, build_text(head.build), build_text(this_build()), differs));
    }
    return scenario_from(head.study);
}

std::string complete_text(const std::string& out)
{
    return fmt::format("{}: the search is complete, so there is nothing to continue; see prismopt report {}",
                       out, out);
}

Begun begun(const Scenario& asked, const std::string& out)
{
    const std::string journal = journal_path(out);
    const auto refuse = [&](const std::string& path, const std::string& differs) {
        throw InputError(fmt::format(
            "{} belongs to another study: its {} differs; name another file with --out, or overwrite it "
            "with --force",
            path, differs));
    };
    if (file_exists(journal) && !journal_is_blank(journal)) {
        const Scenario journaled = *journaled_scenario(out);
        const std::string differs = difference(key_of(journaled), key_of(asked), {"in the journal", "here"});
        if (!differs.empty()) {
            refuse(journal, differs);
        }
        refuse_results_of_another_study(journaled, out);
        return Begun::in_journal;
    }
    if (!file_exists(out)) {
        return Begun::no;
    }
    check_finished(out, "name another file with --out, or overwrite this one with --force");
    const std::string differs =
        difference(key_of(read_results(out).study), key_of(asked), {"in the results", "here"});
    if (!differs.empty()) {
        refuse(out, differs);
    }
    return Begun::complete;
}

void refuse_results_of_another_study(const Scenario& journaled, const std::string& out)
{
    const std::optional<Results> results = readable_results(out);
    if (!results) {
        return;
    }
    const std::string differs =
        difference(key_of(journaled), key_of(results->study), {"in the journal", "in the results"});
    if (differs.empty()) {
        return;
    }
    throw InputError(
        fmt::format("{} and {} belong to different studies: their {} differs; nothing was changed\nto "
                    "continue the journal, move {} "
                    "elsewhere and resume again; to keep these results, move the journal beside the results "
                    "of its own study",
                    journal_path(out), out, differs, out));
}

StudyHead head_of(const JournalContents& contents, const std::string& journal)
{
    std::optional<Message> found;
    for_each_record(contents, [&found](Record record, std::uint64_t) {
        if (record.kind == RecordKind::study && !found) {
            found = std::move(record.content);
        }
    });
    if (!found) {
        throw InputError(
            fmt::format("{} does not contain a study (its records are missing or damaged); start the search "
                        "again with --force",
                        journal));
    }
    StudyHead head;
    Unpacker in(*found);
    in >> head.build;
    if (head.build == this_build()) {
        in >> head.options >> head.study;
        return head;
    }
    try {
        in >> head.options >> head.study;
    } catch (const std::runtime_error&) {  // laid out by another version
        head = {.build = head.build, .options = {}, .study = {}};
    }
    return head;
}

std::vector<Leg> legs_of(const JournalContents& contents)
{
    std::map<std::uint64_t, Leg> last;  // record of each
    for_each_record(contents, [&last](const Record& record, std::uint64_t) {
        if (record.kind == RecordKind::leg) {
            last[record.number] = decode<Leg>(record.content);
        } else if (record.kind != RecordKind::study && !last.empty()) {
            ++last.rbegin()->second.saved;  // since its record: a killed leg did not count them
        }
    });
    std::vector<Leg> legs;
    for (const auto& [number, leg] : last) {
        legs.push_back(leg);
    }
    return legs;
}

JournalCount count_records(const JournalContents& contents)
{
    JournalCount count;
    std::set<std::uint64_t> numbers;
    for_each_record(contents, [&](const Record& record, std::uint64_t) {
        count.tuning +=
            record.kind == RecordKind::tuning_step || record.kind == RecordKind::tuned_hardware ? 1 : 0;
        if (record.kind == RecordKind::answer) {
            numbers.insert(record.number);
        }
    });
    count.answers = numbers.size();
    // Answers are stored as they come, so numbers are missing in any journal; in a
    // damaged one, some of them were lost.
    count.lost = numbers.empty() || contents.damage.empty() ? 0 : *numbers.rbegin() + 1 - numbers.size();
    return count;
}

StudyJournal::StudyJournal(const std::string& path, const Scenario& scenario, const KeptOptions& options,
                           Existing existing)
    : path_(path), options_(options)
{
    const bool continues = existing == Existing::continued && file_exists(path) && !journal_is_blank(path);
    if (continues) {
        const JournalContents contents = read_journal(path);
        options_ = head_of(contents, path).options;
        legs_ = legs_of(contents);
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
            log_warning(fmt::format(
                "{}: {}; {} answers are reused, and {} missing ones between them are computed again", path,
                contents.damage, count.answers, count.lost));
        }
    }
    try {
        const Blank blank = existing == Existing::continued ? Blank::begun_again : Blank::refused;
        writer_ = std::make_unique<JournalWriter>(path, study_hash(scenario), blank);
    } catch (const FileError& error) {
        throw InputError(error.what());  // nothing is computed yet: another place is for the user to choose
    }
    if (!continues) {
        const StudyHead head{.build = this_build(), .options = options, .study = study_record(scenario)};
        for (const std::uint64_t copy : {0, 1}) {  // without it no other record is of use
            writer_->append(encode(Record{RecordKind::study, copy, encode(head)}));
        }
        writer_->sync();
    }
}

void StudyJournal::begin_leg(Leg leg, std::chrono::steady_clock::time_point start)
{
    legs_.push_back(std::move(leg));
    leg_start_ = start;
    // Its first record is due, and precedes all others: a refused leg leaves none.
    leg_appended_ = start - 2 * between_leg_records;
}

void StudyJournal::end_leg(LegEnd end, std::uint64_t draws)
{
    legs_.back().end = end;
    legs_.back().saved += draws;
    append_leg();
    writer_->sync();
}

void StudyJournal::append_leg()
{
    leg_appended_ = std::chrono::steady_clock::now();
    legs_.back().seconds = std::chrono::duration<double>(leg_appended_ - leg_start_).count();
    writer_->append(encode(Record{RecordKind::leg, legs_.size() - 1, encode(legs_.back())}));
}

KnownTuning StudyJournal::release_tuning() { return std::move(tuning_); }

void StudyJournal::append_tuning(const std::string& question, const Message& answer)
{
    append(encode(Record{RecordKind::tuning_step, 0, (Packer() << question << answer).release()}));
}

void StudyJournal::finish_tuning(const std::vector<ChosenValues>& tuned)
{
    append(encode(Record{RecordKind::tuned_hardware, 0, encode(tuned)}));
}

FullAnswer StudyJournal::extract_answer(std::uint64_t number, const Request& request)
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
        fmt::format("{}: the record at byte {} does not answer request {} of this study, so it was not "
                    "written by this search; "
                    "the records before it are valid and nothing was changed\nto continue from them: "
                    "truncate -s {} {}, then "
                    "prismopt resume {}; or start again with --force",
                    path_, begin, number, begin, path_, results_path_of(path_)));
}

void StudyJournal::append(std::uint64_t number, const FullAnswer& answer)
{
    append(encode(Record{RecordKind::answer, number, encode(answer)}));
}

void StudyJournal::append(const Message& record)
{
    const auto now = std::chrono::steady_clock::now();
    if (now - leg_appended_ > between_leg_records) {
        append_leg();
    }
    writer_->append(record);
    ++legs_.back().saved;
    if (now - synced_ > std::chrono::seconds(1)) {
        writer_->sync();
        synced_ = now;
    }
}

}  // namespace prismopt
