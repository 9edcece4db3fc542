/** The tables of the lane and the outbox, reconstructed from a trace. */
export interface TracedTables {
  readonly lanes: Map<string, TracedLane>;
  readonly messages: Map<number, TracedMessage>;
  readonly turns: Map<string, TracedTurn>;
  readonly parts: Map<string, TracedPart>;
  /**
   * The values of each row since the last sync, starting with the synced value; a power cut
   * restores one of them.
   */
  readonly sinceSync: Map<string, string[]>;
}

export interface TracedLane {
  readonly epoch: number;
  readonly holder: string | null;
  /** The process that raised the epoch; null when that happened before the trace. */
  readonly raisedBy: string | null;
}

export interface TracedMessage {
  readonly conversation: string;
  readonly state: string;
  readonly turn: string | null;
}

export interface TracedTurn {
  readonly conversation: string;
  readonly state: string;
  readonly attempts: number;
}

export interface TracedPart {
  readonly chat: string;
  readonly order: number;
  readonly turn: string | null;
  readonly state: string;
  /** Whether the part was ever marked as sending. */
  readonly wasMarked: boolean;
  /**
   * The key under which the platform first showed the part; undefined when it has not been shown.
   */
  readonly key: string | null | undefined;
  readonly timesShown: number;
  /** How often a person resent the part after it was given up. */
  readonly resends: number;
}

/** The state of a row that no longer exists. */
export const REMOVED = 'removed';

export function createEmptyTables(): TracedTables {
  return {
    lanes: new Map(),
    messages: new Map(),
    turns: new Map(),
    parts: new Map(),
    sinceSync: new Map(),
  };
}

function isUnfinished({ state }: TracedPart): boolean {
  return state === 'pending' || state === 'sending';
}

/** The id of the first unfinished part of a chat; undefined when all are finished. */
export function findFirstUnfinished({ parts }: TracedTables, chat: string): string | undefined {
  let first: { readonly id: string; readonly order: number } | undefined;
  for (const [id, part] of parts) {
    if (part.chat !== chat || !isUnfinished(part)) continue;
    if (first === undefined || part.order < first.order) first = { id, order: part.order };
  }
  return first?.id;
}

/** The messages of a conversation in a state, oldest first. */
export function listMessages(
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
export function listRunningTurns({ turns }: TracedTables, conversation: string): readonly string[] {
  const found: string[] = [];
  for (const [id, turn] of turns) {
    if (turn.conversation === conversation && turn.state === 'running') found.push(id);
  }
  return found;
}
