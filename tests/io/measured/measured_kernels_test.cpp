#include "io/measured/measured_kernels.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/io/temporary_folder.hpp"

namespace prismopt {
namespace {

constexpr const char* columns =
    "row_id,source,gpu,kind,precision_kind,m,n,k,batch,tokens,heads,kv_heads,head_size,window,experts,top_k,"
    "ep,distribution,time_"
    "us,"
    "tflops,engine,version,notes\n";

MeasuredKernels read(const std::string& rows)
{
    const TemporaryFolder folder;
    std::ofstream(folder.file(kernels_table)) << columns << rows;
    return read_measured_kernels(folder.file(""));
}

TEST(MeasuredKernels, AreReadWithTheShareThatSetsTheirLevel)
{
    const MeasuredKernels read_rows = read(
        "1,a,H100,gemm,fp8_block,1024,4096,2048,,,,,,,,,,,50,,trtllm,1,\n"
        "2,a,B200,attention,bf16,,,,2,4096,32,8,128,,,,,,900,,vllm,1,\n"
        "3,a,B200,attention,bf16,,,,2,4096,32,8,128,128,,,,,300,,vllm,1,\n"
        "4,a,B200,experts,bf16,,768,2048,,8192,,,,,128,8,2,balanced,700,,trtllm,1,\n");
    ASSERT_EQ(read_rows.rows.size(), 4U);
    const MeasuredKernel& product = read_rows.rows[0];
    EXPECT_EQ(product.accelerator, "h100-sxm");
    EXPECT_EQ(product.key, "gemm_fp8_block");
    EXPECT_EQ(product.precision, Precision::fp8_blockwise);
    EXPECT_DOUBLE_EQ(product.measured_s, 50e-6);
    const MeasuredKernel& attention = read_rows.rows[1];
    EXPECT_DOUBLE_EQ(attention.attention.keys, 2048.0 + 64.0);
    EXPECT_DOUBLE_EQ(attention.attention.queries, 2.0 * 4096.0 * 32.0);
    EXPECT_DOUBLE_EQ(attention.attention.flops.si,
                     4.0 * 128.0 * attention.attention.queries * attention.attention.keys);
    EXPECT_EQ(read_rows.rows[2].table, KernelTable::window);
    EXPECT_LT(read_rows.rows[2].attention.keys, 256.0);
    EXPECT_TRUE(read_rows.rows[2].key.empty());
    const MeasuredKernel& experts = read_rows.rows[3];
    EXPECT_DOUBLE_EQ(experts.groups, 64.0);
    EXPECT_DOUBLE_EQ(experts.m, 8192.0 * 8.0 / 128.0);
}

TEST(MeasuredKernels, SayWhyRowsAreSkipped)
{
    const MeasuredKernels read_rows = read(
        "1,a,L40S,gemm,bf16,1024,4096,2048,,,,,,,,,,,50,,trtllm,1,\n"
        "2,a,H100,gemm,bf16,1024,4096,2048,,,,,,,,,,,50,,vllm,1,\n"
        "3,a,H100,attention,fp8,,,,2,4096,32,8,128,,,,,,900,,vllm,1,\n"
        "4,a,H100,attention,bf16,,,,2,512,32,8,128,,,,,,900,,vllm,1,\n"
        "5,a,H100,experts,bf16,,768,2048,,8192,,,,,128,8,2,power_law,700,,trtllm,1,\n"
        "6,a,H100,gemm,bf16,1024,4096,2048,,,,,,,,,,,50,,trtllm,1,slower than the other engine by 1.4\n");
    EXPECT_TRUE(read_rows.rows.empty());
    EXPECT_EQ(read_rows.skipped.size(), 6U);
}

TEST(MeasuredKernels, OfAFolderWithoutTheTableAreNone)
{
    EXPECT_TRUE(read_measured_kernels(TemporaryFolder().file("no-such-folder")).rows.empty());
}

}  // namespace
}  // namespace prismopt
