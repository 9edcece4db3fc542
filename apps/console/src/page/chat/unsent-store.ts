/** A message that the gateway has not confirmed. */
export interface Unsent {
  readonly id: string;
  readonly text: string;
  readonly at: number;
}

/** Keeps unconfirmed messages over a reload or a closed tab. */
export interface UnsentStore {
  /** Oldest first. */
  all(): readonly Unsent[];
  add(message: Unsent): void;
  remove(id: string): void;
}

const PREFIX = 'parley.unsent.';

/** One key per message, so that two tabs cannot overwrite each other's. Throws never: a full store only forgets. */
export function createUnsentStore(storage: Storage): UnsentStore {
  return {
    all() {
      const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
      return keys
        .filter((key) => key.startsWith(PREFIX))
        .flatMap((key) => read(storage.getItem(key)) ?? [])
        .sort((a, b) => a.at - b.at);
    },
    add(message) {
      try {
        storage.setItem(PREFIX + message.id, JSON.stringify(message));
      } catch {
        // Larger than the browser's quota (5 MB): it is still sent, but would not survive a reload.
      }
    },
    remove: (id) => storage.removeItem(PREFIX + id),
  };
}

function read(json: string | null): Unsent | null {
  try {
    const { id, text, at } = JSON.parse(json ?? 'null') ?? {};
    const sound = typeof id === 'string' && typeof text === 'string' && typeof at === 'number';
    return sound ? { id, text, at } : null;
  } catch {
    return null;
  }
}
