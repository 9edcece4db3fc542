/** The tables of the lane and the outbox as far as a trace has shown them. */
export interface TracedTables {
  readonly lanes: Map<string, Lane>;
  readonly messages: Map<number, Message>;
  readonly turns: Map<string, Turn>;
  readonly parts: Map<string, Part>;
  /** The values that rows had since the last sync, the synced one first; a power cut leads back to one of them. */
  readonly sinceSync: Map<string, string[]>;
}

export interface Lane {
  readonly epoch: number;
  readonly holder: string | null;
  /** The process that raised the epoch; null: that was before the trace. */
  readonly raisedBy: string | null;
}

export interface Message {
  readonly conversation: string;
  readonly state: string;
  readonly turn: string | null;
}

export interface Turn {
  readonly conversation: string;
  readonly state: string;
  readonly attempts: number;
}

export interface Part {
  readonly chat: string;
  readonly order: number;
  readonly turn: string | null;
  readonly state: string;
  /** It was marked as being sent at some time. */
  readonly wasMarked: boolean;
  /** The key under which the platform showed it first; undefined: it has not. */
  readonly key: string | null | undefined;
  readonly timesShown: number;
  /** How often a person had it sent again after it was given up. */
  readonly resends: number;
}

/** The state of a row that is not there. */
export const REMOVED = 'removed';

export function emptyTables(): TracedTables {
  return {
    lanes: new Map(),
    messages: new Map(),
    turns: new Map(),
    parts: new Map(),
    sinceSync: new Map(),
  };
}

function isUnfinished({ state }: Part): boolean {
  return state === 'pending' || state === 'sending';
}

/** The id of the first unfinished part of a chat; undefined: all are finished. */
export function firstUnfinished({ parts }: TracedTables, chat: string): string | undefined {
  let first: { readonly id: string; readonly order: number } | undefined;
  for (const [id, part] of parts) {
    if (part.chat !== chat || !isUnfinished(part)) continue;
    if (first === undefined || part.order < first.order) first = { id, order: part.order };
  }
  return first?.id;
}

/** The messages of a conversation in a state, oldest first. */
export function messagesIn(
  { messages }: TracedTables,
  conversation: string,
  state: string,
): readonly number[] {
  const found: number[] = [];
  for (const [id, message] of messages) {
    if (message.conversation === conversation && message.state === state) found.push(id);
  }
  return found.sort((one, other) => one - other);
}

/** The running turns of a conversation. */
export function runningTurns({ turns }: TracedTables, conversation: string): readonly string[] {
  const found: string[] = [];
  for (const [id, turn] of turns) {
    if (turn.conversation === conversation && turn.state === 'running') found.push(id);
  }
  return found;
}
