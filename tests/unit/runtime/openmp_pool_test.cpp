// A kernel on the threads of OpenMP, as an application that already has them would plug them in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <omp.h>

namespace {

mhac_status openmp_loop(void *self, int64_t count, mhac_task task, void *closure) {
  int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(*static_cast<int *>(self)) reduction(| : failed)
  for (int64_t i = 0; i < count; ++i)
    failed |= task(closure, i, omp_get_thread_num()) != 0;
  return failed ? MHAC_STATUS_INTERNAL : MHAC_STATUS_OK;
}

TEST(OpenMpPool, RunsKernels) {
  int workers = 3;
  auto context = make_context(mhac_parallel{&workers, workers, openmp_loop});
  for (int64_t batch : {1, 2, 64}) {
    toy::call call(batch, 7);
    EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
    EXPECT_TRUE(call.right());
  }
}

} // namespace
