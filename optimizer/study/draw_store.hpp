#pragma once

/// Draws of points that are not answered yet, beside the journal, so that a run that is killed again and again goes on all the same.
///
/// The journal holds answers; a plan of many draws is answered after minutes. What is drawn of it until then is kept by point and
/// range of fleets in a file of its own (`F.h5.journal.draws`), which is written anew as soon as most of it has been answered. It is
/// only a shortcut: without it, or where it is damaged, draws are made again. On a full disk it is the first to go.

#include "io/results/journal.hpp"
#include "optimizer/parallel/communicator.hpp"
#include "optimizer/parallel/work_item.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace prismopt {

std::string draws_path(const std::string& journal);

class DrawStore {
public:
    /// `resume`: takes up what the file holds, if it is of this study; otherwise begins with an empty one.
    DrawStore(const std::string& journal, std::uint64_t study, bool resume);

    /// What of an item (as bytes) is still to be drawn: all of one that is no block of draws; nothing where all is here.
    std::optional<Message> missing(const Message& item) const;
    /// The result of the whole item: what is here, and what `result` says of the missing. Keeps it until its points are answered.
    Message complete(const Message& item, const Message& result);
    /// The journal has got an answer on this point.
    void answered(std::uint64_t point);
    /// Returns when all that is here is in the file.
    void save();
    /// Gives up the file, to make room on a full disk. False where there is none.
    bool drop();

private:
    using Key = std::tuple<Purpose, std::uint64_t, int, int, int>;  // point, first fleet, fleets, steps
    struct Kept {
        PhaseDraws draws;
        bool saved = false;
    };

    bool load(const std::string& path, std::uint64_t study);
    template <class Writing>
    void attempt(Writing writing);
    void write();
    void append(const Key& key, const Kept& kept);

    std::string path_;
    std::map<Key, Kept> kept_;
    std::uint64_t kept_bytes_ = 0;
    std::uint64_t file_bytes_ = 0;
    std::optional<JournalWriter> file_;  // none where it could not be written
    std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace prismopt
