import { guarded } from '@parley/channels';
import { z } from 'zod';
import type { Position } from './seen.ts';
import { Snowflake } from './wire.ts';

/** A frame of the gateway; op 0 is an event, `t` its name and `s` its number. */
const Frame = z.object({
  op: z.int(),
  t: z.string().nullish(),
  s: z.int().nullish(),
  d: z.unknown(),
});
const Ready = z.object({
  session_id: z.string(),
  resume_gateway_url: z.string(),
  user: z.object({ id: Snowflake }),
});

/** The code of Discord's own libraries for a close after which the session goes on. */
const RESUMING = 4200;
const [EVENT, HEARTBEAT, RESUME, RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK] = [
  0, 1, 6, 7, 9, 10, 11,
];

/** Where a session is after an event; undefined while its beginning was not seen. */
export function positionAfter(
  event: { readonly t: string; readonly s: number; readonly d: unknown },
  before: Position | undefined,
): Position | undefined {
  if (event.t !== 'READY') return before && { ...before, seq: event.s };
  const ready = Ready.safeParse(event.d);
  if (!ready.success) return undefined;
  const { session_id: session, resume_gateway_url: url, user } = ready.data;
  return { session, url, me: user.id, seq: event.s };
}

/** What a session of an earlier process still brings. */
export interface Resumed {
  /** Resolves when all that was missed was heard, or the session is refused or gone. */
  readonly caughtUp: Promise<void>;
  /**
   * Resolves when all that Discord sent to it before this call was heard: a heartbeat is answered behind
   * that. Two connections know no order, so the new session may begin before the last events of this one
   * arrive.
   */
  drained(): Promise<void>;
  /** Whether Discord still sends to it. */
  isOpen(): boolean;
  close(): void;
}

/**
 * Resumes the session of an earlier process beside the new one, which discord.js begins: that needs READY
 * for its caches. Only the session knows of direct chats in which nothing was ever said before. Its
 * events go to `hear`, with the position before each.
 */
export function resumeSession(
  { token, from }: { readonly token: string; readonly from: Position },
  hear: (name: string, data: unknown, before: Position) => void,
): Resumed {
  const { promise: caughtUp, resolve: catchUp } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const end = (): void => {
    catchUp();
    answer();
  };
  const socket = new WebSocket(`${from.url.replace(/\/$/, '')}/?v=10&encoding=json`);
  const close = (): void => {
    socket.close(RESUMING);
    end();
  };
  let position = from;
  const take = (text: unknown): void => {
    const { op, t, s, d } = Frame.parse(JSON.parse(String(text)));
    if (op === HELLO) {
      const resume = { token, session_id: from.session, seq: from.seq };
      socket.send(JSON.stringify({ op: RESUME, d: resume }));
    } else if (op === RECONNECT || op === INVALID_SESSION) close();
    else if (op === HEARTBEAT_ACK) answer();
    else if (op === EVENT && t === 'RESUMED') catchUp();
    else if (op === EVENT && t != null && s != null) {
      hear(t, d, position);
      position = { ...position, seq: s };
    }
  };
  socket.onmessage = guarded('resume', ({ data }: MessageEvent) => take(data));
  socket.onerror = close;
  socket.onclose = () => end();
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const drained = async (): Promise<void> => {
    await caughtUp;
    if (!isOpen()) return;
    socket.send(JSON.stringify({ op: HEARTBEAT, d: position.seq }));
    await answered;
  };
  return { caughtUp, drained, isOpen, close };
}
