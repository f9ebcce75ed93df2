/// Runs the tests of this folder on every rank of an mpirun; a test is one conversation between them.

#include "tests/optimizer/mpi/team.hpp"

#include <gtest/gtest.h>

namespace prismopt {

namespace {
Communicator world;
}

Communicator& team() { return world; }

}  // namespace prismopt

int main(int argc, char** argv)
{
    prismopt::world = prismopt::Communicator::world(argc, argv);
    GTEST_FLAG_SET(brief, prismopt::team().rank() != 0);  // others than rank 0 print failures only
    testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    prismopt::world = {};
    return failed;
}
