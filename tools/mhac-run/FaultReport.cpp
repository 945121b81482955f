// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FaultReport.h"

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
  char text[600];
  int length = owner ? std::snprintf(text, sizeof text, "mhac-run: error: %s: the call touched memory beside '%s' or wrote to it\n", currentLabel.load(), owner)
                     : std::snprintf(text, sizeof text, "mhac-run: error: %s: the call touched memory that is not its own\n", currentLabel.load());
  if (write(STDERR_FILENO, text, size_t(length)) < 0)
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
