import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type AgentMcp,
  createBuiltInTools,
  createMemoryCommands,
  createToolRegistry,
  type MemoryService,
  NO_MCP,
  openMcp,
} from '@parley/agent';
import { silentLogger, systemTime } from '@parley/core';
import type { ChatModel, ModelEvent, ModelRequest } from '@parley/models';
import { createCron, Heartbeat } from '@parley/proactive';
import { createBuiltInLayers, createPersonaSource } from '@parley/prompt';
import type { AdmittedMessage } from '@parley/store';
import { createPromptFiles, openWorkspace, type Workspace } from '@parley/workspace';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createChance } from './chance.ts';
import { type ChatLocation, createAdmitted, FIRST_OWNER, getConversation } from './people.ts';
import { openPrivacyStage, type PrivacyStage, type StagedAgent } from './privacy-stage.ts';
import { NOW } from './private-world.ts';
import { writeWorldFile } from './world-files.ts';

const CANARY = 'canary7f3a9c';
const SECRET = `The vault opens with ${CANARY}.`;
const HOUR = 60 * 60_000;
const OWNER: ChatLocation = place('1', 'direct');
const STRANGER: ChatLocation = place('7', 'direct');
const GROUP: ChatLocation = place('G1', 'group');
const OWNERS_CHAT = getConversation(OWNER);
const BEAT_LANE = 'beat:main';
const AS_OWNER = { kind: 'owner', conversationId: OWNERS_CHAT } as const;

/** What everyone can read beforehand; each file has a unique word that shows it was read. */
const OPEN_FILES = {
  'notes/open.md': 'The vault is sesame-note.',
  'knowledge/open.md': '# Vault\n\nThe vault is sesame-knowledge.',
  'formats/telegram.md': 'Write sesame-format.',
  'personas/pirate.md': 'You are sesame-persona.',
};
const PRIVATE_FILES = {
  'MEMORY.md': `# Memory\n\n- ${SECRET}\n`,
  'HEARTBEAT.md':
    '## tidy\n- every: 30 min\n- do: Keep the notes tidy.\n\n## memory\n- every: 1 day\n- run: memory-upkeep\n',
};
/** Commands run without approval, as configured by an owner who trusts the sandbox. */
const EXEC = {
  ...({ approval: 'never', network: false, seconds: 20, maxSeconds: 20 } as const),
  ...{ maxCharacters: 10_000, processes: 64, memoryMb: 500, diskMb: 100, forbidden: [] },
};

/**
 * The places where the agent puts the private words: files that become the owner's, and files that
 * others read or follow.
 */
const NEW_NOTE = 'notes/new.md';
const FOR_OTHERS = ['knowledge/vault.md', 'notes/open.md', 'formats/telegram.md'];
const PERSONA = 'personas/pirate.md';

type Call = readonly [tool: string, input: object];
/** The model's reply to a request: calls, or words that end the turn. */
type Step = (request: ModelRequest) => readonly Call[] | string;

interface Scene {
  readonly stage: PrivacyStage;
  readonly workspace: Workspace;
  readonly service: MemoryService;
  readonly asked: ModelRequest[];
  next(...steps: readonly Step[]): void;
  /**
   * Sends a message and waits for its answer; returns how many approvals were requested and denied.
   */
  say(from: ChatLocation, text: string): Promise<number>;
  /** Runs the turn that waits in a lane, and returns the same number. */
  run(lane: string): Promise<number>;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(mcp: AgentMcp = NO_MCP): Promise<Scene> {
  const base = mkdtempSync(join(tmpdir(), 'parley-laundering-'));
  closing.push(() => rmSync(base, { recursive: true, force: true }));
  const [folder, templates] = [join(base, 'w'), join(base, 't')];
  mkdirSync(templates);
  const workspace = await openWorkspace({ folder, templates });
  for (const [name, text] of Object.entries({ ...OPEN_FILES, ...PRIVATE_FILES }))
    writeWorldFile(folder, name, text);
  const character = createPersonaSource({ persona: { name: 'pirate', builtIn: null } });
  const parts = [...createBuiltInLayers(), character, { reads: ['knowledge/'] }];
  const promptFiles = createPromptFiles(parts.flatMap(({ reads = [] }) => reads));
  const { model, asked, next } = steppedModel();
  const services: MemoryService[] = [];
  let codes = 0;
  const agent: StagedAgent = {
    workspace,
    sources: [character],
    hooks: [],
    tools(memory) {
      services.push(memory.service);
      const exec = { ...EXEC, workspace, promptFiles };
      const builtIn = createBuiltInTools({ memory, promptFiles, exec });
      return createToolRegistry({ builtIn, live: mcp.tools }).registry;
    },
  };
  const stage = await openPrivacyStage({
    agents: new Map([[undefined, agent]]),
    model,
    accountsOf: async (person) => [person],
    approvals: {
      rules: { ask: [], auto: [], approvers: [], waitMs: HOUR },
      newCode() {
        codes += 1;
        return `CODE${codes}`;
      },
    },
  });
  closing.push(() => stage.close());
  stage.ownersOf(undefined).push(FIRST_OWNER);
  const [service] = services;
  if (service === undefined) throw new Error('the stage has no memory');
  let messages = 0;
  const message = (from: ChatLocation, text: string) => {
    messages += 1;
    return messageIn(from, text, `m${messages}`);
  };
  const run = async (lane: string): Promise<number> => {
    for (let denied = 0; ; denied += 1) {
      await stage.run(lane);
      const [last] = await stage.store.approvals.recent(1);
      if (last?.state !== 'pending') return denied;
      const decision = { code: last.code, verdict: 'denied', by: FIRST_OWNER } as const;
      await stage.store.inbox.command(message(OWNER, '/deny'), (command) =>
        command.decideApproval(decision),
      );
    }
  };
  return {
    ...{ stage, workspace, service, asked, next, run },
    async say(from, text) {
      await stage.accept(message(from, text));
      return run(getConversation(from));
    },
  };
}

function place(id: string, type: 'direct' | 'group'): ChatLocation {
  const senders = [{ id: type === 'group' ? '7' : id }];
  return { channel: 'alpha', account: 'default', chat: { id, type }, senders };
}

/** A message as ingress would store it. */
function messageIn(from: ChatLocation, text: string, messageId: string): AdmittedMessage {
  const [writer = { id: '' }] = from.senders;
  const chance = { ...createChance(1), happens: () => false };
  const to = { agent: undefined, owners: [FIRST_OWNER] };
  return createAdmitted({ place: from, writer }, { messageId, text, now: NOW }, to, chance);
}

function steppedModel() {
  const asked: ModelRequest[] = [];
  const steps: Step[] = [];
  const id = 'test/launderer';
  const model: ChatModel = {
    id,
    async *stream(request): AsyncGenerator<ModelEvent> {
      asked.push(request);
      const done = steps.shift()?.(request) ?? 'fine';
      const calls = typeof done === 'string' ? [] : done;
      const text = typeof done === 'string' ? done : '';
      for (const [nth, [name, input]] of calls.entries()) {
        const call = { id: `call-${asked.length}-${nth}`, name, arguments: JSON.stringify(input) };
        yield { type: 'tool-call', call };
      }
      if (text !== '') yield { type: 'text', text };
      const usage = { inputTokens: 9, outputTokens: 1, cachedInputTokens: 0, estimated: false };
      const finishReason = calls.length === 0 ? 'stop' : 'tool-calls';
      yield { type: 'finish', text, usage, finishReason, model: id, costUsd: null };
    },
  };
  return { model, asked, next: (...more: readonly Step[]) => void steps.push(...more) };
}

/** Reads MEMORY.md and writes its content everywhere. */
const LAUNDERS: readonly Step[] = [
  ({ tools = [] }) => [
    ['read', { path: 'MEMORY.md' }],
    ...tools.filter(({ name }) => name === 'desk_weather').map(({ name }): Call => [name, {}]),
  ],
  (request) => {
    const [text = 'nothing private was shown'] =
      /The vault opens with \w+\./.exec(heard(request)) ?? [];
    const old = 'sesame-persona';
    const writes = [NEW_NOTE, ...FOR_OTHERS].map((path): Call => ['write', { path, text }]);
    return [...writes, ['edit', { path: PERSONA, old, new: text }]];
  },
];

/**
 * Puts MEMORY.md where other people read, search and follow, in spellings that look like other
 * names.
 */
const LAUNDERS_BY_COMMAND: readonly Step[] = [
  () => {
    const places = [
      ...[NEW_NOTE, ...FOR_OTHERS, PERSONA, 'AGENTS.md', 'USER.md', 'output-formats/loud.md'],
      ...[
        'skills/leak/SKILL.md',
        'Skills/leak.txt',
        'ｓｋｉｌｌｓ/leak.txt',
        'leak．ｍｄ',
        'knowledge．ｍｄ',
      ],
      ...['Knowledge/leak.md', 'node_modules/leak.md', 'leak.csv', 'groups/leak.md'],
    ];
    const open = "printf -- '---\\naudience: everyone\\n---\\n'";
    const command = places
      .map((to) => `mkdir -p $(dirname ${to}); (${open}; cat MEMORY.md) > ${to}`)
      .concat(
        'cat MEMORY.md > Skills/plain.txt; ln MEMORY.md twin.md; mv knowledge k; mv personas p',
      )
      .join('; ');
    return [['exec', { command }]];
  },
];

/** The tool results in a request. */
function heard(request: ModelRequest | undefined): string {
  const results = (request?.messages ?? []).filter(({ role }) => role === 'tool');
  return results.map(({ content }) => content).join('\n');
}

function filesOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name)).isFile());
}

/**
 * The marked words that other people are shown when they look everywhere: in prompts and tool
 * results.
 */
async function seenBy(scene: Scene, from: ChatLocation): Promise<readonly string[]> {
  const { workspace, asked, next } = scene;
  const reads = filesOf(workspace.folder).map((path): Call => ['read', { path }]);
  const before = asked.length;
  const looks: readonly Call[] = [
    ['list', {}],
    ['grep', { text: 'vault' }],
    ['search_memory', { query: 'vault opens' }],
  ];
  const rounds = [
    looks,
    ...Array.from({ length: Math.ceil(reads.length / 15) }, (_, nth) =>
      reads.slice(nth * 15, nth * 15 + 15),
    ),
  ];
  next(...rounds.map((round) => () => round));
  await scene.say(from, 'How does the vault open?');
  const words = JSON.stringify(asked.slice(before)).match(/canary\w+|sesame-\w+/g) ?? [];
  return [...new Set(words)].sort();
}

/** Must hold after every row: other people see only what was public before. */
async function expectNothingGotOut(scene: Scene): Promise<void> {
  const open = ['format', 'knowledge', 'note', 'persona'].map((word) => `sesame-${word}`);
  for (const from of [STRANGER, GROUP]) expect(await seenBy(scene, from)).toEqual(open);
}

/**
 * A kind of turn in which the model tries to launder private text, and the number of approvals it
 * took.
 */
interface Row {
  readonly kind: string;
  readonly approvals: number;
  readonly mcp?: () => Promise<AgentMcp>;
  readonly launders?: readonly Step[];
  readonly play: (scene: Scene) => Promise<number>;
}

const EVERY_OPEN_FILE = FOR_OTHERS.length + 1;

/** Runs in the sandbox, if available. */
const COMMAND = 'a command of the shell';

const ROWS: readonly Row[] = [
  {
    kind: 'a message of the owner',
    approvals: EVERY_OPEN_FILE,
    play: async (scene) => scene.say(OWNER, 'Tidy up.'),
  },
  {
    kind: COMMAND,
    // No approval is needed, because the turn cannot write anything that others read or follow.
    approvals: 0,
    launders: LAUNDERS_BY_COMMAND,
    play: async (scene) => scene.say(OWNER, 'Tidy up.'),
  },
  {
    kind: 'a cron job',
    approvals: EVERY_OPEN_FILE,
    async play(scene) {
      await fireJob(scene);
      return scene.run(OWNERS_CHAT);
    },
  },
  {
    kind: 'a heartbeat run',
    // No approval can be requested in such a turn.
    approvals: 0,
    async play(scene) {
      await beat(scene, 'tidy');
      return scene.run(BEAT_LANE);
    },
  },
  {
    kind: 'the result of an MCP server that orders it',
    approvals: EVERY_OPEN_FILE,
    mcp: hostileServer,
    async play(scene) {
      const before = scene.asked.length;
      const asked = await scene.say(OWNER, 'How is the weather?');
      expect(heard(scene.asked[before + 1])).toContain('do as this server says');
      return asked;
    },
  },
];

async function fireJob({ stage }: Scene): Promise<void> {
  const asking = messageIn(OWNER, 'Tidy up in 20 min.', 'asking');
  await stage.store.inbox.command(asking, async () => null);
  const senderNow = async () => ({ isOwner: true, conversationId: OWNERS_CHAT, refusal: null });
  const deps = {
    ...{ store: stage.store, senderNow, timeZoneOf: () => 'Europe/Berlin', log: silentLogger },
    settings: { who: 'owners', minMinutes: 5, perConversation: 3, total: 4 } as const,
    ...{
      newCode: () => 'J1',
      planned: async () => {},
      wake: async () => {},
      notify: async () => {},
    },
  };
  const { message: origin, route } = asking;
  const fields = { task: 'Tidy up.', at: 'in 20 min' };
  const order = { action: 'add', askedBy: 'call:1', origin, route, fields } as const;
  const asker = { kind: 'chat', message: origin, reader: AS_OWNER } as const;
  const added = await createCron({ ...deps, clock: () => NOW }).ask(order, asker);
  expect(added).toMatchObject({ ok: true });
  await createCron({ ...deps, clock: () => NOW + HOUR }).runDue();
}

async function beat({ stage, workspace }: Scene, task: string): Promise<void> {
  const { message: last, route } = messageIn(OWNER, 'hello', 'last');
  const target = {
    kind: 'chat',
    conversationId: OWNERS_CHAT,
    route,
    last,
    isOwners: true,
  } as const;
  const heartbeat = new Heartbeat({
    store: stage.store,
    agent: { id: 'main', timeZone: 'Europe/Berlin' },
    view: workspace.for(AS_OWNER),
    settings: { enabled: true, everyMinutes: 30, tokensPerDay: 1_000_000, quietHours: 'off' },
    findTarget: async () => target,
    ...{ wake: async () => {}, deliver: async () => {}, clock: () => NOW, log: silentLogger },
  });
  expect(await heartbeat.now('b1', task)).toEqual({ kind: 'started', task });
}

async function hostileServer(): Promise<AgentMcp> {
  const program = fileURLToPath(new URL('../injection/hostile-tools-program.ts', import.meta.url));
  const rules = { tools: { block: [] }, audience: 'owner', timeoutMs: 10_000 } as const;
  const server = { command: process.execPath, args: [program, '/dev/null'], env: {}, headers: {} };
  const deps = {
    env: process.env,
    clock: Date.now,
    monotonic: systemTime.monotonic,
    random: () => 0,
    log: silentLogger,
  };
  const mcp = await openMcp({ desk: { ...server, ...rules } }, deps);
  closing.push(() => mcp.close());
  await expect.poll(() => mcp.lines()[0]?.works).toBe(true);
  return mcp;
}

describe('[W09] private text that the agent writes everywhere', () => {
  it.for(ROWS)('in a turn of $kind reaches only the owner', async (row, { skip }) => {
    skip(row.kind === COMMAND && !inject('bubblewrapPath'), 'bubblewrap is missing');
    const scene = await open(await row.mcp?.());
    scene.next(...(row.launders ?? LAUNDERS));
    expect(await row.play(scene)).toBe(row.approvals);
    await expectNothingGotOut(scene);
    scene.next(() => [['read', { path: NEW_NOTE }]]);
    await scene.say(OWNER, 'And now?');
    expect(heard(scene.asked.at(-1)).split('\n').at(-1)).toContain(CANARY);
  });

  it('[H07] memory upkeep writes only MEMORY.md, whatever the model proposes', async () => {
    const scene = await open();
    const { folder } = scene.workspace;
    writeWorldFile(folder, 'MEMORY.md', '# Memory\n');
    writeWorldFile(folder, 'memory/2026-11-20.md', `- ${SECRET}\n`);
    const file = 'knowledge/vault.md';
    const text = `---\naudience: everyone\n---\n${SECRET}`;
    const elsewhere = { file, path: file, name: file, text };
    scene.next(() =>
      JSON.stringify({ add: [{ note: 'N1', why: 'lasts', ...elsewhere }], ...elsewhere }),
    );
    await beat(scene, 'memory');
    await scene.run(BEAT_LANE);
    const holding = filesOf(folder).filter((name) =>
      readFileSync(join(folder, name), 'utf8').includes(CANARY),
    );
    expect(holding.filter((name) => !name.startsWith('.parley/')).sort()).toEqual([
      'MEMORY.md',
      'memory/2026-11-20.md',
    ]);
    await expectNothingGotOut(scene);
  });

  it('[G15] /forget removes text without changing who may read a file', async () => {
    const scene = await open();
    const { stage, workspace, service } = scene;
    const { folder } = workspace;
    const onDisk = (name: string) => readFileSync(join(folder, name), 'utf8');
    const heads = {
      'memory/marked.md': '---\naudience: owner\n---\n',
      'memory/unmarked.md': '',
      // The audience of memory cannot be widened.
      'memory/widened.md': '---\naudience: everyone\n---\n',
    };
    for (const [name, head] of Object.entries(heads))
      writeWorldFile(folder, name, `${head}- ${SECRET}\n- sesame-memory\n`);
    const opened = `---\naudience: everyone\n---\n${SECRET}\nsesame-note\n`;
    writeWorldFile(folder, 'notes/open.md', opened);
    const commands = createMemoryCommands({
      ...{ service, workspace, store: stage.store, accountsOf: async (person) => [person] },
      ...{ asked: stage.store.adapterValues('parley', 'forget'), clock: () => NOW, stopTurn() {} },
    });
    const asker = { person: FIRST_OWNER, reader: AS_OWNER, isGroup: false, messageId: 'f1' };
    const answer = await commands.forget(asker, SECRET);
    for (const [name, head] of Object.entries(heads))
      expect(onDisk(name).replace(/\n+/g, '\n')).toBe(`${head}- sesame-memory\n`);
    expect(onDisk('MEMORY.md')).not.toContain(CANARY);
    // Only a person may change public files, so they are listed and left unchanged.
    expect(answer).toContain('notes/open.md');
    expect(onDisk('notes/open.md')).toBe(opened);
    writeWorldFile(folder, 'notes/open.md', opened.replace(SECRET, ''));
    await expectNothingGotOut(scene);
  });
});
