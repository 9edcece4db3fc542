import { guarded } from '@parley/channels';
import { z } from 'zod';
import type { StartTimer } from './connection.ts';
import type { SessionPosition } from './positions.ts';

/** A gateway frame. If `op` is 0, it is an event with the name `t` and the sequence number `s`. */
const Frame = z.object({
  op: z.int(),
  t: z.string().nullish(),
  s: z.int().nullish(),
  d: z.unknown(),
});
const Hello = z.object({ heartbeat_interval: z.number().positive() });

/** The close code with which Discord's own libraries keep the session resumable. */
const RESUMING = 4200;
const [EVENT, HEARTBEAT, RESUME, RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK] = [
  0, 1, 6, 7, 9, 10, 11,
];
/**
 * Close codes that mean that Discord no longer has the session: gone, unknown sequence number,
 * timed out.
 */
const GONE_CODES: ReadonlySet<number> = new Set([4006, 4007, 4009]);
const WRONG_TOKEN = 4004;
/** A connection that does not receive a new event for this long (ms) before RESUMED is given up. */
const SILENT_MS = 60_000;

export type ResumeCloseReason =
  /** Discord no longer has the session. */
  | 'gone'
  /** Discord refuses the token; the session may still exist. */
  | 'refused'
  /** The connection failed; the session can be resumed again. */
  | 'failed';

export interface ResumedSession {
  /**
   * Resolves when all missed events have been received; stays pending if the connection ends before
   * that.
   */
  readonly caughtUp: Promise<'caught-up'>;
  readonly ended: Promise<ResumeCloseReason>;
  /**
   * Resolves when everything that Discord sent before this call has been received, as shown by the
   * acknowledgment of a heartbeat. Two connections have no common order, so the new session may
   * start before the last events from this one arrive.
   */
  drained(): Promise<'drained'>;
  /** The position after the last event. */
  position(): SessionPosition;
  close(): void;
}

/**
 * Resumes an earlier session in parallel with the new session in discord.js, whose caches need
 * READY. Only the earlier session delivers the first message of a new direct chat. Its events are
 * passed to `onEvent`, each with the position before it.
 */
export function resumeSession(
  {
    token,
    from,
    later,
  }: { readonly token: string; readonly from: SessionPosition; readonly later: StartTimer },
  onEvent: (name: string, data: unknown, before: SessionPosition) => void,
): ResumedSession {
  const caughtUp = Promise.withResolvers<'caught-up'>();
  const drained = Promise.withResolvers<'drained'>();
  const beats = { sent: 0, acknowledged: 0, drains: Number.POSITIVE_INFINITY };
  const ended = Promise.withResolvers<ResumeCloseReason>();
  const socket = new WebSocket(`${from.url.replace(/\/$/, '')}/?v=10&encoding=json`);
  const timers = { silence: () => {}, heartbeat: () => {} };
  let position = from;
  let isCaughtUp = false;
  const end = (why: ResumeCloseReason): void => {
    timers.silence();
    timers.heartbeat();
    socket.close(RESUMING);
    ended.resolve(why);
  };
  const watch = (): void => {
    timers.silence();
    if (!isCaughtUp) timers.silence = later(() => end('failed'), SILENT_MS);
  };
  const beat = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return;
    beats.sent += 1;
    socket.send(JSON.stringify({ op: HEARTBEAT, d: position.seq }));
  };
  const acknowledge = (): void => {
    beats.acknowledged += 1;
    if (beats.acknowledged >= beats.drains) drained.resolve('drained');
  };
  const beatEvery = (ms: number): void => {
    timers.heartbeat = later(() => {
      beat();
      beatEvery(ms);
    }, ms);
  };
  const greet = (hello: unknown): void => {
    const resume = { token, session_id: from.session, seq: from.seq };
    socket.send(JSON.stringify({ op: RESUME, d: resume }));
    beatEvery(Hello.parse(hello).heartbeat_interval);
  };
  const handleEvent = (name: string, seq: number, data: unknown): void => {
    if (name === 'RESUMED') {
      isCaughtUp = true;
      caughtUp.resolve('caught-up');
    } else onEvent(name, data, position);
    position = { ...position, seq };
    watch();
  };
  const receive = (text: unknown): void => {
    const { op, t, s, d } = Frame.parse(JSON.parse(String(text)));
    if (op === HELLO) greet(d);
    else if (op === RECONNECT) end('failed');
    else if (op === INVALID_SESSION) end(d === true ? 'failed' : 'gone');
    else if (op === HEARTBEAT_ACK) acknowledge();
    else if (op === HEARTBEAT) beat();
    else if (op === EVENT && t != null && s != null) handleEvent(t, s, d);
  };
  watch();
  socket.onmessage = guarded('resume', ({ data }: MessageEvent) => receive(data));
  socket.onerror = () => end('failed');
  socket.onclose = ({ code }) => end(toResumeCloseReason(code));
  return {
    caughtUp: caughtUp.promise,
    ended: ended.promise,
    drained: () => {
      beat();
      beats.drains = beats.sent;
      return drained.promise;
    },
    position: () => position,
    close: () => end('failed'),
  };
}

function toResumeCloseReason(closeCode: number): ResumeCloseReason {
  if (GONE_CODES.has(closeCode)) return 'gone';
  return closeCode === WRONG_TOKEN ? 'refused' : 'failed';
}
