#include "optimizer/placement_study/report.hpp"

namespace prismopt {

std::string table_row(const std::vector<std::string>& cells)
{
    std::string row = "|";
    for (const std::string& cell : cells) {
        row += ' ' + cell + " |";
    }
    return row + '\n';
}

std::string table_head(const std::vector<std::string>& cells)
{
    std::string head = table_row(cells) + "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        head += "---|";
    }
    return head + '\n';
}

}  // namespace prismopt
