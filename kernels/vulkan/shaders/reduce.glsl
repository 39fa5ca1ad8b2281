// Sums, maxima and minima over a workgroup.
#extension GL_KHR_shader_subgroup_arithmetic : require

shared float of_subgroups[128];
shared uint words_of_subgroups[128];

float workgroup_sum(float value) {
    value = subgroupAdd(value);
    if (gl_NumSubgroups == 1) return value;
    barrier();
    if (subgroupElect()) of_subgroups[gl_SubgroupID] = value;
    barrier();
    value = 0;
    for (uint i = 0; i < gl_NumSubgroups; ++i) value += of_subgroups[i];
    return value;
}

float workgroup_max(float value) {
    value = subgroupMax(value);
    if (gl_NumSubgroups == 1) return value;
    barrier();
    if (subgroupElect()) of_subgroups[gl_SubgroupID] = value;
    barrier();
    value = of_subgroups[0];
    for (uint i = 1; i < gl_NumSubgroups; ++i) value = max(value, of_subgroups[i]);
    return value;
}

uint workgroup_max(uint value) {
    value = subgroupMax(value);
    if (gl_NumSubgroups == 1) return value;
    barrier();
    if (subgroupElect()) words_of_subgroups[gl_SubgroupID] = value;
    barrier();
    value = words_of_subgroups[0];
    for (uint i = 1; i < gl_NumSubgroups; ++i) value = max(value, words_of_subgroups[i]);
    return value;
}

uint workgroup_min(uint value) { return ~workgroup_max(~value); }
