import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

const Ended = z.array(
  z.object({ chat: z.string(), state: z.string(), notice: z.int(), body: z.string() }),
);
const Count = z.object({ count: z.int() });

/** A part that was given up. */
export interface EndedPart {
  readonly chatId: string;
  readonly state: 'unknown' | 'failed';
  /** A notice of Parley's own, or a part of an answer. */
  readonly kind: 'notice' | 'answer';
  readonly text: string;
}

/** How much is still to be done, in rows: messages, turns and parts. Only while no kill is due. */
export function unfinished(folder: string): number {
  if (!existsSync(fileIn(folder))) return 0;
  return query(folder, (database) => {
    const row = database
      .prepare(
        `select (select count(*) from inbox where state <> 'done')
              + (select count(*) from turn where state = 'running')
              + (select count(*) from outbox where state in ('pending', 'sending')) as count`,
      )
      .get();
    return Count.parse(row).count;
  });
}

/** Parts that Parley could not or dared not send. */
export function endedParts(folder: string): EndedPart[] {
  return query(folder, (database) => {
    const rows = database
      .prepare(
        `select chat_id as chat, state, turn_id is null as notice, body
           from outbox where state in ('unknown', 'failed') order by seq`,
      )
      .all();
    return Ended.parse(rows).map(({ chat, state, notice, body }) => ({
      chatId: chat,
      state: state === 'unknown' ? 'unknown' : 'failed',
      kind: notice === 1 ? 'notice' : 'answer',
      text: body,
    }));
  });
}

/**
 * Opened for one question and closed again: a connection of ours that is open while the victim dies
 * would keep its log files in use, and its next life would have nothing to recover.
 */
function query<T>(folder: string, ask: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(fileIn(folder), { readOnly: true, timeout: 5_000 });
  try {
    return ask(database);
  } finally {
    database.close();
  }
}

function fileIn(folder: string): string {
  return join(folder, 'parley.db');
}
