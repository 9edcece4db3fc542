import type { ChatKey } from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import { NO_REF } from './files/byte-store.ts';
import { HAS_BYTES, type StoredFiles } from './files/stored-files.ts';

/** A sender as identified by the platform of an account. */
export interface SenderKey extends Pick<ChatKey, 'channel' | 'account'> {
  readonly person: string;
}

interface AttachmentCleanerDeps {
  readonly database: Database;
  readonly files: StoredFiles;
}

/** Why an attachment was not fetched: its message no longer needs an answer. */
const ANSWERED_BEFORE_FETCH = 'its message was answered or dropped before the file arrived';

/** The number of files whose bytes are dropped in one transaction. */
const FILES_AT_ONCE = 5;

/** Measures how much is stored and drops files to free space. */
export function createAttachmentCleaner(deps: AttachmentCleanerDeps) {
  const { database } = deps;
  return {
    /**
     * The total size of all stored files, for all accounts and including the agent's own files, in
     * bytes.
     */
    async bytesKept(): Promise<number> {
      return (await database.read((sql) => sql.get(BYTES_KEPT)))?.kept ?? 0;
    },
    /** The number of stored files from one sender, and their total size in bytes. */
    async keptOf(sender: SenderKey): Promise<{ readonly files: number; readonly bytes: number }> {
      return (await database.read((sql) => sql.get(KEPT_OF, sender))) ?? { files: 0, bytes: 0 };
    },
    /**
     * Drops bytes that turns will not read: attachments fetched before `before` whose message is
     * done, and the agent's files that pending parts do not need. The rows stay, so that the
     * history can show that a file was sent.
     */
    async forget(before: number, now: number): Promise<void> {
      await database.change('process', END_LATE, { now, reason: ANSWERED_BEFORE_FETCH });
      await dropViewOnceFiles(deps);
      await dropBytesInBatches(deps, (sql) => sql.all(SOME_BYTES, { before }), dropAttachment);
      await dropBytesInBatches(deps, (sql) => sql.all(SOME_AGENTS, { before }), dropAgentFile);
    },
    /**
     * Drops the bytes of view-once files whose message is done, and the keys that could fetch them
     * again.
     */
    forgetViewOnce: (): Promise<void> => dropViewOnceFiles(deps),
    /**
     * Drops the bytes of one sender's files whose message is done, however recently they were
     * fetched.
     */
    forgetOf: (sender: SenderKey): Promise<void> =>
      dropBytesInBatches(deps, (sql) => sql.all(SOME_OF, sender), dropAttachment),
  };
}

function dropViewOnceFiles(deps: AttachmentCleanerDeps): Promise<void> {
  return dropBytesInBatches(deps, (sql) => sql.all(SOME_VIEW_ONCE), dropAttachmentPermanently);
}

const BYTES_KEPT = defineStatement(`
  select coalesce((select sum(size) from attachment where ${HAS_BYTES}), 0)
    + coalesce((select sum(size) from agent_file where ${HAS_BYTES}), 0) as kept`).rows<{
  readonly kept: number;
}>();

const OF_SENDER = `
  ${HAS_BYTES} and channel = :channel and account = :account and person = :person`;

const KEPT_OF = defineStatement(`
  select count(*) as files, coalesce(sum(size), 0) as bytes from attachment where ${OF_SENDER}`).rows<{
  readonly files: number;
  readonly bytes: number;
}>();

/**
 * Drops the bytes from the rows in small batches, and then removes files that are no longer
 * referenced. Bytes that version 0.1.0 stored in rows are overwritten on disk when they are
 * dropped, so a batch contains only a few files.
 */
async function dropBytesInBatches<Row extends { readonly fileId: string | null }>(
  { database, files }: AttachmentCleanerDeps,
  some: (sql: Sql) => Promise<readonly Row[]>,
  drop: (sql: Sql, row: Row) => void,
): Promise<void> {
  for (;;) {
    const dropped = await database.write(async (sql) => {
      const rows = await some(sql);
      for (const row of rows) drop(sql, row);
      return rows;
    }, 'process');
    await files.release(dropped.flatMap(({ fileId }) => (fileId === null ? [] : { id: fileId })));
    if (dropped.length < FILES_AT_ONCE) return;
  }
}

const IS_OVER = `exists (select 1 from inbox
  where inbox.seq = attachment.inbox_seq and inbox.state = 'done')`;

const END_LATE = defineStatement(`
  update attachment set state = 'failed', reason = :reason, updated_at = :now
  where state = 'pending' and ${IS_OVER}`);

const SOME = `
  select inbox_seq as "messageSeq", attachment_index as "index", file_id as "fileId" from attachment`;

interface AttachmentFileRef {
  readonly messageSeq: number;
  readonly index: number;
  readonly fileId: string | null;
}

const SOME_BYTES = defineStatement(`${SOME}
  where ${HAS_BYTES} and updated_at < :before and ${IS_OVER}
  order by updated_at limit ${FILES_AT_ONCE}`).rows<AttachmentFileRef>();

const SOME_OF = defineStatement(`${SOME}
  where ${OF_SENDER} and ${IS_OVER} limit ${FILES_AT_ONCE}`).rows<AttachmentFileRef>();

// This condition must match the one in the partial index.
const SOME_VIEW_ONCE = defineStatement(`${SOME}
  where view_once = 1 and ref <> '${NO_REF}' and ${IS_OVER} limit ${FILES_AT_ONCE}`).rows<AttachmentFileRef>();

/** Pending fetches are canceled too, because their bytes would otherwise arrive afterwards. */
const DROP_FOR_GOOD = defineStatement(`
  update attachment set bytes = null, file_id = null, ref = '${NO_REF}', text = null,
    reason = case when state = 'pending' then '${ANSWERED_BEFORE_FETCH}' else reason end,
    state = case when state = 'pending' then 'failed' else state end
  where inbox_seq = :messageSeq and attachment_index = :index`);

const DROP_ATTACHMENT = defineStatement(`
  update attachment set bytes = null, file_id = null
  where inbox_seq = :messageSeq and attachment_index = :index`);

interface AgentFileRef {
  readonly id: string;
  readonly fileId: string | null;
}

const SOME_AGENTS = defineStatement(`
  select id, file_id as "fileId" from agent_file where ${HAS_BYTES} and created_at < :before
    and not exists (select 1 from outbox
      where outbox.id = agent_file.part_id and outbox.state in ('pending', 'sending'))
  order by created_at limit ${FILES_AT_ONCE}`).rows<AgentFileRef>();

const DROP_AGENT = defineStatement(
  'update agent_file set bytes = null, file_id = null where id = :id',
);

function dropAttachmentPermanently(sql: Sql, row: AttachmentFileRef): void {
  sql.send(DROP_FOR_GOOD, { messageSeq: row.messageSeq, index: row.index });
}

function dropAttachment(sql: Sql, row: AttachmentFileRef): void {
  sql.send(DROP_ATTACHMENT, { messageSeq: row.messageSeq, index: row.index });
}

function dropAgentFile(sql: Sql, { id }: AgentFileRef): void {
  sql.send(DROP_AGENT, { id });
}
