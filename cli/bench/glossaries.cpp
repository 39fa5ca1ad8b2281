#include "cli/bench/glossaries.h"

namespace tandem::cli {

namespace {

constexpr Term column_terms[] = {
    {"limit",
     "the part of what the machine allows that was reached: the least time that a prompt or a "
     "generation needs, which is the longer one of the next two, divided by the time that it took"},
    {"read",
     "the same for reading alone: in every step the weights that it needs and the cache, at the "
     "rate of memory; it may be above 100 % with weights that are numbers of BF16, of which the "
     "CPU "
     "reads 12 bits"},
    {"multiply",
     "the same for multiplying alone, at the rate of int8, or of f32 for weights and caches that "
     "are floats; matrix units, products in 16 bits and additions in place of multiplications may "
     "be above 100 %"},
    {"limits, below the table",
     "these rates, in bytes and multiply-adds (MAC) a second, of all devices that hold something "
     "together: the highest that this or an earlier run measured (see --measure); and the rate of "
     "memory when this run began, where that was below nine tenths: others may use it, too"},
};

constexpr Term profile_terms[] = {
    {"operation",
     "a kernel, and the types of the weights that it reads; (head): for the rows that become "
     "logits"},
    {"calls", "how often it was launched"},
    {"ms, share", "its time, a mean of the threads at work, and the part of the whole that it is"},
    {"barrier", "ms that the threads then waited for each other"},
    {"GB/s, limit",
     "what it read of weights, as the file has them, and of caches a second, and the part of the "
     "device's limit"},
    {"GMAC/s, limit",
     "thousands of millions of multiply-adds a second, and the part of the device's limit"},
    {"barriers", "a row: all the waiting of the column barrier"},
    {"exchanges",
     "a row: with other devices, and with the host, which takes logits; waiting included"},
    {"between runs of launches", "a row: what is left, such as a device's start of each step"},
    {"all", "a row: the prompt or the generation, from its first step to the end of its last"},
};

constexpr Term environment_terms[] = {
    {"TMPDIR",
     "where the file of --synthetic is written, under no name that could stay (default, and "
     "instead of /tmp: /var/tmp)"},
};

}  // namespace

const Glossary bench_columns{"columns behind the speed", column_terms};
const Glossary profile_columns{"tables of --profile", profile_terms};
const Glossary bench_environment{"environment", environment_terms};

}  // namespace tandem::cli
