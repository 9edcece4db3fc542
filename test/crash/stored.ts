import { z } from 'zod';

/** A part that was given up. */
export interface EndedPart {
  readonly channel: string;
  readonly chatId: string;
  readonly state: 'unknown' | 'failed';
  /** A notice of Parley's own, or a part of an answer. */
  readonly kind: 'notice' | 'answer';
  readonly text: string;
  /** Why, in Parley's words. */
  readonly error: string | null;
}

/** What stands in Parley's database, read while no kill is due. */
export interface Stored {
  /** How much is still to be done, in rows: messages, turns and parts. Null: it cannot be said now. */
  unfinished(): Promise<number | null>;
  /** How often the unluckiest of the running turns was begun; null as above. */
  mostBegun(): Promise<number | null>;
  /** How many turns were given up, with a notice to their chat; null as above. */
  givenUp(): Promise<number | null>;
  /** Parts that Parley could not or dared not send. */
  endedParts(): Promise<readonly EndedPart[]>;
}

/** In the SQL that both databases know. */
export const UNFINISHED = `
  select (select count(*) from inbox where state <> 'done')
       + (select count(*) from turn where state = 'running')
       + (select count(*) from outbox where state in ('pending', 'sending')) as count`;
export const MAX_BEGUN = `
  select coalesce(max(attempts), 0) as count from turn where state = 'running'`;
export const GIVEN_UP = `select count(*) as count from turn where state = 'failed'`;
export const ENDED = `
  select channel, chat_id as chat, state, case when turn_id is null then 1 else 0 end as notice,
         body, error
    from outbox where state in ('unknown', 'failed') order by seq`;

const Counted = z.object({ count: z.coerce.number() });
const Ended = z.array(
  z.object({
    channel: z.string(),
    chat: z.string(),
    state: z.enum(['unknown', 'failed']),
    notice: z.coerce.number(),
    body: z.string(),
    error: z.string().nullable(),
  }),
);

/** Reads the answer to `UNFINISHED`, `MAX_BEGUN` and `GIVEN_UP`. */
export function readCount(row: unknown): number {
  return Counted.parse(row).count;
}

/** Reads the answer to `ENDED`. */
export function readEnded(rows: unknown): EndedPart[] {
  return Ended.parse(rows).map(({ channel, chat, state, notice, body, error }) => ({
    channel,
    chatId: chat,
    state,
    kind: notice === 1 ? 'notice' : 'answer',
    text: body,
    error,
  }));
}
