#pragma once

/// Results of work items in the order of the items.

#include "optimizer/parallel/work_scheduler.hpp"

#include <list>
#include <optional>
#include <utility>

namespace prismopt {

class OrderedItems {
public:
    explicit OrderedItems(WorkScheduler& scheduler) : scheduler_(scheduler) {}

    void submit(Message item)
    {
        std::optional<Message>& result = results_.emplace_back();
        scheduler_.submit(std::move(item), [&result](Message arrived) { result = std::move(arrived); });
    }
    /// The result of the oldest item; there must be one.
    Message next()
    {
        scheduler_.wait([this] { return results_.front().has_value(); });
        Message result = std::move(*results_.front());
        results_.pop_front();
        return result;
    }

private:
    WorkScheduler& scheduler_;
    std::list<std::optional<Message>> results_;
};

}  // namespace prismopt
