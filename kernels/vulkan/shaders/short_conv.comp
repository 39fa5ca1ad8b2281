// A causal convolution over the last few tokens, each channel by itself, with the inputs of the
// tokens before in a row of the state. Neighbouring invocations take neighbouring channels.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "sequences.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint taps = 4;
// What an invocation does: 0: the result of a token; 1: the state after a step, of some sequences
// in turn; 2: both, one token after the other.
layout(constant_id = 2) const uint part = 0;

layout(push_constant) uniform Parameters {
    uint64_t count, sequence_count, sequences, sequence_of, x, kernel, state, y;
    uint channels, row_bytes, x_stride, y_stride;  // strides from token to token
    Runs at_channel;
};

const uint history = taps - 1;

// Token `i` of the sequence in this step, or one of those before it.
float input_of(Sequence sequence, Floats past, uint at, int i) {
    if (i >= 0) return Floats(x).at[(sequence.first + uint(i)) * x_stride + at];
    return sequence.cached > 0 ? past.at[int(history) + i] : 0;
}

void convolve(Sequence sequence, Floats past, uint channel, uvec2 at, uint token) {
    float sum = 0;
    for (uint tap = 0; tap < taps; ++tap)
        sum += Floats(kernel).at[channel * taps + tap] *
               input_of(sequence, past, at.x, int(token + tap) - int(history));
    Floats(y).at[(sequence.first + token) * y_stride + at.y] = silu(sum);
}

Floats past_of(Sequence sequence, uint channel) {
    return Floats(state + uint64_t(sequence.slot * channels + channel) * row_bytes);
}

void main() {
    uint number = invocation_number(), channel = number % channels;
    uvec2 at = places(at_channel, channel);
    if (part == 0) {
        uint token = number / channels;
        if (token >= live_count(count)) return;
        Sequence sequence = sequence_at(sequences, sequence_of_token(sequence_of, token));
        convolve(sequence, past_of(sequence, channel), channel, at, token - sequence.first);
        return;
    }
    if (number >= channels) return;
    for (uint i = gl_WorkGroupID.y; i < live_count(sequence_count); i += gl_NumWorkGroups.y) {
        Sequence sequence = sequence_at(sequences, i);
        Floats past = past_of(sequence, channel);
        if (part == 2)
            for (uint token = 0; token < sequence.count; ++token)
                convolve(sequence, past, channel, at, token);
        // What is read lies behind what is written.
        for (uint j = 0; j < history; ++j)
            past.at[j] = input_of(sequence, past, at.x, int(sequence.count + j) - int(history));
    }
}
