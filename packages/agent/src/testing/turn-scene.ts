import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Clock,
  createCheckRunner,
  type LiveBus,
  type LiveEvent,
  type Logger,
} from '@parley/core';
import { silentRuntime } from '@parley/core/testing';
import {
  type ChatModel,
  type ExceededAnswerLimit,
  ModelError,
  type ModelFailure,
  type ModelRequest,
} from '@parley/models';
import {
  createBuiltInLayers,
  createLayerRegistry,
  createPromptAssembler,
  getLayout,
  type PromptAssembler,
} from '@parley/prompt';
import { createLocalBus } from '@parley/queue';
import type { ClaimedTurn, InboxRow, Lease, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { createPictureScaler, createReaderQueue } from '@parley/tools/documents';
import { readHere } from '@parley/tools/testing/read-here';
import { openWorkspace } from '@parley/workspace';
import type { ApprovalRules } from '../approvals/approval-policy.ts';
import { createHeartbeatRunner } from '../heartbeat/heartbeat-runner.ts';
import type { MediaDeps } from '../media/read-attachment.ts';
import { createSpendGuard, type SpendCaps, type SpendGuard, type SpendScope } from '../spend.ts';
import { createDelegateTaskTool } from '../sub-agents/delegate-task.ts';
import { createSubAgentRunner } from '../sub-agents/sub-agent-runner.ts';
import { createLocalTime } from '../time.ts';
import type { Tool } from '../tools/tool.ts';
import { type AddedTools, createToolRegistry } from '../tools/tool-registry.ts';
import type { TurnServices } from '../turn/means.ts';
import { type PreviewChange, previewTurn } from '../turn/preview-turn.ts';
import { createTurnRunner } from '../turn/run-turn.ts';
import type { AgentProfile } from '../turn/turn.ts';
import { OWNER_CHAT, PLACE, type WriteMessageOptions, writeMessage } from './write-message.ts';

export type TurnScene = Awaited<ReturnType<typeof openTurnScene>>;

export interface SceneOptions
  extends Partial<
    Pick<
      TurnServices,
      | 'agent'
      | 'history'
      | 'contextTokens'
      | 'compactor'
      | 'busy'
      | 'checks'
      | 'hooks'
      | 'limits'
      | 'meter'
      | 'modelAwayMs'
      | 'subAgentLimits'
      | 'prompt'
      | 'sources'
      | 'model'
      | 'owners'
      | 'workspace'
      | 'agent'
      | 'unavailable'
    >
  > {
  readonly tools?: readonly Tool[];
  /** Tools that are added and removed while the scene runs. */
  readonly live?: () => readonly AddedTools[];
  /** Offers the tools of a group only once the group is open. */
  readonly byNeed?: boolean;
  /** Whether the agent may delegate; a list names the other agents that may receive tasks. */
  readonly delegates?: boolean | readonly string[];
  /**
   * Overrides. By default only tools decide what needs an approval, and questions wait 15 minutes.
   */
  readonly approvals?: Partial<ApprovalRules>;
  /** Handles the answers to heartbeats; if it is absent, every answer counts as quiet. */
  readonly heartbeat?: Partial<TurnServices['heartbeat']>;
  /** Opens the database; an empty one in memory by default. */
  readonly openStore?: (clock: Clock) => Promise<Store>;
  /** The daily spend caps; none by default. */
  readonly caps?: SpendCaps;
}

/**
 * Opens a scene at 14:05 in Berlin on 21 November 2026, without speech, tools or hooks unless they
 * are given.
 */
export async function openTurnScene(media: Partial<MediaDeps> = {}, extras: SceneOptions = {}) {
  const { tools = [], sources = [], approvals, delegates = false, heartbeat, ...rest } = extras;
  const { openStore = (clock: Clock) => openMemoryStore({ clock }), ...more } = rest;
  const folder = createNamedFolder();
  const { clock, later } = createFakeTime();
  const store = await openStore(clock);
  const workspace = await openWorkspace({ folder: join(folder, 'w'), templates: folder });
  const model = createScriptedModel();
  const events: LiveEvent[] = [];
  const logged: string[] = [];
  const woken: string[] = [];
  let made = 0;
  const bus = createRecordingBus(events, createRecordingLogger(logged));
  const { wake, delegation } = createDelegation(store, woken, clock, extras);
  const deps: TurnServices = {
    ...silentRuntime,
    ...SETTLED,
    ...{ store, prompts: store.prompts, model },
    prompt: createTestPrompt(),
    workspace,
    sources,
    tools: createRegistry(delegates === false ? tools : [...tools, delegation], extras),
    approvals: createApprovals(approvals),
    agent: createAgent(workspace.folder, 'Europe/Berlin'),
    media: { ...createStubMedia(), ...media },
    checks: createCheckRunner(),
    deliver: async (...to: unknown[]) => void woken.push(to.slice(0, 3).join('/')),
    bus,
    log: createRecordingLogger(logged),
    spendGuard: createTestSpendGuard(store, createRecordingLogger(logged), extras.caps),
    clock,
    wake,
    heartbeat: { ...QUIET, ...heartbeat },
    ...more,
  };
  const runTurn = createHeartbeatRunner(deps, createSubAgentRunner(deps, createTurnRunner(deps)));
  const begin = (conversationId = OWNER_CHAT) =>
    beginTurn(store, conversationId, `turn-${++made}`, clock());
  return {
    store,
    model,
    events,
    bus,
    outcome: () => events.findLast((event) => event.type === 'turn-ended')?.outcome,
    later,
    now: clock,
    logged,
    woken,
    ...{ folder: workspace.folder, agent: deps.agent, media: deps.media },
    begin,
    run: ({ turn, lease }: { turn: ClaimedTurn; lease: Lease }, signal = NEVER) =>
      runTurn(turn, lease, signal),
    preview: (turn: ClaimedTurn, change: PreviewChange) => previewTurn(turn, change, deps),
    write: (text: string, writing: WriteMessageOptions = {}) =>
      writeMessage(store, { messageId: `m${++made}`, text, now: clock() }, writing),
    async answerNext(conversationId?: string) {
      const { turn, lease } = await begin(conversationId);
      await runTurn(turn, lease, NEVER);
    },
    owed: (chatId = OWNER_CHAT) => listPendingTexts(store, chatId),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createRegistry(
  builtIn: readonly Tool[],
  { live, byNeed = false }: Pick<SceneOptions, 'live' | 'byNeed'>,
) {
  return createToolRegistry({ builtIn, byNeed, ...(live !== undefined && { live }) }).registry;
}

/** The values of the default settings. */
const SETTLED = {
  owners: ['test:1'],
  history: { entries: 100, tokens: 250 },
  hookMs: 50,
  busy: 'collect',
  modelAwayMs: 0,
} as const;

function createNamedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-agent-'));
  writeFileSync(join(folder, 'IDENTITY.md'), 'name: Polly\n');
  return folder;
}

function createRecordingBus(events: LiveEvent[], log: Logger): LiveBus {
  const bus = createLocalBus(log);
  bus.subscribe((event) => void events.push(event));
  return bus;
}

const QUIET: TurnServices['heartbeat'] = {
  judge: async () => ({ state: 'quiet', reason: 'all is quiet' }),
  limits: async () => ({}),
};

export function createTestPrompt(layout = 'parley'): PromptAssembler {
  const layers = createLayerRegistry(createBuiltInLayers());
  return createPromptAssembler({ layers, layout: getLayout(layout) });
}

function createDelegation(
  { subAgents }: Store,
  woken: string[],
  clock: Clock,
  { delegates: to, subAgentLimits: bounds }: SceneOptions,
) {
  const wake = async (lane: string) => void woken.push(lane);
  const newId = (kind: string) => `${kind}_${woken.length}`;
  const names = typeof to === 'object' ? to : [];
  const others = names.map((id) => ({ id, agent: id }));
  const tool = { subAgents, wake, newId, clock, others, ...(bounds !== undefined && { bounds }) };
  return { wake, delegation: createDelegateTaskTool(tool) };
}

async function beginTurn(store: Store, conversationId: string, turnId: string, now: number) {
  const work = { conversationId, owner: 'worker', leaseMs: 10_000 };
  const begun = await store.lanes.begin(work, 'collect', turnId, now);
  if (begun.kind !== 'turn') throw new Error(`no turn: ${begun.kind}`);
  return begun;
}

const NEVER = new AbortController().signal;

function createFakeTime() {
  let now = Date.UTC(2026, 10, 21, 13, 5);
  const later = (ms: number): void => {
    now += ms;
  };
  return { clock: () => now, later };
}

function createApprovals(rules: Partial<ApprovalRules> = {}) {
  let codes = 0;
  const newCode = (): string => {
    codes += 1;
    return `CODE${codes}`;
  };
  const usual = { ask: [], auto: [], approvers: [], waitMs: 15 * 60_000 };
  return { rules: { ...usual, ...rules }, newCode };
}

function createStubMedia(): MediaDeps {
  return {
    readDocument: readHere,
    scalePicture: createPictureScaler({ queue: createReaderQueue() }),
    maxImageDimension: 1_568,
    transcription: undefined,
    fetch: () => Promise.reject(new Error('there is no network')),
    characters: 200,
  };
}

function createTestSpendGuard(
  store: Store,
  log: Logger,
  caps: SpendCaps = { capOwners: false },
): SpendGuard {
  // In scenes, groups are open to everyone but direct chats are not.
  const isStranger = ({ groupId }: SpendScope) => groupId !== undefined;
  return createSpendGuard({ store, log, isStranger }, caps, { timeZone: 'Europe/Berlin' });
}

/** A turn that was claimed for these messages and has not run yet. */
export function createClaimedTurn(...messages: readonly InboxRow[]): ClaimedTurn {
  return {
    turnId: 't',
    conversationId: 'c',
    session: 0,
    resumed: false,
    attempts: 0,
    messages,
    groupContext: [],
    steps: [],
  };
}

export function createAgent(workspace: string, timeZone: string): AgentProfile {
  const localTime = createLocalTime(timeZone);
  return { id: 'main', identity: {}, workspace, timeZone, localTime, clockMinutes: 10 };
}

function createRecordingLogger(lines: string[]): Logger {
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

async function listPendingTexts(store: Store, chatId: string): Promise<readonly string[]> {
  const rows = await store.outbox.recent({ ...PLACE, chatId }, 100);
  return rows.map(({ part }) => part.body.plain);
}

export type ScriptStep =
  | {
      readonly say?: string;
      readonly afterMs?: number;
      /** An error that breaks off the stream. */
      readonly breaks?: ModelFailure;
      /** The limit at which the answer is truncated. */
      readonly cut?: ExceededAnswerLimit;
      /** The finish reason, if it is not the normal end. */
      readonly finish?: string;
      /** The id of another model that answers instead. */
      readonly answeredBy?: string;
      /** The tool calls, with arguments as an object or as raw text that may not be valid JSON. */
      readonly calls?: readonly { readonly name: string; readonly with: object | string }[];
    }
  | { readonly fail: ModelFailure }
  | { readonly throws: Error };

export interface ScriptedModel extends ChatModel {
  readonly asked: ModelRequest[];
  /** Scripts the next requests, one script each; afterwards the model answers `fine`. */
  next(...scripts: readonly ScriptStep[]): void;
}

export function createScriptedModel(): ScriptedModel {
  const id = 'test/model';
  const asked: ModelRequest[] = [];
  const scripts: ScriptStep[] = [];
  const aborted = () => new ModelError({ kind: 'aborted' }, id, 'The call was stopped on request.');
  return {
    id,
    asked,
    next: (...more) => void scripts.push(...more),
    async *stream(request, signal) {
      asked.push(request);
      const script = scripts.shift() ?? { say: 'fine' };
      if ('throws' in script) throw script.throws;
      if ('fail' in script) throw new ModelError(script.fail, id, `${id} at secret-host failed.`);
      await sleep(script.afterMs ?? 0, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw aborted();
      const { say: text = '', calls = [], cut, breaks, finish, answeredBy = id } = script;
      for (const piece of text.split(/(?<= )/))
        if (piece !== '') yield { type: 'text', text: piece };
      if (breaks !== undefined) throw new ModelError(breaks, id, `${id} broke off.`);
      for (const { name, with: given } of calls) {
        const written = typeof given === 'string' ? given : JSON.stringify(given);
        // Uses the same id for all tool calls, as some servers do.
        yield { type: 'tool-call', call: { id: 'call', name, arguments: written } };
      }
      const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, estimated: false };
      const finishReason = finish ?? (calls.length === 0 ? 'stop' : 'tool-calls');
      const done = { text, usage, finishReason, model: answeredBy, costUsd: 0.5 };
      yield { type: 'finish', ...done, ...(cut !== undefined && { cut }) };
    },
  };
}

export function listToolMessages(request: ModelRequest | undefined) {
  return (request?.messages ?? []).filter((message) => message.role === 'tool');
}
