#pragma once

/// Plain loops, compiled once for each vector width that a machine may have and chosen when the program starts.
/// All give the same bits: no contraction, no reassociation. Off under sanitizers, which cannot start such functions.

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(PRISMOPT_SANITIZED)
#define PRISMOPT_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PRISMOPT_VECTOR_CLONES
#endif
