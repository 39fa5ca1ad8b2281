// y = W x for many tokens, in f32.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "linear.glsl"
#include "type.glsl"
#include "tile.glsl"
#include "linear_tile.glsl"
