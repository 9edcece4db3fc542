import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, type Reader, silentLogger } from '@parley/core';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { openSoulFile, openWorkspace } from '@parley/workspace';
import { SoulService } from '../soul/soul-service.ts';
import type { SoulSettings } from '../soul/soul-text.ts';

export const FIRST_SOUL =
  'You are calm and kind, and you say what you think without hurting anyone.';
export const SECOND_SOUL = `${FIRST_SOUL}\nUse short sentences.`;

const OWNER = { kind: 'owner', conversationId: 'c' } as const;

export type SoulScene = Awaited<ReturnType<typeof openSoulScene>>;

/** SOUL.md in a real workspace, an in-memory store, and the service that keeps both in sync. */
export async function openSoulScene() {
  const root = mkdtempSync(join(tmpdir(), 'parley-soul-'));
  const folder = join(root, 'w');
  for (const made of [folder, join(root, 'templates')]) mkdirSync(made);
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), `${text}\n`);
  put('SOUL.md', FIRST_SOUL);
  put('AGENTS.md', 'Be careful.');
  let now = Date.now() + 3_600_000;
  const clock = (): number => now;
  const newStore = () => openMemoryStore({ clock });
  let store = await newStore();
  let opened = await startSoulScene(root, store, clock);
  return {
    /**
     * The current time of the scene, in ms. The clock starts an hour ahead, so that no file looks
     * freshly written.
     */
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
    get service() {
      return opened.service;
    },
    get workspace() {
      return opened.workspace;
    },
    get store() {
      return store;
    },
    async open(settings?: Partial<SoulSettings>) {
      opened = await startSoulScene(root, store, clock, settings);
    },
    async openAnew() {
      await store.close();
      store = await newStore();
      opened = await startSoulScene(root, store, clock);
    },
    put,
    onDisk: () => readFileSync(join(folder, 'SOUL.md'), 'utf8'),
    /** SOUL.md in the next turn's prompt. */
    async read(reader: Reader = OWNER) {
      const file = await opened.workspace.for(reader).read('SOUL.md');
      return file.kind === 'file' ? file.text : file.reason;
    },
    propose: (text: string) => opened.service.propose({ ...WISH, askedBy: text, text }),
    /** Lists the versions in the form `1 passed agent`, newest first. */
    async states() {
      const versions = await opened.service.list();
      return versions.map(({ number, state, author }) => `${number} ${state} ${author}`);
    },
    async close() {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const WISH = { author: 'agent', by: 'the agent', reason: 'because' } as const;

async function startSoulScene(
  root: string,
  store: Store,
  clock: Clock,
  settings: Partial<SoulSettings> = {},
) {
  const [folder, templates] = [join(root, 'w'), join(root, 'templates')];
  let ids = 0;
  const file = openSoulFile(folder, (prefix) => `${prefix}${ids++}`);
  const all: SoulSettings = {
    apply: 'after-veto-time',
    vetoHours: 24,
    humanEdits: 'propose',
    ...settings,
  };
  const common = { agent: 'main', souls: store.souls, clock, monotonic: clock, log: silentLogger };
  const deps = { ...common, file, settings: all };
  const service = new SoulService(deps);
  const workspace = await openWorkspace({ folder, templates, governed: service });
  await service.sync('at-once');
  return { deps, service, workspace };
}
