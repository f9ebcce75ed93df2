#include "optimizer/python/bindings.hpp"

#include "optimizer/api/search.hpp"
#include "optimizer/loop/study_journal.hpp"
#include "optimizer/python/results.hpp"
#include "optimizer/python/without_lock.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt::python {

namespace {

/// What a search, which runs on a thread of its own, has to say to Python.
class News {
public:
    void set(const SearchProgress& progress)
    {
        const std::lock_guard held(mutex_);
        progress_ = progress;
    }
    void add(const std::string& message)
    {
        const std::lock_guard held(mutex_);
        messages_.push_back(message);
    }

    /// Calls progress(dict) and log(text) with what is new.
    void pass_on(const py::object& progress, const py::object& log)
    {
        std::optional<SearchProgress> at;
        std::vector<std::string> messages;
        {
            const std::lock_guard held(mutex_);
            at = std::exchange(progress_, std::nullopt);
            messages = std::exchange(messages_, {});
        }
        for (const std::string& message : messages) {
            log(message);
        }
        if (at && !progress.is_none()) {
            progress(values_of(*at));
        }
    }

private:
    static py::dict values_of(const SearchProgress& at)
    {
        py::dict values;
        values["elapsed_s"] = at.elapsed_s;
        values["done"] = at.done;
        values["left_s"] = at.left_s;
        values["feasible"] = at.feasible;
        values["evaluated"] = at.evaluated;
        values["pruned"] = at.pruned;
        values["open"] = at.open;
        values["front"] = at.front;
        values["hypervolume"] = at.hypervolume;
        values["draws"] = at.draws;
        values["gaps"] = at.gaps;
        values["finished"] = at.finished;
        return values;
    }

    std::mutex mutex_;
    std::optional<SearchProgress> progress_;
    std::vector<std::string> messages_;
};

struct SearchChoice {
    std::string out;
    bool force = false;
    bool continues = false;
    bool posterior = true;
    std::optional<double> max_time_s;
    double progress_every_s = 0.5;
};

constexpr double no_limit_s = 1e9;  // a later leg has the limit of the first, unless it sets one

StudyOptions options_of(const SearchChoice& choice)
{
    StudyOptions options;
    options.out = choice.out;
    options.force = choice.force;
    options.continues = choice.continues;
    options.posterior = choice.posterior;
    options.command_line = "prismopt in Python";
    options.progress_every_s = choice.progress_every_s;
    if (choice.max_time_s || choice.continues) {
        options.max_time = std::chrono::duration<double>(choice.max_time_s.value_or(no_limit_s));
    }
    return options;
}

struct EndedSearch {
    std::shared_ptr<StudyResults> results;
    bool complete = false;
    bool interrupted = false;    // by Ctrl-C
    bool nothing_to_do = false;  // it was complete before; there are no results here
};

EndedSearch run(StudyOptions options, const py::object& progress, const py::object& log,
                const std::function<StudyEnd(const StudyOptions&)>& search_with)
{
    News news;
    StudyEnd end;
    options.progress = [&news](const SearchProgress& at) { news.set(at); };
    options.message = [&news](const std::string& text) { news.add(text); };
    const auto work = [&](std::stop_token stop) {
        options.stop = std::move(stop);
        const std::lock_guard one_at_a_time(results_files());
        end = search_with(options);
    };
    const bool interrupted = run_beside(work, [&] { news.pass_on(progress, log); });
    return {.results = std::make_shared<StudyResults>(StudyResults{options.out, std::move(end.results)}),
            .complete = end.complete,
            .interrupted = interrupted,
            .nothing_to_do = end.nothing_to_do};
}

EndedSearch search_scenario(const SharedScenario& of, const SearchChoice& choice, const py::object& progress,
                            const py::object& log)
{
    return run(options_of(choice), progress, log,
               [&](const StudyOptions& options) { return search(of.scenario(), options); });
}

EndedSearch resume_search(const std::string& path, SearchChoice choice, const py::object& progress,
                          const py::object& log)
{
    choice.continues = true;
    choice.out = results_path_of(path);
    StudyOptions of = options_of(choice);
    of.continues = false;
    return run(of, progress, log, [&](const StudyOptions& options) { return resume(path, options); });
}

}  // namespace

void bind_searches(py::module_& module)
{
    py::class_<SearchChoice>(module, "SearchChoice")
        .def(py::init<>())
        .def_readwrite("out", &SearchChoice::out)
        .def_readwrite("force", &SearchChoice::force)
        .def_readwrite("continues", &SearchChoice::continues)
        .def_readwrite("posterior", &SearchChoice::posterior)
        .def_readwrite("max_time_s", &SearchChoice::max_time_s)
        .def_readwrite("progress_every_s", &SearchChoice::progress_every_s);
    py::class_<EndedSearch>(module, "EndedSearch")
        .def_readonly("results", &EndedSearch::results)
        .def_readonly("complete", &EndedSearch::complete)
        .def_readonly("interrupted", &EndedSearch::interrupted)
        .def_readonly("nothing_to_do", &EndedSearch::nothing_to_do);
    module.def("search", &search_scenario);
    module.def("resume", &resume_search);
}

}  // namespace prismopt::python
