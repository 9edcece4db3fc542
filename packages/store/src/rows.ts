import type { InboundMessage, PartExtras, RenderedPart, ReplyRoute, StepFacts } from '@parley/core';
import type { ConversationMode } from './modes.ts';
import type { NewPrompt } from './prompts.ts';
import type { SpendAccount } from './spend.ts';

/** An accepted inbound message, with the lane it belongs to and the route of its answer. */
export interface AdmittedMessage {
  readonly conversationId: string;
  readonly message: InboundMessage;
  readonly route: ReplyRoute;
  readonly receivedAt: number;
  /** An owner wrote it in a direct chat: decided by ingress, once and for good. */
  readonly fromOwner?: boolean;
  /** Why ingress took it, for `/why`. */
  readonly reason?: string;
  /** More of it may be on the way until then (ms): no turn takes it before (F08). */
  readonly settlesAt?: number;
  /** The trace it belongs to, in the form of `traceparent`; absent where traces are off. */
  readonly trace?: string | undefined;
}

/** A stored inbound message. `seq` grows in the order of storing and is the order of the lane. */
export interface InboxRow extends AdmittedMessage {
  readonly seq: number;
}

/** A part of an answer before it has a row; ids and keys are given by the store. */
export interface NewPart extends PartExtras {
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
}

/** The right to work on one lane: every write of a turn is refused once the epoch has moved on. */
export interface Lease {
  readonly conversationId: string;
  /** Fencing token; grows with every acquisition and with every `/stop`. */
  readonly epoch: number;
}

/** One line of the model's history. `content` is the message as the model port defines it. */
export interface TranscriptEntry {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content: unknown;
}

/** One finished step of a turn, kept so that a second run goes on after it (G16). */
export interface JournalStep {
  readonly index: number;
  readonly content: unknown;
  /** The call whose result this is: the record of its approval, if there is one, gets it, too. */
  readonly settles?: { readonly callKey: string; readonly failed: boolean };
  /** What it has used, and on whose account that is: counted with the step, whatever becomes of the turn (G17). */
  readonly spends?: { readonly account: SpendAccount; readonly usage: TurnUsage };
  /** When it was started, in ms, and its facts for `/why`. */
  readonly timing?: { readonly startedAt: number; readonly facts: StepFacts };
}

/** A message of a group that did not address the bot. `text` and `senderName` are untrusted. */
export interface GroupContextMessage {
  readonly messageId: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** The messages one turn answers. A resumed turn keeps its id, its messages and its finished steps. */
export interface ClaimedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /** Grows with `/new`; history of earlier sessions is not shown to the model. */
  readonly session: number;
  readonly resumed: boolean;
  /** How often this turn was started before; a turn that kills its worker must not run for ever. */
  readonly attempts: number;
  readonly messages: readonly InboxRow[];
  /** What the group said since its last turn, oldest first; the same whenever the turn is resumed. */
  readonly groupContext: readonly GroupContextMessage[];
  readonly steps: readonly JournalStep[];
  /** Of the conversation, now; `agent` when absent. A turn that is resumed may find another one. */
  readonly mode?: ConversationMode;
  /** The same of the model; null or absent: that of the settings. */
  readonly model?: string | null;
}

/** What the model call of a turn used, for `/status` and spending. */
export interface TurnUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars, null when the price of the model is not known. */
  readonly costUsd: number | null;
}

/** How a turn ended; `silent` has no parts, `failed` has a notice for the person. */
export interface TurnCommit {
  readonly turnId: string;
  readonly outcome: 'answered' | 'silent' | 'failed';
  /** Why, for `failed` and `silent`. */
  readonly reason?: string;
  readonly entries: readonly TranscriptEntry[];
  readonly parts: readonly NewPart[];
  /** The answer is a plan: it may be run, once, until something newer is said (G04). */
  readonly isPlan?: boolean;
  readonly usage: TurnUsage | null;
  /** On whose account the usage is (G17), as far as its steps have not been counted. */
  readonly account?: SpendAccount;
  /** The trace of the turn, for its parts. */
  readonly trace?: string | undefined;
  /** The last step of its journal: the answer, which nothing has to come back to once it is committed. */
  readonly step?: JournalStep | undefined;
  /** The prompt of the model, for people (P17). */
  readonly prompt?: NewPrompt | undefined;
  /** The turn has no group context: nothing to delete. */
  readonly hadNoGroupContext?: boolean;
  /** Releases the lane in the same transaction if nothing waits in it. */
  readonly leaves?: boolean;
}

/** `fenced`: the lease was lost; nothing was written and the work must be thrown away. */
export type CommitResult = 'committed' | 'fenced';
