#include "model/network/operators.hpp"

namespace prismopt {

void TokenExchange::forward(const Extent& e, Calls& calls) const
{
    const int members = e.shape.ep * e.shape.etp;
    if (members == 1) {
        return;
    }
    const Meeting meeting = members > e.shape.tp * e.shape.cp ? Meeting::experts
                            : members > e.shape.tp            ? Meeting::context
                                                              : Meeting::tensor;
    const double bytes = 2.0 * e.copies(routing) * e.load(routing) * width;
    if (group == Group::experts) {
        calls.collective({.way = CollectiveCall::Way::tokens,
                          .kind = Collective::all_to_all,
                          .bytes = bytes,
                          .of = ProcessGroup::expert,
                          .group = {e.shape.ep, e.shape.etp},
                          .active = routing.active,
                          .members = meeting,
                          .beside = e.shape.expert_overlap == ExpertOverlap::shared_experts
                                        ? CollectiveCall::Beside::shared_experts
                                        : CollectiveCall::Beside::nothing,
                          .surplus = e.surplus(routing)});
    } else if (e.shape.etp > 1) {
        calls.collective({.kind = Collective::all_gather,
                          .bytes = bytes * e.shape.etp,
                          .of = ProcessGroup::expert,
                          .group = {e.shape.etp, 1},
                          .members = meeting,
                          .surplus = e.surplus(routing)});
    }
}

void TokenExchange::backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const { forward(e, calls); }

}  // namespace prismopt
