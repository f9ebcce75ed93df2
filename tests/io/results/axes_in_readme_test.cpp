#include "model/plan/plan_axes.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace prismopt {
namespace {

/// results/README.md lists the axes in the order of a point.
TEST(ResultsReadme, ListsTheAxes)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/results/README.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t begin = page.find("Axes of a search:");
    ASSERT_NE(begin, std::string::npos);
    const std::string list = page.substr(begin, page.find(';', begin) - begin);
    std::vector<std::string> listed;
    for (std::size_t at = list.find('`'); at != std::string::npos; at = list.find('`', at + 1)) {
        const std::size_t end = list.find('`', at + 1);
        ASSERT_NE(end, std::string::npos);
        listed.push_back(list.substr(at + 1, end - at - 1));
        at = end;
    }
    std::vector<std::string> axes{std::string(gpus_axis.name)};
    for_each_axis([&axes](const auto& axis) { axes.emplace_back(axis.name); });
    EXPECT_EQ(listed, axes);
}

}  // namespace
}  // namespace prismopt
