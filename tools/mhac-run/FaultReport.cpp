// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FaultReport.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include <signal.h>
#include <unistd.h>

namespace mhac::artefact {

// A signal handler has nothing but globals.
static std::atomic<const Operands *> current{nullptr};
static std::atomic<const char *> currentLabel{""};

static void report(int, siginfo_t *info, void *) {
  static std::atomic<bool> reporting{false};
  while (reporting.exchange(true)) // another thread has faulted too: the first one ends the program
    pause();
  const Operands *operands = current.load();
  const char *owner = operands ? operands->ownerOf(info->si_addr) : nullptr;
  const char *format = owner ? "mhac-run: error: %s: the call touched memory beside '%s' or wrote to it\n"
                             : "mhac-run: error: %s: the call touched memory that is not its own\n";
  char text[1000];
  int length = std::snprintf(text, sizeof text, format, currentLabel.load(), owner);
  if (write(STDERR_FILENO, text, std::min(size_t(length), sizeof text - 1)) < 0)
    _exit(2);
  _exit(1);
}

FaultReport::FaultReport(const Operands &operands, const std::string &label) {
  current = &operands;
  currentLabel = label.c_str();
  struct sigaction action {};
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

FaultReport::~FaultReport() {
  signal(SIGSEGV, SIG_DFL);
  current = nullptr;
  currentLabel = "";
}

} // namespace mhac::artefact
