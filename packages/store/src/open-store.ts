import { type Clock, type Logger, type NewId, silentLogger } from '@parley/contracts';
import { backlogRepository } from './backlog.ts';
import type { Database, Sql } from './database.ts';
import { type WatchedDatabase, watchDatabase } from './database-trouble.ts';
import { decisionRepository } from './decisions.ts';
import { linkRepository } from './links.ts';
import { memoryIndexRepository } from './memory-index.ts';
import { migrate, newerStep, refuseNewer } from './migrate.ts';
import { hasAllSteps } from './migrations/has-all-steps.ts';
import type { Migration } from './migrations.ts';
import { timedIds } from './new-id.ts';
import { pageSessionRepository } from './page-sessions.ts';
import { pairingRepository } from './pairing.ts';
import type { openPostgres, PostgresLimits } from './postgres/open-postgres.ts';
import { adapterValues } from './repositories/adapter-values.ts';
import { approvalRepository } from './repositories/approval-repository.ts';
import { attachmentRepository } from './repositories/attachment-repository.ts';
import { auditRepository } from './repositories/audit-repository.ts';
import { cronJobRepository } from './repositories/cron-job-repository.ts';
import { deadLetterRepository } from './repositories/dead-letter-repository.ts';
import { forgettingRepository } from './repositories/forgetting-repository.ts';
import { heartbeatRepository } from './repositories/heartbeat-repository.ts';
import { inboxRepository } from './repositories/inbox-repository.ts';
import { laneRepository } from './repositories/lane-repository.ts';
import { leaseRepository } from './repositories/lease-repository.ts';
import { outboxRepository } from './repositories/outbox-repository.ts';
import { overheardRepository } from './repositories/overheard-repository.ts';
import { pinRepository } from './repositories/pin-repository.ts';
import { processRepository } from './repositories/process-repository.ts';
import { promptRepository } from './repositories/prompt-repository.ts';
import { soulRepository } from './repositories/soul-repository.ts';
import { spendRepository } from './repositories/spend-repository.ts';
import { subAgentRepository } from './repositories/sub-agent-repository.ts';
import { summaryRepository } from './repositories/summary-repository.ts';
import { todoRepository } from './repositories/todo-repository.ts';
import { transcriptRepository } from './repositories/transcript-repository.ts';
import { turnRepository } from './repositories/turn-repository.ts';
import { whyOnDemand } from './repositories/why-on-demand.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { readAppliedSteps } from './sqlite/read-schema.ts';
import { statement } from './statement.ts';
import type { Store } from './store.ts';
import { parseStoreUrl } from './store-url.ts';

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
 * `store-newer`, `store-damaged`, `store-unwritable`, `store-full`, `store-unreachable`, …
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const address = parseStoreUrl(options.url);
  const { name } = address;
  const seen = address.dialect === 'sqlite' ? (readAppliedSteps(address.path) ?? []) : [];
  const migrations = hasAllSteps(seen) ? null : await loadMigrations();
  if (migrations !== null) refuseNewer(seen, migrations, name);
  const database =
    address.dialect === 'sqlite'
      ? openSqlite(address)
      : await postgresAt({ ...options, ...address });
  try {
    if (migrations !== null) await migrate(database, migrations, name, options.clock);
  } catch (reason) {
    await database.close();
    throw reason;
  }
  const watched = watchDatabase(database, address, options.log ?? silentLogger);
  return storeOn(watched, options.newId ?? timedIds(options.clock));
}

/** One file for each step: most starts find nothing to do, and need none of them. */
/** The version of a newer Parley that has changed the schema since this one opened it; null: none has. */
async function newerParley(sql: Sql): Promise<string | null> {
  const applied = await sql.all(STEPS);
  return newerStep(applied, await loadMigrations())?.parley_version ?? null;
}

const STEPS = statement('select number, parley_version from parley_migration').rows<{
  readonly number: number;
  readonly parley_version: string;
}>();

async function loadMigrations(): Promise<readonly Migration[]> {
  return (await import('./migrations.ts')).MIGRATIONS;
}

async function postgresAt(options: Parameters<typeof openPostgres>[0]): Promise<Database> {
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  return openPostgres(options);
}

/** The repositories over a database that is open and migrated. */
export function storeOn(database: WatchedDatabase, newId: NewId): Store {
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
    overheard: overheardRepository(database),
    decisions: decisionRepository(database),
    why: whyOnDemand(database),
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
    },
    pairing: pairingRepository(database, newId),
    adapterValues: (channel, account) => adapterValues(database, channel, account),
    ping: () => database.check(),
    trouble: () => database.trouble(),
    close: () => database.close(),
  };
}
