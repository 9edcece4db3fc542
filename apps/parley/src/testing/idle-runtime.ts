import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHeartbeatRunner, createTurnRunner } from '@parley/agent';
import { type InboundMessage, newId, type ReplyRoute } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { ChatModel, ModelRequest } from '@parley/models';
import type { Store } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { openAgents, openMcpServices } from '../agents-runtime.ts';
import { createTurnServices } from '../compose-worker.ts';
import { locateDataFolder } from '../data-folder.ts';
import { loadConfiguredPlugins } from '../plug-in.ts';
import { openLog } from '../process-options.ts';
import { openProcessServices } from '../process-services.ts';
import { readSettings } from '../settings.ts';

/** A step in which the model calls a tool. */
export interface ScriptedCall {
  readonly tool: string;
  readonly with: object;
}

/** Returns the model's answer to a request at a given time (ms), or a tool call. */
export type ModelScript = (request: ModelRequest, now: number) => string | ScriptedCall;

export type IdleRuntime = Awaited<ReturnType<typeof openIdleRuntime>>;

export interface RecordedRequest {
  readonly at: number;
  readonly tokens: number;
  readonly said: string;
  readonly request: ModelRequest;
}

const PLACE = { channel: 'web', account: 'default' } as const;
const CHAT = 'owner';
const ROUTE: ReplyRoute = {
  ...PLACE,
  chatId: CHAT,
  chatType: 'direct',
  target: { dialect: 'html', maxLength: 100_000, unit: 'utf16' },
};
const NEVER = new AbortController().signal;

/**
 * Opens an installation without a gateway or timers, for tests and benchmarks. The test sets the
 * time. Tests must call everything that normally runs on a timer. `shared` is the data folder of
 * another runtime, whose database this runtime also uses. `pass` is called at several points of a
 * heartbeat; if it throws, the simulated process ends at that point.
 */
export async function openIdleRuntime(
  settings: object,
  begin: number,
  script: ModelScript,
  {
    folder: shared,
    pass = () => {},
  }: { readonly folder?: string; readonly pass?: (point: string) => void } = {},
) {
  const path = shared ?? mkdtempSync(join(tmpdir(), 'parley-still-'));
  writeFileSync(join(path, 'parley.yaml'), JSON.stringify({ model: 'offline', ...settings }));
  let now = begin;
  const clock = () => now;
  const folder = locateDataFolder(path, {});
  const logged: string[] = [];
  const opened = new AsyncDisposableStack();
  if (shared === undefined) opened.defer(() => rmSync(path, { recursive: true, force: true }));
  const first = readSettings(folder, {});
  const options = {
    ...{ folder, env: {}, checkpoint() {}, channels: CHANNEL_DEFINITIONS },
    ...{ clock, monotonic: clock, random: () => 0.5 },
    logTo: { write: (line: string) => void logged.push(line) },
  };
  const log = openLog(options, first);
  const plugged = await loadConfiguredPlugins(first, { ...options, ...log });
  const all = { ...options, ...log };
  const { settings: chosen } = plugged.loaded;
  const foundation = await openProcessServices(all, chosen, opened);
  // The store must be wrapped before the agents are created, because they keep references to its
  // members.
  addWriteCheckpoints(foundation.shared.store, pass);
  const servers = await openMcpServices(chosen, all, foundation);
  opened.defer(() => servers.mcp.close());
  const parts = await openAgents(all, plugged, foundation, servers);
  const { store } = parts.shared;
  const asked: RecordedRequest[] = [];
  const deps = {
    ...createTurnServices(parts),
    model: createScriptedModel(clock, script, asked),
    deliver: async () => pass('deliver'),
    wake: async () => {},
  };
  const runTurn = createHeartbeatRunner(deps, createTurnRunner(deps));
  let made = 0;
  const run = async (conversationId: string): Promise<void> => {
    const work = { conversationId, owner: 'still', leaseMs: 60_000 };
    const started = await store.lanes.begin(work, 'collect', newId('turn'), now);
    if (started.kind !== 'turn') return;
    await runTurn(started.turn, started.lease, NEVER);
    await store.lanes.release(started.lease);
  };
  return {
    folder: path,
    store,
    asked,
    logged,
    now: clock,
    at: (ms: number): void => {
      now = ms;
    },
    put: (name: string, text: string): void => writeFileSync(join(folder.workspace, name), text),
    /** Runs the heartbeat if it is due, and returns the time (ms) at which it is due next. */
    async runDue(): Promise<number | null> {
      const next = await parts.main.proactive.heartbeat.runDue();
      await run('beat:main');
      return next;
    },
    /**
     * Simulates a message from the owner on the web page, or from a stranger in the named group, and
     * runs the turn that answers it.
     */
    async say(text: string, group?: string): Promise<void> {
      made += 1;
      const admitted = createAdmittedMessage(`m${made}`, text, now, group);
      await store.inbox.accept(admitted);
      await run(admitted.conversationId);
    },
    close: () => opened.disposeAsync(),
  };
}

/** Calls `pass` before and after each write of a heartbeat. */
function addWriteCheckpoints(store: Store, pass: (point: string) => void): void {
  const { heartbeats } = store;
  const guarded = {
    ...heartbeats,
    start: async (...order: Parameters<typeof heartbeats.start>) => {
      pass('before begin');
      const started = await heartbeats.start(...order);
      pass('after begin');
      return started;
    },
    commit: async (...turn: Parameters<typeof heartbeats.commit>) => {
      pass('before commit');
      const committed = await heartbeats.commit(...turn);
      pass('after commit');
      return committed;
    },
  };
  Object.defineProperty(store, 'heartbeats', { value: guarded });
}

function createAdmittedMessage(...[id, text, at, group]: Parameters<typeof createInboundMessage>) {
  const message = createInboundMessage(id, text, at, group);
  const { id: chatId, type: chatType } = message.chat;
  return {
    conversationId: `web:default:${chatId}`,
    message,
    route: { ...ROUTE, chatId, chatType },
    receivedAt: at,
    ...(group === undefined && { fromOwner: true }),
  };
}

function createInboundMessage(
  messageId: string,
  text: string,
  sentAt: number,
  group: string | undefined,
): InboundMessage {
  return {
    ...PLACE,
    ...{ messageId, text, sentAt },
    ...(group === undefined
      ? {
          chat: { id: CHAT, type: 'direct' },
          sender: { id: 'owner', name: 'Ann', isBot: false },
        }
      : {
          chat: { id: group, type: 'group', title: group },
          sender: { id: 'bo', name: 'Bo', isBot: false },
        }),
    mentions: [],
    addressed: true,
    variables: {},
  };
}

function createScriptedModel(
  clock: () => number,
  script: ModelScript,
  asked: RecordedRequest[],
): ChatModel {
  const id = 'still/model';
  return {
    id,
    async *stream(request) {
      const step = script(request, clock());
      const text = typeof step === 'string' ? step : '';
      const inputTokens = estimateRequestTokens(request);
      asked.push({ at: clock(), tokens: inputTokens, said: text, request });
      const usage = {
        ...{ inputTokens, outputTokens: estimateTokens(text) },
        ...{ cachedInputTokens: 0, estimated: true },
      };
      if (typeof step === 'string') yield { type: 'text', text };
      else {
        const call = { id: '', name: step.tool, arguments: JSON.stringify(step.with) };
        yield { type: 'tool-call', call };
      }
      yield { type: 'finish', text, usage, finishReason: 'stop', model: id, costUsd: null };
    },
  };
}

/** Estimates the number of tokens in a request, including its tools. */
function estimateRequestTokens({ system, messages, tools = [] }: ModelRequest): number {
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...(tools.length === 0 ? [] : [JSON.stringify(tools)]),
  ];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}
