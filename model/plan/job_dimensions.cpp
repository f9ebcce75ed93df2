#include "model/plan/job_dimensions.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

namespace {

/// Splits dimensions where their stride passes a multiple of `cell`; false where one does not fit.
bool split_at(int cell, JobDimensions& dimensions)
{
    JobDimensions result;
    for (const JobDimension& entry : dimensions) {
        const auto [count, stride] = entry.dimension;
        if (stride >= cell || stride * count <= cell) {
            result.push_back(entry);
            continue;
        }
        const int inside = cell / stride;
        if (cell % stride != 0 || count % inside != 0) {
            return false;
        }
        result.push_back({{inside, stride}, entry.member});
        result.push_back({{count / inside, cell}, entry.member});
    }
    dimensions = std::move(result);
    return true;
}

/// Whether units of so many GPUs cut the dimensions into equal parts.
bool fits(int unit, const JobDimensions& dimensions)
{
    return std::all_of(dimensions.begin(), dimensions.end(), [unit](const JobDimension& entry) {
        const auto [count, stride] = entry.dimension;
        if (stride >= unit) {
            return stride % unit == 0;
        }
        const bool crosses = stride * count > unit;
        return !crosses || (unit % stride == 0 && count % (unit / stride) == 0);
    });
}

}  // namespace

std::optional<JobDimensions> job_dimensions(const GroupShape& shape, const ParallelPlan& plan,
                                            const Placement& placement)
{
    if (shape.copies > 1) {
        return std::nullopt;
    }
    const int width = plan.tp * plan.cp;
    const int building_numbers = width * placement.replicas_inside();
    const int block = shape.size * shape.step;
    JobDimensions dimensions{{{shape.step, 1}, false},
                             {{shape.size, shape.step}, true},
                             {{width * plan.dp / block, block}, false}};
    if (!split_at(width, dimensions) || !split_at(building_numbers, dimensions)) {
        return std::nullopt;
    }
    for (JobDimension& entry : dimensions) {
        int& stride = entry.dimension.stride;
        if (stride >= building_numbers && placement.crossing == Crossing::dp) {
            stride = stride / building_numbers * placement.building_gpus;
        } else if (stride >= width) {
            stride = stride / width * placement.replica_stride * width;
        }
    }
    dimensions.push_back({{placement.stages_inside(), placement.stage_stride * width}, false});
    if (placement.stages_cross()) {
        dimensions.push_back({{placement.buildings, placement.building_gpus}, false});
    }
    std::erase_if(dimensions, [](const JobDimension& entry) { return entry.dimension.count == 1; });
    std::stable_sort(dimensions.begin(), dimensions.end(), [](const JobDimension& a, const JobDimension& b) {
        return a.dimension.stride < b.dimension.stride;
    });
    return dimensions;
}

std::vector<Spacing> members_in(const JobDimensions& dimensions)
{
    std::vector<Spacing> members;
    for (const JobDimension& entry : dimensions) {
        if (entry.member) {
            members.push_back(entry.dimension);
        }
    }
    return members;
}

bool fit_units(const JobDimensions& dimensions, const ParallelPlan& plan, const Placement& placement,
               const Cluster& cluster)
{
    const int used = used_gpus(plan, placement);
    return std::all_of(cluster.tiers.begin(), cluster.tiers.end(), [&](const NetworkTier& tier) {
        const int unit = gpus_joined(tier, cluster);
        return unit >= used || fits(unit, dimensions);
    });
}

int used_gpus(const ParallelPlan& plan, const Placement& placement)
{
    return placement.buildings > 1 ? placement.buildings * placement.building_gpus : plan.gpus();
}

}  // namespace prismopt
