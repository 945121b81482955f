// Between the caller's row-major tensors and the one layout of all intermediates: [batch][head][block of 16 tokens][feature][16 tokens].
// Everything is computed with tokens in the vector lanes, so maxima, sums and exponentials need no horizontal operation, weights, K and V are
// read as broadcast scalars where they lie, and only inputs and outputs are transposed (16 x 16 in registers).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/NumberFormat.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mhac::halide {

/// Tokens in a block: the vector of every lane-major intermediate, whatever the target's register width.
inline constexpr int kLanes = 16;

/// Rows of a register tile over `width` rows, at most `tallest`: the height with the fewest instructions. For each step of the sum a tile takes a
/// broadcast a row, two loads, and two multiply-adds a row; rows of the last tile that reach beyond the width are computed in vain.
int tileHeight(int width, int tallest);

/// An element of a tensor, as f32, by (feature, token, head, batch), whatever its order of dimensions.
using Accessor = std::function<Halide::Expr(Halide::Expr feature, Halide::Expr token, Halide::Expr head, Halide::Expr batch)>;

/// The order of a rank 3 or 4 argument's dimensions, innermost first in Halide.
enum class RowOrder {
  Tokens, // [b, s, f]
  Bshd,   // [b, s, h, f]
  Bhsd    // [b, h, s, f]
};

/// How a caller's tensor lies.
struct RowLayout {
  RowOrder order;
  NumberFormat format;
  RowLayout(RowOrder order, NumberFormat format = NumberFormat()) : order(order), format(format) {}
};

/// A caller's tensor: features dense, other strides known at run time only.
Halide::ImageParam rowsParam(const std::string &name, const RowLayout &layout);
Accessor rowsAccessor(const Halide::ImageParam &param, const RowLayout &layout);

/// f32 rows of a head one behind the other, (feature, token, head, batch): a buffer of them, and the kernel that copies a caller's.
Halide::ImageParam packedRowsParam(const std::string &name, int features);
Halide::Func packRows(const std::string &name, const Accessor &rows, int features, int heads);

/// A lane-major buffer (lane, feature, block, head, batch) with `features` rows a block.
Halide::ImageParam lanesParam(const std::string &name, int features);
void constrainLanes(Halide::OutputImageParam buffer, int features);
/// An output of the call begins at index 0 everywhere. Of a kernel that stores heads from `firstHead` on, Halide may not know that of the head
/// dimension: it would want the heads before it from this kernel too.
void beginAtZero(Halide::OutputImageParam buffer, int headDimension, int firstHead);
/// Element (feature, token) for scalar reads: K and V of a projection.
Accessor lanesAccessor(const Halide::ImageParam &param);

/// Transposes a tile of 16 x 16 in registers (TransposeTiles): source(x, y) -> columns(y, x, rest...).
class TileTranspose {
public:
  using TileSource = std::function<Halide::Expr(Halide::Expr x, Halide::Expr y)>;
  TileTranspose(const TileSource &source, const std::vector<Halide::Var> &rest, const std::string &name);
  /// `single`: those of `rest` of which the level needs one value, where bounds inference cannot see it.
  void computeAt(const Halide::LoopLevel &level, const std::vector<Halide::Var> &single);

  Halide::Func rows, columns;
};

/// rows -> lanes, times `scale`: (lane, feature, block, head, batch). Rows beyond `tokens` repeat the last one: they are computed and never stored.
class LanesOfRows {
public:
  LanesOfRows(const std::string &name, const Accessor &rows, int features, const Halide::Expr &tokens, float scale);
  Halide::Func func;
  /// Tiles of 16 x 16 inside the loops over blocks, heads and batch.
  void scheduleTiles();
  Halide::Var block{"block"}, h{"h"}, b{"b"};

private:
  int features;
  std::optional<TileTranspose> transpose;
};

/// The same as a kernel, for buffers of a multiple of `vectors` blocks.
Halide::Func packLanes(const std::string &name, const Accessor &rows, int features, const Halide::Expr &tokens, float scale, int vectors);

/// lanes -> rows: `lanes` gives vectors by (lane, feature, block, head, batch). A task stores `slab` features of `tokenBlock` tokens (multiples of
/// 16); `scheduleProducers` gets its loop, for producers that are computed there.
Halide::Func unpackRows(const std::string &name, Halide::Func lanes, int features, int heads, const Halide::Expr &tokens, const RowLayout &layout,
                        int slab, int tokenBlock, const std::function<void(Halide::LoopLevel task)> &scheduleProducers);

} // namespace mhac::halide
