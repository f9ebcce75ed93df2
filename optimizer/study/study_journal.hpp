#pragma once

/// The journal of a study: what it was asked, and every answer so far, from which a stopped search goes on.

#include "io/results/journal.hpp"
#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "search/strategy.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// The results file that a path names, which may be its journal; and the journal of a results file.
std::string results_path_of(const std::string& path);
bool is_journal(const std::string& path);
std::string journal_path(const std::string& out);
void remove_journal(const std::string& out);

/// Whether a file is there. Throws InputError when that cannot be told.
bool file_exists(const std::string& path);

/// Tells the studies of journals apart.
std::uint64_t study_hash(const Scenario& scenario);

/// What a study is, in its journal and in what rank 0 sends the other ranks.
Message study_record(const Scenario& scenario);
Scenario scenario_from(std::span<const std::byte> record);

/// The scenario of a journal, as it was read, with its seed; nothing where only the results of a search that has finished are left.
/// `path`: a results file or its journal. Throws InputError when there is neither.
std::optional<Scenario> journaled_scenario(const std::string& path);

/// Throws InputError when the results file that a resumed search would replace is there and of another study. One that cannot be
/// read is for the search to replace.
void refuse_results_of_another_study(const Scenario& journaled, const std::string& out);

/// What the tuning of hardware has learned, which comes before all answers: its own answers by question, and, once it has ended, the
/// kinds of hardware that it found.
struct KnownTuning {
    std::map<std::string, Message> answers;
    std::optional<std::vector<std::vector<double>>> hardware;
};

/// What a journal holds.
struct JournalCount {
    std::size_t tuning = 0;   // steps of the tuning of hardware
    std::size_t answers = 0;  // to requests of the search
    std::size_t lost = 0;     // answers that are missing between these
};
JournalCount count_records(const JournalContents& contents);

struct KnownAnswer {
    Answer answer;
    std::optional<FrontPoint> drawn;  // of an evaluation: all that its draws said
};

/// The answers to a search's requests by their number, from 0: those that the journal holds already, and new ones, which it gets. Some of
/// those that it had may be lost to damage; their requests are answered again, the others are not.
class StudyJournal {
public:
    /// Throws InputError when it cannot be written, or belongs to another study.
    StudyJournal(const std::string& path, const Scenario& scenario, bool resume);

    /// In a study that tunes hardware, before anything else is taken.
    KnownTuning take_tuning();
    void append_tuning(const std::string& question, const Message& answer);
    void finish_tuning(const std::vector<std::vector<double>>& hardware);

    bool knows(std::uint64_t number) const { return known_.contains(number); }
    /// An answer that it knows, once. Throws InputError when it answers another request, or is none.
    KnownAnswer take_answer(std::uint64_t number, const Request& request);
    /// Reaches the disk within a second.
    void append(std::uint64_t number, const Answer& sweep);
    void append(std::uint64_t number, const Answer& evaluation, const FrontPoint& drawn);
    void sync() { writer_->sync(); }

private:
    struct Known {
        Message content;
        std::uint64_t begin = 0;  // of its record in the file, in bytes
    };

    void append(const Message& record);
    [[noreturn]] void refuse_record(std::uint64_t number, std::uint64_t begin) const;

    std::string path_;
    std::map<std::uint64_t, Known> known_;
    KnownTuning tuning_;
    std::unique_ptr<JournalWriter> writer_;
    std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

}  // namespace prismopt
