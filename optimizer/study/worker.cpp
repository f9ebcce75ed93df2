#include "optimizer/study/worker.hpp"

#include "optimizer/study/range_sweep.hpp"

#include <cstdint>

namespace prismopt {

Message Worker::operator()(const Message& bytes)
{
    const WorkItem item = decode_item(bytes);
    if (const auto* range = std::get_if<SweepRange>(&item)) {
        return encode(FullAnswer{sweep(*range)});
    }
    if (const auto* block = std::get_if<DrawBlock>(&item)) {
        return encode(draw(*block));
    }
    if (const auto* judgement = std::get_if<Judgement>(&item)) {
        return encode(judge(*judgement));
    }
    return encode(facts(std::get<FactsRequest>(item)));
}

Sweep Worker::sweep(const SweepRange& range)
{
    return sweep_range(model_, benches_, details().intervals(), pause_, range);
}

Sweep Worker::bound_all(const SweepRange& range)
{
    return prismopt::bound_all(model_, benches_, details().intervals(), pause_, range);
}

Sweep Worker::count(const SweepRange& range)
{
    return count_range(model_, benches_, details().intervals(), pause_, range);
}

std::vector<PhaseDraws> Worker::draw(const DrawBlock& block)
{
    std::vector<ParallelPlan> plans;
    for (const std::uint64_t point : block.points) {
        plans.push_back(model_.designs.plan(model_.designs.space().point(point)));
    }
    Predictor& predictor =
        benches_.of(block.source.feasibility)
            .of(model_.designs.variant(model_.designs.space().point(block.points.front())));
    return predictor.sample(plans, block.range, model_.sampler(block.source));
}

FullAnswer Worker::judge(const Judgement& judgement)
{
    const PointRequest& request = judgement.point;
    const Point point = model_.designs.space().point(request.index);
    const std::vector<double> model_error = model_.problem.promise.includes_model_error()
                                                ? details().intervals().of(request.index).quantiles()
                                                : std::vector<double>{};
    const Prediction prediction =
        benches_.of(request.source.feasibility)
            .of(model_.designs.variant(point))
            .summarise(model_.designs.plan(point), judgement.draws, judgement.steps,
                       model_.sampler(request.source), judgement.confidence, model_error);
    FrontPoint drawn = front_point(model_, request.index, prediction);
    if (judgement.for_front) {
        details().add(drawn);
    }
    std::vector<Estimate> values = drawn.objectives;
    if (request.source.feasibility == Feasibility::doubtful) {  // as sweeps bound them
        values.push_back(Estimate::exact(1.0 - prediction.memory_headroom));
    }
    FullAnswer answer{Evaluation{request.index, request.rung, prediction.draws, std::move(values),
                                 request.source, model_.keeping(prediction)}};
    if (request.source.purpose != Purpose::scout) {
        answer.drawn = std::move(drawn);
    }
    return answer;
}

FrontDetails& Worker::details()
{
    if (!details_) {
        details_ = std::make_shared<FrontDetails>(model_);
    }
    return *details_;
}

std::vector<PlanFacts> Worker::facts(const FactsRequest& request)
{
    if (!facts_) {
        facts_ = std::make_shared<PlanFactsMaker>(model_, pause_);
    }
    return (*facts_)(request);
}

}  // namespace prismopt
