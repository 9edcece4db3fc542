import type { AdapterValues } from '../channel.ts';
import { type Logger, type Runtime, silentLogger, silentMeter, silentTracer } from '../runtime.ts';
import { systemTime } from '../time.ts';

/** A runtime that logs, measures and publishes nothing. */
export const silentRuntime: Runtime = {
  ...systemTime,
  newId: (prefix) => `${prefix}_${crypto.randomUUID()}`,
  log: silentLogger,
  meter: silentMeter,
  tracer: silentTracer,
  bus: { publish() {}, subscribe: () => () => {} },
  checkpoint() {},
};

/** A logger that records warnings and errors, one line each. */
export function createRecordingLogger(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const note = (facts: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(facts)}`);
  };
  const log: Logger = { ...silentLogger, warn: note, error: note, child: () => log };
  return { log, lines };
}

/** An adapter's stored values, kept in memory. */
export function createInMemoryAdapterValues(): AdapterValues {
  const all = new Map<string, string>();
  return {
    async get(kind, ids) {
      const found = new Map<string, string>();
      for (const id of ids) {
        const value = all.get(`${kind}\n${id}`);
        if (value !== undefined) found.set(id, value);
      }
      return found;
    },
    async set(changes) {
      for (const { kind, id, value } of changes) {
        if (value === null) all.delete(`${kind}\n${id}`);
        else all.set(`${kind}\n${id}`, value);
      }
    },
    clear: async () => all.clear(),
  };
}
