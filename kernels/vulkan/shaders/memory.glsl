// Device memory is reached by address: an address and a count of elements say where a row begins.
#ifndef MEMORY_GLSL
#define MEMORY_GLSL
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors { vec4 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Ints { int at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs { uvec2 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quads { uvec4 at[]; };

#endif
