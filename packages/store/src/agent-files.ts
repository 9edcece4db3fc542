import type { OutboundFile, ReplyRoute } from '@parley/core';
import { type Database, defineStatement } from './database.ts';
import type { FileContentColumns, StoredFiles } from './files/stored-files.ts';
import type { FileRef } from './rows.ts';

export interface AgentFile extends Pick<OutboundFile, 'kind' | 'name' | 'mimeType'> {
  readonly bytes: Uint8Array;
}

/**
 * Files that the agent sends, stored with their outbox parts, and files that tools return: the
 * `agent_file` table. Turns and posts write the table; deliveries, the `send_file` tool and the
 * page read it.
 */
export function createAgentFileRepository(database: Database, files: StoredFiles) {
  return {
    /** Stores a file that a tool returned; repeated calls have no effect. */
    async keep(id: string, turnId: string, file: AgentFile, now: number): Promise<void> {
      const stored = await files.put(file.bytes);
      const row = toAgentFileRow({ id, turnId, file, stored, now });
      if ((await database.change('power-cut', INSERT_AGENT_FILE, row)) === 0)
        await files.release([stored]);
    },
    /**
     * Reads a file that a tool returned in this conversation; null if the file does not exist or
     * its bytes have been removed.
     */
    async ofConversation(id: string, conversationId: string): Promise<AgentFile | null> {
      return readAgentFileBytes(
        files,
        await database.read((sql) => sql.get(OF_CONVERSATION, { id, conversationId })),
      );
    },
    /** Reads the bytes of a part's file; null if they have been removed. */
    async ofPart(partId: string): Promise<Uint8Array | null> {
      return files.read(await database.read((sql) => sql.get(OF_PART, { partId })));
    },
    /**
     * Reads a file that was sent to a chat; null if the file does not exist or its bytes have been
     * removed.
     */
    async ofChat(
      chat: Pick<ReplyRoute, 'channel' | 'account' | 'chatId'>,
      partId: string,
    ): Promise<AgentFile | null> {
      return readAgentFileBytes(
        files,
        await database.read((sql) => sql.get(OF_CHAT_PART, { ...chat, partId })),
      );
    },
    /**
     * Reads a file that was sent to a chat in a conversation, by part number; null if the file does
     * not exist or has been removed.
     */
    async sentIn(conversationId: string, partSeq: number): Promise<AgentFile | null> {
      return readAgentFileBytes(
        files,
        await database.read((sql) => sql.get(SENT_IN, { conversationId, partSeq })),
      );
    },
  };
}

export type AgentFileRepository = ReturnType<typeof createAgentFileRepository>;

/** Builds the row for a file, to be inserted together with its part or turn. */
export function toAgentFileRow({
  id,
  partId = null,
  turnId = null,
  file: { kind, name, mimeType },
  stored: { id: fileId, size },
  now,
}: {
  readonly id: string;
  readonly partId?: string | null;
  readonly turnId?: string | null;
  readonly file: Omit<AgentFile, 'bytes'>;
  readonly stored: FileRef;
  readonly now: number;
}) {
  return { id, partId, turnId, kind, name, mimeType, size, fileId, now };
}

async function readAgentFileBytes(
  files: StoredFiles,
  row: FileRow | undefined,
): Promise<AgentFile | null> {
  const bytes = await files.read(row);
  if (row === undefined || bytes === null) return null;
  const { kind, name, mimeType } = row;
  return { kind, name, mimeType, bytes };
}

export const INSERT_AGENT_FILE = defineStatement(`
  insert into agent_file (id, part_id, turn_id, kind, name, mime_type, size, file_id, created_at)
  values (:id, :partId, :turnId, :kind, :name, :mimeType, :size, :fileId, :now)
  on conflict (id) do nothing`);

interface FileRow extends Omit<AgentFile, 'bytes'>, FileContentColumns {}

const BYTES = 'agent_file.bytes, agent_file.file_id as "fileId", agent_file.size';

const OF_CONVERSATION = defineStatement(`
  select agent_file.kind, agent_file.name, agent_file.mime_type as "mimeType", ${BYTES}
  from agent_file join turn on turn.id = agent_file.turn_id
  where agent_file.id = :id and turn.conversation_id = :conversationId`).rows<FileRow>();

const OF_PART = defineStatement(
  `select ${BYTES} from agent_file where part_id = :partId`,
).rows<FileContentColumns>();

const OF_CHAT_PART = defineStatement(`
  select agent_file.kind, agent_file.name, agent_file.mime_type as "mimeType", ${BYTES}
  from agent_file join outbox on outbox.id = agent_file.part_id
  where outbox.id = :partId and outbox.channel = :channel and outbox.account = :account
    and outbox.chat_id = :chatId`).rows<FileRow>();

const SENT_IN = defineStatement(`
  select agent_file.kind, agent_file.name, agent_file.mime_type as "mimeType", ${BYTES}
  from outbox join agent_file on agent_file.part_id = outbox.id
  where outbox.seq = :partSeq and exists (select 1 from inbox
    where inbox.conversation_id = :conversationId and inbox.channel = outbox.channel
      and inbox.account = outbox.account and inbox.chat_id = outbox.chat_id)`).rows<FileRow>();
