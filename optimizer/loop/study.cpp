#include "optimizer/loop/study.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/report/legs_text.hpp"
#include "io/report/outcome_text.hpp"
#include "io/results/posix_file.hpp"
#include "io/results/results_file.hpp"
#include "io/toml/reading_units.hpp"
#include "model/base/parallel.hpp"
#include "optimizer/loop/asked_requests.hpp"
#include "optimizer/loop/codesign.hpp"
#include "optimizer/loop/legs.hpp"
#include "optimizer/loop/pass_results.hpp"
#include "optimizer/loop/progress.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/parallel/launch.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"
#include "optimizer/study/beside_front.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/machine_table.hpp"
#include "optimizer/study/plan_posterior.hpp"
#include "optimizer/study/study_front.hpp"
#include "optimizer/study/study_plan.hpp"
#include "optimizer/study/worker.hpp"
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

/// Throws if the output cannot be the results file of this scenario, whatever the file contains.
void check_output_name(const Scenario& scenario, const StudyOptions& options)
{
    const std::string journal = journal_path(options.out);
    std::error_code ignored;
    if (is_journal(options.out)) {
        throw InputError(fmt::format("{} is the name of the journal of {}; name the results file with --out",
                                     options.out, results_path_of(options.out)));
    }
    if (std::filesystem::is_directory(options.out, ignored)) {
        throw InputError(fmt::format("{} is a folder; --out needs the name of a file", options.out));
    }
    for (const std::string& path : {options.out, journal}) {
        const auto status = std::filesystem::symlink_status(path, ignored);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
            throw InputError(fmt::format(
                "{} is not a regular file and is not overwritten; name another file with --out", path));
        }
        if (std::filesystem::equivalent(path, scenario.path, ignored)) {
            throw InputError(fmt::format("{} is the scenario itself; name another file with --out", path));
        }
    }
}

/// Throws, before anything is computed, if the output would overwrite something or cannot be written.
void check_output(const StudyOptions& options)
{
    const std::string journal = journal_path(options.out);
    if (options.resume || options.continues) {
        return;
    }
    if (options.force) {
        if (journal_in_use(journal)) {
            throw InputError(fmt::format(
                "{} is being written by another prismopt; wait for it, or name another file with --out",
                journal));
        }
        remove_journal(options.out);
        return;
    }
    for (const std::string& path : {options.out, journal}) {
        if (file_exists(path)) {
            throw InputError(fmt::format(
                "{} already exists; name another file with --out, {}", path,
                file_exists(journal) ? "overwrite it with --force, or continue the search with --continue"
                                     : "or overwrite it with --force"));
        }
    }
}

/// The request of a strategy, which does not know of which kind its points are, as one of this pass.
Request of_pass(Request request, const SearchPass& pass)
{
    if (auto* range = std::get_if<SweepRange>(&request)) {
        range->feasibility = pass.feasibility;
        range->within_limits = pass.within_limits;
        range->limits.insert(range->limits.end(), pass.limits.begin(), pass.limits.end());
    } else {
        std::get<PointRequest>(request).source.feasibility = pass.feasibility;
    }
    return request;
}

/// The answer as the strategy expects it.
Answer for_strategy(Answer answer, const SearchPass& pass)
{
    if (auto* evaluation = std::get_if<Evaluation>(&answer)) {
        evaluation->source.feasibility = Feasibility::certain;
        if (!pass.within_limits) {
            evaluation->keeping = Keeping::surely;
        }
    }
    return answer;
}

/// The searches on rank 0.
class Search {
public:
    Search(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options, StudyPlan plan,
           StudyJournal& journal, const StopRequest& stop)
        : model_(model), scheduler_(scheduler), options_(options), stop_(stop), name_(plan.chosen.name),
          requests_(model, scheduler, options, std::move(plan.rungs), journal, stop),
          progress_(options.progress_every_s, options.progress_longest_s)
    {
        main_.strategy = std::move(plan.chosen.strategy);
        if (plan.chosen.why) {
            log_info(fmt::format("strategy {}: {}", name_, choice_text(*plan.chosen.why)));
        }
    }

    /// Runs the searches. Returns what stopped them, or nothing.
    std::optional<std::string> run()
    {
        if (const auto stopped = run(main_)) {
            return stopped;
        }
        if (model_.is_limited() && main_.strategy->front().empty() &&
            model_.scenario.search.space_parts == 1) {
            log_warning(
                "no plan keeps the limits of the question; the search goes on without them, for what comes "
                "nearest");
            requests_.forget();
            main_ = SearchPass{.strategy = strategy_without_limits(model_, name_, requests_.rungs().size()),
                               .within_limits = false};
            if (const auto stopped = run(main_)) {
                return stopped;
            }
        }
        progress_.record(main_.archive);
        show_progress(main_, true);
        requests_.sync();
        end_ = true;
        const bool whole = model_.scenario.search.space_parts == 1;  // of a part: prismopt merge decides
        if (main_.archive.feasible() == 0 && whole) {
            remove_journal(options_.out);
            refuse_infeasible(model_.scenario, main_.archive);
        }
        return serves_several(model_) ? std::nullopt : search_doubtful();
    }

    AskedRequests& requests() { return requests_; }

    void fill(Results& results) const
    {
        fill_in(results, model_, main_, name_, end_);
        results.progress = progress_.curve();
    }

    void fill_provisional_front(Results& results) const { fill_in_provisional_front(results, model_, main_); }

    /// Estimates the front again on a fresh random stream, and marks dominated points.
    /// Returns what stopped it, or nothing.
    std::optional<std::string> confirm(Results& results)
    {
        if (serves_several(model_)) {
            return confirm_machines(results);
        }
        const std::vector<std::uint64_t> doubtful =
            doubtful_ ? unmatched_front(*doubtful_, main_) : std::vector<std::uint64_t>{};
        if (!confirm(main_.strategy->front(), Feasibility::certain, results.front) ||
            !add_beside(results.front) ||
            !confirm(doubtful, Feasibility::doubtful, results.may_not_fit.plans)) {
            results.front.clear();
            results.may_not_fit = {};
            requests_.save_draws();
            return *stop_.reason() + " before the front was confirmed";
        }
        fill_in_may_not_fit(results, model_, doubtful_ ? &*doubtful_ : nullptr, name_);
        const bool whole = model_.scenario.search.space_parts == 1;  // of parts: prismopt merge
        if (options_.posterior && whole && !add_probabilities(results)) {
            results.front.clear();
            results.may_not_fit = {};
            results.posterior = {};
            return *stop_.reason() + " before the probabilities of plans were computed";
        }
        return std::nullopt;
    }

private:
    /// Which plans may be the best, given the error of the model. False: the search is to stop.
    bool add_probabilities(Results& results)
    {
        const Pause pause = [this] {
            if (const auto why = stop_.reason()) {
                throw Stopped(*why);
            }
        };
        try {
            add_posterior(model_, results, pause, [this](const FactsRequest& request) {
                return requests_.evaluator().facts(request);
            });
        } catch (const Stopped&) {
            return false;
        }
        return true;
    }

    /// Estimates again the best plans of all machines that the search settled.
    std::optional<std::string> confirm_machines(Results& results)
    {
        auto confirmed = requests_.evaluator().confirm(main_.strategy->front());
        if (!confirmed) {
            requests_.save_draws();
            return *stop_.reason() + " before the best plans were confirmed";
        }
        results.front = std::move(*confirmed);
        results.machines = machine_table(model_, results.study.outcome, results.front);
        put_in_order(model_, results.machines, results.front);
        return std::nullopt;
    }

    /// Runs one search. Returns what stopped it, or nothing.
    std::optional<std::string> run(SearchPass& pass)
    {
        while (auto requests = pass.strategy->ask()) {
            if (!requests->empty()) {
                submit(std::move(*requests), pass);
            }
            const auto answer = requests_.next(pass);
            if (!answer) {
                show_progress(pass, true);
                requests_.sync();
                requests_.save_draws();
                return stop_.reason();
            }
            const Answer answered = for_strategy(*answer, pass);
            pass.strategy->tell({&answered, 1});
            pass.archive.add({&answered, 1});
            if (progress_.due()) {
                show_progress(pass, false);
            }
        }
        return std::nullopt;
    }

    void submit(std::vector<Request> requests, const SearchPass& pass)
    {
        for (Request& request : requests) {
            request = of_pass(std::move(request), pass);
        }
        if (pass.feasibility == Feasibility::certain) {
            progress_.record(pass.archive);
        }
        requests_.submit(requests, pass);
    }

    /// Searches the ranges in which plans lack memory for those that may fit all the same, and that
    /// no plan of the front excludes.
    std::optional<std::string> search_doubtful()
    {
        const MemoryLimit& limit = model_.problem.memory_limit;
        std::vector<SweepRange> ranges = std::exchange(requests_.over_memory(), {});
        const bool may_fit = least_limit(limit).probability < limit.probability;
        if (!facts_of_strategy(name_).covers || ranges.empty() || !may_fit) {
            return std::nullopt;
        }
        doubtful_.emplace(
            SearchPass{.feasibility = Feasibility::doubtful,
                       .strategy = search_of_doubtful(model_, std::move(ranges), requests_.rungs().size()),
                       .within_limits = main_.within_limits,
                       .limits = limits_of_front(main_)});
        auto stopped = run(*doubtful_);
        if (stopped) {
            *stopped += " in the search for plans that may not fit";
        }
        requests_.sync();
        return stopped;
    }

    /// Adds what is shown beside the front. False: the search is to stop.
    bool add_beside(std::vector<FrontPoint>& front)
    {
        const auto candidates = candidates_beside_front(model_, main_.archive, main_.strategy->front());
        const auto drawn = requests_.evaluator().confirm(candidates);
        if (!drawn) {
            return false;
        }
        std::vector<FrontPoint> plans = shown_beside_front(model_, front, *drawn);
        std::move(plans.begin(), plans.end(), std::back_inserter(front));
        put_in_order(model_, front);
        return true;
    }

    /// Estimates these points again on a fresh random stream. False: the search is to stop.
    bool confirm(const std::vector<std::uint64_t>& indices, Feasibility feasibility,
                 std::vector<FrontPoint>& front)
    {
        auto confirmed = requests_.evaluator().confirm(indices, feasibility);
        if (!confirmed) {
            return false;
        }
        front = std::move(*confirmed);
        put_in_order(model_, front);
        return true;
    }

    void show_progress(const SearchPass& pass, bool finished)
    {
        if (!options_.progress) {
            return;
        }
        const Outcome outcome = pass.strategy->outcome();
        SearchProgress state;
        state.sweep = outcome.sweep ? outcome.sweep : requests_.sweep();
        state.evaluated = outcome.evaluated;
        state.pruned = outcome.pruned;
        state.open = outcome.open;
        state.draws = requests_.evaluator().draws_made();
        state.idle_share = scheduler_.idle_share();
        if (pass.feasibility == Feasibility::certain) {
            std::vector<std::string> names;
            for (const Objective* objective : model_.objectives) {
                names.emplace_back(objective->name);
            }
            state.gaps = gaps_text(outcome.gaps, names);
        }
        state.finished = finished;
        options_.progress(progress_.state(pass.archive, std::move(state)));
    }

    const StudyModel& model_;
    const WorkScheduler& scheduler_;
    const StudyOptions& options_;
    const StopRequest& stop_;
    std::string name_;
    AskedRequests requests_;
    Progress progress_;
    bool end_ = false;  // nothing is left to ask
    SearchPass main_;
    std::optional<SearchPass> doubtful_;
};

/// Now, in UTC.
std::string date_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

StudyInfo study_info(const Scenario& scenario, const StudyOptions& options)
{
    StudyInfo info;
    info.build = this_build();
    info.created = date_text();
    info.command_line = options.command_line;
    info.job_id = batch_job().id;
    info.scenario_path = escape_controls(scenario.path);
    info.scenario_text = scenario.text;
    info.scenario_name = scenario.name;
    const std::vector<LearnedOrigin>& learned = scenario.learned.origins;
    info.learned = learned.empty() ? "" : fmt::format("{}, {}", learned.back().study, learned.back().date);
    info.learned_digest = scenario.learned.digest;
    info.nodes_known = scenario.cluster.nodes_known();
    info.seed = scenario.seed;
    info.held = {scenario.search.space_part};
    info.space_parts = scenario.search.space_parts;
    return info;
}

/// Adds tuned hardware variants to those of the scenario. Throws TuningStopped.
void add_tuned_hardware(Scenario& scenario, StudyJournal& journal, const StopRequest& stop)
{
    KnownTuning known = journal.release_tuning();
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
        log_info(fmt::format("tuned {} hardware variants in {} evaluations", tuned.variants.size(),
                             tuned.evaluations));
        journal.finish_tuning(tuned.variants);
        known.tuned = tuned.variants;
    }
    scenario.variants.insert(scenario.variants.end(), known.tuned->begin(), known.tuned->end());
}

StudyEnd stopped_tuning(const std::string& why, const std::string& progress, const StudyOptions& options)
{
    StudyEnd end;
    end.results.study.stopped_by = why;
    end.results.study.outcome_text = stopped_tuning_text(why, progress, options.out);
    return end;
}

StudyEnd lead(const StudyModel& model, WorkScheduler& scheduler, const StudyOptions& options,
              StudyJournal& journal, const StopRequest& stop)
{
    StudyEnd end;
    Results& results = end.results;
    results.study = study_info(model.scenario, options);
    results.threads = parallel_threads();
    StudyPlan plan = plan_study(model);
    const auto of_training = [](const Objective* objective) {
        return objective->name.starts_with("training_time_p");
    };
    if (model.scenario.search.confirm.steps == 1 &&
        std::any_of(model.objectives.begin(), model.objectives.end(), of_training)) {
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
    search.requests().keep([&] {
        journal.end_leg(stopped ? LegEnd::stopped : LegEnd::complete, search.requests().draws_saved());
    });
    results.legs = journal.legs();
    if (stopped) {
        search.fill_provisional_front(results);
        results.study.outcome.proved = false;
        results.study.stopped_by = *stopped;
        results.study.outcome_text = stopped_text(results, options.out);
    }
    scheduler.release();
    static_assert(std::variant_size_v<WorkItem> == rank_activities.size() &&
                  WorkScheduler::most_kinds == rank_activities.size());
    for (std::size_t rank = 0; rank < scheduler.accounts().size(); ++rank) {
        const WorkScheduler::Account& account = scheduler.accounts()[rank];
        results.ranks.push_back({static_cast<int>(rank), account.items, account.busy_s, account.idle_s,
                                 account.wall_s, account.by_kind_s});
    }
    search.requests().keep([&] { write_results(results, options.out); });
    if (end.complete) {
        remove_journal(options.out);
    }
    return end;
}

/// The study that these options ask for: that of the scenario or, with `continues`, its journal
/// (`resume` is then set). Nothing: it is complete.
std::optional<Scenario> study_to_run(std::optional<Scenario> asked, StudyOptions& options)
{
    if (asked) {
        check_output_name(*asked, options);
    }
    if (!asked || !options.continues) {
        return asked;
    }
    switch (begun(*asked, options.out)) {
        case Begun::no: return asked;
        case Begun::in_journal: options.resume = true; return journaled_scenario(options.out);
        case Begun::complete: log_info(complete_text(options.out)); return std::nullopt;
    }
    return asked;
}

KeptOptions kept_options(const StudyOptions& options)
{
    return {.command_line = options.command_line,
            .posterior = options.posterior,
            .max_time_s = options.max_time ? options.max_time->count() : 0.0,
            .most_legs = options.most_legs.value_or(default_most_legs)};
}

/// These options, and those of the first leg where they set nothing.
StudyOptions in_force(StudyOptions options, const KeptOptions& first)
{
    options.command_line = first.command_line;
    options.posterior = options.posterior && first.posterior;
    if (!options.max_time && first.max_time_s > 0.0) {
        options.max_time = std::chrono::duration<double>(first.max_time_s);
    }
    options.most_legs = options.most_legs.value_or(first.most_legs);
    return options;
}

void log_launch(const StudyJournal& journal, const StudyOptions& options)
{
    const std::vector<Leg>& legs = journal.legs();
    log_info(fmt::format("{}: leg {} of {}, {}", build_text(this_build()), legs.size(), options.out,
                         launch_text(legs.back())));
    if (options.resume) {
        const std::vector<Leg> before(legs.begin(), legs.end() - 1);
        log_info(fmt::format(
            "taken from {}: {} answers{}; {:.3g} core-hours in {} before", journal_path(options.out),
            journal.known_answers(),
            journal.known_tuning() > 0 ? fmt::format(", {} tuning steps", journal.known_tuning()) : "",
            core_hours(before), counted(before.size(), "leg")));
    }
}

/// The journal of the study, with the options of its first leg put in force. Throws InputError if it cannot
/// be written, belongs to another study, or has had its legs.
StudyJournal opened_journal(const Scenario& asked, StudyOptions& options)
{
    const bool may_exist = options.resume || options.continues;
    StudyJournal journal(journal_path(options.out), asked, kept_options(options),
                         may_exist ? StudyJournal::Existing::continued : StudyJournal::Existing::refused);
    const bool asks_for_time = options.max_time.has_value();
    options = in_force(options, journal.options());
    if (options.max_time && !asks_for_time) {
        log_info(
            fmt::format("this leg ends after {}, as the first one (--max-time); give --max-time to change it",
                        time_text(options.max_time->count())));
    }
    if (options.continues) {
        refuse_more_legs(journal.legs(), *options.most_legs, options.out);
    }
    return journal;
}

void begin_leg(StudyJournal& journal, const std::vector<RankFacts>& ranks,
               std::chrono::steady_clock::time_point start, const StudyOptions& options)
{
    Leg leg = leg_of(ranks);
    leg.started = date_text();
    journal.begin_leg(std::move(leg), start);
    log_launch(journal, options);
    if (const std::string warning = oversubscription(ranks); !warning.empty()) {
        log_warning(warning);
    }
}

/// Adds what follows from the legs of a study that was stopped.
StudyEnd with_last_leg(StudyEnd end, const StudyOptions& options)
{
    if (!end.complete && options.continues) {
        end.last_leg =
            why_last_leg(end.results.legs, options.most_legs.value_or(default_most_legs), options.out);
    }
    return end;
}

}  // namespace

StudyEnd run_study(const std::function<std::optional<Scenario>()>& read, Communicator& team,
                   const StudyOptions& asked_options)
{
    const auto start = std::chrono::steady_clock::now();
    StudyOptions options = asked_options;
    StopRequest stop(options.max_time, team, options.stop);
    const LogReceiver receiver(options.message);
    const std::vector<RankFacts> ranks = gather(team, facts_of_this_rank(), [&stop] { stop.reason(); });
    std::optional<StudyJournal> journal;  // on rank 0
    StudyEnd end{.complete = true, .results = {}, .nothing_to_do = true, .last_leg = {}};
    Message record;
    std::exception_ptr refusal;
    if (team.rank() == 0) {
        try {
            refuse_other_builds(ranks);
            if (std::optional<Scenario> asked = study_to_run(read(), options)) {
                refuse_ranked_placeholders(*asked);  // before there is a journal
                check_output(options);
                const bool tunes = tunes_hardware(*asked);
                journal = opened_journal(*asked, options);
                if (options.max_time) {
                    stop.limit(*options.max_time);
                }
                begin_leg(*journal, ranks, start, options);
                if (tunes) {
                    add_tuned_hardware(*asked, *journal, stop);
                }
                record = study_record(*asked);
            }
        } catch (const TuningStopped& stopped) {
            journal->end_leg(LegEnd::stopped, 0);
            end = stopped_tuning(*stop.reason(), stopped.what(), options);
            end.results.legs = journal->legs();
            end = with_last_leg(std::move(end), options);
        } catch (const InputError&) {
            refusal = std::current_exception();
            if (journal && !options.resume) {
                remove_journal(options.out);
            }
        }
    }
    // Empty if rank 0 refused, was stopped or has nothing to do. The other ranks
    // may receive the signal meanwhile.
    record = team.broadcast(std::move(record), [&] { stop.reason(); });
    if (refusal) {
        std::rethrow_exception(refusal);
    }
    if (record.empty()) {
        return end;
    }
    const Scenario scenario = scenario_from(record);
    const Message tables =
        team.broadcast(team.rank() == 0 ? tables_of(scenario).encode() : Message{}, [&] { stop.reason(); });
    const StudyModel model(scenario, NoiseTables::decode(tables));
    std::optional<WorkScheduler> made;
    WorkScheduler& scheduler = made.emplace(
        team, Worker(model, [&made] { made->pause(); }), [&stop] { return stop.reason().has_value(); },
        kind_of_item);
    if (team.rank() != 0) {
        scheduler.serve();
        return {.complete = true, .results = {}, .nothing_to_do = false, .last_leg = {}};
    }
    try {
        return with_last_leg(lead(model, scheduler, options, *journal, stop), options);
    } catch (const InputError&) {
        scheduler.release();
        throw;
    }
}

}  // namespace prismopt
