#pragma once

/// Requests of the searches on rank 0, which the journal answers as far as it knows
/// them, and otherwise all ranks.

#include "io/results/posix_file.hpp"
#include "optimizer/loop/draw_store.hpp"
#include "optimizer/loop/search_pass.hpp"
#include "optimizer/loop/study.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/study/evaluator.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace prismopt {

/// Keeps references to its arguments, which must outlive it.
class AskedRequests {
public:
    AskedRequests(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options,
                  std::vector<Rung> rungs, StudyJournal& journal, const StopRequest& stop);
    AskedRequests(const AskedRequests&) = delete;
    AskedRequests& operator=(const AskedRequests&) = delete;
    ~AskedRequests() = default;

    /// Submits the requests of a pass that the journal does not answer.
    void submit(const std::vector<Request>& requests, const SearchPass& pass);
    /// The answer to the oldest request, as its strategy expects it; nothing if the search is to stop. Keeps
    /// the prediction of a drawn point in the pass.
    std::optional<Answer> next(SearchPass& pass);
    /// Ranges answered so far in which some plan lacks memory.
    std::vector<SweepRange>& over_memory() { return over_memory_; }
    /// Forgets draws and ranges: the searches begin again.
    void forget();

    /// Writes what must not be lost. On a full disk, drops the draws in progress to make room.
    template <class Writing>
    void keep(const Writing& writing)
    {
        try {
            writing();
        } catch (const FileError&) {
            if (!draws_.drop()) {
                throw;
            }
            writing();
        }
    }
    void sync()
    {
        keep([this] { journal_.sync(); });
    }
    void save_draws() { draws_.save(); }
    /// Blocks of draws in progress that a later leg finds.
    std::uint64_t draws_saved() const { return draws_.added(); }

    Evaluator& evaluator() { return evaluator_; }
    const std::vector<Rung>& rungs() const { return rungs_; }
    /// Requests answered, if the oldest open one is of a range of the space.
    std::optional<SweepProgress> sweep() const;

private:
    void store(std::uint64_t number, const FullAnswer& answer);
    Answer received(FullAnswer answer, const Request& request, SearchPass& pass);
    void note_memory(const Sweep& sweep, const SweepRange& range);

    std::vector<Rung> rungs_;
    Evaluator evaluator_;
    StudyJournal& journal_;
    DrawStore draws_;
    const StopRequest& stop_;
    std::deque<Request> asked_;  // not answered yet
    std::uint64_t asked_count_ = 0;
    std::uint64_t answered_ = 0;
    std::vector<SweepRange> over_memory_;
};

}  // namespace prismopt
