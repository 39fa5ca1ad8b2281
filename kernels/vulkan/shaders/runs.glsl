// A number taken apart along up to three axes, and where it leads in two operands.
struct Runs {
    uint extents[2];  // of the second and the third; the first takes what is left
    uint from[3];     // strides in what is read
    uint to[3];       // and in what is written
};

uvec2 places(Runs runs, uint number) {
    uvec2 at = uvec2(0);
    for (uint i = 3; i-- > 0;) {
        uint index = number;
        if (i > 0) {
            number /= runs.extents[i - 1];
            index -= number * runs.extents[i - 1];
        }
        at += index * uvec2(runs.from[i], runs.to[i]);
    }
    return at;
}
