import {
  createMemoryKeeper,
  type MemoryDesk,
  type MemoryDeskDeps,
  type MemoryKeeper,
  memoryDesk,
  memoryHook,
  memorySource,
  type TurnHook,
} from '@parley/agent';
import type { LiveBus, Logger, Reader } from '@parley/contracts';
import type { ContextSource } from '@parley/prompt';
import type { MemoryIndex, Store } from '@parley/store';
import { type MemorySearch, openMemorySearch, type Workspace } from '@parley/workspace';

/** What of the database memory works with. */
export type MemoryStore = Pick<Store, 'memories' | 'forgetting' | 'links' | 'adapterValues'>;

/** What remembering adds to an agent; empty where memory is switched off. */
export interface Remembering {
  readonly tools: {
    readonly memory?: { readonly keeper: MemoryKeeper; readonly search: MemorySearch };
  };
  readonly sources: readonly ContextSource[];
  readonly hooks: readonly TurnHook[];
  readonly parts: { readonly memory?: MemoryKeeper; readonly memoryDesk?: Partial<MemoryDesk> };
}

/** What it needs; without a store nothing is counted, and the commands are not answered. */
export interface OpenMemoryDeps {
  /** Whether this reader's model has `save_memory`. */
  readonly offers: (reader: Reader) => boolean;
  readonly durable: { readonly store: MemoryStore; readonly bus: LiveBus } | undefined;
  readonly log: Logger;
}

/** Opens the memory of a workspace (G13–G15). */
export function openMemory(
  workspace: Workspace,
  mode: 'main-session' | 'off',
  { offers, durable, log }: OpenMemoryDeps,
): Remembering {
  const store = durable?.store;
  const index = store?.memories ?? NO_INDEX;
  const keeper = createMemoryKeeper({ index, log });
  const accountsOf = async (person: string): Promise<readonly string[]> => {
    const link = await store?.links.of(person);
    return [person, ...(link?.members ?? [])];
  };
  const desk = durable && openDesk(durable, { keeper, workspace, accountsOf });
  if (mode === 'off') {
    // What people have said can be forgotten all the same.
    const parts = desk && { memoryDesk: { forget: desk.forget } };
    return { tools: {}, sources: [], hooks: [], parts: { ...parts } };
  }
  const search = openMemorySearch(workspace);
  return {
    tools: { memory: { keeper, search } },
    sources: [memorySource({ keeper, search, index, accountsOf })],
    hooks: [memoryHook(offers)],
    parts: { memory: keeper, ...(desk && { memoryDesk: desk }) },
  };
}

function openDesk(
  { store, bus }: NonNullable<OpenMemoryDeps['durable']>,
  deps: Pick<MemoryDeskDeps, 'keeper' | 'workspace' | 'accountsOf'>,
): MemoryDesk {
  const stopTurn = (conversationId: string): void =>
    bus.publish({ type: 'stop-turn', conversationId });
  const asked = store.adapterValues('parley', 'forget');
  return memoryDesk({ ...deps, store, asked, stopTurn, clock: Date.now });
}

/** For prompts that belong to no installation that runs. */
const NO_INDEX: MemoryIndex = {
  add: async () => {},
  remove: async () => {},
  rebuild: async () => {},
  used: async () => {},
  uses: async () => new Map(),
  list: async () => [],
};
