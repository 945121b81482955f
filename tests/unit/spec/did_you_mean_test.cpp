// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/DidYouMean.h"

#include <gtest/gtest.h>

using namespace mhac;

TEST(DidYouMean, FindsNearWords) {
  EXPECT_EQ(nearestWord("haeds", {"d_model", "heads", "kv_heads"}), "heads");
  EXPECT_EQ(nearestWord("head-dim", {"head_dim", "v_head_dim"}), "head_dim");
  EXPECT_EQ(nearestWord("Causal", {"causal", "padding"}), "causal");
  EXPECT_EQ(didYouMean("head", {"heads"}), "; did you mean 'heads'?");
}

TEST(DidYouMean, SaysNothingAboutFarWords) {
  EXPECT_EQ(nearestWord("dropout", {"heads", "source"}), "");
  EXPECT_EQ(nearestWord("", {"heads"}), "");
  EXPECT_EQ(didYouMean("zzz", {"heads"}), "");
}

TEST(DidYouMean, ListsWords) { EXPECT_EQ(listWords({"a", "b", "c"}), "'a', 'b' or 'c'"); }
