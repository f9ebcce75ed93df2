#include "io/plots/xy_plots.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/report.hpp"
#include "io/report/study_notes.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr std::size_t most_curves = 7;  // as many as there are colours

std::string titled(const std::string& name, const ReadingUnit& unit)
{
    return unit.name.empty() ? name : fmt::format("{} ({})", name, unit.name);
}

PlotSeries curve(const std::string& label, const TimeDistribution& times, double unit)
{
    PlotSeries series{label, {}, true};
    for (std::size_t q = 0; q < times.quantiles.size(); ++q) {
        series.points.push_back(plot_point(times.quantiles[q] / unit, reported_probabilities[q]));
    }
    return series;
}

Plot front_plot(const Results& results)
{
    const std::size_t second = results.objectives.size() > 1 ? 1 : 0;
    const auto unit = [&results](std::size_t k) {
        double largest = 0.0;
        for (const FrontPoint& point : results.front) {
            largest = std::max(largest, point.objectives[k].value);
        }
        return reading_unit(results.objectives[k].units, largest);
    };
    const ReadingUnit x = unit(0);
    const ReadingUnit y = unit(second);
    Plot plot{results.provisional ? "Provisional front, 95 % confidence intervals"
                                  : "Pareto front, 95 % confidence intervals",
              titled(results.objectives[0].long_name, x),
              titled(results.objectives[second].long_name, y),
              {{"", {}, false}}};
    for (const FrontPoint& point : results.front) {
        const Estimate& a = point.objectives[0];
        const Estimate& b = point.objectives[second];
        plot.series.front().points.push_back({a.value / x.size, b.value / y.size, a.low / x.size,
                                              a.high / x.size, b.low / y.size, b.high / y.size});
    }
    return plot;
}

std::string of_population(const std::string& title, const Results& results)
{
    return title + (results.study.nodes_known ? ", this cluster" : ", fleet");
}

/// Of the first members of the front: training times as they are.
Plot training_plot(const Results& results)
{
    double largest = 0.0;
    for (const FrontPoint& point : results.front) {
        largest = std::max(largest, point.prediction.training.p50.value);
    }
    const ReadingUnit unit = reading_unit("s", largest);
    Plot plot{of_population("Distribution of the training time", results),
              titled("training time", unit),
              "probability",
              {}};
    for (std::size_t i = 0; i < std::min(most_curves, results.front.size()); ++i) {
        const FrontPoint& point = results.front[i];
        plot.series.push_back(curve(fmt::format("{}: {} GPUs, {}", point.index, point.prediction.gpus,
                                                plan_words(results, point)),
                                    point.prediction.training, unit.size));
    }
    return plot;
}

/// Of the same: shapes, which times far apart would hide. The colours are those of the other
/// plot, whose legend names them.
Plot step_plot(const Results& results)
{
    const int phases = study_notes(results).phases;
    Plot plot{of_population("Distribution of the step time", results) +
                  (phases > 1 ? fmt::format(", phase 1 of {}", phases) : ""),
              "step time / its median",
              "probability",
              {}};
    for (std::size_t i = 0; i < std::min(most_curves, results.front.size()); ++i) {
        const TimeDistribution& step = results.front[i].prediction.step;
        plot.series.push_back(curve("", step, step.p50.value));
    }
    return plot;
}

Plot progress_plot(const Results& results)
{
    Plot plot{"Search", "plans evaluated", "hypervolume", {{"", {}, true}}};
    for (const ProgressPoint& point : results.progress) {
        plot.series.front().points.push_back(
            plot_point(static_cast<double>(point.evaluations), point.hypervolume));
    }
    return plot;
}

}  // namespace

std::string svg_report(const Results& results)
{
    return plots_svg(
        {front_plot(results), training_plot(results), step_plot(results), progress_plot(results)});
}

}  // namespace prismopt
