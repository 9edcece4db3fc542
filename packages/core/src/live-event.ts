import type { OutboundPart, ReplyRoute } from './channel.ts';

/**
 * Parts that a commit has just put into the outbox, all for one chat and in their order: the delivery of
 * the same process sends them without reading them again.
 */
export interface FreshParts {
  readonly parts: readonly OutboundPart[];
  /** Of the commit, in ms. */
  readonly createdAt: number;
  readonly trace?: string | undefined;
}

/**
 * Signals that make waiting pleasant, stopping quick and sending prompt. They may be lost at any time:
 * truth is in the tables, a sweep finds what is due, and nothing is decided by a live event alone.
 */
export type LiveEvent =
  | {
      readonly type: 'turn-started';
      readonly conversationId: string;
      readonly turnId: string;
      readonly route: ReplyRoute;
    }
  | {
      readonly type: 'turn-delta';
      readonly conversationId: string;
      readonly turnId: string;
      /** Markdown that follows what earlier deltas of this step of the turn brought. */
      readonly text: string;
      /** Which step, from 0 (when absent). What earlier steps said, before tools, is no part of the answer. */
      readonly step?: number;
      /** The message that the answer quotes, where it has chosen one (G10); all deltas of a step say the same. */
      readonly replyToMessageId?: string;
    }
  | {
      readonly type: 'turn-ended';
      readonly conversationId: string;
      readonly turnId: string;
      /** `fenced`: another worker has the lane. `handed-back`: a later run resumes it. `suspended`: once a person has decided. `interrupted`: the next turn answers its messages, too. */
      readonly outcome:
        | 'answered'
        | 'silent'
        | 'stopped'
        | 'failed'
        | 'fenced'
        | 'handed-back'
        | 'interrupted'
        | 'suspended';
    }
  | { readonly type: 'stop-turn'; readonly conversationId: string }
  /** A person has written where a running turn may be ended by that (D03). */
  | { readonly type: 'message-waiting'; readonly conversationId: string }
  /** A chat has parts to send: for the gateway that is connected as the account. */
  | {
      readonly type: 'delivery-due';
      readonly channel: string;
      readonly account: string;
      readonly chatId: string;
      /** Within the process that committed them; other processes read the outbox. */
      readonly fresh?: FreshParts | undefined;
    }
  /** Something was planned: the named schedule is looked at. */
  | { readonly type: 'schedule-due'; readonly schedule: string };

/** Publish and subscribe for live events: an emitter in one process, a relay between machines. */
export interface LiveBus {
  publish(event: LiveEvent): void;
  /** Returns the function that ends the subscription. A listener that throws is logged, not fatal. */
  subscribe(listener: (event: LiveEvent) => void): () => void;
}
