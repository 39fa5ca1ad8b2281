// What `tandem plan` says, from metadata alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/engine.h"
#include "cli/synth/model.h"
#include "gguf/error.h"
#include "gguf/folder.h"
#include "gguf/writer.h"
#include "parallel/plan_print.h"

namespace tandem::cli {
namespace {

using parallel::Link;

// A plan of a model that has no weights, for devices that do not exist.
class PlanOf {
  public:
    PlanOf(const std::string& model, int64_t layers, const parallel::DeviceTable& table,
           const parallel::PlanOptions& plan) {
        SyntheticModel synthetic = design(model, layers, 0);
        gguf::Writer(folder_ / "x.gguf", synthetic.metadata, synthetic.tensors).finish(true);
        write_device_table(folder_ / "table.json", table);
        EngineOptions options{.devices = {}, .plan = plan, .device_table = folder_ / "table.json"};
        options.model.context = plan.context;
        file_ = gguf::File::open(folder_ / "x.gguf", gguf::Content::Directory);
        blueprint_ = make_blueprint(*file_, options);
        report_ = report_plan(*blueprint_->graph, blueprint_->plan, blueprint_->placed,
                              blueprint_->table, blueprint_->programs);
    }
    const parallel::PlanReport& report() const { return report_; }

  private:
    test::Folder folder_;
    std::optional<gguf::File> file_;
    std::unique_ptr<Blueprint> blueprint_;
    parallel::PlanReport report_;
};

parallel::DeviceTable table_of(size_t count, int64_t free_bytes) {
    parallel::DeviceTable table;
    for (size_t i = 0; i < count; ++i)
        table.devices.push_back({.name = "device" + std::to_string(i),
                                 .free_bytes = free_bytes,
                                 .bytes_per_second = 1e10,
                                 .multiply_adds_per_second = 1e11});
    table.links.assign(count, std::vector<Link>(count, {1e-5, 1e10}));
    return table;
}

TEST(PlanText, tensor_cuts_every_layer) {
    const PlanOf plan("llama-1b:Q4_0", 0, table_of(2, 1 << 30), {.mode = "tensor"});
    EXPECT_EQ(to_string(plan.report()),
              R"(mode tensor
device 0  device0  weights 364 MiB, cache 8 MiB, scratch 81.3 MiB: 453.3 MiB of 1 GiB free
                  per token: 364 MiB read, 617.9 M multiply-adds; for each token before it 16 KiB, 32.8 k
device 1  device1  weights 364 MiB, cache 8 MiB, scratch 81.3 MiB: 453.3 MiB of 1 GiB free
                  per token: 364 MiB read, 617.9 M multiply-adds; for each token before it 16 KiB, 32.8 k
embedding   {0,1}  vocab 128256 = 64128 + 64128
blk.0-15    {0,1}  kv_heads 8 = 4 + 4, ffn 8192 = 4096 + 4096
head        {0,1}  vocab 128256 = 64128 + 64128
whole       {0,1}  34 weights, 264.1 KiB on each
all_reduce {0,1}: 31 per token, 248 KiB
all_reduce {0,1}: 2 per row, 16 KiB
fetch {0,1} -> host: 1 per row, 501 KiB
)");
}

TEST(PlanText, layer_gives_whole_layers) {
    const PlanOf plan("qwen3-8b:Q8_0", 8, table_of(2, int64_t(1) << 31), {.mode = "layer"});
    const std::string text = to_string(plan.report());
    EXPECT_NE(text.find(R"(embedding   {0}
blk.0-3     {0}
blk.4-7     {1}
head        {1}
whole       {0}  45 weights)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("send {0} -> {1}: 1 per token, 16 KiB\nfetch {1} -> host: 1 per row, "),
              std::string::npos)
        << text;
}

// Shares count blocks alone; the head and scratch need room, too.
TEST(PlanText, layer_keeps_within_memory) {
    parallel::DeviceTable table = table_of(2, int64_t(8) << 30);
    for (const int64_t free_bytes : {2048, 1024, 512, 100, 1, 0}) {
        table.devices[1].free_bytes = free_bytes << 20;
        const PlanOf plan("qwen3-8b:Q4_K_M", 0, table, {.mode = "layer", .context = 4096});
        for (const auto& device : plan.report().devices)
            EXPECT_TRUE(device.fits()) << free_bytes << " MiB\n" << to_string(plan.report());
    }
    // Where they do not fit, and where a ratio is given, the shares are what they were.
    for (const double ratio : {0.0, 1.0}) {
        table = table_of(2, int64_t(1) << 30);
        parallel::PlanOptions options{.mode = "layer", .context = 4096};
        if (ratio > 0) options.ratio = {ratio, ratio};
        const PlanOf plan("qwen3-8b:Q4_K_M", 0, table, options);
        EXPECT_NE(to_string(plan.report()).find("\nblk.0-17    {0}\nblk.18-35   {1}\n"),
                  std::string::npos)
            << to_string(plan.report());
    }
}

// What costs choose leaves room for scratch, too, where another choice would.
TEST(PlanText, graph_keeps_within_memory) {
    parallel::DeviceTable table = table_of(2, int64_t(10) << 30);
    table.devices[0].bytes_per_second *= 10;
    table.devices[0].multiply_adds_per_second *= 10;
    for (const int64_t free_bytes : {400, 300, 200, 100, 10, 0}) {
        table.devices[0].free_bytes = free_bytes << 20;
        const PlanOf plan("llama-1b:Q4_0", 4, table, {.mode = "graph", .context = 4096});
        for (const auto& device : plan.report().devices)
            EXPECT_TRUE(device.fits()) << free_bytes << " MiB\n" << to_string(plan.report());
    }
    table.devices[1].free_bytes = 0;
    const PlanOf full("llama-1b:Q4_0", 4, table, {.mode = "graph", .context = 4096});
    EXPECT_FALSE(full.report().devices[0].fits() && full.report().devices[1].fits());
}

TEST(PlanText, says_what_is_too_full_and_what_cannot_be_cut) {
    const PlanOf plan("qwen3-30b-a3b:Q4_K_M", 3, table_of(3, int64_t(300) << 20),
                      {.mode = "tensor"});
    const std::string text = to_string(plan.report());
    EXPECT_NE(text.find(" of 300 MiB free, TOO FULL by "), std::string::npos) << text;
    EXPECT_FALSE(plan.report().devices[0].fits());
    // Layers that are divided differently have a line each.
    EXPECT_NE(text.find("\nblk.0 "), std::string::npos) << text;
    const PlanOf stuck("llama-1b:Q4_K_M", 2, table_of(40, int64_t(3) << 30), {.mode = "tensor"});
    EXPECT_NE(to_string(stuck.report())
                  .find("obstacle: blk.0.ffn 8192 can be cut into 32 at most: "
                        "blk.0.ffn_down.weight has blocks of 256 (Q4_K) in rows of 8192\n"),
              std::string::npos)
        << to_string(stuck.report());
}

TEST(PlanJson, says_the_same) {
    const PlanOf plan("llama-1b:Q4_0", 0, table_of(2, 1 << 30), {.mode = "tensor"});
    const auto json = to_json(plan.report());
    EXPECT_EQ(json["mode"], "tensor");
    EXPECT_EQ(json["blocks"], 16);
    EXPECT_EQ(json["devices"].size(), 2u);
    EXPECT_EQ(json["devices"][0].dump(),
              R"({"name":"device0","weights":381683840,"cache":8388608,"scratch":85262336,)"
              R"("free":1073741824,"lacking":0,"fits":true,"per_token":{"bytes":258602640,)"
              R"("multiply_adds":459276288,"cached_bytes":16384,"cached_multiply_adds":32768},)"
              R"("per_row":{"bytes":123086848,"multiply_adds":158597120,"cached_bytes":0,)"
              R"("cached_multiply_adds":0}})");
    EXPECT_EQ(json["layers"][1].dump(),
              R"({"name":"blk.0-15","first":0,"last":15,"group":[0,1],"parts":[)"
              R"({"axes":["kv_heads"],"group":[0,1],"bounds":[0,4,8]},)"
              R"({"axes":["ffn"],"group":[0,1],"bounds":[0,4096,8192]}]})");
    EXPECT_EQ(json["whole"].dump(), R"([{"group":[0,1],"weights":34,"bytes":270464}])");
    EXPECT_EQ(json["exchanges"]["per_token"].dump(),
              R"([{"kind":"all_reduce","sources":[0,1],"receivers":[0,1],"to_host":false,)"
              R"("count":31,"bytes":253952}])");
}

// A mixture reads the experts that a token uses, a tied table once; what follows the last attention
// is needed by the wanted rows.
TEST(Work, counts_what_a_token_needs) {
    const PlanOf moe("qwen3-30b-a3b:Q8_0", 0, table_of(1, 1), {.mode = "none"});
    const parallel::DeviceWork work = moe.report().devices[0].work;
    EXPECT_NEAR(work.body.multiply_adds + work.head.multiply_adds, 3.04e9, 0.01e9);  // "A3B"
    EXPECT_NEAR(work.body.bytes / work.body.multiply_adds, 34.0 / 32, 0.02);
    EXPECT_EQ(work.body.cached_bytes, 96 << 10);
    EXPECT_EQ(work.body.cached_multiply_adds, 48 * 2 * 32 * 128);
    const PlanOf tied("llama-1b:Q8_0", 0, table_of(1, 1), {.mode = "none"});
    const double last = 2048.0 * (2048 + 3 * 8192);  // behind the last attention
    EXPECT_EQ(tied.report().devices[0].work.head.multiply_adds, 128256.0 * 2048 + last);
    EXPECT_EQ(tied.report().devices[0].work.body.multiply_adds, 973078528 - last);
}

TEST(Bytes, are_short) {
    EXPECT_EQ(parallel::in_bytes(0), "0");
    EXPECT_EQ(parallel::in_bytes(1000), "1000 B");
    EXPECT_EQ(parallel::in_bytes(262144), "256 KiB");
    EXPECT_EQ(parallel::in_bytes(1536), "1.5 KiB");
    EXPECT_EQ(parallel::in_bytes(1048575), "1 MiB");
    EXPECT_EQ(parallel::in_bytes(5e9), "4.7 GiB");
}

}  // namespace
}  // namespace tandem::cli
