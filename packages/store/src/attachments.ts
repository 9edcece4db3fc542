import type { Attachment, InboundMessage } from '@parley/core';
import { createAttachmentCleaner } from './attachment-room.ts';
import type { MessageKey } from './conversations.ts';
import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';
import { buildDueCondition } from './due.ts';
import { type FileContentColumns, HAS_BYTES, type StoredFiles } from './files/stored-files.ts';
import type { FileRef, InboxRow } from './rows.ts';

/** Identifies an attachment by its message and its zero-based index in that message. */
export interface AttachmentKey {
  readonly messageSeq: number;
  readonly index: number;
}

/**
 * An attachment that still has to be fetched from the platform. Sizes are in bytes, times in ms.
 */
export interface DueAttachment extends AttachmentKey {
  readonly conversationId: string;
  readonly attachment: Attachment;
  /** The number of failed fetch attempts. */
  readonly attempts: number;
  /** The number of bytes already fetched for the same message. */
  readonly bytesTaken: number;
  /**
   * The sender as identified by the platform; for rows written by version 0.1.0, the conversation.
   */
  readonly person: string;
  /** Whether an owner sent the attachment in a direct chat. */
  readonly fromOwner: boolean;
}

/** An attachment as a turn sees it, without its bytes. */
export interface StoredAttachment extends AttachmentKey {
  readonly kind: Attachment['kind'];
  /** Chosen by the sender, so it is not trusted. */
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly state: 'pending' | 'ready' | 'failed';
  /** Why fetching failed, worded to follow "because"; null otherwise. */
  readonly reason: string | null;
  /** The transcript of the attachment's speech, once available. */
  readonly text: string | null;
  /** Size in bytes; null if unknown. */
  readonly size: number | null;
  /** 1 if the attachment's bytes are stored. */
  readonly isKept: 0 | 1;
  /**
   * 1 if the sender marked the attachment as view-once, so that nothing is kept after its turn
   * (F18).
   */
  readonly isViewOnce: 0 | 1;
}

/** A file from a message, with its bytes; the file name is untrusted. */
export interface MessageFile extends Pick<StoredAttachment, 'name' | 'mimeType'> {
  readonly bytes: Uint8Array;
}

/**
 * Files sent by people. Attachment rows are stored with the message; the gateway that owns the
 * account fetches the bytes into the store, so that a worker on any machine can read them.
 */
export type AttachmentRepository = ReturnType<typeof createAttachmentRepository>;

/**
 * The contents of the `attachment` table can be fetched or derived again, so writes to it need not
 * survive a power cut.
 */
export function createAttachmentRepository(database: Database, files: StoredFiles) {
  return {
    /**
     * Lists the files that an account has to fetch at `now`: first each person's oldest file,
     * owners first, then each person's second, and so on. Files whose messages are finished are
     * left out.
     */
    async due(
      channel: string,
      account: string,
      now: number,
      limit: number,
    ): Promise<readonly DueAttachment[]> {
      const rows = await database.read((sql) => sql.all(DUE, { channel, account, now, limit }));
      return rows.map(
        ({ kind, ref, name, mimeType, size, bytesTaken, fromOwner, nth: _, ...row }) => ({
          ...row,
          fromOwner: fromOwner === 1,
          bytesTaken: bytesTaken ?? 0,
          attachment: {
            kind,
            ref,
            ...(name === null ? {} : { name }),
            ...(mimeType === null ? {} : { mimeType }),
            ...(size === null ? {} : { size }),
          },
        }),
      );
    },

    /**
     * Stores the bytes and moves the attachment from pending to ready. Does nothing unless the
     * attachment is pending.
     */
    async keep(key: AttachmentKey, bytes: Uint8Array, now: number): Promise<void> {
      const stored = await files.put(bytes);
      const values = { ...key, fileId: stored.id, size: stored.size, now };
      if ((await database.change('process', KEEP, values)) === 0) await files.release([stored]);
    },
    /** Counts a failed fetch; the next attempt starts no earlier than `notBefore`. */
    async retryLater(key: AttachmentKey, notBefore: number, now: number): Promise<void> {
      await database.change('process', RETRY, { ...key, notBefore, now });
    },
    async fail(key: AttachmentKey, reason: string, now: number): Promise<void> {
      await database.change('process', FAIL, { ...key, reason, now });
    },

    /** Lists the attachments of the given messages, in the order in which they were sent. */
    async ofMessages(messageSeqs: readonly number[]): Promise<readonly StoredAttachment[]> {
      if (messageSeqs.length === 0) return [];
      return database.read((sql) => sql.all(OF_MESSAGES, { seqs: encodeJson(messageSeqs) }));
    },
    /** Reads the bytes of a ready attachment; null if they have been removed. */
    async bytes(key: AttachmentKey): Promise<Uint8Array | null> {
      return files.read(await database.read((sql) => sql.get(BYTES, key)));
    },
    /**
     * Reads a file sent in a chat by the platform's message id; null if the file does not exist or
     * its bytes have been removed.
     */
    async ofChat(message: MessageKey, index: number): Promise<MessageFile | null> {
      return readMessageFile(
        files,
        await database.read((sql) => sql.get(OF_CHAT_MESSAGE, { ...message, index })),
      );
    },
    /**
     * Reads a file in a conversation; null if the file does not exist or its bytes have been
     * removed.
     */
    async ofConversation(
      conversationId: string,
      { messageSeq, index }: AttachmentKey,
    ): Promise<MessageFile | null> {
      const key = { conversationId, messageSeq, index };
      return readMessageFile(files, await database.read((sql) => sql.get(OF_CONVERSATION, key)));
    },
    /**
     * Stores the transcript of an attachment, so that a resumed turn need not transcribe it again.
     */
    async keepText(key: AttachmentKey, text: string, now: number): Promise<void> {
      await database.change('process', KEEP_TEXT, { ...key, text, now });
    },
    ...createAttachmentCleaner({ database, files }),
  };
}

interface DueRow extends Omit<DueAttachment, 'attachment' | 'bytesTaken' | 'fromOwner'> {
  readonly nth: number;
  readonly fromOwner: 0 | 1;
  readonly kind: Attachment['kind'];
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly size: number | null;
  readonly ref: string;
  readonly bytesTaken: number | null;
}

const PERSON = 'coalesce(attachment.person, inbox.conversation_id)';

// The state is a literal, because a partial index is used only if the query contains the index
// condition.
const DUE = defineStatement(`
  select * from (
    select inbox_seq as "messageSeq", attachment_index as "index", kind, name, mime_type as "mimeType",
      size, ref, attempts, inbox.conversation_id as "conversationId", ${PERSON} as person,
      inbox.from_owner as "fromOwner", (select sum(sibling.size) from attachment sibling
        where sibling.inbox_seq = attachment.inbox_seq and sibling.state = 'ready') as "bytesTaken",
      row_number() over (partition by ${PERSON} order by inbox_seq, attachment_index) as nth
    from attachment join inbox on inbox.seq = attachment.inbox_seq
    where attachment.channel = :channel and attachment.account = :account
      and attachment.state = 'pending' and ${buildDueCondition('attachment')} and inbox.state <> 'done') as waiting
  order by nth, "fromOwner" desc, "messageSeq", "index" limit :limit`).rows<DueRow>();

const THIS = 'where inbox_seq = :messageSeq and attachment_index = :index';

const PENDING = `${THIS} and state = 'pending'`;

const KEEP = defineStatement(
  `update attachment set state = 'ready', file_id = :fileId, size = :size, updated_at = :now ${PENDING}`,
);

const RETRY = defineStatement(`
  update attachment set attempts = attempts + 1, not_before = :notBefore, updated_at = :now
  ${PENDING}`);

const FAIL = defineStatement(
  `update attachment set state = 'failed', reason = :reason, updated_at = :now ${PENDING}`,
);

const OF_MESSAGES = defineStatement(`
  select inbox_seq as "messageSeq", attachment_index as "index", kind, name,
    mime_type as "mimeType", state, reason, text, size,
    case when ${HAS_BYTES} then 1 else 0 end as "isKept", coalesce(view_once, 0) as "isViewOnce"
  from attachment where inbox_seq in (select cast(value as bigint) from json_each(:seqs))
  order by inbox_seq, attachment_index`).rows<StoredAttachment>();

const BYTES = defineStatement(
  `select bytes, file_id as "fileId", size from attachment ${THIS}`,
).rows<FileContentColumns>();

const FILE = `
  select attachment.name, attachment.mime_type as "mimeType", attachment.bytes,
    attachment.file_id as "fileId", attachment.size
  from attachment join inbox on inbox.seq = attachment.inbox_seq
  where attachment.attachment_index = :index`;

const OF_CHAT_MESSAGE = defineStatement(`${FILE} and inbox.channel = :channel
  and inbox.account = :account and inbox.chat_id = :chatId and inbox.message_id = :messageId`).rows<FileRow>();

const OF_CONVERSATION = defineStatement(`${FILE}
  and inbox.conversation_id = :conversationId and inbox.seq = :messageSeq`).rows<FileRow>();

interface FileRow extends Omit<MessageFile, 'bytes'>, FileContentColumns {}

async function readMessageFile(
  files: StoredFiles,
  row: FileRow | undefined,
): Promise<MessageFile | null> {
  const bytes = await files.read(row);
  if (row === undefined || bytes === null) return null;
  const { name, mimeType } = row;
  return { name, mimeType, bytes };
}

const KEEP_TEXT = defineStatement(`update attachment set text = :text, updated_at = :now ${THIS}`);

const INSERT = defineStatement(`
  insert into attachment (inbox_seq, attachment_index, channel, account, kind, name, mime_type, size,
    ref, state, not_before, created_at, updated_at, file_id, person, view_once)
  values (:seq, :index, :channel, :account, :kind, :name, :mimeType, :size,
    :ref, :state, :now, :now, :now, :fileId, :person, :viewOnce)`);

const REFS = defineStatement(
  'select ref from attachment where inbox_seq = :seq order by attachment_index',
).rows<{ readonly ref: string }>();

const REMOVE = defineStatement('delete from attachment where inbox_seq = :seq');

/** Inserts a message's attachments in the transaction that stores the message. */
export function insertAttachments(
  sql: Sql,
  seq: number,
  { channel, account, attachments = [], sender }: InboundMessage,
  now: number,
  files: readonly FileRef[] = [],
): void {
  for (const [
    index,
    { kind, name, mimeType, ref, viewOnce, ...claimed },
  ] of attachments.entries()) {
    const stored = files[index];
    const size = stored?.size ?? claimed.size ?? null;
    const file = { kind, name: name ?? null, mimeType: mimeType ?? null, size, ref };
    const state = stored === undefined ? 'pending' : 'ready';
    const of = { seq, index, channel, account, person: sender.id, viewOnce: viewOnce ? 1 : null };
    sql.send(INSERT, { ...of, ...file, state, fileId: stored?.id ?? null, now });
  }
}

/**
 * Copies an earlier message's files to another message. With `isMove`, the earlier message loses
 * its bytes.
 */
export function copyAttachments(
  sql: Sql,
  { from, to, isMove }: { readonly from: number; readonly to: number; readonly isMove: boolean },
  now: number,
): void {
  sql.send(COPY, { from, to, now });
  if (isMove) sql.send(DROP_COPIED, { from });
}

const COPY = defineStatement(`
  insert into attachment (inbox_seq, attachment_index, channel, account, kind, name, mime_type, size,
    ref, state, reason, not_before, text, created_at, updated_at, bytes, file_id, person, view_once)
  select cast(:to as bigint), attachment_index, channel, account, kind, name, mime_type, size,
    ref, state, reason, cast(:now as bigint), text, cast(:now as bigint), cast(:now as bigint), bytes,
    file_id, person, view_once
  from attachment where inbox_seq = :from`);

const DROP_COPIED = defineStatement(
  'update attachment set bytes = null, file_id = null where inbox_seq = :from',
);

/** Updates a message's files after an edit: changed files are fetched again, others are kept. */
export async function reviseAttachments(
  sql: Sql,
  seq: number,
  message: InboundMessage,
  receivedAt: number,
): Promise<void> {
  const before = await sql.all(REFS, { seq });
  const now = message.attachments ?? [];
  const same = before.length === now.length && now.every(({ ref }, at) => before[at]?.ref === ref);
  if (same) return;
  sql.send(REMOVE, { seq });
  insertAttachments(sql, seq, message, receivedAt);
}

/** The maximum time a message waits for its files before it is answered without them, in ms. */
const MAX_WAIT_MS = 60_000;

/**
 * Selects the messages in `rows` that may become a turn. All of them wait while any file is being
 * fetched, so that a picture and the text about it are read together. The first message never waits
 * longer than `MAX_WAIT_MS`, and later messages get the same time for their own files.
 */
export async function selectFetchedRows(
  sql: Sql,
  rows: readonly InboxRow[],
  now: number,
): Promise<readonly InboxRow[]> {
  const [first] = rows;
  const candidates = rows.filter((row) => row.message.attachments && isRecent(row, now));
  if (first === undefined || candidates.length === 0) return rows;
  const seqs = encodeJson(candidates.map(({ seq }) => seq));
  const unfetched = new Set((await sql.all(UNFETCHED, { seqs })).map(({ seq }) => seq));
  const end = rows.findIndex((row) => unfetched.has(row.seq));
  if (end === -1) return rows;
  return isRecent(first, now) ? [] : rows.slice(0, end);
}

function isRecent(row: InboxRow, now: number): boolean {
  // If the clock was set back, the time of receipt may lie in the future, so the absolute
  // difference counts as the age.
  return Math.abs(now - row.receivedAt) < MAX_WAIT_MS;
}

// The state is a literal, because a partial index is used only if the query contains the index
// condition.
const UNFETCHED = defineStatement(`
  select inbox_seq as seq from attachment where state = 'pending'
    and inbox_seq in (select cast(value as bigint) from json_each(:seqs))`).rows<{
  readonly seq: number;
}>();
