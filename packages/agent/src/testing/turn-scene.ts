import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InboundMessage, LiveEvent, Logger } from '@parley/contracts';
import { createAssembler, createLayerRegistry, houseLayers, layoutNamed } from '@parley/prompt';
import { type ClaimedTurn, type Lease, openStore, type Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { localTimeIn } from '../local-time.ts';
import type { AgentPlace } from '../turn-facts.ts';
import { createTurnRunner } from '../turn-runner.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** For tests: a real database, workspace and prompt around a model that does as it is told. */
export interface TurnScene {
  readonly store: Store;
  readonly model: ScriptedModel;
  readonly events: LiveEvent[];
  readonly logged: string[];
  readonly woken: string[];
  /** Stores a message of the owner (or another sender, or in a group). */
  write(text: string, change?: Writing): Promise<void>;
  /** Takes the lane and its next turn. */
  begin(conversationId?: string): Promise<{ turn: ClaimedTurn; lease: Lease }>;
  /** Runs a turn that was begun. */
  run(begun: { turn: ClaimedTurn; lease: Lease }, signal?: AbortSignal): Promise<void>;
  /** Begins and runs in one go. */
  answerNext(conversationId?: string): Promise<void>;
  /** What the chat is owed, as plain text. */
  owed(chatId?: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Where and by whom a message is written, where not by the owner in the direct chat. */
export interface Writing {
  readonly chat?: InboundMessage['chat'];
  readonly sender?: InboundMessage['sender'];
}

/** The direct chat of the owner. */
const OWNER_CHAT = 'c';
const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
const DIRECT: InboundMessage['chat'] = { id: OWNER_CHAT, type: 'direct' };
const OWNER = { id: '1', name: 'Ada', isBot: false };

/** Opens a scene at 14:05 in Berlin on 21 November 2026. */
export async function openTurnScene(): Promise<TurnScene> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-agent-'));
  writeFileSync(join(folder, 'IDENTITY.md'), 'name: Polly\n');
  const clock = () => Date.UTC(2026, 10, 21, 13, 5);
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const workspace = await openWorkspace({ folder: join(folder, 'w'), templates: folder });
  const layers = createLayerRegistry(houseLayers());
  const model = scriptedModel();
  const events: LiveEvent[] = [];
  const logged: string[] = [];
  const woken: string[] = [];
  let made = 0;
  const runTurn = createTurnRunner({
    store,
    model,
    prompt: createAssembler({ layers, layout: layoutNamed('parley') }),
    workspace,
    agent: agentIn(workspace.folder, 'Europe/Berlin'),
    owners: ['test:1'],
    history: { entries: 100, characters: 1_000 },
    deliver: async (...chat) => void woken.push(chat.join('/')),
    bus: { publish: (event) => void events.push(event), subscribe: () => () => {} },
    log: loggerInto(logged),
    meter: { count() {}, observe() {} },
    clock,
    pass() {},
  });
  const begin: TurnScene['begin'] = async (conversationId = OWNER_CHAT) => {
    made += 1;
    const taken = await store.lanes.acquire(conversationId, 'worker', clock(), 10_000);
    if (taken.kind === 'busy') throw new Error('the lane is busy');
    const claimed = await store.lanes.claim(taken.lease, 'collect', `turn-${made}`, clock());
    if (claimed.kind !== 'turn') throw new Error(`no turn: ${claimed.kind}`);
    return { turn: claimed.turn, lease: taken.lease };
  };
  const run: TurnScene['run'] = ({ turn, lease }, signal = new AbortController().signal) =>
    runTurn(turn, lease, signal);
  return {
    store,
    model,
    events,
    logged,
    woken,
    begin,
    run,
    async write(text, { chat = DIRECT, sender = OWNER } = {}) {
      made += 1;
      const base = { ...PLACE, messageId: `m${made}`, chat, sender, text, mentions: [] };
      const message = { ...base, addressed: true, sentAt: 0, variables: {} };
      const route = { ...PLACE, chatId: chat.id, target: TARGET };
      await store.inbox.accept({ conversationId: chat.id, message, route, receivedAt: clock() });
    },
    answerNext: async (conversationId) => run(await begin(conversationId)),
    async owed(chatId = OWNER_CHAT) {
      const rows = await store.outbox.recent({ ...PLACE, chatId }, 100);
      return rows.map(({ part }) => part.body.plain);
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The agent of a scene, in a time zone. */
export function agentIn(workspace: string, timeZone: string): AgentPlace {
  return { id: 'main', identity: {}, workspace, timeZone, localTime: localTimeIn(timeZone) };
}

/** Keeps what people would read: one line each, with its level. */
function loggerInto(lines: string[]): Logger {
  const at = (level: string) => (facts: object, message: string) =>
    void lines.push(`${level}: ${message} ${JSON.stringify(facts)}`);
  const log: Logger = {
    debug() {},
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => log,
  };
  return log;
}
