#include "model/network/operators.hpp"

namespace prismopt {

void TokenExchange::exchange(const Extent& e, Way direction, Calls& calls) const
{
    const int members = e.shape.ep * e.shape.etp;
    if (members == 1) {
        return;
    }
    const Meeting meeting = meeting_of(e.shape, members);
    const double bytes = 2.0 * e.copies(routing) * e.load(routing) * width;
    const auto beside = e.shape.expert_overlap == ExpertOverlap::shared_experts
                            ? CollectiveCall::Beside::shared_experts
                            : CollectiveCall::Beside::nothing;
    if (group == Group::expert_tensor) {
        if (e.shape.etp > 1) {
            calls.collective({.kind = Collective::all_gather,
                              .bytes = bytes * e.shape.etp,
                              .group = GroupKind::expert_tensor,
                              .members = meeting,
                              .surplus = e.surplus(routing)});
        }
    } else if (e.shape.dispatch == Dispatch::all_gather) {
        calls.collective(
            {.kind = direction == Way::there ? Collective::all_gather : Collective::reduce_scatter,
             .bytes = 2.0 * e.own() * e.shape.ep * width,
             .group = GroupKind::expert,
             .members = meeting,
             .beside = beside});
    } else {
        calls.collective({.way = CollectiveCall::Way::tokens,
                          .kind = Collective::all_to_all,
                          .bytes = bytes,
                          .group = GroupKind::expert,
                          .active = routing.active,
                          .nodes = routing.nodes,
                          .low = direction == Way::there && !wide,
                          .dispatch = e.shape.dispatch,
                          .members = meeting,
                          .beside = beside,
                          .surplus = e.surplus(routing)});
    }
}

}  // namespace prismopt
