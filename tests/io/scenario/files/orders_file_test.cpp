#include "io/scenario/files/orders_file.hpp"
#include "io/base/input_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

using testing::HasSubstr;

TEST(OrdersFile, ReadsWhatPytorchWrites)
{
    // Empty cells are steps in which a rank waits; the runtime's own table has
    // transfers, gathers and reductions.
    const ChunkOrders orders = parse_orders(
        "0F0,,0F1,0I0,0W0,0BW1\r\n"
        "1UNSHARD, 1RECV_F0,1F0,1B0,1SEND_B0,(1F1;2B10)OVERLAP_F_B,1RESHARD,1REDUCE_GRAD\r\n",
        "t.csv");
    EXPECT_EQ(orders, (ChunkOrders{{{Pass::forward, 0, 0},
                                    {Pass::forward, 0, 1},
                                    {Pass::input_gradient, 0, 0},
                                    {Pass::weight_gradient, 0, 0},
                                    {Pass::backward, 0, 1}},
                                   {{Pass::forward, 1, 0},
                                    {Pass::backward, 1, 0},
                                    {Pass::paired_forward, 1, 1},
                                    {Pass::paired_backward, 2, 10}}}));
}

TEST(OrdersFile, WritesWhatItReads)
{
    const std::string text = "0F0,0I0,0W0,(1F0;0B1)OVERLAP_F_B\n1F0,1B0\n";
    EXPECT_EQ(orders_csv(parse_orders(text, "t.csv")), text);
    for (const ScheduleShape& shape :
         {ScheduleShape{Schedule::interleaved, 4, 8, 2}, ScheduleShape{Schedule::zb_v, 4, 8, 2},
          ScheduleShape{Schedule::dualpipe, 4, 8, 2}, ScheduleShape{Schedule::dualpipe_v, 4, 8, 2}}) {
        const ChunkOrders orders =
            chunk_orders(*std::get<std::shared_ptr<const Program>>(compiled_program(shape)));
        EXPECT_EQ(parse_orders(orders_csv(orders), "t.csv"), orders) << name(shape.schedule);
    }
}

TEST(OrdersFile, SaysWhichCellIsNoAction)
{
    for (const std::string cell : {"0X0", "F0", "0F", "0F-1", "0F0x", "99999999999F0", "0SEND",
                                   "(0F0;1I0)OVERLAP_F_B", "(0F0)OVERLAP_F_B", "(;)OVERLAP_F_B", "(0F0;1B0",
                                   "()OVERLAP_F_B", ")OVERLAP_F_B", "(", "0F0 1F0"}) {
        try {
            parse_orders("0F0,0B0\n1F0,1B0," + cell + "\n", "t.csv");
            FAIL() << cell;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr("t.csv:2: column 3, '" + cell + "', is not an action"));
        }
    }
}

TEST(OrdersFile, PrintsNoBytesThatAreNoText)
{
    for (const auto& [cell, byte] :
         std::vector<std::pair<std::string, std::string>>{{std::string("\x89HDF\r\n\x1A\n"), "0x89"},
                                                          {"\x1B[2J", "0x1B"},
                                                          {std::string("0F\0", 3), "0x00"},
                                                          {"0F\x7F", "0x7F"}}) {
        try {
            parse_orders("0F0,0B0\n1F0," + cell, "t.csv");
            FAIL() << byte;
        } catch (const InputError& error) {
            const std::string message = error.what();
            EXPECT_THAT(message, HasSubstr("t.csv:2: column 2 contains the byte " + byte +
                                           ", so this is not a table"));
            EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) {
                return c >= ' ' && c <= '~';
            })) << message;
        }
    }
}

TEST(OrdersFile, SaysThatAFileIsNotThere)
{
    EXPECT_THROW(read_orders("/nonexistent/orders.csv"), InputError);
}

}  // namespace
}  // namespace prismopt
