#include "optimizer/loop/draw_store.hpp"

#include "optimizer/parallel/bytes.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/study/draw_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <stdexcept>

namespace prismopt {

namespace {

/// At most the draws of this time are lost; answers that arrive sooner need no store.
constexpr auto save_interval = std::chrono::milliseconds(250);

/// Bytes by which the file may exceed twice its live content.
constexpr std::uint64_t most_stale_bytes = 1 << 20;

}  // namespace

std::string draws_path(const std::string& journal) { return journal + ".draws"; }

DrawStore::DrawStore(const std::string& journal, std::uint64_t study, bool resume)
    : path_(draws_path(journal))
{
    if (!resume || !load(path_, study)) {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    attempt([&] { file_.emplace(path_, study); });
}

/// The store is optional: if writing fails (a full disk), the study continues without it.
template <class Writing>
void DrawStore::attempt(Writing writing)
{
    try {
        writing();
    } catch (const std::exception& error) {
        log_warning(error.what());
        drop();
    }
}

bool DrawStore::drop()
{
    const bool had_one = file_.has_value();
    file_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    if (had_one) {
        log_warning(
            fmt::format("{} is removed: draws of plans in progress are no longer saved, so a run that is "
                        "killed repeats them",
                        path_));
    }
    return had_one;
}

/// Loads the draws of a file. False if it has none of this study.
bool DrawStore::load(const std::string& path, std::uint64_t study)
{
    if (!std::filesystem::exists(path)) {
        return false;
    }
    try {
        const JournalContents contents = read_journal(path);
        if (contents.study != study) {
            return false;
        }
        for (const auto& record : contents.records) {
            Unpacker in(record);
            Key key;
            std::vector<double> values;
            PhaseDraws draws;
            in >> std::get<0>(key).purpose >> std::get<0>(key).round >> std::get<0>(key).feasibility >>
                std::get<1>(key) >> std::get<2>(key) >> std::get<3>(key) >> std::get<4>(key);
            while (!in.empty()) {
                in >> values;
                draws.push_back(values);
            }
            const std::uint64_t bytes = bytes_of(draws);
            file_bytes_ += bytes;
            if (kept_.emplace(key, Kept{std::move(draws), true}).second) {
                kept_bytes_ += bytes;
            }
        }
        return true;
    } catch (const std::runtime_error& error) {  // not a journal, or with records of another program
        log_warning(fmt::format("{}: {}; its draws are repeated", path, error.what()));
        kept_.clear();
        kept_bytes_ = 0;
        return false;
    }
}

DrawBlock DrawStore::missing(DrawBlock block) const
{
    std::erase_if(block.points, [&](std::uint64_t point) {
        return kept_.contains(
            {block.source, point, block.range.first_fleet, block.range.fleets, block.range.steps});
    });
    return block;
}

std::vector<PhaseDraws> DrawStore::complete(const DrawBlock& block, std::vector<PhaseDraws> drawn)
{
    std::vector<PhaseDraws> all;
    auto next = drawn.begin();
    for (const std::uint64_t point : block.points) {
        const Key key{block.source, point, block.range.first_fleet, block.range.fleets, block.range.steps};
        auto found = kept_.find(key);
        if (found == kept_.end()) {
            kept_bytes_ += bytes_of(*next);
            ++added_;
            found = kept_.emplace(key, Kept{std::move(*next++)}).first;
        }
        all.push_back(found->second.draws);
    }
    if (std::chrono::steady_clock::now() - saved_ > save_interval) {
        save();
    }
    return all;
}

void DrawStore::answered(std::uint64_t point, const DrawSource& source)
{
    const auto first = kept_.lower_bound({source, point, 0, 0, 0});
    auto last = first;
    while (last != kept_.end() && std::get<0>(last->first) == source && std::get<1>(last->first) == point) {
        kept_bytes_ -= bytes_of(last->second.draws);
        ++last;
    }
    kept_.erase(first, last);
}

void DrawStore::save()
{
    saved_ = std::chrono::steady_clock::now();
    if (file_) {
        attempt([this] { write(); });
    }
}

void DrawStore::write()
{
    if (file_bytes_ > 2 * kept_bytes_ + most_stale_bytes) {
        file_->clear();
        file_bytes_ = 0;
        for (auto& [key, kept] : kept_) {
            kept.saved = false;
        }
    }
    for (auto& [key, kept] : kept_) {
        if (!kept.saved) {
            append(key, kept);
            kept.saved = true;
        }
    }
}

void DrawStore::append(const Key& key, const Kept& kept)
{
    Packer out;
    out << std::get<0>(key).purpose << std::get<0>(key).round << std::get<0>(key).feasibility
        << std::get<1>(key) << std::get<2>(key) << std::get<3>(key) << std::get<4>(key);
    for (const std::vector<double>& of_phase : kept.draws) {
        out << of_phase;
    }
    file_->append(out.release());
    file_bytes_ += bytes_of(kept.draws);
}

}  // namespace prismopt
