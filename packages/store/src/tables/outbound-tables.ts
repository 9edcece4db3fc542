import type { ColumnType, Generated } from 'kysely';
import type { PartState } from '../outbox.ts';

/** Outbound parts; `route` and `body` are JSON, the chat's columns repeat the route for the index. */
export interface OutboxTable {
  /** A part that is sent once more takes a new one. */
  seq: ColumnType<number, never, number>;
  id: string;
  idempotency_key: string;
  turn_id: string | null;
  part_index: number | null;
  /** The part whose fate this one tells. */
  notice_of: string | null;
  channel: string;
  account: string;
  chat_id: string;
  route: string;
  body: string;
  state: PartState;
  attempts: Generated<number>;
  not_before: number;
  error: Generated<string | null>;
  platform_message_id: Generated<string | null>;
  /** Epoch of the lease under which it is being sent; 0 where no lease is needed. */
  sender: Generated<number | null>;
  created_at: number;
  updated_at: number;
  /** When it was first given to the platform, and when last. */
  tried_at: Generated<number | null>;
  sending_at: Generated<number | null>;
  sent_at: Generated<number | null>;
  /** One line for each time it was put off: until when, and why. */
  retries: Generated<string | null>;
  /** The message (its `seq`) that it answers, where no turn does. */
  answers: Generated<number | null>;
  /** The trace it belongs to, in the form of `traceparent`. */
  trace: Generated<string | null>;
}

/** What adapters remember; `value` is theirs to understand. */
export interface AdapterValueTable {
  channel: string;
  account: string;
  kind: string;
  id: string;
  value: string;
}

/** What goes out, and what the adapters keep for it. */
export interface OutboundTables {
  outbox: OutboxTable;
  adapter_value: AdapterValueTable;
}
