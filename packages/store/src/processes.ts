import { z } from 'zod';
import { type Database, fromCheckedJson, type Sql, statement, toJson } from './database.ts';

/** What a process does: channels and web server, turns, or both. */
export type ProcessRole = 'all' | 'gateway' | 'worker';

/** Each process renews its row every few seconds; one that was not renewed for so long is gone. In ms. */
export const PROCESS_GONE_AFTER_MS = 15_000;

/** What must be alike in all processes of a deployment. */
export const ProcessFacts = z.object({
  agent: z.string(),
  /** Id in the folder itself; null where it cannot be read. */
  workspace: z.string().nullable(),
  /** A hash for each section of the settings, without secrets and what is a machine's own. */
  settings: z.record(z.string(), z.string()),
  /** How far its clock is ahead of the database's, in ms. */
  clockAheadMs: z.number(),
});

export type ProcessFacts = Readonly<z.infer<typeof ProcessFacts>>;

/** A process of the deployment as the others see it. */
export interface RunningProcess {
  readonly id: string;
  readonly role: ProcessRole;
  /** Name of its machine, and its number there. */
  readonly host: string;
  readonly pid: number;
  /** Of its web server, for example `http://127.0.0.1:7411`. */
  readonly address: string;
  readonly version: string;
  readonly startedAt: number;
  readonly facts?: ProcessFacts;
}

/** The outcome of a heartbeat of a process. */
type HeartbeatResult =
  | { readonly kind: 'noted'; readonly time: number }
  | { readonly kind: 'outdated'; readonly newer: string };

/** The processes that share this database. For people and for finding a gateway; nothing else relies on it. */
export function processRepository(
  database: Database,
  newerParley: (sql: Sql) => Promise<string | null>,
) {
  return {
    /** The time on the database's clock, in ms since 1970; on SQLite it is this machine's. */
    async time(): Promise<number> {
      return (await database.read((sql) => sql.get(TIME)))?.time ?? 0;
    },

    /**
     * Records that a process runs; rows that were not renewed for a day are removed. Resolves with the time on the
     * database's clock; or, with nothing written, with the version of a newer Parley that has changed the schema.
     */
    heartbeat: ({ facts, ...about }: RunningProcess, now: number): Promise<HeartbeatResult> =>
      database.write(async (sql) => {
        const newer = await newerParley(sql);
        if (newer !== null) return { kind: 'outdated', newer };
        sql.send(FORGET, { before: now - FORGOTTEN_AFTER_MS });
        const json = facts === undefined ? null : toJson(facts);
        const row = await sql.get(RECORD, { ...about, now, facts: json });
        return { kind: 'noted', time: row?.time ?? 0 };
      }, 'process'),

    /** The process ends. */
    async leave(id: string): Promise<void> {
      await database.change('process', LEAVE, { id });
    },

    /** Processes whose row was renewed since then (ms since 1970), the oldest first. */
    async list(since: number): Promise<readonly RunningProcess[]> {
      const rows = await database.read((sql) => sql.all(LIST, { since }));
      return rows.map(({ facts, ...about }) => ({
        ...about,
        ...(facts !== null && {
          facts: fromCheckedJson(ProcessFacts, facts, 'facts of a process'),
        }),
      }));
    },
  };
}

const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

interface Time {
  readonly time: number;
}

const CLOCK = `/*sqlite cast(unixepoch('subsec') * 1000 as integer)*/
  /*pg cast(extract(epoch from clock_timestamp()) * 1000 as float8)*/ as time` as const;

const TIME = statement(`select ${CLOCK}`).rows<Time>();

const RECORD = statement(`
  insert into process (id, role, host, pid, address, version, started_at, seen_at, facts)
  values (:id, :role, :host, :pid, :address, :version, :startedAt, :now, :facts)
  on conflict (id) do update set role = excluded.role, host = excluded.host, pid = excluded.pid,
    address = excluded.address, version = excluded.version, started_at = excluded.started_at,
    seen_at = excluded.seen_at, facts = excluded.facts
  returning ${CLOCK}`).rows<Time>();

const FORGET = statement('delete from process where seen_at < :before');

const LEAVE = statement('delete from process where id = :id');

const LIST = statement(`
  select id, role, host, pid, address, version, started_at as "startedAt", facts from process
  where seen_at >= :since order by started_at, id`).rows<
  Omit<RunningProcess, 'facts'> & { readonly facts: string | null }
>();
