// Choices of experts: token by token, `used` of them each. The shader's parameters tell which ids
// were chosen and which experts are held here.

// The number of a choice's expert, and its place among those held here: past them where it is not.
uint id_of(uint choice) { return uint(Ints(ids).at[choice / used * ids_stride + choice % used]); }
uint held(uint id) { return id - first_expert; }
