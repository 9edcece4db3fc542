import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  createBuiltInTools,
  createLocalTime,
  createSkillsSource,
  createToolRegistry,
  createTurnRunner,
  previewTurn,
  type TurnServices,
} from '@parley/agent';
import { createCheckRunner, type SentRequest } from '@parley/core';
import { silentRuntime } from '@parley/core/testing';
import type { ChatModel, ModelRequest } from '@parley/models';
import {
  createBuiltInLayers,
  createLayerRegistry,
  createPromptAssembler,
  getLayout,
} from '@parley/prompt';
import { type AdmittedMessage, type ClaimedTurn, openStore, type Store } from '@parley/store';
import { listSkillFolders, openSkills, openWorkspace, type Workspace } from '@parley/workspace';

/** The built-in layouts, the default first. */
export const LAYOUTS = ['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'] as const;
/** Files of an established workspace; together about 20 kB. */
export const FILES = [
  ...['AGENTS.md', 'SOUL.md', 'USER.md', 'IDENTITY.md', 'TOOLS.md', 'MEMORY.md', 'HEARTBEAT.md'],
  ...['memory/2026-11-21.md', 'memory/2026-11-20.md'],
];
export const SKILLS = 150;
/** Entries of history in each request. */
export const HISTORY = 100;

export const CHAT = 'telegram:default:42';
const QUESTION = 'What is on today, and do I need an umbrella?';
const START = Date.UTC(2026, 10, 21, 8);
const MINUTE = 60_000;

/**
 * An owner's direct chat on a real database, workspace and layout, with a model that says "fine".
 */
export interface PromptScene {
  readonly workspace: string;
  /** The path of a skill's file. */
  skillFile(nth: number): string;
  /** Builds the prompt of the last turn again, like a preview. */
  assemble(): Promise<SentRequest>;
  /**
   * Runs a whole turn, a minute after the last: its request, and the time until the model was
   * asked.
   */
  turn(): Promise<{ readonly request: ModelRequest; readonly untilAskedMs: number }>;
  /** Starts a new session, like `/new`. */
  newSession(): Promise<void>;
  close(): Promise<void>;
}

/** Writes a workspace with `FILES` and `SKILLS` skills into an empty folder. */
export function fillWorkspace(folder: string): void {
  for (const name of FILES)
    writeFileWithFolder(join(folder, name), `# ${name}\n\n${createParagraphs(name, 14)}`);
  for (let nth = 0; nth < SKILLS; nth += 1) writeSkill(folder, nth, 'as it was written first');
}

/** Creates or overwrites one skill. */
export function writeSkill(folder: string, nth: number, note: string): void {
  const name = `skill-${nth}`;
  const description = `Use it when somebody asks for errand number ${nth} of the house, ${note}, and for nothing else.`;
  const head = `---\nname: ${name}\ndescription: ${description}\n---\n`;
  writeFileWithFolder(getSkillPath(folder, nth), `${head}\n${createParagraphs(name, 20)}`);
}

/** Opens a scene on a workspace filled by `fillWorkspace`. */
export async function openPromptScene(
  folder: string,
  layout: (typeof LAYOUTS)[number],
): Promise<PromptScene> {
  let now = START;
  const clock = () => now;
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const workspace = await openWorkspace({ folder, templates: folder });
  let asked: { request: ModelRequest; at: number } | undefined;
  const model = createModel((request) => {
    asked = { request, at: performance.now() };
  });
  const deps = createServices({ workspace, store, model, clock, layout });
  const runTurn = createTurnRunner(deps);
  let written = 0;
  const begin = async (): Promise<StartedTurn> => {
    now += MINUTE;
    written += 1;
    await store.inbox.accept(createMessage(written, now));
    const work = { conversationId: CHAT, owner: 'bench', leaseMs: 10 * MINUTE };
    const started = await store.lanes.begin(work, 'collect', `t${written}`, now);
    if (started.kind !== 'turn') throw new Error(`There is no turn: ${started.kind}.`);
    return started;
  };
  let last: ClaimedTurn | undefined;
  return {
    workspace: folder,
    skillFile: (nth) => getSkillPath(folder, nth),
    async assemble() {
      if (last === undefined) throw new Error('There was no turn yet.');
      return previewTurn(last, {}, deps);
    },
    async turn() {
      const { turn, lease } = await begin();
      const startedAt = performance.now();
      await runTurn(turn, lease, new AbortController().signal);
      await store.lanes.release(lease);
      last = turn;
      if (asked === undefined) throw new Error('The model was not asked.');
      return { request: asked.request, untilAskedMs: asked.at - startedAt };
    },
    async newSession() {
      written += 1;
      await store.inbox.command(createMessage(written, now), (command) => command.startSession());
    },
    close: () => store.close(),
  };
}

type StartedTurn = Extract<Awaited<ReturnType<Store['lanes']['begin']>>, { kind: 'turn' }>;

export interface ServiceParts extends Pick<TurnServices, 'workspace' | 'model' | 'clock'> {
  readonly store: Store;
  readonly layout: string;
}

/** The services for turns in these benchmarks. */
export function createServices({
  workspace,
  store,
  model,
  clock,
  layout,
}: ServiceParts): TurnServices {
  const skills = createSkillReader(workspace);
  const timeZone = 'Europe/Berlin';
  const layers = createLayerRegistry(createBuiltInLayers());
  return {
    ...silentRuntime,
    store,
    model,
    workspace,
    prompt: createPromptAssembler({ layers, layout: getLayout(layout) }),
    sources: [createSkillsSource(skills)],
    hooks: [],
    tools: createToolRegistry({ builtIn: createBuiltInTools({ skills }) }).registry,
    agent: {
      id: 'main',
      identity: {},
      workspace: workspace.folder,
      timeZone,
      localTime: createLocalTime(timeZone),
      clockMinutes: 10,
    },
    owners: ['telegram:42'],
    history: { entries: HISTORY, tokens: 50_000 },
    busy: 'collect',
    checks: createCheckRunner(),
    media: {
      readDocument: () => Promise.reject(new Error('there are no documents')),
      scalePicture: () => Promise.reject(new Error('there are no pictures')),
      maxImageDimension: 1_568,
      transcription: undefined,
      fetch: () => Promise.reject(new Error('there is no network')),
      characters: 1_000,
    },
    deliver: async () => {},
    wake: async () => {},
    heartbeat: {
      judge: () => Promise.reject(new Error('there are no heartbeats')),
      limits: async () => ({}),
    },
    clock,
  };
}

function createSkillReader({ folder }: Workspace) {
  const nowhere = join(folder, 'nowhere');
  return openSkills({
    folders: listSkillFolders({
      extra: [],
      bundled: nowhere,
      data: nowhere,
      home: nowhere,
      project: nowhere,
      workspace: folder,
    }),
    settings: {
      block: [],
      show: 'outline',
      max: SKILLS,
      maxCharacters: 60_000,
      maxFileBytes: 256_000,
    },
    facts: () => ({ os: process.platform, env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home: folder,
  });
}

function createModel(sees: (request: ModelRequest) => void): ChatModel {
  const id = 'bench/fine';
  return {
    id,
    async *stream(request) {
      sees(request);
      const text = 'Fine: the sun is out, and nothing is on before four.';
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: true };
      yield { type: 'text', text };
      yield { type: 'finish', text, usage, finishReason: 'stop', model: id, costUsd: null };
    },
  };
}

/** A message from the owner. */
export function createMessage(nth: number, now: number, text = QUESTION): AdmittedMessage {
  const place = { channel: 'telegram', account: 'default' } as const;
  return {
    conversationId: CHAT,
    message: {
      ...place,
      messageId: String(1_000 + nth),
      chat: { id: '42', type: 'direct' },
      sender: { id: '42', name: 'Ann Lee', isBot: false },
      text,
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
    },
    route: {
      ...place,
      chatId: '42',
      target: { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' },
    },
    receivedAt: now,
  };
}

function getSkillPath(folder: string, nth: number): string {
  return join(folder, 'skills', `skill-${nth}`, 'SKILL.md');
}

function createParagraphs(about: string, count: number): string {
  return Array.from(
    { length: count },
    (_, nth) =>
      `${nth}. In ${about} it is written what has been agreed, and why, and by whom; read it slowly, then act.`,
  ).join('\n');
}

function writeFileWithFolder(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
