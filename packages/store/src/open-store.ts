import {
  type AdapterValues,
  type Clock,
  type Logger,
  type NewId,
  silentLogger,
} from '@parley/core';
import { adapterValues } from './adapter-values.ts';
import { approvalRepository } from './approvals.ts';
import { attachmentRepository } from './attachments.ts';
import { auditRepository } from './audit.ts';
import { backlogRepository } from './backlog.ts';
import { cronJobRepository } from './cron-jobs.ts';
import { type Database, parseStoreUrl, type Sql, type StoreError, statement } from './database.ts';
import { type WatchedDatabase, watchDatabase } from './database-trouble.ts';
import { deadLetterRepository } from './dead-letters.ts';
import { decisionRepository } from './decisions.ts';
import { forgettingRepository } from './forgetting/forgetting.ts';
import { groupContextRepository } from './group-context.ts';
import { heartbeatRepository } from './heartbeats.ts';
import { transcriptRepository } from './history.ts';
import { inboxRepository } from './inbox.ts';
import { laneRepository } from './lanes.ts';
import { leaseRepository, type NamedLease } from './leases.ts';
import { linkRepository } from './links.ts';
import { memoryIndexRepository } from './memory-index.ts';
import { migrate, newerStep, refuseUnknown } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { timedIds } from './new-id.ts';
import { outboxRepository } from './outbox.ts';
import { pageSessionRepository } from './page-sessions.ts';
import { pairingRepository } from './pairing.ts';
import { pinRepository } from './pins.ts';
import type { openPostgres, PostgresLimits } from './postgres/open-postgres.ts';
import { processRepository } from './processes.ts';
import { promptRepository } from './prompts.ts';
import type { RetentionRepository } from './retention.ts';
import { soulRepository } from './souls.ts';
import { spendRepository } from './spend.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { readAppliedSteps } from './sqlite/read-schema.ts';
import { subAgentRepository } from './sub-agents.ts';
import { summaryRepository } from './summaries.ts';
import { todoRepository } from './todos.ts';
import { turnRepository } from './turns.ts';
import { whyRepository } from './why.ts';

/** Where the database is, what time it is, and how ids are made (by default from time and chance). */
export interface StoreOptions extends PostgresLimits {
  /** `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  readonly newId?: NewId;
  /** Hears of outages; absent where a command runs that fails by itself. */
  readonly log?: Logger;
}

/**
 * Opens the database, creating or migrating it first. Throws StoreError: `store-url`,
 * `store-newer`, `store-older`, `store-damaged`, `store-unwritable`, `store-full`, `store-unreachable`, …
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const address = parseStoreUrl(options.url);
  const { name } = address;
  const seen = address.dialect === 'sqlite' ? (readAppliedSteps(address.path) ?? []) : [];
  refuseUnknown(seen, MIGRATIONS, name);
  const database =
    address.dialect === 'sqlite'
      ? openSqlite(address)
      : await postgresAt({ ...options, ...address });
  try {
    if (seen.length < MIGRATIONS.length) await migrate(database, MIGRATIONS, name, options.clock);
  } catch (reason) {
    await database.close();
    throw reason;
  }
  const watched = watchDatabase(database, address, options.log ?? silentLogger);
  return storeOn(watched, options.newId ?? timedIds(options.clock));
}

/** The version of a newer Parley that has changed the schema since this one opened it; null: none has. */
async function newerParley(sql: Sql): Promise<string | null> {
  const applied = await sql.all(STEPS);
  return newerStep(applied, MIGRATIONS)?.parley_version ?? null;
}

const STEPS = statement('select number, parley_version from parley_migration').rows<{
  readonly number: number;
  readonly parley_version: string;
}>();

async function postgresAt(options: Parameters<typeof openPostgres>[0]): Promise<Database> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres(options);
}

/** The database: one repository per subject, each the only writer of its tables. */
export type Store = ReturnType<typeof storeOn>;

/** The repositories over a database that is open and migrated. */
export function storeOn(database: WatchedDatabase, newId: NewId) {
  const prompts = promptRepository(database);
  return {
    inbox: inboxRepository(database, newId),
    attachments: attachmentRepository(database),
    lanes: laneRepository(database, newId, prompts),
    summaries: summaryRepository(database),
    turns: turnRepository(database),
    approvals: approvalRepository(database, newId),
    transcript: transcriptRepository(database),
    outbox: outboxRepository(database, newId),
    deadLetters: deadLetterRepository(database),
    backlog: backlogRepository(database),
    groupContext: groupContextRepository(database),
    decisions: decisionRepository(database),
    why: whyRepository(database),
    links: linkRepository(database),
    pins: pinRepository(database),
    spend: spendRepository(database),
    todos: todoRepository(database),
    prompts,
    memories: memoryIndexRepository(database),
    forgetting: forgettingRepository(database, () => prompts.textsChanged()),
    subAgents: subAgentRepository(database, newId),
    heartbeats: heartbeatRepository(database, newId),
    cronJobs: cronJobRepository(database),
    souls: soulRepository(database),
    leases: leaseRepository(database),
    processes: processRepository(database, newerParley),
    pageSessions: pageSessionRepository(database),
    audit: auditRepository(database),
    retention: {
      last: async () => (await import('./retention.ts')).lastRetention(database),
      run: async (bounds, pace) => (await import('./retention.ts')).retain(database, bounds, pace),
      use: async (ages, now) => (await import('./storage.ts')).storageUse(database, ages, now),
    } satisfies RetentionRepository,
    pairing: pairingRepository(database, newId),
    /** What the adapter of this account must remember. */
    adapterValues: (
      channel: string,
      account: string,
      lease: NamedLease | null = null,
    ): AdapterValues => adapterValues(database, { channel, account, lease }),
    /** Resolves when the database can be read and written; rejects with a StoreError otherwise. For `/readyz`. */
    ping: () => database.check(),
    /** What queries have found to be wrong with the database as a whole; null: nothing. Asks nothing. */
    trouble: (): StoreError | null => database.trouble(),
    close: () => database.close(),
  };
}
