import { toRunOptions } from '@parley/core/testing';
import type { HeartbeatRun } from '@parley/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AlertTargetInput, chooseAlertTarget, type KnownAlertChat } from './alert-target.ts';
import {
  computeQuietHoursEnd,
  computeRepeatStart,
  fingerprintAlert,
  readQuietHours,
  reportFailures,
} from './alerts.ts';
import { createZoneClock } from './zone-clock.ts';

const ANN = 'telegram:1';
const chat = (id: string, more: Partial<KnownAlertChat> = {}): KnownAlertChat => ({
  conversationId: id,
  kind: 'direct',
  ...more,
});
const CHATS: readonly KnownAlertChat[] = [
  chat('ann', { person: ANN, ownerWroteAt: 5 }),
  chat('ann-wa', { person: 'whatsapp:1', ownerWroteAt: 9 }),
  chat('bob', { person: 'telegram:2' }),
];
const FAMILY = chat('family', { kind: 'group', ownerWroteAt: 99 });
const OWNERS = [ANN, 'whatsapp:1'];

function said(facts: Partial<AlertTargetInput>) {
  const target = chooseAlertTarget({ choice: 'last', owners: OWNERS, chats: CHATS, ...facts });
  if (target.kind === 'none') return `nobody: ${target.reason}`;
  return target.chat.conversationId + (target.note === undefined ? '' : ` (${target.note})`);
}

describe('the target of an alert', () => {
  it.each<[Partial<AlertTargetInput>, string]>([
    [{}, 'ann-wa'],
    [{ choice: ANN }, 'ann'],
    [{ tell: { name: 'family', chat: FAMILY } }, 'family'],
    [
      { tell: { name: 'nowhere', chat: null } },
      'ann-wa (no group is called "nowhere", so the alert goes to the owner)',
    ],
    [
      { tell: { name: 'bob', chat: chat('bob') } },
      'ann-wa (no group is called "bob", so the alert goes to the owner)',
    ],
    [{ owners: [] }, 'nobody: the settings do not name an owner'],
    [{ owners: ['telegram:2'] }, 'nobody: no owner has written in a direct chat yet'],
    [
      { choice: 'telegram:2' },
      'nobody: heartbeat.notify is telegram:2, which is not one of the owners',
    ],
    [
      { choice: 'telegram:7', owners: ['telegram:7'] },
      'nobody: telegram:7 has not written in a direct chat yet',
    ],
  ])('[H04] for %j: %s', (facts, target) => expect(said(facts)).toBe(target));

  it('[H04] is never a group that the task does not name, and never a person who is not an owner', () => {
    const person = fc.constantFrom('telegram:1', 'telegram:2', 'last', '');
    const known = fc.record(
      {
        conversationId: fc.string(),
        kind: fc.constantFrom('direct' as const, 'group' as const),
        person,
        ownerWroteAt: fc.nat(),
      },
      { requiredKeys: ['conversationId', 'kind'] },
    );
    const named = fc.record({ name: fc.string(), chat: fc.option(known) });
    const facts = fc.record({
      tell: fc.option(named, { nil: undefined }),
      choice: person,
      owners: fc.array(person),
      chats: fc.array(known),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const target = chooseAlertTarget(given);
        if (target.kind === 'none') return;
        if (target.chat.kind === 'group') expect(target.chat).toBe(given.tell?.chat);
        else expect(given.owners).toContain(target.chat.person);
      }),
      toRunOptions(1000),
    );
  });
});

const run = (state: HeartbeatRun['state']): HeartbeatRun => ({
  ...{ id: 'b', agent: 'main', task: 'mail', target: 'c', state, reason: 'the `model`\nis away' },
  ...{ alert: null, startedAt: 0, finishedAt: 1, inputTokens: 0, outputTokens: 0 },
  heldUntil: null,
});

async function toldBy(states: readonly HeartbeatRun['state'][], times: readonly string[]) {
  const told = new Map<string, string>();
  let now = 0;
  const recent = async () => states.map(run);
  const services: Parameters<typeof reportFailures>[0] = {
    store: { heartbeats: Object.assign(Object.create(null), { recent }) },
    agent: { id: 'main', timeZone: 'Europe/Vienna' },
    settings: { quietHours: '22:00-07:00' },
    notify: async (key, words) => void told.set(key, words),
    clock: () => now,
  };
  for (const time of times) {
    now = Date.parse(time);
    await reportFailures(services);
  }
  return [...told];
}

describe('consecutive failed runs', () => {
  it('[H04] are reported to the owner once a day, and not during quiet hours', async () => {
    const times = ['2026-11-21T23:00Z', '2026-11-22T05:59Z', '2026-11-22T06:01Z'];
    const days = [...times, '2026-11-22T18:00Z', '2026-11-23T08:00Z'];
    const told = await toldBy(['failed', 'failed', 'failed'], days);
    expect(told.map(([key]) => key)).toEqual([
      'beats-failed:main:2026-11-22',
      'beats-failed:main:2026-11-23',
    ]);
    expect(told[0]?.[1]).toContain('3 times in a row (mail). The last time: `the model is away`.');
  });

  it.each<readonly HeartbeatRun['state'][]>([
    [],
    ['failed'],
    ['failed', 'failed', 'quiet'],
    ['running', 'failed', 'failed'],
  ])('[H04] are not reported after the outcomes %s, %s, %s', async (...states) => {
    expect(await toldBy(states, ['2026-11-22T12:00Z'])).toEqual([]);
  });
});

const SAID = 'The backup of 3:00 failed.';

describe('an alert that was already sent', () => {
  it.each([
    ['marks', '**The backup of 3:00 failed.**'],
    ['case', 'THE BACKUP OF 3:00 FAILED'],
    ['space', 'The  backup of\n3:00 failed'],
    ['punctuation and pictographs', '⚠️ The backup, of 3:00 … failed!'],
    ['invisible characters', 'The\u200b backup of 3:00 failed.'],
    ['full-width letters', 'Ｔｈｅ backup of 3:00 failed.'],
  ])('[H04] is recognized although its %s differ', (_what, text) => {
    expect(fingerprintAlert(text)).toBe(fingerprintAlert(SAID));
  });

  it.each(['The backup of 4:00 failed.', 'The backup of 3:00 worked.', '', '🔥', 'é'])(
    '[H04] is not confused with %j',
    (text) => expect(fingerprintAlert(text)).not.toBe(fingerprintAlert(SAID)),
  );

  it('[H04] is recognized even if it consists of pictographs only', () => {
    expect(fingerprintAlert('🔥')).toBe(fingerprintAlert(' 🔥\n'));
    expect(fingerprintAlert('🔥')).not.toBe(fingerprintAlert('🚪'));
    expect(fingerprintAlert('e')).not.toBe(fingerprintAlert('é'));
  });

  it('[H04] can be sent again after 24 hours', () => {
    expect(computeRepeatStart(Date.parse('2026-11-21T12:00Z'), 24)).toBe(
      Date.parse('2026-11-20T12:00Z'),
    );
  });
});

const clock = createZoneClock('Europe/Vienna');

describe('the quiet hours for alerts', () => {
  it.each([
    ['22:00-07:00', '2026-11-21T20:59Z', null],
    ['22:00-07:00', '2026-11-21T21:00Z', '2026-11-22T06:00Z'],
    ['22:00-07:00', '2026-11-22T05:59Z', '2026-11-22T06:00Z'],
    ['22:00-07:00', '2026-11-22T06:00Z', null],
    ['12:00-14:00', '2026-11-22T11:30Z', '2026-11-22T13:00Z'],
    // The night in which the clocks go forward is an hour shorter, and the other night is an hour
    // longer.
    ['22:00-07:00', '2026-03-28T22:00Z', '2026-03-29T05:00Z'],
    ['22:00-07:00', '2026-10-24T22:00Z', '2026-10-25T06:00Z'],
    ['02:00-03:00', '2026-03-29T01:10Z', '2026-03-29T02:00Z'],
    ['off', '2026-11-21T23:00Z', null],
  ])('[H04] %s at %s delay an alert until %s', (hours, now, until) => {
    const found = computeQuietHoursEnd(readQuietHours(hours), { clock, now: Date.parse(now) });
    expect(found).toBe(until === null ? null : Date.parse(until));
  });
});
