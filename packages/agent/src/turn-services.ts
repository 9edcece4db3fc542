import type { BusyPolicy, CheckRunner, JudgeHeartbeat, Runtime } from '@parley/core';
import type { ChatModel, ChoosableModel } from '@parley/models';
import type { ContextSource, PromptAssembler, PromptMode, SentParts } from '@parley/prompt';
import type { WakeDelivery } from '@parley/queue';
import type { HeartbeatRun, PromptRepository, Store } from '@parley/store';
import type { ApprovalRules } from './approvals/approval-policy.ts';
import type { Compactor } from './context/compactor.ts';
import type { HistoryLimits } from './context/history.ts';
import type { TurnLimits } from './loop/turn-limits.ts';
import type { MediaDeps } from './media/read-attachment.ts';
import type { MemoryService } from './memory/memory-service.ts';
import type { SpendGuard } from './spend.ts';
import type { SubAgentLimits } from './sub-agents/delegate-task.ts';
import type { ToolRegistry } from './tools/tool-registry.ts';
import type { TurnHook } from './turn-hooks.ts';
import type { AgentContext } from './turn-opening.ts';
import type { UpkeepBounds } from './upkeep/proposal.ts';

/** What the turns of an agent work with; built once per worker. A feature that is absent is switched off. */
export interface TurnServices extends Runtime, AgentContext {
  readonly store: Store;
  readonly model: ChatModel;
  readonly prompt: PromptAssembler;
  /** Later ones win where two fill in the same field. */
  readonly sources: readonly ContextSource[];
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
  readonly tools?: ToolRegistry;
  readonly hooks?: readonly TurnHook[];
  /** How long one hook may take. */
  readonly hookMs?: number;
  /** Which calls need an approval (G05), and unguessable codes for people to type. */
  readonly approvals?: { readonly rules: ApprovalRules; readonly newCode: () => string };
  readonly memory?: Pick<MemoryService, 'saveAsked'>;
  /** Records prompts for the inspector (P17). */
  readonly prompts?: Pick<PromptRepository, 'record'>;
  /** Cache of parts that were recorded before. */
  readonly sentParts?: SentParts;
  readonly limits?: Partial<TurnLimits>;
  /** How long a question is kept while its model is away, in ms; 0: not at all. */
  readonly modelAwayMs?: number;
  readonly subAgentLimits?: SubAgentLimits;
  /** Context window of the model, in tokens; unlimited when absent. */
  readonly contextTokens?: (() => number) | undefined;
  /** Models that may be chosen with `/model`, by the names that conversations keep. */
  readonly modelChoices?: ReadonlyMap<string, ChoosableModel>;
  readonly compactor?: Compactor | undefined;
  /** Without it nothing is capped (G17). */
  readonly spendGuard?: SpendGuard;
  /** What becomes of messages during a turn; `collect` when absent. */
  readonly busy: BusyPolicy;
  /** Set where no turn can be answered: each ends with this. */
  readonly unavailable?: { readonly notice: string; readonly reason: string };
  /** How much of the layout; all of it when absent. */
  readonly promptMode?: PromptMode;
}
