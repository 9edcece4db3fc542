import { silentLogger } from '@parley/core';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeartbeatJudge } from './judge.ts';
import { findQuietSpellings, judgeHeartbeatAnswer } from './verdict.ts';

const LONG = 'The disk is full and the backup of this night failed. '.repeat(6).trim();

// biome-ignore-start format: a table is read down its columns
const QUIET: readonly string[] = [
  'HEARTBEAT_OK',
  ' HEARTBEAT_OK\n',
  'heartbeat_ok',
  'Heartbeat_Ok.',
  'HEARTBEAT_OK!!',
  'HEARTBEAT OK',
  'heartbeat-ok',
  'HEARTBEAT-OK',
  'HEARTBEAT–OK',
  'HEARTBEATOK',
  'HEARTBEAT_OKAY',
  'HEARTBEAT _OK',
  '**HEARTBEAT_OK**',
  '*HEARTBEAT_OK*',
  '__HEARTBEAT_OK__',
  '~~HEARTBEAT_OK~~',
  '`HEARTBEAT_OK`',
  '```\nHEARTBEAT_OK\n```',
  '```text\nHEARTBEAT_OK\n```',
  '~~~\nHEARTBEAT_OK\n~~~',
  '> HEARTBEAT_OK',
  '- HEARTBEAT_OK',
  '# HEARTBEAT_OK',
  '"HEARTBEAT_OK"',
  "'HEARTBEAT_OK'",
  '„HEARTBEAT_OK“',
  '«HEARTBEAT_OK»',
  '「HEARTBEAT_OK」。',
  '(HEARTBEAT_OK)',
  '[HEARTBEAT_OK]',
  '{HEARTBEAT_OK}',
  '<HEARTBEAT_OK>',
  '</HEARTBEAT_OK>',
  '<b>HEARTBEAT_OK</b>',
  'HEARTBEAT\\_OK',
  '**HEARTBEAT**_OK',
  'HEART\u200bBEAT_\u200dOK',
  '\ufeffHEARTBEAT_OK',
  'ＨＥＡＲＴＢＥＡＴ＿ＯＫ',
  '𝐇𝐄𝐀𝐑𝐓𝐁𝐄𝐀𝐓_𝐎𝐊',
  'HEARTBEAT&#95;OK',
  'HEARTBEAT&lowbar;OK',
  '&#72;EARTBEAT_OK',
  'HEARTBEAT&#x5F;OK',
  'HEARTBEAT_OK 👍',
  '✅ HEARTBEAT_OK',
  '⚙️ HEARTBEAT_OK',
  'HEARTBEAT_OK HEARTBEAT_OK',
  'HEARTBEAT_OK\n\nHEARTBEAT_OK',
  'HEARTBEAT_OK — nothing new.',
  'Nothing new. HEARTBEAT_OK',
  'Nichts Neues.\n\nHEARTBEAT_OK',
  'HEARTBEAT_OK すべて順調です。',
  'Всё тихо. heartbeat_ok',
  'HEARTBEAT_OKAll is well.',
  'I looked at the mail.\n**HEARTBEAT_OK**.',
  'Status: `HEARTBEAT_OK`',
  '',
  ' \n\t',
  '**',
  '```\n```',
  '---',
  '\u200b',
  '…',
  '⚙️',
  'NO_REPLY',
  '**no_reply**',
  `HEARTBEAT_OK ${'x'.repeat(300)}`,
];

const ALERTS: readonly (readonly [answer: string, shown: string])[] = [
  ['The door is open.', 'The door is open.'],
  ['  The door is open.\n', 'The door is open.'],
  ['🔥', '🔥'],
  [
    'OK to restart the server? It has been down since 3:00.',
    'OK to restart the server? It has been down since 3:00.',
  ],
  ['The heartbeat ok light is off.', 'The heartbeat ok light is off.'],
  ['No reply from Anna yet.', 'No reply from Anna yet.'],
  [`HEARTBEAT_OK\n\n${LONG}`, LONG],
  [`HEARTBEAT_OK ${'x'.repeat(301)}`, 'x'.repeat(301)],
  [`${LONG}\n\nHEARTBEAT_OK`, LONG],
  [`${LONG} **HEARTBEAT_OK**.`, `${LONG}.`],
  [`${LONG}\n\`\`\`\nHEARTBEAT_OK\n\`\`\``, LONG],
  [`HEARTBEAT_OK: ${LONG}`, LONG],
  [
    'The door is open.\n\nHEARTBEAT_OK\n\nThe light is on.',
    'The door is open.\n\nThe light is on.',
  ],
  ['The door (HEARTBEAT_OK) is open.', 'The door is open.'],
  [
    'The door is open: HEARTBEAT\\_OK, and the light is on.',
    'The door is open:, and the light is on.',
  ],
  ['The door heartbeat-ok is open.', 'The door is open.'],
  ['MY_HEARTBEAT_OK_FLAG was set by somebody.', 'MY FLAG was set by somebody.'],
];

const UNCLEAR: readonly string[] = [
  'OK',
  'Okay.',
  'All good!',
  '**Nothing to report.**',
  'All is quiet',
  'HEARTBEAT',
  'HEARTBEAT_',
  'HEARTBEAT_O',
  'heartbeat ok',
  'Heartbeat is OK.',
  'No news.',
  'I would answer HEARTBEAT_OK, since nothing has changed.',
  'The answer is "HEARTBEAT_OK" today.',
  'n/a',
];
// biome-ignore-end format: the table ends

describe('the answer to a standing task', () => {
  it('[H03] is quiet if the text beside the token is at most as long as the settings allow, and otherwise an alert', async () => {
    const kindOf = (rest: number, length: number) =>
      judgeHeartbeatAnswer(`HEARTBEAT_OK ${'x'.repeat(length)}`, rest).kind;
    expect([kindOf(10, 10), kindOf(10, 11)]).toEqual(['quiet', 'alert']);
    expect([kindOf(1_000, 1_000), kindOf(0, 1)]).toEqual(['quiet', 'alert']);
    const judge = createHeartbeatJudge({
      store: {
        heartbeats: Object.assign(Object.create(null), { alertedSince: async () => false }),
      },
      agent: { timeZone: 'UTC' },
      settings: { quietHours: 'off', repeatHours: 24, quietMaxCharacters: 10 },
      clock: () => 0,
      log: silentLogger,
    });
    const run = { agent: 'main', task: 'mail' } as Parameters<typeof judge>[1];
    expect(await judge(`HEARTBEAT_OK ${'x'.repeat(11)}`, run)).toMatchObject({ state: 'alerted' });
  });

  it.each(QUIET)('[H03] is quiet if it is %j', (answer) => {
    expect(judgeHeartbeatAnswer(answer).kind).toBe('quiet');
  });

  it.each(ALERTS)('[H03] is an alert if it is %j', (answer, shown) => {
    expect(judgeHeartbeatAnswer(answer)).toEqual({ kind: 'alert', text: shown });
  });

  it.each(UNCLEAR)('[H03] is unclear and not sent if it is %j', (answer) => {
    expect(judgeHeartbeatAnswer(answer).kind).toBe('unclear');
  });

  it('[H03] never shows any spelling of the token, in any context', () => {
    const piece = fc.constantFrom(
      ...[
        'HEARTBEAT_OK',
        'heartbeat-ok',
        'HEARTBEAT OK',
        'HEART',
        'BEAT',
        'HEARTBEAT',
        '_OK',
        'OK',
      ],
      ...[
        '_',
        ' ',
        '\n',
        '**',
        '`',
        '(',
        ')',
        '<',
        '>',
        '\u200b',
        '\\',
        '&#95;',
        '.',
        '```\n',
        '\0',
      ],
      ...['The door is open. ', LONG, 'HEARTHEARTBEAT_OKBEAT_OK', '＿', 'ＯＫ', '🔥'],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, piece, fc.string()), { maxLength: 14 }), (pieces) => {
        const verdict = judgeHeartbeatAnswer(pieces.join(''));
        if (verdict.kind !== 'alert') return;
        expect(findQuietSpellings(verdict.text)).toEqual([]);
        expect(verdict.text).not.toMatch(/HEARTBEAT_OK/i);
        expect(verdict.text.trim()).not.toBe('');
      }),
      toRunOptions(3000),
    );
  });

  it('[H03] is unchanged if it is an alert without the token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const verdict = judgeHeartbeatAnswer(text);
        if (verdict.kind === 'alert') expect(verdict.text).toBe(text.trim());
      }),
    );
  });

  it('[H03] is judged in bounded time for any length', () => {
    const nested = `${'HEARTBEAT_'.repeat(20_000)}${'OK'.repeat(20_000)}`;
    expect(findQuietSpellings(judgeHeartbeatAnswer(nested).kind)).toEqual([]);
    expect(judgeHeartbeatAnswer('HEARTBEAT_OK '.repeat(20_000)).kind).toBe('quiet');
  });
});

it.each([
  ['21:59', '2026-11-21T20:59Z', undefined],
  ['22:00', '2026-11-21T21:00Z', '2026-11-22T06:00Z'],
  ['6:59', '2026-11-22T05:59Z', '2026-11-22T06:00Z'],
  ['7:00', '2026-11-22T06:00Z', undefined],
])(
  '[H04] an alert at %s waits for the end of the quiet hours, if it falls within them',
  async (_case, at, until) => {
    const alertedSince = async () => false;
    const judge = createHeartbeatJudge({
      store: { heartbeats: Object.assign(Object.create(null), { alertedSince }) },
      agent: { timeZone: 'Europe/Vienna' },
      settings: { quietHours: '22:00-07:00', repeatHours: 24 },
      clock: () => Date.parse(at),
      log: silentLogger,
    });
    const run = { agent: 'main', task: 'mail' } as Parameters<typeof judge>[1];
    const verdict = await judge('The disk is full.', run);
    expect(verdict).toMatchObject({ state: 'alerted', text: 'The disk is full.' });
    expect('heldUntil' in verdict ? verdict.heldUntil : undefined).toBe(
      until === undefined ? undefined : Date.parse(until),
    );
    // Used for an event that is answered in a group (H09).
    expect(await judge('The disk is full.', { ...run, isUrgent: true })).not.toHaveProperty(
      'heldUntil',
    );
  },
);
