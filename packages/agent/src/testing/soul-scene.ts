import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Reader, silentLogger } from '@parley/contracts';
import { openStore, type Store } from '@parley/store';
import { openSoulFile, openWorkspace, type Workspace } from '@parley/workspace';
import { createSoulGuard, type SoulGuardDeps } from '../soul/soul-guard.ts';
import { createSoulKeeper, type SoulKeeper } from '../soul/soul-keeper.ts';
import type { SoulAnswer } from '../soul/soul-orders.ts';
import type { SoulSettings } from '../soul/soul-text.ts';

/** For tests: what SOUL.md says at first. */
export const FIRST_SOUL =
  'You are calm and kind, and you say what you think without hurting anybody.';
/** For tests: a change of it that passes. */
export const SECOND_SOUL = `${FIRST_SOUL}\nUse short sentences.`;

const OWNER = { kind: 'owner', conversationId: 'c' } as const;

/** For tests: SOUL.md in a real workspace, a store in memory, and what keeps both alike. */
export interface SoulScene {
  /** What the clock shows; at first an hour ahead, so that no file is fresh. */
  now: number;
  readonly folder: string;
  /** What the guard was made with at the last opening. */
  readonly deps: SoulGuardDeps;
  readonly keeper: SoulKeeper;
  readonly workspace: Workspace;
  readonly store: Store;
  /** As a start does. */
  open(settings?: Partial<SoulSettings>): Promise<void>;
  /** As a start does where nothing was stored yet. */
  openAnew(): Promise<void>;
  put(name: string, text: string): void;
  onDisk(): string;
  /** What the prompt of the next turn has. */
  read(reader?: Reader): Promise<string>;
  /** As the agent does. */
  propose(text: string): Promise<SoulAnswer>;
  /** `1 passed agent` and the like, newest first. */
  states(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Makes one, opened once. */
export async function openSoulScene(): Promise<SoulScene> {
  const root = mkdtempSync(join(tmpdir(), 'parley-soul-'));
  const folder = join(root, 'w');
  for (const made of [folder, join(root, 'templates')]) mkdirSync(made);
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), `${text}\n`);
  put('SOUL.md', FIRST_SOUL);
  put('AGENTS.md', 'Be careful.');
  let now = Date.now() + 3_600_000;
  const clock = (): number => now;
  const newStore = () => openStore({ url: 'sqlite::memory:', clock });
  let store = await newStore();
  let opened = await start(root, store, clock);
  return {
    get now() {
      return now;
    },
    set now(time) {
      now = time;
    },
    folder,
    get deps() {
      return opened.deps;
    },
    get keeper() {
      return opened.keeper;
    },
    get workspace() {
      return opened.workspace;
    },
    get store() {
      return store;
    },
    async open(settings) {
      opened = await start(root, store, clock, settings);
    },
    async openAnew() {
      await store.close();
      store = await newStore();
      opened = await start(root, store, clock);
    },
    put,
    onDisk: () => readFileSync(join(folder, 'SOUL.md'), 'utf8'),
    async read(reader = OWNER) {
      const file = await opened.workspace.for(reader).read('SOUL.md');
      return file.kind === 'file' ? file.text : file.reason;
    },
    propose: (text) => opened.keeper.propose({ ...WISH, askedBy: text, text }),
    async states() {
      const versions = await opened.keeper.list();
      return versions.map(({ number, state, author }) => `${number} ${state} ${author}`);
    },
    async close() {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const WISH = { author: 'agent', by: 'the agent', reason: 'because' } as const;

async function start(
  root: string,
  store: Store,
  clock: Clock,
  settings: Partial<SoulSettings> = {},
) {
  const [folder, templates] = [join(root, 'w'), join(root, 'templates')];
  let ids = 0;
  const file = openSoulFile(folder, (prefix) => `${prefix}${ids++}`);
  const deps = { agent: 'main', souls: store.souls, clock, log: silentLogger, file };
  const guard = createSoulGuard(deps);
  const all: SoulSettings = { apply: 'after-veto-time', vetoHours: 24, ...settings };
  const keeper = createSoulKeeper({ ...deps, guard, settings: all });
  const workspace = await openWorkspace({ folder, templates, governed: guard });
  await guard.look('at-once');
  return { deps, keeper, workspace };
}
