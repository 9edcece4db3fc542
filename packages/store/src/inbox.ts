import type { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { ApprovalVerdict } from './approvals.ts';
import type { Resend } from './dead-letters.ts';
import type { LinkAction, LinkAsker, LinkResult } from './links.ts';
import type { ConversationMode, ModeChange, PlanRun } from './modes.ts';
import type { ChatKey } from './outbox.ts';
import type { PairingRequest } from './pairing.ts';
import type { AdmittedMessage, InboxRow, NewPart } from './rows.ts';

/** What a command does to its conversation in the transaction that stores it. */
export type CommandEffect =
  | { readonly kind: 'none' }
  /** `/new`: later turns start with an empty history. */
  | { readonly kind: 'new-session' }
  /**
   * `/stop`: fences the running turn (its epoch is passed), marks it stopped and sets aside every
   * message stored before the command. With `senderId` only what that person alone asked for.
   */
  | { readonly kind: 'stop'; readonly senderId?: string }
  /** `/pair`: lets the sender of the code in (null: nobody), and finds who waits. */
  | { readonly kind: 'pair'; readonly code: string | null }
  | { readonly kind: 'mode'; readonly to: ConversationMode | null }
  /** `/run`; `plan` as its button names it (null: the newest), `text` is what the message says that runs it. */
  | {
      readonly kind: 'run-plan';
      readonly plan: string | null;
      readonly text: string;
    }
  /** `/approve` and `/deny`; without a code nothing is decided. `by` is the person: `telegram:42`. */
  | {
      readonly kind: 'decide';
      readonly code: string | null;
      readonly verdict: 'approved' | 'denied';
      readonly by: string;
    }
  /**
   * `/resend`: a part of this chat that may have arrived is sent again. `key` is its idempotency key (null: the
   * newest such part). With `senderId` only if it answers that person.
   */
  | { readonly kind: 'resend'; readonly key: string | null; readonly senderId?: string }
  | { readonly kind: 'link'; readonly asker: LinkAsker; readonly action: LinkAction };

/** What a command's effect found, so that the answer can say it. */
export interface CommandResult {
  readonly duplicate: boolean;
  /** A turn was running (or waiting to be resumed) and is now stopped. */
  readonly stoppedTurn: string | null;
  /** Messages that waited and were set aside. */
  readonly setAside: number;
  /** Of `/stop` and `/new`: the lanes of the sub-agents that ran and are now stopped. */
  readonly stoppedSubAgents?: readonly string[];
  /** Of `/pair`: who was let in, and who waits still. */
  readonly pairing?: {
    readonly approved: PairingRequest | null;
    readonly pending: readonly PairingRequest[];
  };
  /** Of `/mode`. */
  readonly mode?: ModeChange;
  /** Of `/run`. */
  readonly plan?: PlanRun;
  /** Of `/approve` and `/deny`. */
  readonly approval?: ApprovalVerdict;
  /** Of `/resend`. */
  readonly resend?: Resend;
  /** Of `/link`. */
  readonly link?: LinkResult;
}

/** Names a message as its platform does. */
export interface MessageKey extends ChatKey {
  readonly messageId: string;
}

/** The durable stop between ingress and lane. Written by ingress; rows are closed by the lane. */
export interface InboxRepository {
  /**
   * Stores a message unless (channel, account, chat id, message id) is known (D01, F08).
   * Creates the conversation on first contact. Durable when it resolves. `full`: `room` messages of
   * the conversation wait already (D07), and this one is not stored; a known one is never refused.
   */
  accept(admitted: AdmittedMessage, room?: number): Promise<'stored' | 'duplicate' | 'full'>;
  /**
   * Stores a command as done, applies its effect and puts its answer into the outbox, all in one
   * transaction. `answer` is called inside it with what the effect found.
   */
  command(
    admitted: AdmittedMessage,
    effect: CommandEffect,
    answer: (result: CommandResult) => readonly NewPart[],
  ): Promise<CommandResult>;
  /**
   * Changes a message that waits for its turn, or withdraws it (null): its author did. False when it
   * is not known or its turn has begun.
   */
  revise(key: MessageKey, message: InboundMessage | null): Promise<boolean>;
  /** Where an owner last wrote in a direct chat; null when none ever did. */
  ownerRoute(): Promise<ReplyRoute | null>;
  /**
   * The last message of each direct chat in which an owner wrote lately (among the newest 200 such
   * messages), newest first. Whether its sender is an owner still is not known here.
   */
  ownerChats(): Promise<readonly InboxRow[]>;
  /** How many messages of all conversations wait for a turn. */
  waitingInAll(): Promise<number>;
  /** How many messages of a conversation wait for a turn. */
  waiting(conversationId: string): Promise<number>;
  /** What a chat wrote, oldest first, the newest `limit` rows; for the web history. */
  recent(
    chat: { channel: string; account: string; chatId: string },
    limit: number,
  ): Promise<readonly (InboxRow & { readonly outcome: string | null })[]>;
}
