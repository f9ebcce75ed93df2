#pragma once

/// The journal of a study: its scenario and options, its legs, and all answers so far, from
/// which a stopped search resumes.

#include "io/results/journal.hpp"
#include "io/results/results.hpp"
#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/study/study_front.hpp"
#include "search/strategy.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// Results file of a path, which may be that of its journal; and the journal of a results file.
std::string results_path_of(const std::string& path);
bool is_journal(const std::string& path);
std::string journal_path(const std::string& out);
void remove_journal(const std::string& out);

/// Whether a file exists. Throws InputError if that cannot be determined.
bool file_exists(const std::string& path);

/// Hash that identifies the study of a journal.
std::uint64_t study_hash(const Scenario& scenario);

/// Options of the first leg of a study, which hold in all of its legs.
struct KeptOptions {
    std::string command_line;
    bool posterior = true;
    double max_time_s = 0.0;  // of each leg; 0: none
    int most_legs = 1;        // that may follow each other on their own
};

/// What a journal stores of its study before the first answer. The build comes first: any
/// later version can read that far.
struct StudyHead {
    BuildIdentity build;
    KeptOptions options;
    Message study;  // study_record(); empty: of a version whose records this one cannot read
};

/// Throws InputError if the journal has none.
StudyHead head_of(const JournalContents& contents, const std::string& journal);
/// Its legs, in order.
std::vector<Leg> legs_of(const JournalContents& contents);

/// Record of a study, for its journal and for the message from rank 0 to the other ranks.
Message study_record(const Scenario& scenario);
Scenario scenario_from(std::span<const std::byte> record);

/// The scenario of a journal, as it was read, with its seed; nothing if only the results of a
/// completed search exist. `path`: a results file or its journal. Throws InputError if neither exists,
/// or another build wrote the journal.
std::optional<Scenario> journaled_scenario(const std::string& path);

/// "F.h5: the search is complete, so there is nothing to continue; see prismopt report F.h5".
std::string complete_text(const std::string& out);

/// Whether a search to `out` has anything to continue: a journal with records, or results.
enum class Begun { no, in_journal, complete };
/// Throws InputError if what is there belongs to another study than `asked`, or cannot be continued.
Begun begun(const Scenario& asked, const std::string& out);

/// Throws InputError if the results file that a resumed search would overwrite belongs to another study. A
/// file that cannot be read may be overwritten.
void refuse_results_of_another_study(const Scenario& journaled, const std::string& out);

/// Journaled state of the hardware tuning, which precedes all answers: its own answers by question and, once
/// it is complete, the hardware variants that it found.
struct KnownTuning {
    std::map<std::string, Message> answers;
    std::optional<std::vector<ChosenValues>> tuned;
};

/// Content of a journal.
struct JournalCount {
    std::size_t tuning = 0;   // steps of the hardware tuning
    std::size_t answers = 0;  // to requests of the search
    std::size_t lost = 0;     // answers missing between these
};
JournalCount count_records(const JournalContents& contents);

/// Answers of a search by the number of their request, from 0: reads those in the journal and appends new
/// ones. Answers may be lost to damage; only their requests are computed again.
class StudyJournal {
public:
    enum class Existing { refused, continued };

    /// `options`: those of the first leg, if this is it. Throws InputError if the journal cannot be
    /// written or belongs to another study.
    StudyJournal(const std::string& path, const Scenario& scenario, const KeptOptions& options,
                 Existing existing);

    /// Those of the first leg.
    const KeptOptions& options() const { return options_; }
    std::size_t known_answers() const { return known_.size(); }
    std::size_t known_tuning() const { return tuning_.answers.size(); }

    /// Begins a leg at a time in the past. Its record is written again now and then, so that a
    /// killed leg has its times, too.
    void begin_leg(Leg leg, std::chrono::steady_clock::time_point start);
    /// `draws`: blocks of draws that it saved beside the journal.
    void end_leg(LegEnd end, std::uint64_t draws);
    /// All legs, with the present one.
    const std::vector<Leg>& legs() const { return legs_; }

    /// Call first in a study that tunes hardware.
    KnownTuning release_tuning();
    void append_tuning(const std::string& question, const Message& answer);
    void finish_tuning(const std::vector<ChosenValues>& tuned);

    bool knows(std::uint64_t number) const { return known_.contains(number); }
    /// Takes a known answer, once. Throws InputError if the record is not an answer to this request.
    FullAnswer extract_answer(std::uint64_t number, const Request& request);
    /// Appends an answer, which reaches the disk within a second.
    void append(std::uint64_t number, const FullAnswer& answer);
    void sync() { writer_->sync(); }

private:
    struct Known {
        Message content;
        std::uint64_t begin = 0;  // offset of its record in the file, in bytes
    };

    void append(const Message& record);
    void append_leg();
    [[noreturn]] void refuse_record(std::uint64_t number, std::uint64_t begin) const;

    std::string path_;
    std::map<std::uint64_t, Known> known_;
    KnownTuning tuning_;
    KeptOptions options_;
    std::vector<Leg> legs_;
    std::chrono::steady_clock::time_point leg_start_;
    std::chrono::steady_clock::time_point leg_appended_;
    std::unique_ptr<JournalWriter> writer_;
    std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

}  // namespace prismopt
