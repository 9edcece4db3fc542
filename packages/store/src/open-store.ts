import { randomBytes } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type AdapterValues,
  type Clock,
  type Logger,
  type NewId,
  reasonOf,
  silentLogger,
} from '@parley/core';
import { pageSessionRepository, pairingRepository, signInRepository } from './access.ts';
import { accountPauseRepository, seenGroupRepository } from './accounts.ts';
import { agentFileRepository } from './agent-files.ts';
import { approvalRepository } from './approvals.ts';
import { attachmentRepository } from './attachments.ts';
import { conversationViews } from './conversation-views.ts';
import { cronJobRepository } from './cron-jobs.ts';
import {
  type Database,
  IN_MEMORY,
  parseStoreUrl,
  type Sql,
  type StoreAddress,
  StoreError,
  type StoreErrorCode,
  statement,
} from './database.ts';
import { deadLetterRepository } from './dead-letters.ts';
import { decisionRepository, whyRepository } from './decisions.ts';
import { filesFolderOf } from './files/folder-bytes.ts';
import { storedFiles } from './files/stored-files.ts';
import { forgettingRepository } from './forgetting/forgetting.ts';
import { groupContextRepository } from './group-context.ts';
import { heartbeatRepository } from './heartbeats.ts';
import { transcriptRepository } from './history.ts';
import { inboxRepository } from './inbox.ts';
import { laneRepository } from './lanes.ts';
import { linkRepository } from './links.ts';
import { memoryIndexRepository } from './memory-index.ts';
import { messageAnswers } from './message-answers.ts';
import {
  MIGRATIONS,
  migrate,
  newerStep,
  readAppliedSteps,
  refuseEmptyFile,
  refuseEmptyServer,
  refuseUnknown,
} from './migrate.ts';
import { outboxRepository } from './outbox.ts';
import type { PostgresLimits } from './postgres/open-postgres.ts';
import { adapterValues, leaseRepository, type NamedLease, processRepository } from './processes.ts';
import { promptRepository } from './prompts.ts';
import { reactionRepository } from './reactions.ts';
import { auditRepository, backlogRepository } from './reports.ts';
import type { RetentionRepository } from './retention.ts';
import { pinRepository, summaryRepository, todoRepository } from './sessions.ts';
import type { SharedClock } from './shared-clock.ts';
import { shownQuestions } from './shown-questions.ts';
import { soulRepository } from './souls.ts';
import { spendRepository } from './spend.ts';
import { explainSqliteFailure, openSqlite } from './sqlite/open-sqlite.ts';
import { type StateDeps, type StoreMark, StoreState } from './store-state.ts';
import { subAgentRepository } from './sub-agents.ts';
import { turnRepository } from './turns.ts';
import type { UsageRepository } from './usage.ts';

/** Where the database is, what time it is, and how ids are made (by default from time and chance). */
export interface StoreOptions extends PostgresLimits {
  /** `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** For tests on PostgreSQL: the clock of leases, in the place of the server's. */
  readonly sharedClock?: Clock;
  /** For tests in memory: a database that has its tables already, as SQLite serializes it. */
  readonly content?: Uint8Array;
  readonly newId?: NewId;
  /** What this process has to do with a database that has gone back in time; absent where a command runs. */
  readonly state?: StateOptions;
  /** Hears of outages; absent where a command runs that fails by itself. */
  readonly log?: Logger;
}

interface StateOptions extends Pick<StateDeps, 'forget' | 'onSetback'> {
  /** What was seen of this database before; null: it is new, as far as is known. */
  readonly seen: StoreMark | null;
}

/**
 * Opens the database, creating or migrating it first. Throws StoreError: `store-url`, `store-missing` where one was
 * seen before and there is an empty one now, `store-newer`, `store-older`, `store-damaged`, `store-unwritable`, `store-full`, `store-unreachable`, …
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const address = parseStoreUrl(options.url);
  const { name } = address;
  const isKnown = options.state !== undefined && options.state.seen !== null;
  if (isKnown && address.dialect === 'sqlite') refuseEmptyFile(address.path, name);
  const seen = address.dialect === 'sqlite' ? (readAppliedSteps(address.path) ?? []) : [];
  refuseUnknown(seen, MIGRATIONS, name);
  const database =
    address.dialect === 'sqlite'
      ? openSqlite({ ...address, content: options.content })
      : await (await import('./postgres/open-postgres.ts')).openPostgres({
          ...options,
          ...address,
        });
  try {
    if (isKnown && address.dialect === 'postgres') await refuseEmptyServer(database, name);
    if (seen.length < MIGRATIONS.length) await migrate(database, MIGRATIONS, name, options.clock);
  } catch (reason) {
    await database.close();
    throw reason;
  }
  const watched = watchDatabase(database, address, options.log ?? silentLogger);
  const { clock, sharedClock = address.dialect === 'sqlite' ? clock : () => null } = options;
  const newId = options.newId ?? timedIds(clock);
  const { seen: before = null, forget = [], onSetback = () => {} } = options.state ?? {};
  const state = new StoreState(watched, { clock, newId, forget, onSetback });
  if (before !== null) state.expect(before);
  watched.onConnect((write) => state.check(write));
  return storeOn(watched, newId, { sharedClock, state, folder: filesFolderOf(address) });
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

/** The database: one repository per subject, each the only writer of its tables. */
export type Store = ReturnType<typeof storeOn>;

interface StoreParts {
  readonly sharedClock: SharedClock;
  readonly state: StoreState;
  readonly folder?: string | null;
}

/** The repositories over a database that is open and migrated. `folder`: for files; null: they are in the database. */
export function storeOn(
  database: WatchedDatabase,
  newId: NewId,
  { sharedClock, state, folder = null }: StoreParts,
) {
  const files = storedFiles(database, newId, folder);
  const prompts = promptRepository(database);
  const promptsChanged = () => prompts.textsChanged();
  const ofAgent = (agent: string | undefined) => ({
    memories: memoryIndexRepository(database, agent),
    forgetting: forgettingRepository({ database, files, folder, promptsChanged }, agent),
  });
  return {
    inbox: inboxRepository(database, newId, files),
    answers: messageAnswers(database),
    agentFiles: agentFileRepository(database, files),
    attachments: attachmentRepository(database, files),
    files,
    lanes: laneRepository(database, newId, prompts, sharedClock),
    summaries: summaryRepository(database, sharedClock),
    turns: turnRepository(database, newId),
    approvals: approvalRepository(database, newId),
    shownQuestions: shownQuestions(database),
    transcript: transcriptRepository(database),
    outbox: outboxRepository(database, newId, files),
    deadLetters: deadLetterRepository(database),
    backlog: backlogRepository(database),
    groupContext: groupContextRepository(database),
    reactions: reactionRepository(database),
    decisions: decisionRepository(database),
    why: whyRepository(database),
    conversations: conversationViews(database),
    links: linkRepository(database),
    pins: pinRepository(database),
    spend: spendRepository(database),
    todos: todoRepository(database),
    prompts,
    ...ofAgent(undefined),
    /** The same with what an agent has for itself: its memories, and what is forgotten of it (F14). */
    ofAgent,
    subAgents: subAgentRepository(database, newId),
    heartbeats: heartbeatRepository(database, newId),
    cronJobs: cronJobRepository(database),
    souls: soulRepository(database),
    state,
    leases: leaseRepository(database, sharedClock, state),
    processes: processRepository(database, newerParley, sharedClock, state),
    pageSessions: pageSessionRepository(database),
    signIns: signInRepository(database),
    audit: auditRepository(database),
    usage: {
      sums: async (query) => (await import('./usage.ts')).usageSums(database, query),
      highest: async (day) => (await import('./usage.ts')).highestSpend(database, day),
    } satisfies UsageRepository,
    retention: retentionOf(database, folder, sharedClock),
    pairing: pairingRepository(database, newId),
    seenGroups: seenGroupRepository(database),
    accountPauses: accountPauseRepository(database),
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

function retentionOf(
  database: Database,
  folder: string | null,
  sharedClock: SharedClock,
): RetentionRepository {
  return {
    last: async () => (await import('./retention.ts')).lastRetention(database),
    witnesses: async () => (await import('./retention.ts')).storeWitnesses(database, sharedClock),
    run: async (bounds, pace) => (await import('./retention.ts')).retain(database, bounds, pace),
    use: async (ages, now) =>
      (await import('./storage.ts')).storageUse(database, folder, { ages, now }),
  };
}

/** Ids that begin with the time, so that rows made together lie together in an index. */
export function timedIds(clock: Clock): NewId {
  // Asking for random bytes takes longer than anything else about an id.
  let pool = randomBytes(0);
  let used = 0;
  return (prefix) => {
    if (used === pool.length) {
      pool = randomBytes(IDS_AT_ONCE * RANDOM_BYTES);
      used = 0;
    }
    const random = pool.toString('hex', used, used + RANDOM_BYTES);
    used += RANDOM_BYTES;
    return `${prefix}_${clock().toString(36).padStart(9, '0')}${random}`;
  };
}

const RANDOM_BYTES = 8;
const IDS_AT_ONCE = 64;

/** A database and what is wrong with it now. */
interface WatchedDatabase extends Database {
  /** What stops it from working, and what to do about it; null while nothing is known to. */
  trouble(): StoreError | null;
  /** Asks the database now; rejects with what is wrong. */
  check(): Promise<void>;
}

/** SQLite needs some pages for each commit; a disk with less room than this counts as full. */
const LEAST_ROOM_BYTES = 256 * 1024;

/** What ends each trouble: an answer, a write that succeeds, or nothing but another database. */
const ENDED_BY: Partial<Record<StoreErrorCode, 'read' | 'write' | 'nothing'>> = {
  'store-unreachable': 'read',
  'store-refused': 'read',
  'store-full': 'write',
  'store-unwritable': 'write',
  'store-damaged': 'nothing',
};

/** Whether a database that fails so may work again while this process runs: by itself, or once a person has made room. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const end = ENDED_BY[error.code];
  return error.retryable || end === 'read' || end === 'write';
}

/**
 * Remembers that the database is away, full, not writable or damaged, from the first query that finds
 * it until it works again, and logs it as one outage. Damage stays: other pages can still be read.
 */
export function watchDatabase(
  database: Database,
  address: StoreAddress,
  log: Logger,
): WatchedDatabase {
  const { name } = address;
  let trouble: StoreError | null = null;
  const failed = (reason: unknown): void => {
    if (!(reason instanceof StoreError) || ENDED_BY[reason.code] === undefined) return;
    if (trouble?.code !== 'store-damaged') trouble = reason;
    const level = reason.retryable ? 'warn' : 'error';
    log[level]({ outage: name, code: reason.code, reason: reasonOf(reason) }, LOG_TEXT[level]);
  };
  const worked = (kind: 'read' | 'write'): void => {
    if (trouble === null) return;
    const end = ENDED_BY[trouble.code];
    if (end !== kind && !(end === 'read' && kind === 'write')) return;
    trouble = null;
    log.info({ recovered: name }, 'the database works again');
  };
  const watched = <T>(kind: 'read' | 'write', result: Promise<T>): Promise<T> =>
    result.then(
      (value) => {
        worked(kind);
        return value;
      },
      (reason) => {
        failed(reason);
        throw reason;
      },
    );
  const read: Database['read'] = (work) => watched('read', database.read(work));
  const write: Database['write'] = (work, durability) =>
    watched('write', database.write(work, durability));
  return {
    dialect: database.dialect,
    trouble: () => trouble,
    async check() {
      await read((sql) => sql.get(ONE));
      if (address.dialect === 'sqlite') await checkRoom(address);
      // There may be room again without a write since.
      if (address.dialect === 'sqlite' && trouble !== null)
        await write((sql) => sql.run(WRITE_NOTHING));
      if (trouble !== null) throw trouble;
    },
    read,
    write,
    change: (durability, statement, ...params) =>
      watched('write', database.change(durability, statement, ...params)),
    writeUrgent: (work) => watched('write', database.writeUrgent(work)),
    writeLong: (work) => watched('write', database.writeLong(work)),
    onConnect: (check) => database.onConnect(check),
    rewritten: () => database.rewritten(),
    close: () => database.close(),
  };
}

/** A read succeeds on a full disk, and so may a small write where the log has room. */
async function checkRoom({ path, name }: StoreAddress & { dialect: 'sqlite' }): Promise<void> {
  if (path === IN_MEMORY) return;
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize >= LEAST_ROOM_BYTES) return;
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  throw explainSqliteFailure(name, full);
}

const ONE = statement('select 1');

const WRITE_NOTHING = statement('pragma user_version = 0');

const LOG_TEXT = {
  warn: 'the database does not answer; Parley tries again',
  error: 'the database cannot be used until this is put right',
} as const;
