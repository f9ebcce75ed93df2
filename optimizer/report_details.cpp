#include "optimizer/report_details.hpp"

#include "optimizer/model_accuracy.hpp"
#include "optimizer/stored_study.hpp"

#include <algorithm>

namespace prismopt {

namespace {

StepTimeline timeline_of(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise, problem.memory_headroom});
    const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    if (std::holds_alternative<Infeasible>(compiled)) {
        return {};
    }
    const ExecutionGraph& graph = std::get<CompiledPlan>(compiled).graph;
    StepTimeline timeline{mean_timeline(graph), graph.stages(), 0.0};
    for (const TimelineEvent& event : timeline.events) {
        timeline.step_s = std::max(timeline.step_s, event.end_s);
    }
    return timeline;
}

void add_timelines(ReportedStudy& study)
{
    StoredStudy stored(study.results);
    for (const FrontPoint& point : study.results.front) {
        const Point where = stored.space().point(point.index);
        study.timelines.push_back(timeline_of(stored.problem(where), stored.plan(where)));
    }
}

}  // namespace

ReportedStudy reported_study(const Results& results, const std::string& file)
{
    ReportedStudy study;
    study.results = results;
    study.name = results.study.scenario_name;
    study.file = file;
    try {
        add_timelines(study);
    } catch (const InputError& error) {
        study.timelines.clear();
        study.timeline_note =
            std::string("Steps are not shown, since this program does not read the scenario of these results: ") + error.what();
    }
    return study;
}

ModelCheck shipped_model_check()
{
    const CheckedModel checked = check_model(shipped_runs());
    ModelCheck check;
    check.compared =
        "Mean step time of the runs that ship with the program. Constants of the catalog were fitted to runs like these, so "
        "the errors say how well it fits, and are no forecast.";
    for (const SourceAccuracy& source : accuracy_by_source(checked)) {
        check.sources.push_back({source.name, source.rows, source.mean_absolute, source.median_absolute, source.bias,
                                 source.worst, source.rank_correlation});
    }
    for (const CheckedRun& run : checked.runs) {
        check.runs.push_back({run.run.row, run.run.measured_s, run.predicted_s});
    }
    return check;
}

}  // namespace prismopt
