import type { AdapterValues } from './adapter-values.ts';

/** For tests: what an adapter remembers, in memory. */
export function memoryValues(): AdapterValues {
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
