#include "optimizer/study_journal.hpp"

#include "io/hardware_variants.hpp"
#include "io/results_file.hpp"
#include "optimizer/bytes.hpp"
#include "optimizer/draw_store.hpp"
#include "optimizer/log.hpp"
#include "optimizer/program.hpp"
#include "optimizer/study_front.hpp"
#include "optimizer/work_item.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace prismopt {

namespace {

constexpr std::string_view journal_suffix = ".journal";

}  // namespace

std::uint64_t study_hash(const Scenario& scenario)
{
    std::string options = fmt::format(" {} {} {}/{} ", scenario.search.strategy, scenario.search.max_evaluations,
                                      scenario.search.part, scenario.search.parts);
    for (const std::vector<double>& values : scenario.hardware) {
        options += hardware_text(scenario.knobs, values) + ' ';
    }
    return study_hash(scenario.text, scenario.seed, release() + options + commit());
}

namespace {

/// Throws InputError when a file is no results file: then no search of ours has ended there.
void refuse_no_results(const std::string& path)
{
    try {
        read_results(path);
    } catch (const InputError& error) {
        throw InputError(fmt::format("nothing to resume: {}\ngive the --out of a search that was stopped, or its journal, {}",
                                     error.what(), journal_path("OUT")));
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
    return point != nullptr && point->index == evaluation.index && point->rung == evaluation.rung;
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
    Packer out;
    out << scenario.path << scenario.text << scenario.seed << scenario.search.strategy << scenario.search.max_evaluations
        << scenario.search.part << scenario.search.parts << static_cast<std::uint64_t>(scenario.hardware.size());
    for (const std::vector<double>& values : scenario.hardware) {
        out << values;
    }
    return out.take();
}

Scenario scenario_from(std::span<const std::byte> record)
{
    Unpacker in(record);
    std::string path;
    std::string text;
    std::uint64_t seed = 0;
    SearchSettings search;
    std::uint64_t variants = 0;
    in >> path >> text >> seed >> search.strategy >> search.max_evaluations >> search.part >> search.parts >> variants;
    std::vector<std::vector<double>> hardware(variants);
    for (std::vector<double>& values : hardware) {
        in >> values;
    }
    Scenario scenario = parse_scenario(text, path);
    scenario.seed = seed;
    scenario.search.strategy = search.strategy;
    scenario.search.max_evaluations = search.max_evaluations;
    scenario.search.part = search.part;
    scenario.search.parts = search.parts;
    scenario.hardware = std::move(hardware);
    return scenario;
}

Scenario journaled_scenario(const std::string& path)
{
    const std::string journal = journal_path(results_path_of(path));
    if (!file_exists(journal)) {
        if (file_exists(results_path_of(path))) {
            refuse_no_results(results_path_of(path));
            throw InputError(fmt::format("{}: nothing to resume: the search has ended (there is no {}); see prismopt report {}",
                                         path, journal, results_path_of(path)));
        }
        throw InputError(
            fmt::format("{}: nothing to resume: there is neither this file nor {}; give the --out of a search that was "
                        "stopped",
                        path, journal));
    }
    const JournalContents contents = read_journal(journal);
    if (contents.records.empty()) {
        throw InputError(
            fmt::format("{} holds no study (its first record is missing or damaged); start the search again with "
                        "--force",
                        journal));
    }
    return scenario_from(contents.records.front());
}

void refuse_results_of_another_study(const Scenario& journaled, const std::string& out)
{
    const std::optional<Results> results = readable_results(out);
    if (!results) {
        return;
    }
    const StudyInfo& there = results->study;
    const std::string& strategy = journaled.search.strategy;
    const bool named = strategy != "auto" && strategy != "nlopt";  // results hold what these chose
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
    throw InputError(
        fmt::format("{} and {} are of different studies: their {} differs; nothing was changed\nto continue the journal, move {} "
                    "elsewhere and resume again; to keep these results, move the journal beside the results of its own study",
                    journal_path(out), out, differs, out));
}

/// All records behind the first are a pair. Of tuning it is a question and its answer; an empty question ends it.
std::size_t tuning_records(std::span<const Message> records)
{
    std::size_t count = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
        std::string question;
        Unpacker(records[i]) >> question;
        ++count;
        if (question.empty()) {
            break;
        }
    }
    return count;
}

StudyJournal::StudyJournal(const std::string& path, const Scenario& scenario, bool resume) : path_(path)
{
    if (resume) {
        JournalContents contents = read_journal(path);
        if (!contents.damage.empty()) {
            log_warning(fmt::format("{}: {}; what comes before is used", path, contents.damage));
        }
        known_ = std::move(contents.records);
        begins_ = std::move(contents.begins);
        next_ = 1;  // behind the study record
    }
    try {
        writer_ = std::make_unique<JournalWriter>(path, study_hash(scenario));
    } catch (const InputError&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw InputError(error.what());  // nothing is computed yet: another place is for the user to choose
    }
    if (known_.empty()) {
        writer_->append(study_record(scenario));
        writer_->sync();
    }
}

std::size_t StudyJournal::known() const { return known_.empty() ? 0 : known_.size() - next_; }

KnownTuning StudyJournal::take_tuning()
{
    KnownTuning tuning;
    const std::size_t end = next_ + tuning_records(known_);
    for (; next_ < end; ++next_) {
        std::string question;
        Message answer;
        Unpacker(known_[next_]) >> question >> answer;
        if (question.empty()) {
            Unpacker(answer) >> tuning.hardware.emplace();
        } else {
            tuning.answers.emplace(std::move(question), std::move(answer));
        }
    }
    return tuning;
}

void StudyJournal::append_tuning(const std::string& question, const Message& answer)
{
    append((Packer() << question << answer).take());
}

void StudyJournal::finish_tuning(const std::vector<std::vector<double>>& hardware)
{
    append_tuning({}, (Packer() << hardware).take());
}

KnownAnswer StudyJournal::known_answer(const Request& request)
{
    const std::size_t record = next_++;
    KnownAnswer known;
    try {
        Message answer;
        Message drawn;
        Unpacker(known_[record]) >> answer >> drawn;
        known.answer = decode_answer(answer);
        if (!drawn.empty()) {
            known.drawn = decode_front_point(drawn);
        }
    } catch (const std::runtime_error&) {  // bytes that end early
        refuse_record(record);
    }
    if (!answers(known.answer, request)) {
        refuse_record(record);
    }
    return known;
}

/// Its checksum fits, so no crash left it.
void StudyJournal::refuse_record(std::size_t record) const
{
    throw InputError(fmt::format(
        "{}: record {} at byte {} is no answer to what the study asks there, so someone appended it or put it there; the "
        "records before it are good and nothing was changed\nto go on from them: truncate -s {} {}, then prismopt resume "
        "{}; or start again with --force",
        path_, record, begins_[record], begins_[record], path_, results_path_of(path_)));
}

void StudyJournal::append(const Answer& sweep) { append((Packer() << encode(sweep) << Message{}).take()); }

void StudyJournal::append(const Answer& evaluation, const FrontPoint& drawn)
{
    append((Packer() << encode(evaluation) << encode(drawn)).take());
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
