// Products of experts for many tokens.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "expert_tiles.glsl"
#include "type.glsl"
#include "tile.glsl"
#include "experts_tile.glsl"
