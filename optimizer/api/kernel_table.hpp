#pragma once

/// Times of the kernels of a network on one GPU, and what they reach of its peaks.

#include <string>
#include <vector>

namespace prismopt {

struct Cluster;
struct LayerShape;
struct Network;
enum class Precision;

struct KernelRow {
    std::string layer;
    int layers = 1;  // of this kind
    std::string pass;
    std::string kernel;
    std::string shape;  // of products: m x n x k, with the number of groups
    double seconds = 0.0;
    double flops = 0.0;  // that the network needs; 0: limited by memory
    double share = 0.0;  // of the peak of its precision, or of the memory bandwidth
};

/// Kernels of each kind of layer for a microbatch, forward and backward, in order.
std::vector<KernelRow> kernel_rows(const Network& network, Precision precision, const LayerShape& shape,
                                   const Cluster& cluster);

}  // namespace prismopt
