import { systemTime } from '@parley/core';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A terminal sends Ctrl-C to the launcher and to this process, and the launcher passes its own on. In ms. */
const SAME_KEYSTROKE_MS = 1_000;

export interface Interruption extends Disposable {
  /** Whether a signal came. */
  readonly yes: boolean;
}

/**
 * Aborts `ended` at the first signal that asks the process to end, so that a command can clean up; a later
 * one ends the process at once. Listens until it is disposed of.
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
