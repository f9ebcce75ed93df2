#include "model/plan/phase.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

void set_schedule(ParallelPlan& plan, Schedule schedule)
{
    plan.schedule = schedule;
    plan.group = 0;
    plan.post_validation = PostValidation::off;
    const int chunks = facts_of(schedule).chunks;
    plan.chunks = chunks > 0 ? chunks : std::max(2, plan.chunks);
}

void set_chunks(ParallelPlan& plan, int chunks)
{
    if (!runs_chunks(plan.schedule, chunks)) {
        set_schedule(plan, chunks > 1 ? usual_schedule_of_chunks : usual_schedule);
    }
    plan.chunks = chunks;
}

}  // namespace

double tokens_of(const std::vector<Phase>& phases)
{
    double tokens = 0.0;
    for (const Phase& phase : phases) {
        tokens += phase.tokens;
    }
    return tokens;
}

Phase longer(Phase phase, double factor)
{
    if (factor != 1.0) {
        const double step = phase.tokens_of_step();
        phase.tokens = std::ceil(phase.tokens * factor / step) * step;
    }
    return phase;
}

double steps_of(const std::vector<Phase>& phases)
{
    double steps = 0.0;
    for (const Phase& phase : phases) {
        steps += phase.steps();
    }
    return steps;
}

ParallelPlan plan_in_phase(ParallelPlan plan, const Phase& phase)
{
    const PhasePlan& own = phase.own;
    const int gpus = own.gpus > 0 ? own.gpus : plan.gpus();
    const auto replace_given = [](int& choice, int of_phase) {
        if (of_phase > 0) {
            choice = of_phase;
        }
    };
    replace_given(plan.tp, own.tp);
    replace_given(plan.cp, own.cp);
    replace_given(plan.pp, own.pp);
    replace_given(plan.microbatch, own.microbatch);
    if (own.pp == 1 && !facts_of(plan.schedule).one_stage) {
        set_schedule(plan, usual_schedule);
    }
    if (own.schedule) {
        set_schedule(plan, *own.schedule);
    }
    if (own.chunks > 0) {
        set_chunks(plan, own.chunks);
    }
    // What the phase says of pipelines is of plans that have one there.
    if (plan.pp == 1 && (own.schedule || own.chunks > 0) && !facts_of(plan.schedule).one_stage) {
        set_schedule(plan, usual_schedule);
    }
    plan.recompute = own.recompute.value_or(plan.recompute);
    const int replica = plan.tp * plan.cp * plan.pp;
    plan.dp = gpus % replica == 0 ? gpus / replica : 0;
    return plan;
}

}  // namespace prismopt
