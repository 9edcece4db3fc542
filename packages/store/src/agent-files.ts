import type { OutboundFile, ReplyRoute } from '@parley/core';
import { type Database, type Sql, statement } from './database.ts';

/** A file with its bytes. */
export interface AgentFile extends Pick<OutboundFile, 'kind' | 'name' | 'mimeType'> {
  readonly bytes: Uint8Array;
}

/**
 * The table `agent_file`: bytes that the agent sends, stored with their part, and files that tools have given it.
 * Turns and posts write; deliveries, the tool `send_file` and the page read.
 */
export function agentFileRepository(database: Database) {
  return {
    /** Keeps a file that a tool has given the agent; once, however often it is called. */
    async keep(id: string, turnId: string, file: AgentFile, now: number): Promise<void> {
      await database.write(async (sql) => insertAgentFile(sql, { id, turnId, file, now }));
    },
    /** A file that a tool gave in this conversation; null when it is not there (any more). */
    async ofConversation(id: string, conversationId: string): Promise<AgentFile | null> {
      return withBytes(
        await database.read((sql) => sql.get(OF_CONVERSATION, { id, conversationId })),
      );
    },
    /** The bytes of a part; null when they are not there (any more). */
    async ofPart(partId: string): Promise<Uint8Array | null> {
      return (await database.read((sql) => sql.get(OF_PART, { partId })))?.bytes ?? null;
    },
    /** A file that was sent to a chat; null when it is not there (any more). */
    async ofChat(
      chat: Pick<ReplyRoute, 'channel' | 'account' | 'chatId'>,
      partId: string,
    ): Promise<AgentFile | null> {
      return withBytes(await database.read((sql) => sql.get(OF_CHAT_PART, { ...chat, partId })));
    },
  };
}

export type AgentFileRepository = ReturnType<typeof agentFileRepository>;

/** Stores a file of a part or of a turn, in the transaction that stores what it belongs to. */
export function insertAgentFile(
  sql: Sql,
  {
    id,
    partId = null,
    turnId = null,
    file: { kind, name, mimeType, bytes },
    now,
  }: {
    readonly id: string;
    readonly partId?: string | null;
    readonly turnId?: string | null;
    readonly file: AgentFile;
    readonly now: number;
  },
): void {
  const size = bytes.byteLength;
  sql.send(INSERT, { id, partId, turnId, kind, name, mimeType, size, bytes, now });
}

function withBytes<Row extends { readonly bytes: Uint8Array | null }>(row: Row | undefined) {
  return row === undefined || row.bytes === null ? null : { ...row, bytes: row.bytes };
}

const INSERT = statement(`
  insert into agent_file (id, part_id, turn_id, kind, name, mime_type, size, bytes, created_at)
  values (:id, :partId, :turnId, :kind, :name, :mimeType, :size, :bytes, :now)
  on conflict (id) do nothing`);

interface FileRow extends Omit<AgentFile, 'bytes'> {
  readonly bytes: Uint8Array | null;
}

const OF_CONVERSATION = statement(`
  select agent_file.kind, agent_file.name, agent_file.mime_type as "mimeType", agent_file.bytes
  from agent_file join turn on turn.id = agent_file.turn_id
  where agent_file.id = :id and turn.conversation_id = :conversationId`).rows<FileRow>();

const OF_PART = statement('select bytes from agent_file where part_id = :partId').rows<{
  readonly bytes: Uint8Array | null;
}>();

const OF_CHAT_PART = statement(`
  select agent_file.kind, agent_file.name, agent_file.mime_type as "mimeType", agent_file.bytes
  from agent_file join outbox on outbox.id = agent_file.part_id
  where outbox.id = :partId and outbox.channel = :channel and outbox.account = :account
    and outbox.chat_id = :chatId`).rows<FileRow>();
