import { DatabaseSync } from 'node:sqlite';
import type { Change } from './changes.ts';

/** What the tables of a deployment say, as far as changes are told from it. */
interface Tables {
  readonly conversations: ReadonlyMap<string, ConversationRow>;
  readonly messages: ReadonlyMap<number, MessageRow>;
  readonly turns: ReadonlyMap<string, TurnRow>;
  readonly parts: ReadonlyMap<string, PartRow>;
  readonly deadLetters: ReadonlyMap<number, DeadLetterRow>;
}

export interface ConversationRow {
  readonly id: string;
  readonly epoch: number;
  readonly lease_owner: string | null;
  readonly lease_until: number | null;
}

export interface MessageRow {
  readonly seq: number;
  readonly conversation_id: string;
  readonly message_id: string;
  readonly state: string;
  readonly turn_id: string | null;
}

export interface TurnRow {
  readonly id: string;
  readonly conversation_id: string;
  readonly state: string;
  readonly attempts: number;
}

export interface PartRow {
  readonly id: string;
  readonly seq: number;
  readonly chat: string;
  readonly turn_id: string | null;
  readonly state: string;
}

export interface DeadLetterRow {
  readonly seq: number;
  readonly subject: string;
}

const NOTHING: Tables = {
  conversations: new Map(),
  messages: new Map(),
  turns: new Map(),
  parts: new Map(),
  deadLetters: new Map(),
};

/** Reads the tables of a deployment after each commit and tells what has changed. */
export class Observer {
  readonly #path: string;
  #database: DatabaseSync | undefined;
  #seen: unknown;
  #changed = 0;
  #tables: Tables = NOTHING;

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the file, or opens it again where another one lies there. */
  open(): void {
    this.#database?.close();
    this.#database = new DatabaseSync(this.#path, { readOnly: true });
    this.#seen = undefined;
  }

  get tables(): Tables {
    return this.#tables;
  }

  /** How often the database was found changed. */
  get changed(): number {
    return this.#changed;
  }

  /** Rows of any table, as they are now. */
  rows<Row>(text: string, ...values: readonly (string | number)[]): readonly Row[] {
    return (this.#database?.prepare(text).all(...values) ?? []) as Row[];
  }

  /** What has changed since the last call. */
  changes(): readonly Change[] {
    const database = this.#database;
    if (database === undefined) return [];
    const { data_version: seen } = database.prepare('pragma data_version').get() ?? {};
    if (seen === this.#seen) return [];
    this.#seen = seen;
    this.#changed += 1;
    const before = this.#tables;
    this.#tables = readTables(database);
    return differences(before, this.#tables);
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

function readTables(database: DatabaseSync): Tables {
  const rows = <Row>(text: string): Row[] => database.prepare(text).all() as Row[];
  const byId = <Key, Row>(list: readonly Row[], id: (row: Row) => Key) =>
    new Map(list.map((row) => [id(row), row]));
  return {
    conversations: byId(
      rows<ConversationRow>('select id, epoch, lease_owner, lease_until from conversation'),
      ({ id }) => id,
    ),
    messages: byId(
      rows<MessageRow>('select seq, conversation_id, message_id, state, turn_id from inbox'),
      ({ seq }) => seq,
    ),
    turns: byId(
      rows<TurnRow>('select id, conversation_id, state, attempts from turn'),
      ({ id }) => id,
    ),
    parts: byId(
      rows<PartRow>(
        `select id, seq, channel || ':' || account || ':' || chat_id as chat, turn_id, state
         from outbox order by seq`,
      ),
      ({ id }) => id,
    ),
    deadLetters: byId(
      rows<DeadLetterRow>('select seq, subject from dead_letter'),
      ({ seq }) => seq,
    ),
  };
}

function differences(before: Tables, now: Tables): readonly Change[] {
  return [
    ...laneChanges(before, now),
    ...messageChanges(before, now),
    ...turnChanges(before, now),
    ...partChanges(before, now),
    ...[...now.deadLetters.values()]
      .filter(({ seq }) => !before.deadLetters.has(seq))
      .map(({ seq, subject }): Change => ({ kind: 'dead-letter', id: seq, of: subject })),
  ];
}

function laneChanges(before: Tables, now: Tables): Change[] {
  return [...now.conversations.values()].flatMap((row): Change[] => {
    const old = before.conversations.get(row.id);
    const isSame =
      (old?.epoch ?? 0) === row.epoch &&
      (old?.lease_owner ?? null) === row.lease_owner &&
      (old?.lease_until ?? null) === row.lease_until;
    if (isSame) return [];
    const { id: conversation, epoch, lease_owner: holder, lease_until: until } = row;
    return [{ kind: 'lane', conversation, epoch, holder, until: until ?? 0 }];
  });
}

function messageChanges(before: Tables, now: Tables): Change[] {
  const changed = [...now.messages.values()].flatMap((row): Change[] => {
    const old = before.messages.get(row.seq);
    const { conversation_id: conversation, seq: message, state: to, turn_id: turn } = row;
    const accepted: Change[] =
      old === undefined ? [{ kind: 'accepted', conversation, message }] : [];
    const from = old?.state ?? 'waiting';
    if (from === to) return accepted;
    return [...accepted, { kind: 'message', conversation, message, from, to, turn }];
  });
  const removed = [...before.messages.values()]
    .filter(({ seq }) => !now.messages.has(seq))
    .map(({ conversation_id: conversation, seq: message, state: from, turn_id: turn }): Change => {
      return { kind: 'message', conversation, message, from, to: 'removed', turn };
    });
  return [...changed, ...removed];
}

function turnChanges(before: Tables, now: Tables): Change[] {
  return [...now.turns.values()].flatMap((row): Change[] => {
    const old = before.turns.get(row.id);
    if (old?.state === row.state && old.attempts === row.attempts) return [];
    const { conversation_id: conversation, id: turn, state: to, attempts } = row;
    return [{ kind: 'turn', conversation, turn, from: old?.state ?? null, to, attempts }];
  });
}

function partChanges(before: Tables, now: Tables): Change[] {
  const changed = [...now.parts.values()].flatMap((row): Change[] => {
    const old = before.parts.get(row.id);
    if (old?.state === row.state) return [];
    const { id: part, chat, seq: order, turn_id: turn, state: to } = row;
    return [{ kind: 'part', part, chat, order, turn, from: old?.state ?? null, to }];
  });
  const removed = [...before.parts.values()]
    .filter(({ id }) => !now.parts.has(id))
    .map(({ id: part, chat, seq: order, turn_id: turn, state: from }): Change => {
      return { kind: 'part', part, chat, order, turn, from, to: 'removed' };
    });
  return [...changed, ...removed];
}
