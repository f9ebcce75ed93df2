#include "optimizer/loop/study.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/results/posix_file.hpp"
#include "io/results/results_file.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/loop/codesign.hpp"
#include "optimizer/loop/draw_store.hpp"
#include "optimizer/loop/progress.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/study_front.hpp"
#include "optimizer/study/study_plan.hpp"
#include "search/archive.hpp"
#include "search/strategy.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>

namespace prismopt {

namespace {

/// Throws, before anything is computed, if the output would overwrite something or cannot be written.
void check_output(const Scenario& scenario, const StudyOptions& options)
{
    const std::string journal = journal_path(options.out);
    std::error_code ignored;
    if (std::filesystem::is_directory(options.out, ignored)) {
        throw InputError(fmt::format("{} is a folder; --out needs the name of a file", options.out));
    }
    for (const std::string& path : {options.out, journal}) {
        const auto status = std::filesystem::symlink_status(path, ignored);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
            throw InputError(fmt::format("{} is not a regular file and is not overwritten; name another file with --out", path));
        }
        if (std::filesystem::equivalent(path, scenario.path, ignored)) {
            throw InputError(fmt::format("{} is the scenario itself; name another file with --out", path));
        }
    }
    if (options.resume) {
        return;
    }
    if (options.force) {
        if (journal_in_use(journal)) {
            throw InputError(
                fmt::format("{} is being written by another prismopt; wait for it, or name another file with --out", journal));
        }
        remove_journal(options.out);
        return;
    }
    for (const std::string& path : {options.out, journal}) {
        if (file_exists(path)) {
            throw InputError(fmt::format("{} already exists; name another file with --out, {}", path,
                                         file_exists(journal)
                                             ? "overwrite it with --force, or continue the search with prismopt resume"
                                             : "or overwrite it with --force"));
        }
    }
}

/// The search on rank 0.
class Search {
public:
    Search(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options, StudyPlan plan, StudyJournal& journal,
           const StopRequest& stop)
        : model_(model), scheduler_(scheduler), options_(options), name_(plan.chosen.name), rungs_(plan.rungs),
          strategy_(std::move(plan.chosen.strategy)), evaluator_(model, scheduler, std::move(plan.rungs)),
          progress_(options.progress_every_s), journal_(journal),
          draws_(journal_path(options.out), study_hash(model.scenario), options.resume), stop_(stop)
    {
        scheduler.remember({[this](const Message& item) { return draws_.missing(item); },
                            [this](const Message& item, const Message& result) { return draws_.complete(item, result); }});
        if (!plan.chosen.why.empty()) {
            log_info(fmt::format("strategy {}: {}", name_, plan.chosen.why));
        }
    }

    /// Runs the search. Returns what stopped it, or nothing.
    std::optional<std::string> run()
    {
        while (const auto requests = strategy_->ask()) {
            if (!requests->empty()) {
                submit(*requests);
            }
            const auto answer = next_answer();
            if (!answer) {
                show_progress(true);
                keep([this] { journal_.sync(); });
                draws_.save();
                return stop_.reason();
            }
            strategy_->tell({&*answer, 1});
            archive_.add({&*answer, 1});
            ++answered_;
            if (progress_.due()) {
                show_progress(false);
            }
        }
        progress_.record(archive_);
        show_progress(true);
        keep([this] { journal_.sync(); });
        end_ = true;
        if (archive_.feasible() == 0 && model_.scenario.search.parts == 1) {  // of a part: prismopt merge decides
            remove_journal(options_.out);
            refuse_infeasible(model_.scenario, archive_);
        }
        return std::nullopt;
    }

    void fill(Results& results)
    {
        results.axes = model_.designs.space().axes();
        results.raw_tuples = model_.designs.space().size();
        results.feasible = archive_.feasible();
        results.rejected = archive_.rejected();
        for (const Objective* objective : model_.objectives) {
            results.objectives.push_back(
                {std::string(objective->name), std::string(objective->units), std::string(objective->long_name)});
        }
        for (const Bound& bound : archive_.bounds_and_near()) {
            EvaluatedPoint row{bound.index, model_.designs.space().point(bound.index), 0, 0, bound.objectives, {}};
            if (const auto found = archive_.evaluations().find(bound.index); found != archive_.evaluations().end()) {
                row.rung = found->second.rung;
                row.draws = found->second.draws;
                row.objectives = found->second.objectives;
            }
            results.evaluations.push_back(std::move(row));
        }
        results.study.outcome = strategy_->outcome();
        if (end_ && archive_.feasible() == 0) {
            results.study.outcome.proved = true;
            results.study.outcome.text = fmt::format("proved complete: no feasible plan in part {} of {} of the space",
                                                     model_.scenario.search.part, model_.scenario.search.parts);
        }
        results.progress = progress_.curve();
    }

    /// Estimates the front again on a fresh random stream, and marks dominated points. Returns what stopped it, or nothing.
    std::optional<std::string> confirm(Results& results)
    {
        const std::vector<std::uint64_t> indices = strategy_->front();
        const auto predictions = evaluator_.confirm(indices);
        if (!predictions) {
            draws_.save();
            return *stop_.reason() + " before the front was confirmed";
        }
        for (std::size_t i = 0; i < indices.size(); ++i) {
            results.front.push_back(front_point(model_, indices[i], (*predictions)[i]));
        }
        add_model_intervals(model_, results.front);
        add_measured_steps(model_, results.front);
        put_in_order(results.front);
        if (options_.posterior && model_.scenario.search.parts == 1) {  // of parts: prismopt merge
            try {
                add_posterior(model_, results, [this] {
                    if (const auto why = stop_.reason()) {
                        throw Stopped(*why);
                    }
                });
            } catch (const Stopped& stopped) {
                results.front.clear();
                results.posterior = {};
                return std::string(stopped.what()) + " before the probabilities of plans were computed";
            }
        }
        return std::nullopt;
    }

    /// Fills in the front of the draws made so far.
    void fill_provisional_front(Results& results) const
    {
        results.provisional = true;
        for (const std::uint64_t index : archive_.provisional_front()) {
            results.front.push_back(drawn_.at(index));
        }
        add_model_intervals(model_, results.front);
        add_measured_steps(model_, results.front);
        put_in_order(results.front);
    }

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

private:
    /// Skips requests that the journal already answers.
    void submit(const std::vector<Request>& requests)
    {
        if (std::holds_alternative<PointRequest>(requests.front())) {
            evaluator_.compare_at_once(archive_.feasible());
            note_look(std::get<PointRequest>(requests.front()));
        }
        progress_.record(archive_);
        asked_count_ += requests.size();
        asked_.insert(asked_.end(), requests.begin(), requests.end());
        std::vector<Request> unknown;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (!journal_.knows(asked_count_ - requests.size() + i)) {
                unknown.push_back(requests[i]);
            }
        }
        evaluator_.submit(unknown);
    }

    /// Reports limits that need more fleets than the last rung has.
    void note_look(const PointRequest& request)
    {
        if (request.rung > static_cast<int>(rungs_.size())) {
            log_info(added_fleets_text(fleets_of(request, rungs_)));
        }
    }

    /// The next answer; nothing if the search is to stop.
    std::optional<Answer> next_answer()
    {
        if (stop_.reason()) {
            return std::nullopt;
        }
        const Request request = asked_.front();
        asked_.pop_front();
        if (journal_.knows(answered_)) {
            KnownAnswer known = journal_.take_answer(answered_, request);
            if (known.drawn) remember(std::get<Evaluation>(known.answer), std::move(*known.drawn));
            return with_request(std::move(known.answer), request);
        }
        auto answer = evaluator_.next();
        if (answer) {
            const auto* evaluation = std::get_if<Evaluation>(&*answer);
            if (evaluation == nullptr || evaluation->source.purpose == Purpose::scout) {
                keep([&] { journal_.append(answered_, *answer); });
            } else {
                FrontPoint drawn = front_point(model_, evaluation->index, evaluator_.prediction());
                keep([&] { journal_.append(answered_, *answer, drawn); });
                remember(*evaluation, std::move(drawn));
            }
            if (evaluation != nullptr) {
                draws_.answered(evaluation->index, evaluation->source);
            }
        }
        if (!answer) return std::nullopt;
        return with_request(std::move(*answer), request);
    }

    /// Messages and journals store an answer without the regions of its request.
    static Answer with_request(Answer answer, const Request& request)
    {
        if (auto* sweep = std::get_if<Sweep>(&answer)) sweep->range.near = std::get<SweepRange>(request).near;
        return answer;
    }

    /// Keeps a prediction for the provisional front. Draws for limits count until the point is evaluated.
    void remember(const Evaluation& evaluation, FrontPoint drawn)
    {
        if (evaluation.source.purpose == Purpose::search || !archive_.evaluations().contains(evaluation.index)) {
            drawn_.insert_or_assign(evaluation.index, std::move(drawn));
        }
    }

    void show_progress(bool finished)
    {
        if (!options_.progress) {
            return;
        }
        const Outcome outcome = strategy_->outcome();
        std::optional<SweepProgress> sweep = outcome.sweep;
        if (!sweep && !asked_.empty() && std::holds_alternative<SweepRange>(asked_.front())) {
            sweep = SweepProgress{.done = answered_, .total = asked_count_};
        }
        SearchProgress state;
        state.sweep = sweep;
        state.evaluated = outcome.evaluated;
        state.pruned = outcome.pruned;
        state.open = outcome.open;
        state.draws = evaluator_.draws_made();
        state.idle_share = scheduler_.idle_share();
        state.gaps = gaps_text(outcome.gaps, model_.objectives);
        state.finished = finished;
        options_.progress(progress_.state(archive_, std::move(state)));
    }

    const StudyModel& model_;
    const WorkScheduler& scheduler_;
    const StudyOptions& options_;
    std::string name_;
    std::vector<Rung> rungs_;
    bool end_ = false;  // nothing is left to ask
    std::unique_ptr<Strategy> strategy_;
    Evaluator evaluator_;
    Archive archive_;
    std::map<std::uint64_t, FrontPoint> drawn_;  // newest predictions, by index
    Progress progress_;
    StudyJournal& journal_;
    DrawStore draws_;
    const StopRequest& stop_;
    std::deque<Request> asked_;  // not answered yet
    std::uint64_t asked_count_ = 0;
    std::uint64_t answered_ = 0;
};

StudyInfo study_info(const Scenario& scenario, const StudyOptions& options)
{
    StudyInfo info;
    info.program_version = release();
    info.commit = commit();
    info.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    info.command_line = options.command_line;
    const char* job = std::getenv("SLURM_JOB_ID");
    info.job_id = job == nullptr ? "" : escape_controls(job);
    info.scenario_path = escape_controls(scenario.path);
    info.scenario_text = scenario.text;
    info.scenario_name = scenario.name;
    const std::vector<LearnedOrigin>& learned = scenario.learned.origins;
    info.learned = learned.empty() ? "" : fmt::format("{}, {}", learned.back().study, learned.back().date);
    info.learned_digest = scenario.learned.digest;
    info.nodes_known = scenario.cluster.nodes_known();
    info.seed = scenario.seed;
    info.held = {scenario.search.part};
    info.parts = scenario.search.parts;
    return info;
}

/// Adds tuned hardware variants to those of the scenario. Throws TuningStopped.
void add_tuned_hardware(Scenario& scenario, StudyJournal& journal, const StopRequest& stop)
{
    KnownTuning known = journal.take_tuning();
    if (!known.tuned) {
        TuningLog log;
        log.stop = [&] { return stop.reason().has_value(); };
        log.recall = [&](const std::string& question) {
            const auto found = known.answers.find(question);
            return found == known.answers.end() ? std::nullopt : std::optional(found->second);
        };
        log.learn = [&](const std::string& question, const Message& answer) {
            journal.append_tuning(question, answer);
            known.answers.emplace(question, answer);  // other directions may ask it again
        };
        const TunedHardware tuned = tune_hardware(scenario, log);
        log_info(fmt::format("tuned {} hardware variants in {} evaluations", tuned.variants.size(), tuned.evaluations));
        journal.finish_tuning(tuned.variants);
        known.tuned = tuned.variants;
    }
    scenario.variants.insert(scenario.variants.end(), known.tuned->begin(), known.tuned->end());
}

StudyEnd stopped_tuning(const std::string& why, const std::string& progress, const StudyOptions& options)
{
    StudyEnd end;
    end.results.study.outcome.text =
        fmt::format("stopped by {}; {}; the search has not started, so there are no results; continue with: prismopt resume {}",
                    why, progress, options.out);
    return end;
}

StudyEnd lead(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options, StudyJournal& journal,
              const StopRequest& stop)
{
    StudyEnd end;
    Results& results = end.results;
    results.study = study_info(model.scenario, options);
    results.threads = parallel_threads();
    StudyPlan plan = plan_study(model);
    const auto of_training = [](const Objective* objective) { return objective->name.starts_with("training_time_p"); };
    if (model.scenario.search.confirm.steps == 1 && std::any_of(model.objectives.begin(), model.objectives.end(), of_training)) {
        log_warning(one_step_text);
    }
    results.study.strategy = plan.chosen.name;
    Search search(model, scheduler, options, std::move(plan), journal, stop);
    auto stopped = search.run();
    search.fill(results);
    if (!stopped) {
        stopped = search.confirm(results);
    }
    end.complete = !stopped;
    if (stopped) {
        search.fill_provisional_front(results);
        results.study.outcome.proved = false;
        const std::string gaps = gaps_text(results.study.outcome.gaps, model.objectives);
        results.study.outcome.text =
            fmt::format("stopped by {}; {};{} continue with: prismopt resume {}", *stopped, results.study.outcome.text,
                        gaps.empty() ? "" : " no plan is better than the best one found by more than this: " + gaps + ";",
                        options.out);
    }
    scheduler.release();
    for (std::size_t rank = 0; rank < scheduler.accounts().size(); ++rank) {
        const WorkScheduler::Account& account = scheduler.accounts()[rank];
        results.ranks.push_back({static_cast<int>(rank), account.items, account.busy_s, account.idle_s});
    }
    search.keep([&] { write_results(results, options.out); });
    if (end.complete) {
        remove_journal(options.out);
    }
    return end;
}

}  // namespace

StudyEnd run_study(const std::function<std::optional<Scenario>()>& read, Communicator& team, const StudyOptions& options)
{
    const StopRequest stop(options.max_time, team, options.stop);
    const LogReceiver receiver(options.message);
    std::optional<StudyJournal> journal;  // on rank 0
    StudyEnd end{.complete = true, .results = {}, .nothing_to_do = true};
    Message record;
    std::exception_ptr refusal;
    if (team.rank() == 0) {
        try {
            if (std::optional<Scenario> asked = read()) {
                check_output(*asked, options);
                const bool tunes = tunes_hardware(*asked);
                journal.emplace(journal_path(options.out), *asked, options.resume);
                if (tunes) {
                    add_tuned_hardware(*asked, *journal, stop);
                }
                record = study_record(*asked);
            }
        } catch (const TuningStopped& stopped) {
            journal->sync();
            end = stopped_tuning(*stop.reason(), stopped.what(), options);
        } catch (const InputError&) {
            refusal = std::current_exception();
            if (journal && !options.resume) {
                remove_journal(options.out);
            }
        }
    }
    // Empty if rank 0 refused, was stopped or has nothing to do. The other ranks may receive the signal meanwhile.
    record = team.broadcast(std::move(record), [&] { stop.reason(); });
    if (refusal) {
        std::rethrow_exception(refusal);
    }
    if (record.empty()) {
        return end;
    }
    const Scenario scenario = scenario_from(record);
    const Message tables = team.broadcast(team.rank() == 0 ? tables_of(scenario).encode() : Message{}, [&] { stop.reason(); });
    const StudyModel model(scenario, NoiseTables::decode(tables));
    std::optional<WorkScheduler> made;
    WorkScheduler& scheduler =
        made.emplace(team, Worker(model, [&made] { made->pause(); }), [&stop] { return stop.reason().has_value(); });
    if (team.rank() != 0) {
        scheduler.serve();
        return {true, {}};
    }
    try {
        return lead(model, scheduler, options, *journal, stop);
    } catch (const InputError&) {
        scheduler.release();
        throw;
    }
}

}  // namespace prismopt
