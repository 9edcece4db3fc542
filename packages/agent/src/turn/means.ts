import type { BusyPolicy, CheckRunner, JudgeHeartbeat, LiveBus, Runtime } from '@parley/core';
import type { ChatModel, SelectableModel } from '@parley/models';
import type { ContextSource, PromptAssembler, PromptMode, SentPartCache } from '@parley/prompt';
import type { WakeDelivery } from '@parley/queue';
import type { HeartbeatRun, PromptRepository, Store } from '@parley/store';
import { type ApprovalRules, alwaysNeedsApproval } from '../approvals/approval-policy.ts';
import type { Compactor } from '../context/compactor.ts';
import type { HistoryLimits } from '../context/history.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from '../loop/turn-limits.ts';
import type { MediaDeps } from '../media/read-attachment.ts';
import type { MemoryService } from '../memory/memory-service.ts';
import type { SpendGuard } from '../spend.ts';
import type { SubAgentLimits } from '../sub-agents/delegate-task.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { removeTools } from '../tools/tool-set.ts';
import type { UpkeepBounds } from '../upkeep/proposal.ts';
import type { AgentContext, Turn } from './turn.ts';
import type { TurnHook } from './turn-hooks.ts';

/**
 * The services from which prompts are built. A preview has only these services, so it cannot write.
 */
export interface PromptServices
  extends AgentContext,
    Pick<Runtime, 'log' | 'meter' | 'monotonic' | 'tracer'> {
  readonly prompt: PromptAssembler;
  /** If two sources provide the same field, the later one takes precedence. */
  readonly sources: readonly ContextSource[];
  readonly tools?: ToolRegistry;
  readonly hooks?: readonly TurnHook[];
  /** The deadline for a single hook, in ms. */
  readonly hookMs?: number;
  readonly approvals?: { readonly rules: ApprovalRules };
  /** The model that answers unless the conversation has selected another one. */
  readonly model?: Pick<ChatModel, 'id'>;
  /** The model's context window, in tokens; unlimited when absent. */
  readonly contextTokens?: (() => number) | undefined;
  /** Fixes values for the session; if it is absent, no values are fixed for later turns. */
  readonly pins?: Pick<Store['pins'], 'fix'>;
  readonly subAgentLimits?: SubAgentLimits;
}

/**
 * The services for an agent's turns, built once per worker. A feature is disabled if its service is
 * absent.
 */
export interface TurnServices extends Omit<PromptServices, 'pins'>, Runtime {
  readonly store: Store;
  readonly model: ChatModel;
  readonly history: HistoryLimits;
  readonly media: MediaDeps;
  /** Validates answers and arguments against third-party schemas. */
  readonly checks: CheckRunner;
  readonly deliver: WakeDelivery;
  readonly wake: (conversationId: string) => Promise<void>;
  readonly heartbeat: {
    readonly judge: JudgeHeartbeat;
    /** The limits for one run: its steps, and what remains of the day’s tokens. */
    readonly limits: (run: HeartbeatRun) => Promise<Partial<TurnLimits>>;
    readonly upkeep?: UpkeepBounds;
  };
  /** The approval policy (G05), and a source of unguessable codes that people type. */
  readonly approvals?: { readonly rules: ApprovalRules; readonly newCode: () => string };
  readonly memory?: Pick<MemoryService, 'saveAsked'>;
  /** Records prompts for the inspector (P17). */
  readonly prompts?: Pick<PromptRepository, 'record'>;
  readonly sentParts?: SentPartCache;
  readonly limits?: Partial<TurnLimits>;
  /** How long a question is kept while its model is unavailable, in ms; 0 to fail immediately. */
  readonly modelAwayMs?: number;
  /** The models available to `/model`, by the names that conversations store. */
  readonly modelChoices?: ReadonlyMap<string, SelectableModel>;
  readonly compactor?: Compactor | undefined;
  /** If it is absent, no caps apply (G17). */
  readonly spendGuard?: SpendGuard;
  /** How messages that arrive during a turn are handled. */
  readonly busy: BusyPolicy;
  /** The notice that ends every turn, set if no turn can be answered. */
  readonly unavailable?: FinalNotice;
}

/** The notice that a person gets instead of an answer, and the reason for the log. */
export interface FinalNotice {
  readonly notice: string;
  readonly reason: string;
}

/** What a turn with a given purpose may use for its prompt. */
export interface PromptMeans {
  readonly model?: Pick<ChatModel, 'id'> | undefined;
  readonly contextTokens?: (() => number) | undefined;
  readonly history: HistoryLimits;
  readonly sources: readonly ContextSource[];
  readonly hooks: readonly TurnHook[];
  readonly tools: ToolRegistry | undefined;
  /** The part of the layout to use; the whole layout when absent. */
  readonly mode?: PromptMode | undefined;
}

/** What a turn with a given purpose may use. */
export interface TurnMeans extends PromptMeans {
  readonly model: ChatModel;
  readonly limits: TurnLimits;
  /** The event bus for viewers of the turn. */
  readonly bus: LiveBus;
  readonly compactor?: Compactor | undefined;
}

const NO_HISTORY: HistoryLimits = { entries: 0, tokens: 0 };

/** The prompt of a chat without its history, as previews show it. */
export function createPreviewMeans(
  services: Pick<PromptServices, 'model' | 'contextTokens' | 'sources' | 'hooks' | 'tools'>,
  mode?: PromptMode,
): PromptMeans {
  const { model, contextTokens, sources, hooks = [], tools } = services;
  return { model, contextTokens, history: NO_HISTORY, sources, hooks, tools, mode };
}

/**
 * What a chat turn may use; its model is the one selected in the chat, unless the settings no
 * longer contain that model.
 */
export function createChatMeans(services: TurnServices, { model, format }: Turn): TurnMeans {
  const chosen = model ? services.modelChoices?.get(model) : undefined;
  const { sources, hooks = [], tools, history, bus, compactor } = services;
  const { model: answering, contextTokens } = chosen ?? services;
  return {
    ...{ model: answering, contextTokens, sources, hooks, tools, history, compactor },
    limits: { ...DEFAULT_TURN_LIMITS, ...services.limits },
    // JSON is not streamed; it is shown once it is known to match the format.
    bus: format === undefined ? bus : dropEvents(bus, ({ type }) => type === 'turn-delta'),
  };
}

/** How a lane's prompt differs from a chat's prompt. */
interface LanePromptOptions {
  /** A source that adds the lane's task to the prompt. */
  readonly task: ContextSource;
  /** The names of the tools that are not offered in the lane. */
  readonly withheldTools: ReadonlySet<string>;
  readonly withheldSources?: ReadonlySet<string>;
  readonly mode: PromptMode;
  readonly hasHistory: boolean;
}

/**
 * The prompt for a lane in which no person writes. The prompt is small and has neither hooks nor
 * tools that always need an approval, because no approver can be asked in such a lane.
 */
export function createLanePrompt(
  means: PromptMeans,
  { task, withheldTools, withheldSources, mode, hasHistory }: LanePromptOptions,
): PromptMeans {
  const { tools, sources, history } = means;
  return {
    ...means,
    hooks: [],
    sources: [...sources.filter(({ id }) => withheldSources?.has(id) !== true), task],
    tools: tools && {
      for(reader, lacking) {
        const all = tools.for(reader, lacking);
        return removeTools(
          all,
          (name) => withheldTools.has(name) || alwaysNeedsApproval(all.get(name)),
        );
      },
    },
    mode,
    history: hasHistory ? history : NO_HISTORY,
  };
}

/**
 * What a turn may use in a lane in which no person writes. The answer in such a lane is not
 * streamed.
 */
export function createLaneMeans(
  services: TurnServices,
  turn: Turn,
  prompt: (chat: PromptMeans) => PromptMeans,
  limits: Partial<TurnLimits>,
): TurnMeans {
  const chat = createChatMeans(services, turn);
  return {
    ...chat,
    ...prompt(chat),
    model: chat.model,
    limits: { ...chat.limits, ...limits },
    bus: dropEvents(services.bus, () => true),
  };
}

function dropEvents(
  bus: LiveBus,
  isDropped: (event: Parameters<LiveBus['publish']>[0]) => boolean,
): LiveBus {
  return {
    publish: (event) => (isDropped(event) ? undefined : bus.publish(event)),
    subscribe: (listener) => bus.subscribe(listener),
  };
}

/** Lets the sources of a turn fix their values for the session; previews do not fix any. */
export function createPromptServices(services: TurnServices): PromptServices {
  return { ...services, pins: services.store.pins };
}
