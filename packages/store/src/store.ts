import type { AdapterValues, NewId } from '@parley/core';
import { pageSessionRepository, pairingRepository, signInRepository } from './access.ts';
import { accountPauseRepository, seenGroupRepository } from './accounts.ts';
import { agentFileRepository } from './agent-files.ts';
import { approvalRepository } from './approvals.ts';
import { attachmentRepository } from './attachments.ts';
import { conversationMarks } from './conversation-marks.ts';
import { conversationViews } from './conversation-views.ts';
import { cronJobRepository } from './cron-jobs.ts';
import { type Database, type Sql, type StoreError, statement } from './database.ts';
import { deadLetterRepository } from './dead-letters.ts';
import { decisionRepository, whyRepository } from './decisions.ts';
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
import { MIGRATIONS, newerStep } from './migrate.ts';
import { outboxRepository } from './outbox.ts';
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
import type { StoreState } from './store-state.ts';
import { subAgentRepository } from './sub-agents.ts';
import { takeoverRepository } from './takeovers.ts';
import { turnRepository } from './turns.ts';
import type { UsageRepository } from './usage.ts';
import type { WatchedDatabase } from './watch-database.ts';

/**
 * The newer version of Parley that has migrated the database since this one opened it; null if
 * there is none.
 */
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

/**
 * The repositories on an open and migrated database. `folder` is where files are stored; null if
 * they are in the database.
 */
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
    forgetting: forgettingRepository(
      { database, sharedClock, files, folder, promptsChanged },
      agent,
    ),
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
    conversations: conversationViews(database, sharedClock),
    conversationMarks: conversationMarks(database),
    takeovers: takeoverRepository(database, newId, sharedClock),
    links: linkRepository(database),
    pins: pinRepository(database),
    spend: spendRepository(database),
    todos: todoRepository(database),
    prompts,
    ...ofAgent(undefined),
    /** The repositories, plus those for an agent's own data: its memories, and forgetting (F14). */
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
    usage: usageRepository(database),
    retention: retentionOf(database, folder, sharedClock),
    pairing: pairingRepository(database, newId),
    seenGroups: seenGroupRepository(database),
    accountPauses: accountPauseRepository(database),
    /** The values stored by this account's adapter. */
    adapterValues: (
      channel: string,
      account: string,
      lease: NamedLease | null = null,
    ): AdapterValues => adapterValues(database, { channel, account, lease }),
    /**
     * Resolves if the database can be read and written; otherwise rejects with a StoreError. For
     * `/readyz`.
     */
    ping: () => database.check(),
    /** The failure affecting the whole database that queries have found, or null. Runs no query. */
    trouble: (): StoreError | null => database.trouble(),
    close: () => database.close(),
  };
}

/** Loaded on first use, because no message needs it. */
function usageRepository(database: WatchedDatabase): UsageRepository {
  return {
    sums: async (query) => (await import('./usage.ts')).usageSums(database, query),
    hours: async (until, hours) => (await import('./usage.ts')).usageHours(database, until, hours),
    highest: async (day) => (await import('./usage.ts')).highestSpend(database, day),
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
