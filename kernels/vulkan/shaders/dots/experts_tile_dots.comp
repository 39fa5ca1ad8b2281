// Products of experts for many tokens, in int8.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "expert_tiles.glsl"
#include "type_of_dots.glsl"
#include "dots_tile.glsl"
#include "experts_tile.glsl"
