#pragma once

/// The data of an HTML report, which io/html/page reads.

#include "io/html/report_page.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>

namespace prismopt {

/// At most about `most_bytes` as text, unless the fronts alone need more.
nlohmann::json page_data(const std::vector<ReportedStudy>& studies, const std::string& program,
                         const Comparison& comparison, std::size_t most_bytes);

}  // namespace prismopt
