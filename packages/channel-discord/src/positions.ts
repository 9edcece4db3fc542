import { z } from 'zod';
import { Snowflake } from './wire.ts';

export const SessionPosition = z.object({
  session: z.string(),
  /** The gateway URL for resuming the session. */
  url: z.string(),
  me: Snowflake,
  /** The sequence number of the last event. */
  seq: z.int(),
  /** The newest message that the session has delivered; absent before the first message. */
  newest: Snowflake.optional(),
});
/**
 * A position in a gateway session. A session that is resumed at a position delivers all later
 * events again.
 */
export type SessionPosition = z.infer<typeof SessionPosition>;

const Ready = z.object({
  session_id: z.string(),
  resume_gateway_url: z.string(),
  user: z.object({ id: Snowflake }),
});
const Message = z.object({ id: Snowflake });

/** A gateway event: name, sequence number and data. */
interface NumberedEvent {
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

/** A session's position after an event; undefined until the session's READY was received. */
export function advancePosition(
  { t, s, d }: NumberedEvent,
  before: SessionPosition | undefined,
): SessionPosition | undefined {
  if (t !== 'READY') return before && { ...before, seq: s, ...advanceNewest({ t, d }, before) };
  const ready = Ready.safeParse(d);
  if (!ready.success) return undefined;
  const { session_id: session, resume_gateway_url: url, user } = ready.data;
  const newest = before?.newest;
  return { session, url, me: user.id, seq: s, ...(newest !== undefined && { newest }) };
}

function advanceNewest(
  { t, d }: Pick<NumberedEvent, 't' | 'd'>,
  before: SessionPosition,
): Pick<SessionPosition, 'newest'> {
  if (t !== 'MESSAGE_CREATE') return {};
  const message = Message.safeParse(d);
  return message.success ? { newest: selectLaterId(before.newest, message.data.id) } : {};
}

export function selectLaterId(a: string | undefined, b: string): string;
export function selectLaterId(a: string | undefined, b: string | undefined): string | undefined;
export function selectLaterId(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isLater(a, b) ? a : b;
}

export function isLater(a: string, b: string): boolean {
  return BigInt(a) > BigInt(b);
}

/** The epoch of Discord's ids, in ms since 1970. */
const EPOCH_MS = 1_420_070_400_000;
const TIME_BITS = 22n;

/** When an id was created, in ms since 1970. */
export function getSnowflakeTime(snowflake: string): number {
  return Number(BigInt(snowflake) >> TIME_BITS) + EPOCH_MS;
}

/** The first id at a given time, in ms since 1970. */
export function createSnowflake(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - EPOCH_MS)) << TIME_BITS);
}

/** A human-readable time, such as `2026-11-26 14:05 UTC`. */
export function formatSnowflakeDate(snowflake: string): string {
  return `${new Date(getSnowflakeTime(snowflake)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
