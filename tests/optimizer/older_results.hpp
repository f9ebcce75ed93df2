#pragma once

/// Results of versions that had fewer axes.

#include "io/results/results.hpp"

#include <vector>

namespace prismopt {

/// Results as a version wrote them that did not have the axes with one choice: positions of axes are
/// others, numbers of plans are not.
inline Results without_single_axes(Results results)
{
    const std::vector<Axis> axes = results.axes;
    const auto shorten = [&axes](Point& point) {
        Point kept;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (axes[i].labels.size() > 1) {
                kept.push_back(point[i]);
            }
        }
        point = kept;
    };
    std::erase_if(results.axes, [](const Axis& axis) { return axis.labels.size() == 1; });
    for (EvaluatedPoint& plan : results.evaluations) {
        shorten(plan.point);
    }
    for (FrontPoint& plan : results.front) {
        shorten(plan.point);
    }
    return results;
}

}  // namespace prismopt
