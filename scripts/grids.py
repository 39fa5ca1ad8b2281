#!/usr/bin/env python3
"""Prints gguf/quants/grids.cpp from the codebooks of the format, one CSV file each.

usage: scripts/grids.py FOLDER > gguf/quants/grids.cpp

The column `code` of a file packs the level numbers of a point, the first in the lowest bits. The
grids never change, so that the build does not run this.
"""
import csv
import pathlib
import sys

LEVELS = {  # as in gguf/quants/grids.h
    "iq1_levels": (-1, 0, 1),
    "iq2_levels": (8, 25, 43),
    "iq3xxs_levels": (4, 12, 20, 28, 36, 44, 52, 62),
    "iq3s_levels": (1, 3, 5, 7, 9, 11, 13, 15),
}
GRIDS = (  # file, levels, elements of a point, bits per level
    ("iq2xxs_grid", "iq2_levels", 8, 2),
    ("iq2xs_grid", "iq2_levels", 8, 2),
    ("iq2s_grid", "iq2_levels", 8, 2),
    ("iq3xxs_grid", "iq3xxs_levels", 4, 3),
    ("iq3s_grid", "iq3s_levels", 4, 3),
    ("iq1s_grid", "iq1_levels", 8, 2),
)
HEAD = """\
// The codebooks of the types IQ1_*, IQ2_* and IQ3_*. Printed by scripts/grids.py.
#include "gguf/quants/grids.h"

namespace tandem::gguf {

namespace {

template <size_t length, size_t count>
constexpr auto unpack(const std::array<uint16_t, count>& codes, const Levels& levels) {
    constexpr unsigned bits = length == 8 ? 2 : 3;
    std::array<std::array<int8_t, length>, count> points{};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < length; k++) {
            points[i][k] = levels[(codes[i] >> (bits * k)) & ((1u << bits) - 1)];
        }
    }
    return points;
}

template <size_t length, size_t count>
constexpr auto part(const std::array<uint16_t, count>& codes) {
    constexpr unsigned bits = length == 8 ? 8 : 6;
    Halves<count> halves{};
    for (size_t i = 0; i < count; i++) {
        halves.first[i] = uint8_t(codes[i] & ((1u << bits) - 1));
        halves.second[i] = uint8_t(codes[i] >> bits);
    }
    return halves;
}

template <size_t count>
constexpr auto stepped(const std::array<uint16_t, count>& codes) {
    SteppedHalves<count> halves{.first = part<8>(codes).first};
    for (size_t i = 0; i < count / 16; i++) {
        auto second = [&](size_t k) { return uint8_t(codes[16 * i + k] >> 8); };
        halves.before[i] = second(0);
        halves.after[i] = second(15);
        for (size_t k = 0; k < 16; k++) {
            if (second(k) == second(0)) halves.step[i] = uint8_t(k + 1);
            else if (second(k) != second(15)) throw "two steps";
        }
    }
    return halves;
}
"""


def codes(path, levels, length, bits):
    with open(path) as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        for index, row in enumerate(rows):
            code = int(row["code"])
            values = [levels[code >> bits * k & (1 << bits) - 1] for k in range(length)]
            assert int(row["index"]) == index, (path, index)
            assert values == [int(row[f"v{k}"]) for k in range(length)], (path, index)
            yield code


def wrapped(numbers):
    line = "   "
    for number in numbers:
        if len(line) + len(f" {number},") > 100:
            yield line
            line = "   "
        line += f" {number},"
    yield line


folder = pathlib.Path(sys.argv[1])
counts = {}
print(HEAD)
for name, levels, length, bits in GRIDS:
    numbers = list(codes(folder / f"{name}.csv", LEVELS[levels], length, bits))
    counts[name] = len(numbers)
    print(f"constexpr std::array<uint16_t, {len(numbers)}> {name}_codes = {{")
    print("\n".join(wrapped(numbers)))
    print("};\n")
print("}  // namespace\n")
for name, levels, length, bits in GRIDS:
    point = "Octet" if length == 8 else "Quad"
    print(f"constinit const std::array<{point}, {counts[name]}> {name} =")
    print(f"    unpack<{length}>({name}_codes, {levels});")
for name, levels, length, bits in GRIDS:
    stepped = name == "iq1s_grid"
    kind, function = ("Stepped", "stepped") if stepped else ("", f"part<{length}>")
    print(f"constinit const {kind}Halves<{counts[name]}> {name}_halves =")
    print(f"    {function}({name}_codes);")
print("\n}  // namespace tandem::gguf")
