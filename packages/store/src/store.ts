import type { AdapterValues, NewId } from '@parley/core';
import {
  createPageSessionRepository,
  createPairingRepository,
  createSignInRepository,
} from './access.ts';
import { createAccountPauseRepository, createUnapprovedGroupRepository } from './accounts.ts';
import { createAgentFileRepository } from './agent-files.ts';
import { createApprovalRepository } from './approvals.ts';
import { createAttachmentRepository } from './attachments.ts';
import { createBranchRepository } from './branches.ts';
import { createConversationMarkRepository } from './conversation-marks.ts';
import { createConversationViews } from './conversation-views.ts';
import { createCronJobRepository } from './cron-jobs.ts';
import { type Database, defineStatement, type Sql, type StoreError } from './database.ts';
import { createDeadLetterRepository } from './dead-letters.ts';
import { createDecisionRepository, createWhyRepository } from './decisions.ts';
import { openStoredFiles } from './files/stored-files.ts';
import { createForgettingRepository } from './forgetting/forgetting.ts';
import { createGroupContextRepository } from './group-context.ts';
import { createHeartbeatRepository } from './heartbeats.ts';
import { createTranscriptRepository } from './history.ts';
import { createInboxRepository } from './inbox.ts';
import { createLaneRepository } from './lanes.ts';
import { createLinkRepository } from './links.ts';
import { createMemoryIndex } from './memory-index.ts';
import { createMessageAnswerRepository } from './message-answers.ts';
import { findNewerMigration, MIGRATIONS } from './migrate.ts';
import { createOutboxRepository } from './outbox.ts';
import {
  createAdapterValueStore,
  createLeaseRepository,
  createProcessRepository,
  type NamedLease,
} from './processes.ts';
import { createPromptRepository } from './prompts.ts';
import { createReactionRepository } from './reactions.ts';
import type { RecordedTurnRepository } from './recorded-turns.ts';
import { createAuditRepository, createBacklogRepository } from './reports.ts';
import type { RetentionRepository } from './retention.ts';
import { createPinRepository, createSummaryRepository, createTodoRepository } from './sessions.ts';
import type { SharedClock } from './shared-clock.ts';
import { createOpenQuestionRepository } from './shown-questions.ts';
import { createSoulRepository } from './souls.ts';
import { createSpendRepository } from './spend.ts';
import type { StoreState } from './store-state.ts';
import { createSubAgentRepository } from './sub-agents.ts';
import { createTakeoverRepository } from './takeovers.ts';
import { createTurnRepository } from './turns.ts';
import type { UsageRepository } from './usage.ts';
import type { WatchedDatabase } from './watch-database.ts';

/**
 * Finds a newer version of Parley that has migrated the database since this process opened it; null
 * if there is none.
 */
async function findNewerVersion(sql: Sql): Promise<string | null> {
  const applied = await sql.all(STEPS);
  return findNewerMigration(applied, MIGRATIONS)?.parley_version ?? null;
}

const STEPS = defineStatement('select number, parley_version from parley_migration').rows<{
  readonly number: number;
  readonly parley_version: string;
}>();

/** The database: one repository per subject, each the only writer of its tables. */
export type Store = ReturnType<typeof createStore>;

interface StoreDeps {
  readonly sharedClock: SharedClock;
  readonly state: StoreState;
  readonly folder?: string | null;
}

/**
 * Creates the repositories of an open and migrated database; `folder` is the folder for files, or
 * null if the database stores them.
 */
export function createStore(
  database: WatchedDatabase,
  newId: NewId,
  { sharedClock, state, folder = null }: StoreDeps,
) {
  const files = openStoredFiles(database, newId, folder);
  const prompts = createPromptRepository(database);
  const promptsChanged = () => prompts.textsChanged();
  const ofAgent = (agent: string | undefined) => ({
    memories: createMemoryIndex(database, agent),
    forgetting: createForgettingRepository(
      { database, sharedClock, files, folder, promptsChanged },
      agent,
    ),
  });
  return {
    inbox: createInboxRepository(database, newId, files),
    answers: createMessageAnswerRepository(database),
    agentFiles: createAgentFileRepository(database, files),
    attachments: createAttachmentRepository(database, files),
    files,
    lanes: createLaneRepository(database, newId, prompts, sharedClock),
    summaries: createSummaryRepository(database, sharedClock),
    turns: createTurnRepository(database, newId),
    approvals: createApprovalRepository(database, newId),
    shownQuestions: createOpenQuestionRepository(database),
    transcript: createTranscriptRepository(database),
    outbox: createOutboxRepository(database, newId, files),
    deadLetters: createDeadLetterRepository(database),
    backlog: createBacklogRepository(database),
    groupContext: createGroupContextRepository(database),
    reactions: createReactionRepository(database),
    decisions: createDecisionRepository(database),
    why: createWhyRepository(database),
    ...createConversationRepositories(database, newId, sharedClock),
    links: createLinkRepository(database),
    pins: createPinRepository(database),
    spend: createSpendRepository(database),
    todos: createTodoRepository(database),
    prompts,
    ...ofAgent(undefined),
    /**
     * Returns the shared repositories together with those for an agent's own data: memories and
     * forgetting (F14).
     */
    ofAgent,
    subAgents: createSubAgentRepository(database, newId),
    heartbeats: createHeartbeatRepository(database, newId),
    cronJobs: createCronJobRepository(database),
    souls: createSoulRepository(database),
    state,
    leases: createLeaseRepository(database, sharedClock, state),
    processes: createProcessRepository(database, findNewerVersion, sharedClock, state),
    pageSessions: createPageSessionRepository(database),
    signIns: createSignInRepository(database),
    audit: createAuditRepository(database),
    ...createRarelyUsed(database, folder, sharedClock),
    pairing: createPairingRepository(database, newId),
    seenGroups: createUnapprovedGroupRepository(database),
    accountPauses: createAccountPauseRepository(database),
    /** Creates access to the values stored by this account's adapter. */
    adapterValues: (
      channel: string,
      account: string,
      lease: NamedLease | null = null,
    ): AdapterValues => createAdapterValueStore(database, { channel, account, lease }),
    /**
     * Resolves if the database can be read and written; otherwise rejects with a StoreError, for
     * `/readyz`.
     */
    ping: () => database.check(),
    /**
     * The failure of the whole database that earlier queries found, or null; does not run a query.
     */
    trouble: (): StoreError | null => database.trouble(),
    close: () => database.close(),
  };
}

/** What the page and the command line read and change in conversations. */
function createConversationRepositories(
  database: WatchedDatabase,
  newId: NewId,
  sharedClock: SharedClock,
) {
  return {
    conversations: createConversationViews(database, sharedClock),
    conversationMarks: createConversationMarkRepository(database),
    branches: createBranchRepository(database, newId),
    takeovers: createTakeoverRepository(database, newId, sharedClock),
  };
}

/** Repositories whose queries are loaded on first use, because no message needs them. */
function createRarelyUsed(
  database: WatchedDatabase,
  folder: string | null,
  sharedClock: SharedClock,
): {
  readonly usage: UsageRepository;
  readonly retention: RetentionRepository;
  readonly recordedTurns: RecordedTurnRepository;
} {
  return {
    usage: {
      sums: async (query) => (await import('./usage.ts')).readUsageSums(database, query),
      hours: async (until, hours) =>
        (await import('./usage.ts')).readUsageHours(database, until, hours),
      highest: async (day) => (await import('./usage.ts')).readHighestSpend(database, day),
    },
    retention: createRetentionRepository(database, folder, sharedClock),
    recordedTurns: {
      ofTurn: async (turnId) =>
        (await import('./recorded-turns.ts')).readRecordedTurn(database, turnId),
      past: async (...of) =>
        (await import('./recorded-turns.ts')).readRecordedPast(database, ...of),
    },
  };
}

function createRetentionRepository(
  database: Database,
  folder: string | null,
  sharedClock: SharedClock,
): RetentionRepository {
  return {
    last: async () => (await import('./retention.ts')).readLastRetention(database),
    witnesses: async () =>
      (await import('./retention.ts')).readStoreAgeEvidence(database, sharedClock),
    run: async (bounds, pace) =>
      (await import('./retention.ts')).runRetention(database, bounds, pace),
    use: async (ages, now) =>
      (await import('./storage.ts')).measureStorage(database, folder, { ages, now }),
  };
}
