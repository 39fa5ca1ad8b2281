// What every kernel knows of the step, and how its workgroups are numbered.
#include "memory.glsl"

layout(local_size_x_id = 0) in;

// The first dimension is folded into the third where it is long, so some numbers lie past the end.
uint group_number() { return gl_WorkGroupID.z * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
uint invocation_number() { return group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex; }

// A count that changes from step to step; 1 where it has no address, since every answer of memory
// takes long.
uint live_count(uint64_t address) { return address == 0 ? 1 : Words(address).at[0]; }

// The number of a token's sequence, 0 likewise.
uint sequence_of_token(uint64_t sequence_of, uint token) {
    return sequence_of == 0 ? 0 : Words(sequence_of).at[token];
}
