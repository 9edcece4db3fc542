import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, type Logger, type Meter, type Monotonic, systemTime } from '@parley/core';
import { type AnswerLimits, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
import { createCacheWeightingModel, getCachedShare } from './cached-share.ts';
import { type ChatModel, ModelError, type ModelEvent, type ModelRequest } from './chat-model.ts';
import { createWindowLearningModel } from './learned-window.ts';
import { getContextTokens, type ModelSettings, type ProviderChoice } from './model-settings.ts';
import {
  createOfflineChatModel,
  describeOfflineReason,
  detectLocalServer,
  type LocalServer,
  type OfflineReason,
} from './offline-model.ts';
import { reportOddities } from './openai-compatible/report-oddities.ts';
import { createProviderModel } from './provider-model.ts';
import {
  createBridgingModel,
  createFallbackModel,
  createToolLessModel,
  createVisionAwareModel,
  withSecondTry,
} from './retry.ts';
import { createRetryingModel, HASTY, PATIENT, type RetryPatience } from './retrying-model.ts';
import { createOutputLimitModel } from './smaller-output.ts';

/** Only the first four are required. */
export interface ChatModelDeps {
  /** The path of the settings file, which the offline model mentions. */
  readonly settingsFile: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly logger: Logger;
  /** Randomizes the pauses between retries; the system's random source when absent. */
  readonly random?: () => number;
  /** Waits between two attempts, for `ms` or until `signal` is aborted; a timer when absent. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long token counts may follow a complete answer, in ms; five seconds when absent. */
  readonly graceMs?: number;
  /** If it is absent, no metrics are recorded. */
  readonly meter?: Meter;
  /** An IANA time zone for the offline model's clock; UTC when absent. */
  readonly timeZone?: string;
  /** The value of the environment variable OLLAMA_HOST, if set. */
  readonly ollamaHost?: string;
  /** The `fetch` implementation; node:http when absent. */
  readonly fetch?: typeof globalThis.fetch;
  /** The limits on answers; `DEFAULT_ANSWER_BOUNDS` when absent. */
  readonly bounds?: AnswerLimits;
  /** Base URLs to search for local servers instead of the usual ports. */
  readonly localServers?: readonly string[];
}

/**
 * `why` resolves to the model that answers and the reason, for the start banner; it never rejects.
 */
export interface ChosenModel {
  readonly model: ChatModel;
  readonly why: Promise<string>;
  /** Alternative models, by id; if one of them fails, the main model answers. */
  readonly choices: ReadonlyMap<string, SelectableModel>;
}

/** A model that may be chosen in a conversation. */
export interface SelectableModel {
  readonly model: ChatModel;
  /** The context window in tokens, if known. */
  readonly contextTokens: () => number;
}

/**
 * Returns the context window of a model: the one that its server has stated, if it is smaller than
 * the known window.
 */
export function resolveWindow(
  { learnedTokens }: Pick<ChatModel, 'learnedTokens'>,
  known: number,
): number {
  return Math.min(known, learnedTokens ?? known);
}

/**
 * Creates the model named in the settings. Returns immediately and loads no provider: with `auto`,
 * the search for a local server runs in the background, and the first call waits for it. A paid
 * provider is used only if it is configured, never because a key is in the environment.
 */
export function createChatModel(settings: ModelSettings, deps: ChatModelDeps): ChosenModel {
  const choices = new Map<string, SelectableModel>();
  if (settings.model === 'auto') return { ...chooseAutomatically(settings, deps), choices };
  if (settings.model === 'offline') {
    const why = Promise.resolve(`offline: ${describeOfflineReason('by-choice')}`);
    return { model: createOfflineModel(deps, 'by-choice'), why, choices };
  }
  const { model: main, fallback } = settings;
  const last = fallback.findLast((choice) => choice !== 'offline');
  const first = createProvider(main, settings, deps, last === undefined ? PATIENT : HASTY);
  const said = `${first.id} at ${getServerName(main)}, as configured`;
  const others = fallback.map((choice) =>
    choice === 'offline'
      ? createOfflineModel(deps, 'all-failed')
      : createProvider(choice, settings, deps, choice === last ? PATIENT : HASTY),
  );
  for (const choice of settings.choices) {
    const chosen = createProvider(choice, settings, deps, HASTY);
    const model = createFallbackModel(chosen, [first, ...others], deps.logger);
    const known = getContextTokens({ model: choice }, chosen.id);
    choices.set(chosen.id, { model, contextTokens: () => resolveWindow(model, known) });
  }
  if (others.length === 0) return { model: first, why: Promise.resolve(said), choices };
  const names = others.map((other) => other.id).join(', ');
  return {
    model: createFallbackModel(first, others, deps.logger),
    why: Promise.resolve(`${said}; when it fails: ${names}`),
    choices,
  };
}

function chooseAutomatically(
  settings: ModelSettings,
  deps: ChatModelDeps,
): Omit<ChosenModel, 'choices'> {
  const { model, first } = createAutoModel({
    monotonic: deps.monotonic,
    offline: createOfflineModel(deps, 'nothing-found'),
    local: (server) => createLocalModel(server, settings, deps),
    detect: () =>
      detectLocalServer({
        ollamaHost: deps.ollamaHost,
        ...(deps.localServers !== undefined && { candidates: deps.localServers }),
      }),
  });
  const why = first.then((server) =>
    server === null
      ? `offline: ${describeOfflineReason('nothing-found')}`
      : `local/${server.model}: found at ${new URL(server.baseUrl).host}, and no other model is configured`,
  );
  return { model, why };
}

function createProvider(
  choice: ProviderChoice,
  settings: ModelSettings,
  deps: ChatModelDeps,
  patience: RetryPatience,
): ChatModel {
  return buildModel(`${choice.provider}/${choice.model}`, choice, settings, deps, patience);
}

function createLocalModel(
  server: LocalServer,
  settings: ModelSettings,
  deps: ChatModelDeps,
): ChatModel {
  const free = { inputPerMillion: 0, outputPerMillion: 0 };
  const choice = { provider: 'openai-compatible', ...server, price: free } as const;
  return buildModel(`local/${server.model}`, choice, settings, deps, PATIENT);
}

function buildModel(
  id: string,
  choice: ProviderChoice,
  settings: ModelSettings,
  deps: ChatModelDeps,
  patience: RetryPatience,
): ChatModel {
  const { timeouts } = settings;
  const { clock, logger, fetch, graceMs, bounds = DEFAULT_ANSWER_BOUNDS } = deps;
  const { random = systemTime.random, sleep = sleepFor } = deps;
  const init = {
    id,
    server: getServerName(choice),
    choice,
    timeouts,
    bounds,
    clock,
    ...(fetch !== undefined && { fetch }),
    ...(graceMs !== undefined && { graceMs }),
  };
  const report = reportOddities(id, deps);
  // The call is logged without its text, which may be private; the inspector shows the text.
  const onDropped = (why: string) =>
    logger.warn({ model: id, why }, 'A call that the model wrote into its text was not run.');
  const made = createProviderModel({ ...init, report, onDropped });
  const asked = createRetryingModel(createWindowLearningModel(made), {
    sleep,
    random,
    patience,
    logger,
  });
  const model = createBridgingModel(createOutputLimitModel(asked));
  const seeing = createVisionAwareModel(createToolLessModel(model), choice.vision);
  return createCacheWeightingModel(seeing, getCachedShare(choice));
}

function createOfflineModel(deps: ChatModelDeps, reason: OfflineReason): ChatModel {
  return createOfflineChatModel({
    reason,
    settingsFile: deps.settingsFile,
    timeZone: deps.timeZone ?? 'UTC',
    clock: deps.clock,
  });
}

/** The log contains only host and port, because a base URL may contain a password. */
function getServerName(choice: ProviderChoice): string {
  if (choice.baseUrl !== undefined) return new URL(choice.baseUrl).host;
  return choice.provider === 'anthropic' ? 'api.anthropic.com' : 'api.openai.com';
}

/** An aborted wait just ends; the call after it checks the same signal and reports the abort. */
async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

interface AutoDeps {
  readonly detect: () => Promise<LocalServer | null>;
  readonly local: (server: LocalServer) => ChatModel;
  readonly offline: ChatModel;
  readonly monotonic: Monotonic;
}

/** The automatically chosen model and its first decision. */
interface AutoModel {
  readonly model: ChatModel;
  /** The server found at startup; never rejects. */
  readonly first: Promise<LocalServer | null>;
}

/**
 * The minimum interval between searches while there is no server, in ms; only an incoming message
 * triggers a search.
 */
const RECHECK_MS = 30_000;

/**
 * Uses a local server if one runs, and otherwise the offline model. It searches at startup without
 * delaying messages, again when a message arrives while offline, and when the server that it used
 * has disappeared.
 */
export function createAutoModel(deps: AutoDeps): AutoModel {
  let current: ChatModel = deps.offline;
  let lookedAt = deps.monotonic();
  let looking: Promise<LocalServer | null> | null = null;

  const look = () => {
    looking ??= deps.detect().then((server) => {
      current = server === null ? deps.offline : deps.local(server);
      lookedAt = deps.monotonic();
      looking = null;
      return server;
    });
    return looking;
  };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const stale = current === deps.offline && deps.monotonic() - lookedAt >= RECHECK_MS;
    if (looking !== null || stale) await look();
    yield* withSecondTry(current.stream(request, signal), signal, async (failure) => {
      if (!isServerUnavailable(failure)) return null;
      await look();
      return current.stream(request, signal);
    });
  }

  const first = look();
  return {
    first,
    model: {
      get id() {
        return current.id;
      },
      get learnedTokens() {
        return current.learnedTokens ?? null;
      },
      learnTokens: (tokens) => current.learnTokens?.(tokens),
      stream,
    },
  };
}

/** Whether the server no longer responds, or no longer has the model. */
function isServerUnavailable(thrown: unknown): boolean {
  if (!(thrown instanceof ModelError)) return false;
  return thrown.failure.kind === 'unreachable' || thrown.failure.kind === 'not-found';
}
