import { z } from 'zod';

/** A part that was not certainly sent: given up, or with an unknown outcome. */
export interface EndedPart {
  readonly channel: string;
  readonly chatId: string;
  readonly state: 'unknown' | 'failed';
  /** A notice from Parley, or a part of an answer. */
  readonly kind: 'notice' | 'answer';
  readonly text: string;
  /** The reason that Parley recorded. */
  readonly error: string | null;
}

/** Queries of Parley's database, made while no kill is pending. */
export interface StoredQueries {
  /** The number of unfinished messages, turns and parts; null if it cannot be determined now. */
  unfinished(): Promise<number | null>;
  /** The highest number of starts of any running turn; null if it cannot be determined now. */
  mostBegun(): Promise<number | null>;
  /**
   * The number of turns that were given up with a notice to their chat; null if it cannot be
   * determined now.
   */
  givenUp(): Promise<number | null>;
  /** Parts that Parley could not send, or could not safely send again. */
  endedParts(): Promise<readonly EndedPart[]>;
}

/** In SQL that both databases support. */
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

/** Parses the result of `UNFINISHED`, `MAX_BEGUN` and `GIVEN_UP`. */
export function readCount(row: unknown): number {
  return Counted.parse(row).count;
}

/** Parses the result of `ENDED`. */
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
