/** An object of the Web API with unchecked fields. */
export type Json = Readonly<Record<string, unknown>>;

/** A Block Kit block; every block of a message has an id. */
export interface WireBlock extends Json {
  readonly type: string;
  readonly block_id?: string;
}

export interface WireFile extends Json {
  readonly id: string;
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
  readonly url_private: string;
}

export interface WireReaction {
  readonly name: string;
  readonly users: readonly string[];
  readonly count: number;
}

/** A message as returned by `conversations.history`; events add `channel` and `channel_type`. */
export interface WireMessage extends Json {
  readonly type: 'message';
  readonly subtype?: string;
  readonly ts: string;
  readonly text: string;
  readonly user?: string;
  readonly bot_id?: string;
  readonly thread_ts?: string;
  readonly parent_user_id?: string;
  readonly blocks?: readonly WireBlock[];
  readonly files?: readonly WireFile[];
  readonly reactions?: readonly WireReaction[];
  readonly edited?: { readonly user: string; readonly ts: string };
}

/** Whether a value is an object other than an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the objects of a list; empty when the value is not a list. */
export function toRecords(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
