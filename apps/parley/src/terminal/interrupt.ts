import { systemTime } from '@parley/core';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A terminal sends Ctrl-C both to the launcher, which forwards it, and to this process. Signals
 * within this many ms count as one.
 */
const SAME_KEYSTROKE_MS = 1_000;

export interface Interruption extends Disposable {
  /** Whether a signal was received. */
  readonly yes: boolean;
}

/**
 * Aborts `ended` at the first stop signal, so that a command can clean up. A later signal ends the
 * process immediately. The signal handlers are removed on disposal.
 */
export function abortOnSignal(ended: AbortController): Interruption {
  let since: number | null = null;
  const interrupt = (): void => {
    if (since === null) {
      since = systemTime.monotonic();
      ended.abort();
    } else if (systemTime.monotonic() - since > SAME_KEYSTROKE_MS) {
      process.exit(130);
    }
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return {
    get yes() {
      return since !== null;
    },
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, interrupt);
    },
  };
}
