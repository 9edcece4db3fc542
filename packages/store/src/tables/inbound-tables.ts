import type { Attachment } from '@parley/contracts';
import type { Generated } from 'kysely';
import type { Decision } from '../decisions.ts';
import type { StoredAttachment } from '../repositories/attachment-repository.ts';
import type { TurnCommit } from '../rows.ts';
import type { Seq } from './seq.ts';

/** How a message ended: by its turn, by `/stop`, by its author, or because it was a command. */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command';

/** Inbound messages; `message` and `route` are JSON. */
export interface InboxTable {
  seq: Seq;
  conversation_id: string;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  message: string;
  route: string;
  received_at: number;
  state: 'waiting' | 'claimed' | 'done';
  turn_id: Generated<string | null>;
  outcome: Generated<InboxOutcome | null>;
  /** 1: an owner wrote it in a direct chat. */
  from_owner: Generated<number>;
  /** Why ingress took it. */
  reason: Generated<string | null>;
  /** When its burst is over and a turn may take it; null: at once. */
  settles_at: Generated<number | null>;
  /** How often its turn was ended by a later message. */
  interruptions: Generated<number>;
  /** When its turn took it. */
  claimed_at: Generated<number | null>;
  /** When it was set aside or withdrawn; of all others their turn knows. */
  done_at: Generated<number | null>;
  /** How often the platform told of it again. */
  repeats: Generated<number>;
  /** The trace it belongs to, in the form of `traceparent`. */
  trace: Generated<string | null>;
}

/** What came with a message; `bytes` is null until it is fetched, and again when it is old. */
export interface AttachmentTable {
  inbox_seq: number;
  attachment_index: number;
  channel: string;
  account: string;
  kind: Attachment['kind'];
  name: string | null;
  mime_type: string | null;
  /** In bytes: as the platform claims, and as it is once it is `ready`. */
  size: number | null;
  ref: string;
  state: StoredAttachment['state'];
  reason: Generated<string | null>;
  attempts: Generated<number>;
  not_before: number;
  text: Generated<string | null>;
  created_at: number;
  updated_at: number;
  bytes: Generated<Uint8Array | null>;
}

/** What groups said without addressing the bot; `turn_id` is null until a turn takes it. */
export interface OverheardTable {
  seq: Seq;
  conversation_id: string;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  sender_id: string;
  sender_name: string;
  text: string;
  heard_at: number;
  turn_id: Generated<string | null>;
}

/** Messages that were not taken, and why; never their text. */
export interface DecisionTable {
  seq: Seq;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  sender_id: string;
  outcome: Decision['outcome'];
  reason: string;
  decided_at: number;
  /** When it was written, as the platform says. */
  sent_at: Generated<number | null>;
}

/** What comes in: messages and their files, what was overheard, and what was not taken. */
export interface InboundTables {
  inbox: InboxTable;
  attachment: AttachmentTable;
  overheard: OverheardTable;
  decision: DecisionTable;
}
