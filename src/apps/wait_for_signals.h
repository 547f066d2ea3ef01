#pragma once

// How a server ends: SIGTERM and SIGINT stop it within ten seconds, a second one at once.

#include <sys/types.h>

#include <functional>

namespace thalweg::apps {

/// Blocks SIGINT, SIGTERM and SIGCHLD in this thread and those it starts. Call it before any thread is started.
void BlockSignals();

/// Waits for SIGTERM or SIGINT, then runs `stop` on a thread of its own and answers 0 when it has returned or ten seconds are
/// over. A second signal ends the process at once.
int ServeUntilSignal(const std::function<void()>& stop);

/// Waits for the end of a child: answers its exit status, 128 + n when a signal ended it. SIGINT from somebody else than the
/// terminal is passed on (the terminal's reaches the child by itself). SIGTERM: the child gets it and has five seconds to end while the
/// server still answers, then as ServeUntilSignal; a child that is left is killed. The answer is the child's status all the same:
/// 143 when SIGTERM ended it, 137 when it had to be killed.
int ServeUntilChildEnds(pid_t child, const std::function<void()>& stop);

}  // namespace thalweg::apps
