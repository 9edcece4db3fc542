import type { BusyMode } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { selectReadyMessages } from './ready-messages.ts';
import type { InboxRow } from './rows.ts';
import { createMessage } from './testing/messages.ts';

/** A message in a test case: when it arrived, and which burst it belongs to. */
interface Written {
  readonly at?: number;
  readonly album?: string;
  /** Set for a message that is long enough to be a piece of a pasted text. */
  readonly long?: true;
  readonly from?: string;
  readonly chat?: string;
  /** Set if the sender requires a JSON answer. */
  readonly json?: true;
}

function row(
  { at = 0, album, long, from = 'ann', chat = 'c1', json }: Written,
  seq: number,
): InboxRow {
  const format = json ? ({ responseFormat: 'json' } as const) : {};
  const admitted = createMessage(`m${seq}`, chat, { at });
  const sender = { id: from, name: from, isBot: false };
  const albumId = album === undefined ? {} : { albumId: album };
  const settles = album !== undefined || long ? { settlesAt: at + 1_000 } : {};
  return {
    ...admitted,
    ...settles,
    seq,
    message: { ...admitted.message, ...albumId, ...format, sender },
  };
}

/** The number of messages that are ready at `now`, or the time at which some will be. */
function ready(written: readonly Written[], now: number, mode: BusyMode = 'collect') {
  const result = selectReadyMessages(written.map(row), mode, now);
  if (result.kind === 'now') return result.rows.length;
  return result.kind === 'later' ? `at ${result.at}` : result.kind;
}

const picture = (at: number, more: Written = {}): Written => ({ at, album: 'a', ...more });

describe('readyMessages', () => {
  it.each<[string, readonly Written[], number, number | string]>([
    ['returns nothing if nothing waits', [], 0, 'nothing'],
    ['releases an ordinary message at once', [{ at: 5 }], 5, 1],
    ['releases several messages together', [{}, { at: 100 }, { at: 200 }], 200, 3],
    ['stops at a message with another destination', [{}, { chat: 'c2' }, {}], 0, 1],
    ['releases a message that wants JSON alone', [{ json: true }, {}], 0, 1],
    ['releases the messages before one that wants JSON', [{}, {}, { json: true }], 0, 2],
    ['holds an album for a second', [picture(0)], 999, 'at 1000'],
    ['releases an album after a second', [picture(0)], 1_000, 1],
    ['holds an album longer after each picture', [picture(0), picture(900)], 1_000, 'at 1900'],
    ['releases an album as a whole', [picture(0), picture(900)], 1_900, 2],
    [
      'releases an album that never ends after five seconds',
      [0, 900, 1_800, 2_700, 3_600, 4_500].map((at) => picture(at)),
      5_000,
      6,
    ],
    [
      'releases an album whose time lies too far in the future after a clock change',
      [picture(3_600_000)],
      0,
      1,
    ],
    ['releases a message before an album without waiting for the album', [{}, picture(10)], 20, 1],
    ['holds a message after an album', [picture(0), { at: 10 }], 20, 'at 1000'],
    ['releases a message after an album together with it', [picture(0), { at: 10 }], 1_000, 2],
    [
      'keeps an album together across messages of others',
      [picture(0), { at: 10, from: 'bo' }, picture(900)],
      1_500,
      'at 1900',
    ],
    [
      'treats another album as a separate burst',
      [picture(0), picture(900, { album: 'b' })],
      1_000,
      1,
    ],
    [
      'treats another sender’s album as a separate burst',
      [picture(0), picture(900, { from: 'bo' })],
      1_000,
      1,
    ],
    ['holds a long text, which may be a piece of a paste', [{ long: true }], 10, 'at 1000'],
    [
      'releases a paste after its short last piece',
      [{ long: true }, { at: 200, long: true }, { at: 300 }],
      300,
      3,
    ],
    ['releases a paste without a short last piece after a second', [{ long: true }], 1_000, 1],
    [
      'does not take another sender’s message for the end of a paste',
      [{ long: true }, { at: 300, from: 'bo' }],
      300,
      'at 1000',
    ],
  ])('[F08] %s', (_case, written, now, expected) => {
    expect(ready(written, now)).toBe(expected);
  });

  it.each<[string, readonly Written[], number, number | string]>([
    ['one message', [{}, {}], 0, 1],
    ['a whole album', [picture(0), picture(100), { at: 150 }], 1_100, 2],
    ['a whole paste', [{ long: true }, { at: 300 }, { at: 350 }], 400, 3],
    ['no album that may be incomplete', [picture(0), { at: 10 }], 20, 'at 1000'],
  ])(
    '[F08] [D03] releases one burst or message at a time in followup mode: %s',
    (_case, written, now, expected) => {
      expect(ready(written, now, 'followup')).toBe(expected);
    },
  );
});
