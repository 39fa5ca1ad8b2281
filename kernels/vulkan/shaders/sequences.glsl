// The sequences of a step, of which every one has a state in its slot.
struct Sequence {
    uint slot;
    uint first, count;  // its tokens in the step
    uint cached;        // tokens before them; where there are none, the state begins with zeros
};

Sequence sequence_at(uint64_t sequences, uint number) {
    Words from = Words(sequences + uint64_t(number) * 16);
    return Sequence(from.at[0], from.at[1], from.at[2], from.at[3]);
}
