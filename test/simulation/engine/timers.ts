import { syncBuiltinESMExports } from 'node:module';
import nodeTimers from 'node:timers';
import nodePromises from 'node:timers/promises';
import type { VirtualTime } from './virtual-time.ts';

/** In Node, longer delays overflow and become 1 ms. */
const MAX_MS = 2 ** 31 - 1;

/** The return value of `setTimeout` and `setInterval`. */
class VirtualTimer {
  readonly #start: () => () => void;
  #cancel: (() => void) | undefined;

  constructor(start: () => () => void) {
    this.#start = start;
    this.#cancel = start();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  /** Restarts the delay from now. */
  refresh(): this {
    this.close();
    this.#cancel = this.#start();
    return this;
  }

  close(): this {
    this.#cancel?.();
    this.#cancel = undefined;
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.toPrimitive](): number {
    return 1;
  }
}

type TimerCallback = (...args: unknown[]) => void;

/** Converts a delay as Node does: at least 1 ms. */
function toDelay(ms: unknown): number {
  const delay = Number(ms);
  return delay >= 1 && delay <= MAX_MS ? delay : 1;
}

/** Replaces all timers and clocks of this thread with virtual time. */
export function installTimers(time: VirtualTime): void {
  const setTimeout = (run: TimerCallback, ms?: unknown, ...args: unknown[]) =>
    new VirtualTimer(() => time.plan(toDelay(ms), () => run(...args)));
  const setInterval = (run: TimerCallback, ms?: unknown, ...args: unknown[]) =>
    new VirtualTimer(() => time.plan(toDelay(ms), () => run(...args), toDelay(ms)));
  const setImmediate = (run: TimerCallback, ...args: unknown[]) =>
    new VirtualTimer(() => time.plan(0, () => run(...args)));
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  const timers = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  const waitFor = (ms?: number, value?: unknown, options: { signal?: AbortSignal } = {}) =>
    waitForTimer((over) => setTimeout(over, ms), value, options.signal);
  const promises = {
    setTimeout: waitFor,
    setImmediate: (value?: unknown, options: { signal?: AbortSignal } = {}) =>
      waitForTimer((over) => setImmediate(over), value, options.signal),
    scheduler: {
      wait: waitFor,
      yield: () => waitForTimer((over) => setImmediate(over), undefined),
    },
  };
  Object.assign(globalThis, timers);
  Object.assign(nodeTimers, timers);
  Object.assign(nodePromises, promises);
  Object.assign(nodeTimers.promises, promises);
  installClocks(time, setTimeout);
  syncBuiltinESMExports();
}

function waitForTimer(
  start: (over: () => void) => VirtualTimer,
  value: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(createAbortError(signal));
    const stop = (): void => {
      timer.close();
      if (signal !== undefined) reject(createAbortError(signal));
    };
    const timer = start(() => {
      signal?.removeEventListener('abort', stop);
      resolve(value);
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The error with which Node rejects a wait whose signal fired. */
function createAbortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}

function installClocks(
  time: VirtualTime,
  setTimeout: (run: TimerCallback, ms?: unknown) => VirtualTimer,
): void {
  const RealDate = globalThis.Date;
  class VirtualDate extends RealDate {
    constructor(...values: readonly [] | readonly [number]) {
      if (values.length === 0) super(time.wallClock());
      else super(...values);
    }

    static override now(): number {
      return time.wallClock();
    }
  }
  Object.assign(globalThis, { Date: VirtualDate });
  performance.now = () => time.ownNow;
  const elapsed = () => BigInt(Math.round(time.ownNow * 1e6));
  process.hrtime = Object.assign(
    (since?: [number, number]): [number, number] => {
      const nanoseconds = Number(elapsed()) - (since ? since[0] * 1e9 + since[1] : 0);
      return [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9];
    },
    { bigint: elapsed },
  );
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    const reason = 'The operation was aborted due to timeout';
    setTimeout(() => controller.abort(new DOMException(reason, 'TimeoutError')), ms);
    return controller.signal;
  };
}
