import {
  type AgentProfile,
  createAgentRunner,
  createHeartbeatRunner,
  createLocalTime,
  createMemoryHook,
  createMemorySource,
  createTurnRunner,
  MemoryService,
  type ToolRegistry,
  type TurnHook,
  type TurnServices,
} from '@parley/agent';
import { createCheckRunner, type OutboundPart, silentLogger } from '@parley/core';
import { silentRuntime } from '@parley/core/testing';
import type { ChatModel } from '@parley/models';
import {
  type ContextSource,
  createBuiltInLayers,
  createLayerRegistry,
  createPromptAssembler,
  getLayout,
  type PromptAssembler,
  type PromptFeatures,
  type PromptMode,
} from '@parley/prompt';
import type { AdmittedMessage, ClaimedTurn, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { type MemorySearch, openMemorySearch, type Workspace } from '@parley/workspace';
import { SimulatedCrash } from './hostile-model.ts';
import { NOW } from './private-world.ts';
import { LAYOUTS, type LayoutName } from './shown-files.ts';

/** How the prompt of the next turn is built. */
export interface PromptChoice {
  layout: LayoutName;
  mode: PromptMode;
  heartbeat: boolean;
  /** Whether it is the first turn after a start, and of a new workspace. */
  boot: boolean;
}

/** The real path of a turn, from the inbox to the outbox, with a model scripted by a test. */
export interface PrivacyStage {
  readonly store: Store;
  /** The owners of an agent according to the settings; modified in place. */
  readonly ownersOf: (agent: string | undefined) => string[];
  readonly choice: PromptChoice;
  accept(message: AdmittedMessage): Promise<void>;
  /** Starts a new session like `/new`; the message needs a unique id. */
  newSession(message: AdmittedMessage): Promise<void>;
  /** An action that happens once during the next turns, when their model is asked. */
  meanwhile(happens: () => Promise<void>): void;
  /** Whether messages of a conversation wait for a turn. */
  hasWaiting(conversationId: string): Promise<boolean>;
  /** Runs the next turn of a conversation; false when it threw and must be run again. */
  run(conversationId: string): Promise<boolean>;
  /** What the last turn has put into the outbox. */
  lastAnswer(): Promise<readonly OutboundPart[]>;
  close(): Promise<void>;
}

/** One agent on the stage. */
export interface StagedAgent {
  readonly workspace: Workspace;
  readonly sources: readonly ContextSource[];
  readonly hooks: readonly TurnHook[];
  readonly tools: (memory: {
    readonly service: MemoryService;
    readonly search: MemorySearch;
  }) => ToolRegistry;
}

export interface StageOptions {
  /** By name; undefined is the default agent. */
  readonly agents: ReadonlyMap<string | undefined, StagedAgent>;
  readonly model: ChatModel;
  /** The accounts of a person, including the given one. */
  readonly accountsOf: (person: string) => Promise<readonly string[]>;
  /** Without it, nobody is asked, and calls that need approval are refused. */
  readonly approvals?: NonNullable<TurnServices['approvals']>;
}

/** Opens a stage on an in-memory database. */
export async function openPrivacyStage(options: StageOptions): Promise<PrivacyStage> {
  let now = NOW;
  const clock = (): number => now;
  const store = await openMemoryStore({ clock });
  const owners = new Map([...options.agents.keys()].map((name) => [name, [] as string[]]));
  const ownersOf = (name: string | undefined): string[] => owners.get(name) ?? [];
  const choice: PromptChoice = { layout: 'parley', mode: 'full', heartbeat: false, boot: false };
  let next: (() => Promise<void>) | undefined;
  const happenNext = async (): Promise<void> => {
    const happens = next;
    next = undefined;
    await happens?.();
  };
  const shared = {
    ...(options.approvals !== undefined && { approvals: options.approvals }),
    ...{ ...SILENCE, store, clock },
    model: watchModel(options.model, happenNext),
    busy: 'steer' as const,
    checks: createCheckRunner(),
    prompt: buildAssembler(choice),
    history: { entries: 12, tokens: 7_500 },
  };
  const runs = [...options.agents].map(([name, agent]) => {
    const remembers = createMemoryFeatures(agent, options, store.ofAgent(name));
    const deps = {
      ...{ ...shared, ...agent, ...remembers },
      agent: toProfile(agent.workspace.folder, name),
      owners: ownersOf(name),
    };
    return [name, createHeartbeatRunner(deps, createTurnRunner(deps))] as const;
  });
  const runTurn = createAgentRunner(new Map(runs), (name) => {
    throw new Error(`no agent ${name}`);
  });
  let turns = 0;
  let last: ClaimedTurn | undefined;
  return {
    store,
    ownersOf,
    choice,
    async accept(message) {
      await store.inbox.accept(message);
    },
    meanwhile(happens) {
      next = happens;
    },
    hasWaiting: async (conversationId) => (await store.inbox.waiting(conversationId)) > 0,
    async newSession(admitted) {
      await store.inbox.command(admitted, (command) => command.startSession());
    },
    async run(conversationId) {
      turns += 1;
      now += 60_000 * Number(turns % 50 === 0);
      const work = { conversationId, owner: 'stage', leaseMs: 10_000 };
      const started = await store.lanes.begin(work, 'collect', `turn-${turns}`, now);
      if (started.kind !== 'turn') throw new Error(`there is no turn: ${started.kind}`);
      last = started.turn;
      const ended = await endsByItself(runTurn(last, started.lease, new AbortController().signal));
      await store.lanes.release(started.lease);
      return ended;
    },
    async lastAnswer() {
      const route = last?.messages.at(-1)?.route;
      if (route === undefined) return [];
      const sent = await store.outbox.recent(route, 6);
      return sent.map(({ part }) => part).filter(({ turnId }) => turnId === last?.turnId);
    },
    close: () => store.close(),
  };
}

/** A model that runs an action during its answers. */
function watchModel(model: ChatModel, happens: () => Promise<void>): ChatModel {
  return {
    ...model,
    async *stream(request, signal) {
      await happens();
      yield* model.stream(request, signal);
    },
  };
}

/**
 * An agent's memory: its tools, its additions to prompts, and what is saved automatically (G13,
 * G14).
 */
function createMemoryFeatures(
  { workspace, sources, hooks, tools }: StagedAgent,
  { accountsOf }: Pick<StageOptions, 'accountsOf'>,
  { memories: index }: Pick<Store, 'memories'>,
) {
  const service = new MemoryService({ index, log: silentLogger });
  const search = openMemorySearch(workspace);
  return {
    memory: service,
    tools: tools({ service, search }),
    sources: [...sources, createMemorySource({ service, search, index, accountsOf })],
    hooks: [...hooks, createMemoryHook(() => true)],
  };
}

/** Heartbeat runs do not notify anyone here. */
const QUIET: TurnServices['heartbeat'] = {
  judge: async () => ({ state: 'quiet', reason: 'nothing is looked for' }),
  limits: async () => ({}),
};

/** Further services that a turn requires but that these tests do not check. */
const SILENCE = {
  ...silentRuntime,
  heartbeat: QUIET,
  media: {
    readDocument: () => Promise.reject(new Error('no documents here')),
    scalePicture: () => Promise.reject(new Error('no pictures here')),
    maxImageDimension: 1_568,
    transcription: undefined,
    fetch: () => Promise.reject(new Error('there is no network')),
    characters: 200,
  },
  deliver: async () => {},
  wake: async () => {},
};

/** False when the model ended the run. */
async function endsByItself(run: Promise<void>): Promise<boolean> {
  try {
    await run;
    return true;
  } catch (error) {
    if (!(error instanceof SimulatedCrash)) throw error;
    return false;
  }
}

function buildAssembler(choice: PromptChoice): PromptAssembler {
  const layers = createLayerRegistry(createBuiltInLayers());
  const assemblers = new Map(
    LAYOUTS.map((name) => [name, createPromptAssembler({ layers, layout: getLayout(name) })]),
  );
  return {
    async assemble(context, additions) {
      const { mode, heartbeat } = choice;
      const assembler = assemblers.get(choice.layout);
      if (assembler === undefined) throw new Error(`no layout ${choice.layout}`);
      const facts = { ...context.facts, heartbeat };
      return assembler.assemble({ ...context, ...selectFeatures(choice), mode, facts }, additions);
    },
  };
}

/**
 * The additional features of a heartbeat turn, a first turn after a start, or a turn in a new
 * workspace.
 */
function selectFeatures({ heartbeat, boot }: PromptChoice): PromptFeatures {
  const note = { task: 'mail', instruction: 'Look for mail.', schedule: 'every 30 min' };
  return { ...(heartbeat && { heartbeat: note }), ...(boot && { boot: true, bootstrap: true }) };
}

function toProfile(workspace: string, name: string | undefined): AgentProfile {
  const timeZone = 'Europe/Berlin';
  const localTime = createLocalTime(timeZone);
  const id = name ?? 'main';
  return { id, name, identity: {}, workspace, timeZone, localTime, clockMinutes: 10 };
}
