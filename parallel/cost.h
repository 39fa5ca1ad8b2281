// What it costs to run a part of a model on some devices, by their table: seconds of one decoded
// token at half the context and of four prompt tokens in steps of the largest size.
#pragma once

#include <vector>

#include "parallel/policy.h"

namespace tandem::parallel {

// What a part asks of the devices that have it.
struct Load {
    double bytes = 0;                 // held: weights and states
    double decode_bytes = 0;          // read for one token
    double step_bytes = 0;            // read once per prompt step
    double multiply_adds = 0;         // for one token
    double prompt_multiply_adds = 0;  // per token of a prompt, which ends where the head begins
    bool in_prompts = false;          // whether anything is done for every token of one
    double experts_used = 0;          // by a token, where it is a mixture
};

// One way to run a part within a group: who shares it, and what that costs.
struct Arrangement {
    const Cut* cut = nullptr;
    std::vector<double> shares;  // [member of the group]
    double seconds = 0;
};

class Costs {
  public:
    explicit Costs(const Question& question);

    const Load& load(size_t part) const { return loads_[part]; }
    bool in_prompts(size_t part) const { return loads_[part].in_prompts; }
    // Seconds that the whole part takes on a device, for the token and the prompt tokens.
    double alone(size_t part, int device) const;
    // Bringing one value of the residual stream's size from some devices to others.
    double exchange(const Group& from, const Group& to, bool in_prompts) const;
    // The ways to run a part within a group, shared by any of the `subsets` that it includes: by
    // their speed, or by their memory.
    std::vector<Arrangement> arrangements(size_t part, const Group& group,
                                          const std::vector<Group>& subsets) const;

  private:
    // Adding up what the contributors have, for the whole group.
    double reduce(const Group& contributors, const Group& group, bool in_prompts) const;
    double between(const Group& group, bool in_prompts) const;
    Arrangement arrange(size_t part, const Cut& cut, const Group& group, const Group& sharing,
                        bool by_memory) const;
    // Seconds until the last member is done.
    double slowest(size_t part, const Cut& cut, const Group& group,
                   const std::vector<double>& shares) const;

    const Question& question_;
    std::vector<Load> loads_;  // [part]
    double stream_bytes_ = 0;
};

}  // namespace tandem::parallel
