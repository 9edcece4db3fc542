import type { BusyMode } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { readyMessages } from './claim-turn.ts';
import type { InboxRow } from './rows.ts';
import { message } from './testing/messages.ts';

/** A message as a test writes it: when it came, and what it belongs to. */
interface Written {
  readonly at?: number;
  readonly album?: string;
  /** So long that it may be a piece of a paste. */
  readonly long?: true;
  readonly from?: string;
  readonly chat?: string;
  /** It wants JSON. */
  readonly json?: true;
}

function row(
  { at = 0, album, long, from = 'ann', chat = 'c1', json }: Written,
  seq: number,
): InboxRow {
  const format = json ? ({ responseFormat: 'json' } as const) : {};
  const admitted = message(`m${seq}`, chat, { at });
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

/** The number of messages ready at `now`, or the time when some will be. */
function ready(written: readonly Written[], now: number, mode: BusyMode = 'collect') {
  const result = readyMessages(written.map(row), mode, now);
  if (result.kind === 'now') return result.rows.length;
  return result.kind === 'later' ? `at ${result.at}` : result.kind;
}

const picture = (at: number, more: Written = {}): Written => ({ at, album: 'a', ...more });

describe('what of the waiting messages becomes a turn', () => {
  it.each<[string, readonly Written[], number, number | string]>([
    ['nothing waits', [], 0, 'nothing'],
    ['an ordinary message goes at once', [{ at: 5 }], 5, 1],
    ['messages together go together', [{}, { at: 100 }, { at: 200 }], 200, 3],
    ['only those that go to the same place', [{}, { chat: 'c2' }, {}], 0, 1],
    ['one that wants JSON goes alone', [{ json: true }, {}], 0, 1],
    ['and waits for those before it', [{}, {}, { json: true }], 0, 2],
    ['an album waits a second for more', [picture(0)], 999, 'at 1000'],
    ['and goes then', [picture(0)], 1_000, 1],
    ['each picture lets it wait on', [picture(0), picture(900)], 1_000, 'at 1900'],
    ['and it goes whole', [picture(0), picture(900)], 1_900, 2],
    ['but not for ever', [0, 900, 1_800, 2_700, 3_600, 4_500].map((at) => picture(at)), 5_000, 6],
    ['and no clock that is set back makes it wait', [picture(3_600_000)], 0, 1],
    ['what came before an album does not wait for it', [{}, picture(10)], 20, 1],
    ['what comes after it keeps its place', [picture(0), { at: 10 }], 20, 'at 1000'],
    ['and goes with it', [picture(0), { at: 10 }], 1_000, 2],
    [
      'what others say between two pictures does not part them',
      [picture(0), { at: 10, from: 'bo' }, picture(900)],
      1_500,
      'at 1900',
    ],
    ['another album is another burst', [picture(0), picture(900, { album: 'b' })], 1_000, 1],
    ['an album of somebody else as well', [picture(0), picture(900, { from: 'bo' })], 1_000, 1],
    ['a long text may be a piece', [{ long: true }], 10, 'at 1000'],
    ['its short end ends it', [{ long: true }, { at: 200, long: true }, { at: 300 }], 300, 3],
    ['without an end it goes after a second', [{ long: true }], 1_000, 1],
    [
      'an answer of somebody else is no end',
      [{ long: true }, { at: 300, from: 'bo' }],
      300,
      'at 1000',
    ],
  ])('[F08] %s', (_case, written, now, expected) => {
    expect(ready(written, now)).toBe(expected);
  });

  it.each<[string, readonly Written[], number, number | string]>([
    ['one message at a time', [{}, {}], 0, 1],
    ['an album whole', [picture(0), picture(100), { at: 150 }], 1_100, 2],
    ['a paste whole', [{ long: true }, { at: 300 }, { at: 350 }], 400, 3],
    ['an album that is not over not yet', [picture(0), { at: 10 }], 20, 'at 1000'],
  ])('[F08] [D03] one by one, too: %s', (_case, written, now, expected) => {
    expect(ready(written, now, 'followup')).toBe(expected);
  });
});
