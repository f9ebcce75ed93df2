/// What placement is worth: jobs/placement_study and jobs/buildings_study.

#include "optimizer/placement_study/report.hpp"

#include <cstdio>
#include <exception>
#include <string>

int main(int count, char** words)
{
    const std::string study = count == 4 ? words[1] : "";
    if (study != "placement" && study != "buildings") {
        std::fputs(
            "usage: placement_study placement|buildings SCENARIO FOLDER\n\nWrites placement.md and placement.svg there, or "
            "buildings.md and buildings.svg.\n",
            stderr);
        return 2;
    }
    try {
        study == "placement" ? prismopt::placement_study(words[2], words[3]) : prismopt::buildings_study(words[2], words[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "placement_study: %s\n", error.what());
        return 1;
    }
    return 0;
}
