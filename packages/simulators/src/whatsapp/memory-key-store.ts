import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

type KeyMaps = { readonly [Kind in keyof SignalDataTypeMap]: Map<string, SignalDataTypeMap[Kind]> };

/** In-memory Signal keys for the double's people and for clients in tests. */
export class MemoryKeyStore implements SignalKeyStore {
  readonly #rooms: KeyMaps = {
    'pre-key': new Map(),
    session: new Map(),
    'sender-key': new Map(),
    'sender-key-memory': new Map(),
    'app-state-sync-key': new Map(),
    'app-state-sync-version': new Map(),
    'lid-mapping': new Map(),
    'device-list': new Map(),
    tctoken: new Map(),
    'identity-key': new Map(),
  };

  get<Kind extends keyof SignalDataTypeMap>(
    kind: Kind,
    ids: string[],
  ): { [id: string]: SignalDataTypeMap[Kind] } {
    const found: { [id: string]: SignalDataTypeMap[Kind] } = {};
    for (const id of ids) {
      const value = this.#rooms[kind].get(id);
      if (value !== undefined) found[id] = value;
    }
    return found;
  }

  set(data: SignalDataSet): void {
    for (const kind of this.kinds()) this.#put(kind, data[kind] ?? {});
  }

  /** Deletes all keys of some types, as if a phone had lost its sessions. */
  forget(kinds: readonly (keyof SignalDataTypeMap)[]): void {
    for (const kind of kinds) this.#rooms[kind].clear();
  }

  kinds(): (keyof SignalDataTypeMap)[] {
    return Object.keys(this.#rooms).filter(
      (kind): kind is keyof SignalDataTypeMap => kind in this.#rooms,
    );
  }

  #put<Kind extends keyof SignalDataTypeMap>(
    kind: Kind,
    entries: { [id: string]: SignalDataTypeMap[Kind] | null },
  ): void {
    for (const [id, value] of Object.entries(entries)) {
      if (value === null) this.#rooms[kind].delete(id);
      else this.#rooms[kind].set(id, value);
    }
  }
}
