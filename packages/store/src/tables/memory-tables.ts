import type { Generated } from 'kysely';
import type { Seq } from './seq.ts';

/** Where memories stand; their words are in the files. */
export interface MemoryEntryTable {
  file: string;
  id: string;
  type: string;
  scope: string;
  person: string | null;
  words: string;
  saved_on: string | null;
  channel: string | null;
  chat_id: string | null;
  message_id: string | null;
  uses: number;
}

/** Summaries of conversations; the content is JSON, null while somebody writes it. */
export interface SummaryTable {
  seq: Seq;
  conversation_id: string;
  session: number;
  reader: string;
  kind: 'history' | 'day';
  mark: string;
  reaches: Generated<number | null>;
  content: Generated<string | null>;
  claimed_by: string | null;
  claimed_until: number;
  created_at: number;
}

/** What is remembered: places of memories and summaries. */
export interface MemoryTables {
  memory_entry: MemoryEntryTable;
  summary: SummaryTable;
}
