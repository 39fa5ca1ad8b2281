// Elements of several operands, walked together (kernels/vulkan/walk.h).
struct Walk {
    uint per_live;
    uint axes;
    uint extents[5];
    uint strides[3][5];
};

// Where element `number` lies in each operand.
uvec3 places(Walk walk, uint number) {
    uvec3 at = uvec3(0);
    for (uint i = walk.axes; i-- > 0;) {
        uint index = number;
        if (i > 0) {
            number /= walk.extents[i];
            index -= number * walk.extents[i];
        }
        at += index * uvec3(walk.strides[0][i], walk.strides[1][i], walk.strides[2][i]);
    }
    return at;
}
