import type { BusyPolicy, CheckRunner, JudgeHeartbeat, LiveBus, Runtime } from '@parley/core';
import type { ChatModel, ChoosableModel } from '@parley/models';
import type { ContextSource, PromptAssembler, PromptMode, SentParts } from '@parley/prompt';
import type { WakeDelivery } from '@parley/queue';
import type { HeartbeatRun, PromptRepository, Store } from '@parley/store';
import { type ApprovalRules, asksAlways } from '../approvals/approval-policy.ts';
import type { Compactor } from '../context/compactor.ts';
import type { HistoryLimits } from '../context/history.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from '../loop/turn-limits.ts';
import type { MediaDeps } from '../media/read-attachment.ts';
import type { MemoryService } from '../memory/memory-service.ts';
import type { SpendGuard } from '../spend.ts';
import type { SubAgentLimits } from '../sub-agents/delegate-task.ts';
import { type ToolRegistry, withoutTools } from '../tools/tool-registry.ts';
import type { UpkeepBounds } from '../upkeep/proposal.ts';
import type { AgentContext, Turn } from './turn.ts';
import type { TurnHook } from './turn-hooks.ts';

/** The services from which prompts are built. A preview has no more, so it cannot write. */
export interface PromptServices
  extends AgentContext,
    Pick<Runtime, 'log' | 'meter' | 'monotonic' | 'tracer'> {
  readonly prompt: PromptAssembler;
  /** Later ones win where two fill in the same field. */
  readonly sources: readonly ContextSource[];
  readonly tools?: ToolRegistry;
  readonly hooks?: readonly TurnHook[];
  /** The deadline of one hook, in ms. */
  readonly hookMs?: number;
  readonly approvals?: { readonly rules: ApprovalRules };
  /** The model that answers unless the conversation has chosen another. */
  readonly model?: Pick<ChatModel, 'id'>;
  /** Context window of the model, in tokens; unlimited when absent. */
  readonly contextTokens?: (() => number) | undefined;
  /** Without it the prompt belongs to no session and fixes nothing for later turns. */
  readonly pins?: Pick<Store['pins'], 'fix'>;
  readonly subAgentLimits?: SubAgentLimits;
}

/** The services of the turns of an agent; built once per worker. A feature that is absent is switched off. */
export interface TurnServices extends Omit<PromptServices, 'pins'>, Runtime {
  readonly store: Store;
  readonly model: ChatModel;
  readonly history: HistoryLimits;
  readonly media: MediaDeps;
  /** Checks answers and arguments by schemas from outside. */
  readonly checks: CheckRunner;
  /** Wakes the delivery of a chat. */
  readonly deliver: WakeDelivery;
  /** Wakes a lane. */
  readonly wake: (conversationId: string) => Promise<void>;
  readonly heartbeat: {
    readonly judge: JudgeHeartbeat;
    /** Limits of one run: its steps, and what is left of the day’s tokens. */
    readonly limits: (run: HeartbeatRun) => Promise<Partial<TurnLimits>>;
    readonly upkeep?: UpkeepBounds;
  };
  /** Which calls need an approval (G05), and unguessable codes for people to type. */
  readonly approvals?: { readonly rules: ApprovalRules; readonly newCode: () => string };
  readonly memory?: Pick<MemoryService, 'saveAsked'>;
  /** Records prompts for the inspector (P17). */
  readonly prompts?: Pick<PromptRepository, 'record'>;
  /** Cache of parts that were recorded before. */
  readonly sentParts?: SentParts;
  readonly limits?: Partial<TurnLimits>;
  /** The time for which a question is kept while its model is away, in ms; 0: not at all. */
  readonly modelAwayMs?: number;
  /** Models that may be chosen with `/model`, by the names that conversations keep. */
  readonly modelChoices?: ReadonlyMap<string, ChoosableModel>;
  readonly compactor?: Compactor | undefined;
  /** Without it nothing is capped (G17). */
  readonly spendGuard?: SpendGuard;
  /** The handling of messages that arrive during a turn. */
  readonly busy: BusyPolicy;
  /** Set where no turn can be answered: each ends with this. */
  readonly unavailable?: FinalNotice;
}

/** The notice that a person reads instead of an answer, and the reason for the log. */
export interface FinalNotice {
  readonly notice: string;
  readonly reason: string;
}

/** The means of a turn of its purpose for its prompt. */
export interface PromptMeans {
  readonly model?: Pick<ChatModel, 'id'> | undefined;
  readonly contextTokens?: (() => number) | undefined;
  readonly history: HistoryLimits;
  readonly sources: readonly ContextSource[];
  readonly hooks: readonly TurnHook[];
  readonly tools: ToolRegistry | undefined;
  /** The part of the layout; all of it when absent. */
  readonly mode?: PromptMode | undefined;
}

/** The means of a turn of its purpose. */
export interface Means extends PromptMeans {
  readonly model: ChatModel;
  readonly limits: TurnLimits;
  /** The bus on which people watch the turn. */
  readonly bus: LiveBus;
  readonly compactor?: Compactor | undefined;
}

const NO_HISTORY: HistoryLimits = { entries: 0, tokens: 0 };

/** The prompt of a chat without its history, as previews show it. */
export function previewMeans(
  services: Pick<PromptServices, 'model' | 'contextTokens' | 'sources' | 'hooks' | 'tools'>,
  mode?: PromptMode,
): PromptMeans {
  const { model, contextTokens, sources, hooks = [], tools } = services;
  return { model, contextTokens, history: NO_HISTORY, sources, hooks, tools, mode };
}

/** The means of a chat: with the model that was chosen there, unless the settings no longer know it. */
export function chatMeans(services: TurnServices, { model, format }: Turn): Means {
  const chosen = model ? services.modelChoices?.get(model) : undefined;
  const { sources, hooks = [], tools, history, bus, compactor } = services;
  const { model: answering, contextTokens } = chosen ?? services;
  return {
    ...{ model: answering, contextTokens, sources, hooks, tools, history, compactor },
    limits: { ...DEFAULT_TURN_LIMITS, ...services.limits },
    // JSON is shown once it is known to fit.
    bus: format === undefined ? bus : withoutEvents(bus, ({ type }) => type === 'turn-delta'),
  };
}

/** The differences of a lane's prompt from that of a chat. */
interface LanePrompt {
  /** Puts the task of the lane into its prompt. */
  readonly task: ContextSource;
  /** Names of tools that the lane has no use for. */
  readonly withheldTools: ReadonlySet<string>;
  readonly withheldSources?: ReadonlySet<string>;
  readonly mode: PromptMode;
  readonly hasHistory: boolean;
}

/**
 * The prompt of a lane in which no person writes: small, without hooks, and without tools that always need an approval,
 * since no approver can be asked there.
 */
export function lanePrompt(
  means: PromptMeans,
  { task, withheldTools, withheldSources, mode, hasHistory }: LanePrompt,
): PromptMeans {
  const { tools, sources, history } = means;
  return {
    ...means,
    hooks: [],
    sources: [...sources.filter(({ id }) => withheldSources?.has(id) !== true), task],
    tools: tools && {
      for(reader, lacking) {
        const all = tools.for(reader, lacking);
        return withoutTools(all, (name) => withheldTools.has(name) || asksAlways(all.get(name)));
      },
    },
    mode,
    history: hasHistory ? history : NO_HISTORY,
  };
}

/** The means of a lane in which no person writes; its answer is not shown while it grows. */
export function laneMeans(
  services: TurnServices,
  turn: Turn,
  prompt: (chat: PromptMeans) => PromptMeans,
  limits: Partial<TurnLimits>,
): Means {
  const chat = chatMeans(services, turn);
  return {
    ...chat,
    ...prompt(chat),
    model: chat.model,
    limits: { ...chat.limits, ...limits },
    bus: withoutEvents(services.bus, () => true),
  };
}

function withoutEvents(
  bus: LiveBus,
  isDropped: (event: Parameters<LiveBus['publish']>[0]) => boolean,
): LiveBus {
  return {
    publish: (event) => (isDropped(event) ? undefined : bus.publish(event)),
    subscribe: (listener) => bus.subscribe(listener),
  };
}

/** The sources of a turn fix what they chose; a preview’s do not. */
export function promptServices(services: TurnServices): PromptServices {
  return { ...services, pins: services.store.pins };
}
