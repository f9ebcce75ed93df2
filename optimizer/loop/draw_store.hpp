#pragma once

/// Store of draws of points without an answer yet, beside the journal, so that a run makes progress
/// even if it is killed repeatedly.
///
/// The journal holds complete answers, which take minutes for plans with many draws. Until then the draws are
/// kept by point and range of fleets in a separate file (`F.h5.journal.draws`), which is rewritten once most
/// of its content is obsolete. The file is optional: without it, or if it is damaged, draws are repeated. On
/// a full disk it is removed first.

#include "io/results/journal.hpp"
#include "optimizer/parallel/work_item.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace prismopt {

std::string draws_path(const std::string& journal);

class DrawStore {
public:
    /// `resume`: loads the file if it belongs to this study; otherwise starts with an empty one.
    DrawStore(const std::string& journal, std::uint64_t study, bool resume);

    /// The block without the points whose draws are known.
    DrawBlock missing(DrawBlock block) const;
    /// The draws of the whole block, by those of the missing points. Keeps them
    /// until their points are answered.
    std::vector<PhaseDraws> complete(const DrawBlock& block, std::vector<PhaseDraws> drawn);
    /// Drops the draws of a point, once the journal has its answer.
    void answered(std::uint64_t point, const DrawSource& source);
    /// Writes all draws to the file.
    void save();
    /// Blocks of draws of single points that this run added, and that a later one finds once they are saved.
    std::uint64_t added() const { return file_ ? added_ : 0; }
    /// Removes the file, to make room on a full disk. False if there is none.
    bool drop();

private:
    using Key = std::tuple<DrawSource, std::uint64_t, int, int, int>;  // point, first fleet, fleets, steps
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
    std::uint64_t added_ = 0;
    std::optional<JournalWriter> file_;  // none if it could not be written
    std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace prismopt
