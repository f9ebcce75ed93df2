#include "optimizer/loop/asked_requests.hpp"

#include "optimizer/program/log.hpp"
#include "optimizer/study/study_plan.hpp"

#include <algorithm>
#include <variant>

namespace prismopt {

namespace {

/// Reports limits that need more fleets than the last rung has.
void note_added_fleets(const PointRequest& request, const std::vector<Rung>& rungs)
{
    if (request.rung > static_cast<int>(rungs.size())) {
        log_info(added_fleets_text(fleets_of(request, rungs)));
    }
}

/// Keeps a prediction for the provisional front. Draws for limits count until the point is evaluated.
void remember(const Evaluation& evaluation, FrontPoint drawn, SearchPass& pass)
{
    const bool evaluated = pass.archive.evaluations().contains(evaluation.index);
    if (evaluation.source.purpose == Purpose::search || !evaluated) {
        pass.drawn.insert_or_assign(evaluation.index, std::move(drawn));
    }
}

}  // namespace

AskedRequests::AskedRequests(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options,
                             std::vector<Rung> rungs, StudyJournal& journal, const StopRequest& stop)
    : rungs_(rungs), evaluator_(model, scheduler, std::move(rungs)), journal_(journal),
      draws_(journal_path(options.out), study_hash(model.scenario), options.resume), stop_(stop)
{
    evaluator_.remember({[this](DrawBlock block) { return draws_.missing(std::move(block)); },
                         [this](const DrawBlock& block, std::vector<PhaseDraws> drawn) {
                             return draws_.complete(block, std::move(drawn));
                         }});
}

void AskedRequests::submit(const std::vector<Request>& requests, const SearchPass& pass)
{
    if (const auto* of_points = std::get_if<PointRequest>(&requests.front())) {
        evaluator_.compare_at_once(pass.archive.feasible());
        note_added_fleets(*of_points, rungs_);
    }
    std::vector<Request> unknown;
    std::vector<std::uint64_t> numbers;
    for (const Request& request : requests) {
        if (!journal_.knows(asked_count_)) {
            unknown.push_back(request);
            numbers.push_back(asked_count_);
        }
        asked_.push_back(request);
        ++asked_count_;
    }
    evaluator_.submit(unknown, [this, numbers](std::size_t i, const FullAnswer& answer) {
        store(numbers[i], answer);
    });
}

/// Stores an answer as soon as it is there, whether those before it are there or not.
void AskedRequests::store(std::uint64_t number, const FullAnswer& answer)
{
    keep([&] { journal_.append(number, answer); });
    if (const auto* evaluation = std::get_if<Evaluation>(&answer.answer)) {
        draws_.answered(evaluation->index, evaluation->source);
    }
}

std::optional<Answer> AskedRequests::next(SearchPass& pass)
{
    if (stop_.reason()) {
        return std::nullopt;
    }
    const Request request = asked_.front();
    asked_.pop_front();
    if (journal_.knows(answered_)) {
        const std::uint64_t number = answered_++;
        return received(journal_.extract_answer(number, request), request, pass);
    }
    auto answer = evaluator_.next();
    if (!answer) {
        return std::nullopt;
    }
    ++answered_;
    return received(std::move(*answer), request, pass);
}

/// Messages and journals store an answer without the regions of its request.
Answer AskedRequests::received(FullAnswer answer, const Request& request, SearchPass& pass)
{
    if (answer.drawn) {
        remember(std::get<Evaluation>(answer.answer), std::move(*answer.drawn), pass);
    }
    if (auto* sweep = std::get_if<Sweep>(&answer.answer)) {
        const auto& range = std::get<SweepRange>(request);
        sweep->range.near = range.near;
        note_memory(*sweep, range);
    }
    return std::move(answer.answer);
}

void AskedRequests::note_memory(const Sweep& sweep, const SweepRange& range)
{
    const auto lacks_memory = [](const Rejected& rejected) {
        return rejected.count > 0 && is_of(rejected.reason, Reason::out_of_memory);
    };
    const bool lacks = std::any_of(sweep.rejected.begin(), sweep.rejected.end(), lacks_memory);
    if (lacks && !range.again && range.feasibility == Feasibility::certain) {
        over_memory_.push_back({.begin = range.begin, .end = range.end, .keep = range.keep});
    }
}

void AskedRequests::forget()
{
    evaluator_.forget();
    over_memory_.clear();
}

std::optional<SweepProgress> AskedRequests::sweep() const
{
    if (asked_.empty() || !std::holds_alternative<SweepRange>(asked_.front())) {
        return std::nullopt;
    }
    return SweepProgress{.done = answered_, .total = asked_count_};
}

}  // namespace prismopt
