import type { Database, Sql } from './database.ts';

/** Somebody an owner let in, or a linked account, and when it was last of use. Times in ms. */
export interface KnownPerson {
  /** `channel:userId`. */
  readonly personId: string;
  readonly since: number;
  /** The last day on which they used the model (`2026-11-21`); null: none is known. */
  readonly lastDay: string | null;
}

/** A tool call of a turn that has ended, as its journal has it. */
export interface JournalledWrite {
  readonly tool: string;
  /** The arguments as the model wrote them: JSON, unchecked. */
  readonly input: string;
  readonly conversationId: string;
  readonly at: number;
  /** Who approved it; null where no person was asked. */
  readonly approvedBy: string | null;
}

/** Bounds the look into journals: the newest turns are what matters. */
const MOST_TURNS = 1_000;

/** What `parley audit` asks the database. It only reads, and nothing on the message path uses it. */
export type AuditRepository = ReturnType<typeof auditRepository>;

export function auditRepository(database: Database) {
  return {
    /** Everybody an owner let in by a code. */
    letIn: (): Promise<readonly KnownPerson[]> =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('let_in')
          .select(['channel', 'sender_id', 'let_in_at'])
          .execute();
        const people = rows.map(({ channel, sender_id, let_in_at }) => ({
          personId: `${channel}:${sender_id}`,
          since: let_in_at,
        }));
        return withLastDay(sql, people);
      }),

    /** All accounts that are linked. */
    linked: (): Promise<readonly KnownPerson[]> =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('person_link')
          .select(['person_id', 'linked_at'])
          .orderBy('person_id')
          .execute();
        const people = rows.map(({ person_id, linked_at }) => ({
          personId: person_id,
          since: linked_at,
        }));
        return withLastDay(sql, people);
      }),

    /** Successful calls of these tools in turns that ended since then, newest first. */
    writes: (tools: readonly string[], since: number) =>
      database.read((sql) => writesSince(sql, tools, since)),
  };
}

async function withLastDay(
  sql: Sql,
  people: readonly Omit<KnownPerson, 'lastDay'>[],
): Promise<readonly KnownPerson[]> {
  if (people.length === 0) return [];
  const ids = people.map(({ personId }) => personId);
  const rows = await sql
    .selectFrom('spend')
    .select(['person_id', (eb) => eb.fn.max('day').as('day')])
    .where('person_id', 'in', ids)
    .groupBy('person_id')
    .execute();
  const days = new Map(rows.map(({ person_id, day }) => [person_id, day]));
  return people.map((person) => ({ ...person, lastDay: days.get(person.personId) ?? null }));
}

async function writesSince(
  sql: Sql,
  tools: readonly string[],
  since: number,
): Promise<readonly JournalledWrite[]> {
  const turns = await sql
    .selectFrom('turn')
    .select(['id', 'conversation_id'])
    .where('finished_at', '>=', since)
    .orderBy('finished_at', 'desc')
    .limit(MOST_TURNS)
    .execute();
  if (turns.length === 0) return [];
  const ids = turns.map(({ id }) => id);
  const conversations = new Map(turns.map((turn) => [turn.id, turn.conversation_id]));
  const steps = await sql
    .selectFrom('turn_step')
    .select(['turn_id', 'step_index', 'content', 'created_at'])
    .where('turn_id', 'in', ids)
    .where((eb) =>
      eb.or([
        ...tools.map((tool) => eb('content', 'like', `%"name":"${tool}"%`)),
        eb('content', 'like', '{"kind":"result"%'),
      ]),
    )
    .orderBy('created_at', 'desc')
    .execute();
  const approvals = await sql
    .selectFrom('approval')
    .select(['turn_id', 'call_key', 'decided_by'])
    .where('turn_id', 'in', ids)
    .where('decided_by', 'is not', null)
    .execute();
  const deciders = new Map(approvals.map((row) => [row.call_key, row.decided_by]));
  const read = steps.map((step) => ({ ...step, content: Object(JSON.parse(step.content)) }));
  const done = new Set(
    read.flatMap(({ content }) =>
      content.kind === 'result' && content.failed === false ? [String(content.call)] : [],
    ),
  );
  return read.flatMap(({ turn_id, step_index, content, created_at }) => {
    const calls: unknown[] = Array.isArray(content.calls) ? content.calls : [];
    return calls.flatMap((call, nth) => {
      const { name, arguments: input } = Object(call);
      const key = `${turn_id}.${step_index}.${nth}`;
      if (!tools.includes(name) || !done.has(key)) return [];
      return [
        {
          tool: String(name),
          input: String(input),
          conversationId: conversations.get(turn_id) ?? '',
          at: created_at,
          approvedBy: deciders.get(key) ?? null,
        },
      ];
    });
  });
}
