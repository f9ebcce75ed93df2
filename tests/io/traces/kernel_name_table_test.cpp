#include "io/traces/kernel_name_table.hpp"

#include "tests/io/refusal.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// Names as profilers and benchmarks write them.
TEST(KernelNameTable, GivesNamesTheirNarrowestClass)
{
    const KernelNames names = kernel_names({});
    const auto expect = [&](const std::string& name, KernelClass kernel, OpRole role) {
        const OpKind kind = op_kind(name, names);
        EXPECT_EQ(kind.kernel, kernel) << name << " is " << prismopt::name(kind.kernel);
        EXPECT_EQ(kind.role, role) << name;
        EXPECT_TRUE(kind.known) << name;
    };
    using enum KernelClass;
    expect("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", dp_all_gather,
           OpRole::collective);
    expect("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", dp_reduce_scatter, OpRole::collective);
    expect("nccl _allgather_base of a tensor-parallel group, 8192 elements", tensor_all_gather,
           OpRole::collective);
    expect("nccl _reduce_scatter_base of a tensor-parallel group", tensor_reduce_scatter, OpRole::collective);
    expect("nccl all_to_allv of an expert-parallel group", expert_all_to_all, OpRole::collective);
    expect("nccl _allgather_base of a context-parallel group", context_all_gather, OpRole::collective);
    expect("nccl broadcast of a tensor-parallel group", tensor_collective, OpRole::collective);
    expect("nccl _reduce_scatter_base of a data-parallel group", dp_reduce_scatter, OpRole::collective);
    expect("nccl broadcast", dp_collective, OpRole::collective);
    expect("tp-all-gather", tensor_all_gather, OpRole::collective);
    expect("alltoall, 8 ranks", tp_collective, OpRole::collective);  // the group is not stated
    expect("nccl send of a context-parallel group", context_p2p, OpRole::collective);
    expect("ncclDevKernel_SendRecv", p2p, OpRole::send);
    expect("P2P-Recv", p2p, OpRole::receive);
    expect("void deep_ep::intranode::dispatch<8, 768>(int4*)", expert_all_to_all, OpRole::collective);
    expect("_ZN7deep_ep9internode7combineILi2E", expert_all_to_all, OpRole::collective);
    expect("rcclGenericKernel", dp_collective, OpRole::collective);
    expect("cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape",
           grouped_gemm, OpRole::compute);
    expect("grouped_gemm_kernel", grouped_gemm, OpRole::compute);
    expect("void cutlass::Kernel<GemmGrouped<bf16>>", grouped_gemm, OpRole::compute);
    expect("fused_moe_kernel", grouped_gemm, OpRole::compute);
    expect("bmm_Bfloat16_E4m3E4m3_Fp32_t128x16x128_s6", grouped_gemm, OpRole::compute);
    expect("Cijk_Ailk_Bjlk_HHS_BH_MT128x128x32", gemm, OpRole::compute);
    expect("triton_tem_fused_addmm_relu_3", gemm, OpRole::compute);
    expect("triton_tem_fused_bmm_1", gemm, OpRole::compute);
    expect("turing_fp16_s1688_128x64", gemm, OpRole::compute);
    expect("nvjet_tst_192x128_64x4_1x2_h_bz_coopA_NTT", gemm, OpRole::compute);
    expect("triton_tem_fused_flex_attention_0", attention, OpRole::compute);
    expect("aiter::fmha_fwd_hd128_bf16_causal", attention, OpRole::compute);
    expect("fmhaSm100fKernel_QkvBfloat16OBfloat16", attention, OpRole::compute);
    expect("cudnn_generated_fort_native_sdpa_sm90_flash_bprop", attention, OpRole::compute);
    expect("sm80_xmma_fprop_implicit_gemm_bf16bf16", convolution, OpRole::compute);
    expect("cudnn_ampere_scudnn_winograd_128x128_ldg1", convolution, OpRole::compute);
    expect("void implicit_convolve_sgemm<float>", convolution, OpRole::compute);
    expect("cutlass_tensorop_bf16_s16816dgrad_optimized_bf16_128x128", convolution, OpRole::compute);
    expect("causal_conv1d_fwd_kernel", convolution, OpRole::compute);
    expect("kernel_grouped_conv_fwd_xdl_cshuffle", convolution, OpRole::compute);
    expect("_chunk_scan_fwd_kernel", scan, OpRole::compute);
    expect("_bmm_chunk_fwd_kernel", scan, OpRole::compute);
    expect("chunk_gated_delta_rule_fwd_kernel_h", scan, OpRole::compute);
    expect("selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits>", scan, OpRole::compute);
    expect("void at::native::indexSelectLargeIndex<float>", lookup, OpRole::compute);
    expect("embedding_backward_feature_kernel", lookup, OpRole::compute);
    expect("vectorized_elementwise_kernel", elementwise, OpRole::compute);
    expect("triton_poi_fused_add_cos_sin_0", elementwise, OpRole::compute);
    expect("triton_poi_fused_broadcast_tensors_0", elementwise, OpRole::compute);
    expect("triton_red_fused_bmm_div_5", elementwise, OpRole::compute);
    expect("triton_poi_fused_convolution_relu_1", elementwise, OpRole::compute);
    expect("triton_poi_fused_attention_mask_2", elementwise, OpRole::compute);
    expect("triton_per_fused__softmax_all_reduce_4", elementwise, OpRole::compute);
    expect("broadcast_multiply_fusion_3", elementwise, OpRole::compute);
    expect("VectorizedBroadcastKernel<float>", elementwise, OpRole::compute);
    expect("broadcast, 8 ranks", dp_collective, OpRole::collective);
    expect("ncclDevKernel_Broadcast_RING_LL", dp_collective, OpRole::collective);
    expect("collective-broadcast.3", dp_collective, OpRole::collective);
    expect("void vllm::moe::topkGatingSoftmax<8, 64, 4, 16>", elementwise, OpRole::compute);
    expect("void (anonymous namespace)::softmax_warp_forward<float>", attention, OpRole::compute);
    expect("loop_broadcast_fusion", elementwise, OpRole::compute);
    expect("cunn_SoftMaxForward<8, LogSoftMaxForwardEpilogue>", elementwise, OpRole::compute);
    expect("backward-compute", gemm, OpRole::compute);
}

TEST(KernelNameTable, MarksNamesThatNoRowMatches)
{
    const OpKind kind = op_kind("zzz_custom_kernel", kernel_names({}));
    EXPECT_FALSE(kind.known);
    EXPECT_EQ(kind.kernel, KernelClass::elementwise);
    EXPECT_EQ(kind.role, OpRole::compute);
}

class KernelNameFile : public testing::Test {
protected:
    KernelNames read(const std::string& text) const
    {
        std::ofstream(folder_.file("names.toml")) << text;
        return kernel_names({folder_.file("names.toml")});
    }
    std::string refusal(const std::string& text) const
    {
        return refusal_of([&] { read(text); });
    }
    TemporaryFolder folder_;
};

TEST_F(KernelNameFile, ItsRowsComeBeforeTheCatalogs)
{
    const KernelNames names = read(R"(
[[kernel]]
class = "scan"
names = ["zzz*kernel", "my_gemm"]
source = "our library"
[[kernel]]
class = "p2p"
role = "receive"
names = ["fetch"]
source = "our library"
)");
    EXPECT_EQ(op_kind("ZZZ_custom_Kernel", names).kernel, KernelClass::scan);
    EXPECT_EQ(op_kind("my_gemm_2", names).kernel, KernelClass::scan);
    EXPECT_EQ(op_kind("other_gemm", names).kernel, KernelClass::gemm);
    EXPECT_FALSE(op_kind("kernel_zzz", names).known);  // the order of the parts counts
    EXPECT_EQ(op_kind("fetch", names).role, OpRole::receive);
}

TEST_F(KernelNameFile, RefusesRowsWithTheirLine)
{
    EXPECT_THAT(refusal("[[kernel]]\nclass = \"gemms\"\nnames = [\"x\"]\nsource = \"y\"\n"),
                HasSubstr("names.toml:2:"));
    EXPECT_THAT(refusal("[[kernel]]\nclass = \"gemm\"\nnames = [\"x\"]\n"), HasSubstr("source"));
    EXPECT_THAT(refusal("[[kernel]]\nclass = \"gemm\"\nnames = [\"*\"]\nsource = \"y\"\n"), HasSubstr(":3:"));
    EXPECT_THAT(refusal("[[kernel]]\nclass = \"gemm\"\nnames = [\"x\"]\nsource = \"y\"\nrole = \"sender\"\n"),
                HasSubstr(":5:"));
    EXPECT_THAT(refusal("[[kernel]]\nclass = \"gemm\"\nnames = [\"x\"]\nsource = \"y\"\nrate = 3\n"),
                HasSubstr("rate"));
}

}  // namespace
}  // namespace prismopt
