import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { TableChange } from './changes.ts';

/** The contents of a deployment's tables, as far as changes are derived from them. */
interface ObservedTables {
  readonly conversations: ReadonlyMap<string, ConversationRow>;
  readonly messages: ReadonlyMap<number, MessageRow>;
  readonly turns: ReadonlyMap<string, TurnRow>;
  readonly parts: ReadonlyMap<string, PartRow>;
  readonly leases: ReadonlyMap<string, LeaseRow>;
  readonly deadLetters: ReadonlyMap<number, DeadLetterRow>;
  /** How often Parley has detected that the database was rolled back. */
  readonly setbacks: number;
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
  readonly notice_of: string | null;
  readonly state: string;
}

export interface LeaseRow {
  readonly name: string;
  readonly owner: string | null;
  readonly lease_until: number | null;
}

export interface DeadLetterRow {
  readonly seq: number;
  readonly subject: string;
}

const NOTHING: ObservedTables = {
  conversations: new Map(),
  messages: new Map(),
  turns: new Map(),
  parts: new Map(),
  leases: new Map(),
  deadLetters: new Map(),
  setbacks: 0,
};

/** Reads the tables of a deployment after each commit and reports the changes. */
export class Observer {
  readonly #path: string;
  /** The number of commits by all processes; without a new commit, nothing has changed. */
  readonly #commits: () => number;
  #seenCommits = -1;
  #database: DatabaseSync | undefined;
  #queries: TableQueries | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #seen: unknown;
  #changed = 0;
  #tables: ObservedTables = NOTHING;

  constructor(path: string, commits: () => number) {
    this.#path = path;
    this.#commits = commits;
  }

  /** Opens the file, or reopens it after it was replaced. */
  open(): void {
    this.close();
    this.#database = new DatabaseSync(this.#path, { readOnly: true });
    this.#queries = prepareQueries(this.#database);
    this.#seen = undefined;
    this.#seenCommits = -1;
  }

  get tables(): ObservedTables {
    return this.#tables;
  }

  /** How often the database was found changed. */
  get changed(): number {
    return this.#changed;
  }

  /** Returns the current rows of any table. */
  rows<Row>(text: string, ...values: readonly (string | number)[]): readonly Row[] {
    if (this.#database === undefined) return [];
    const statement = this.#statements.get(text) ?? this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement.all(...values) as Row[];
  }

  /** Returns the changes since the last call. */
  changes(): readonly TableChange[] {
    const queries = this.#queries;
    const commits = this.#commits();
    if (queries === undefined || commits === this.#seenCommits) return [];
    this.#seenCommits = commits;
    const { data_version: seen } = queries.version.get() ?? {};
    if (seen === this.#seen) return [];
    this.#seen = seen;
    this.#changed += 1;
    const before = this.#tables;
    this.#tables = readTables(queries);
    return findDifferences(before, this.#tables);
  }

  /** The stored message of a chat by its id on the platform. */
  messageOf(id: string, chat: string): MessageRow | undefined {
    return [...this.#tables.messages.values()].find(
      ({ message_id, conversation_id }) => message_id === id && conversation_id.includes(chat),
    );
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#queries = undefined;
    this.#statements.clear();
  }
}

type TableQueries = ReturnType<typeof prepareQueries>;

function prepareQueries(database: DatabaseSync) {
  const table = <Key, Row>(text: string, keyOf: (row: Row) => Key) =>
    new TableReader(database, text, keyOf);
  return {
    version: database.prepare('pragma data_version'),
    conversations: table(
      'select id, epoch, lease_owner, lease_until from conversation',
      ({ id }: ConversationRow) => id,
    ),
    messages: table(
      'select seq, conversation_id, message_id, state, turn_id from inbox',
      ({ seq }: MessageRow) => seq,
    ),
    turns: table('select id, conversation_id, state, attempts from turn', ({ id }: TurnRow) => id),
    parts: table(
      `select id, seq, channel || ':' || account || ':' || chat_id as chat, turn_id, state, notice_of
       from outbox order by seq`,
      ({ id }: PartRow) => id,
    ),
    leases: table('select name, owner, lease_until from lease', ({ name }: LeaseRow) => name),
    deadLetters: table('select seq, subject from dead_letter', ({ seq }: DeadLetterRow) => seq),
    setbacks: database.prepare('select setbacks from store_state'),
  };
}

/** A commit changes few tables, so the rows of the other tables are not rebuilt. */
class TableReader<Key, Row> {
  readonly #rows: StatementSync;
  /** All values of all rows as one string, which SQLite builds faster than one object per row. */
  readonly #values: StatementSync;
  readonly #keyOf: (row: Row) => Key;
  #seen: unknown;
  #known: ReadonlyMap<Key, Row> = new Map();

  constructor(database: DatabaseSync, text: string, keyOf: (row: Row) => Key) {
    this.#rows = database.prepare(text);
    const quoted = this.#rows.columns().map(({ name }) => `quote(${name})`);
    const values = `group_concat(${quoted.join(` || ',' || `)})`;
    this.#values = database.prepare(`select ${values} as text from (${text})`);
    this.#keyOf = keyOf;
  }

  read(): ReadonlyMap<Key, Row> {
    const values = this.#values.get()?.['text'];
    if (values === this.#seen) return this.#known;
    this.#seen = values;
    const rows = this.#rows.all() as readonly unknown[] as readonly Row[];
    this.#known = new Map(rows.map((row) => [this.#keyOf(row), row]));
    return this.#known;
  }
}

function readTables(queries: TableQueries): ObservedTables {
  return {
    conversations: queries.conversations.read(),
    messages: queries.messages.read(),
    turns: queries.turns.read(),
    parts: queries.parts.read(),
    leases: queries.leases.read(),
    deadLetters: queries.deadLetters.read(),
    setbacks: Number(queries.setbacks.get()?.['setbacks'] ?? 0),
  };
}

function findDifferences(before: ObservedTables, now: ObservedTables): readonly TableChange[] {
  return [
    ...(before.conversations === now.conversations ? [] : findLaneChanges(before, now)),
    ...(before.messages === now.messages ? [] : findMessageChanges(before, now)),
    ...(before.turns === now.turns ? [] : findTurnChanges(before, now)),
    ...(before.parts === now.parts ? [] : findPartChanges(before, now)),
    ...(before.leases === now.leases ? [] : findLeaseChanges(before, now)),
    ...[...now.deadLetters.values()]
      .filter(({ seq }) => !before.deadLetters.has(seq))
      .map(({ seq, subject }): TableChange => ({ kind: 'dead-letter', id: seq, of: subject })),
  ];
}

function findLeaseChanges(before: ObservedTables, now: ObservedTables): TableChange[] {
  return [...now.leases.values()].flatMap(({ name, owner, lease_until }): TableChange[] => {
    const old = before.leases.get(name);
    if (old?.owner === owner && old.lease_until === lease_until) return [];
    return [{ kind: 'lease', name, holder: owner, until: lease_until ?? 0 }];
  });
}

function findLaneChanges(before: ObservedTables, now: ObservedTables): TableChange[] {
  return [...now.conversations.values()].flatMap((row): TableChange[] => {
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

function findMessageChanges(before: ObservedTables, now: ObservedTables): TableChange[] {
  const changed = [...now.messages.values()].flatMap((row): TableChange[] => {
    const old = before.messages.get(row.seq);
    const { conversation_id: conversation, seq: message, state: to, turn_id: turn } = row;
    const accepted: TableChange[] =
      old === undefined ? [{ kind: 'accepted', conversation, message }] : [];
    const from = old?.state ?? 'waiting';
    // A turn that takes over the messages of another turn claims them as well.
    if (from === to && (old?.turn_id ?? null) === turn) return accepted;
    return [...accepted, { kind: 'message', conversation, message, from, to, turn }];
  });
  const removed = [...before.messages.values()]
    .filter(({ seq }) => !now.messages.has(seq))
    .map(
      ({
        conversation_id: conversation,
        seq: message,
        state: from,
        turn_id: turn,
      }): TableChange => {
        return { kind: 'message', conversation, message, from, to: 'removed', turn };
      },
    );
  return [...changed, ...removed];
}

function findTurnChanges(before: ObservedTables, now: ObservedTables): TableChange[] {
  return [...now.turns.values()].flatMap((row): TableChange[] => {
    const old = before.turns.get(row.id);
    if (old?.state === row.state && old.attempts === row.attempts) return [];
    const { conversation_id: conversation, id: turn, state: to, attempts } = row;
    return [{ kind: 'turn', conversation, turn, from: old?.state ?? null, to, attempts }];
  });
}

function findPartChanges(before: ObservedTables, now: ObservedTables): TableChange[] {
  const changed = [...now.parts.values()].flatMap((row): TableChange[] => {
    const old = before.parts.get(row.id);
    if (old?.state === row.state) return [];
    const { id: part, chat, seq: order, turn_id: turn, state: to } = row;
    return [{ kind: 'part', part, chat, order, turn, from: old?.state ?? null, to }];
  });
  const removed = [...before.parts.values()]
    .filter(({ id }) => !now.parts.has(id))
    .map(({ id: part, chat, seq: order, turn_id: turn, state: from }): TableChange => {
      return { kind: 'part', part, chat, order, turn, from, to: 'removed' };
    });
  return [...changed, ...removed];
}
