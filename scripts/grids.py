#!/usr/bin/env python3
"""Prints gguf/quants/grid_codes.h from the codebooks of the format, one CSV file each.

usage: scripts/grids.py FOLDER > gguf/quants/grid_codes.h

The column `code` of a file packs the level numbers of a point, the first in the lowest bits. The
grids never change, so that the build does not run this.
"""
import csv
import pathlib
import sys

TERNARY = (8, 25, 43)
GRIDS = (  # file, levels, elements of a point, bits per level
    ("iq2xxs_grid", TERNARY, 8, 2),
    ("iq2xs_grid", TERNARY, 8, 2),
    ("iq2s_grid", TERNARY, 8, 2),
    ("iq3xxs_grid", (4, 12, 20, 28, 36, 44, 52, 62), 4, 3),
    ("iq3s_grid", (1, 3, 5, 7, 9, 11, 13, 15), 4, 3),
    ("iq1s_grid", (-1, 0, 1), 8, 2),
)
HEAD = """\
// The codebooks of the types IQ1_*, IQ2_* and IQ3_*: of each point the numbers of its levels, the
// first in the lowest bits. Printed by scripts/grids.py.
#pragma once

#include <array>
#include <cstdint>

namespace tandem::gguf {
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
print(HEAD)
for name, levels, length, bits in GRIDS:
    numbers = list(codes(folder / f"{name}.csv", levels, length, bits))
    print(f"inline constexpr std::array<uint16_t, {len(numbers)}> {name}_codes = {{")
    print("\n".join(wrapped(numbers)))
    print("};\n")
print("}  // namespace tandem::gguf")
