import { silentLogger, silentMeter } from '@parley/core';
import { silentRuntime } from '@parley/core/testing';
import type { AdmittedMessage } from '@parley/store';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FindAlertTarget } from '../alerts.ts';
import { type HeartbeatScene, openHeartbeatScene } from '../testing/heartbeat-scene.ts';
import { createEventId, createHooks, type HookRules } from './hooks.ts';

const RULES: HookRules = {
  token: 'secret '.repeat(5),
  action: 'job',
  instruction: 'Say which run failed.',
  target: 'last',
  perMinute: 10,
  maxBytes: 1_000,
  maxCharacters: 500,
  signature: false,
};
const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 99, unit: 'utf16' } as const;

let scene: HeartbeatScene;
/** Records the chat lookups: the agent, and the name given in the hook. */
let asked: string[];
let made: number;
beforeEach(async () => {
  scene = await openHeartbeatScene();
  asked = [];
  made = 0;
});
afterEach(() => scene.close());

/** Finds an owner's chat, or the group that is named. */
const findTarget =
  (choice: string): FindAlertTarget =>
  async ({ tell }) => {
    asked.push(`${choice} ${tell ?? ''}`.trim());
    if (tell === 'nobody') return { kind: 'none', reason: 'no owner has written' };
    const chat = { id: tell ?? 'c', type: tell === undefined ? 'direct' : 'group' } as const;
    return {
      kind: 'chat',
      conversationId: `test:default:${chat.id}`,
      route: { ...PLACE, chatId: chat.id, replyToMessageId: 'm1', target: TARGET },
      isOwners: tell === undefined,
      last: {
        ...{ ...PLACE, messageId: 'm1', chat, sender: { id: '7', name: 'Bo', isBot: false } },
        ...{ text: 'hi', mentions: [], addressed: true, sentAt: 0, variables: {} },
      },
    };
  };

/** Creates the hooks of a freshly started process. */
const hooks = (change: Partial<HookRules> = {}) =>
  createHooks({
    ...{ store: scene.store, clock: scene.now, meter: silentMeter },
    rules: { ci: { ...RULES, ...change }, door: RULES },
    log: silentLogger,
    agentOf: (name) =>
      name === 'nobody'
        ? undefined
        : { owners: ['test:1'], findTarget, heartbeat: scene.heartbeat },
    wake: async (lane) => void scene.woken.push(lane),
    newId: (prefix) => `${prefix}_${++made}`,
  });

const event = (body: string, key?: string) => ({ contentType: 'text/plain', body, key });

/** Returns the messages that wait in a lane, by `seq`. */
async function waiting(lane: string): Promise<readonly AdmittedMessage[]> {
  const work = { conversationId: lane, owner: 'w', leaseMs: 1_000 };
  const found: AdmittedMessage[] = [];
  for (let nth = 0; ; nth += 1) {
    const begun = await scene.store.lanes.begin(work, 'collect', `${lane}${nth}`, scene.now());
    if (begun.kind !== 'turn') return found;
    found.push(...begun.turn.messages);
    const { turnId, messages } = begun.turn;
    const commit = { turnId, outcome: 'silent', entries: [], parts: [], usage: null } as const;
    const id = messages[0]?.message.messageId ?? '';
    const ending = { id, commit, state: 'quiet', reason: null } as const;
    await scene.store.heartbeats.commit(begun.lease, ending, scene.now());
  }
}

describe('hooks for external events', () => {
  it("[H09] [D01] store an event as a run in a separate lane, with the event as data and the target's route", async () => {
    const taken = await hooks().take('ci', event('The build broke.'));
    expect(taken).toEqual({ kind: 'taken', id: 'hook_ci_1', isNew: true });
    expect(scene.woken).toEqual(['beat:hook:ci']);
    const [admitted] = await waiting('beat:hook:ci');
    expect(admitted).toMatchObject({
      conversationId: 'beat:hook:ci',
      fromOwner: true,
      route: { chatId: 'c', chatType: 'direct' },
      message: {
        trigger: 'heartbeat',
        chat: { id: 'beat:hook:ci', type: 'direct' },
        variables: { instruction: 'Say which run failed.', hook: 'ci' },
      },
    });
    expect(admitted?.route.replyToMessageId).toBeUndefined();
    expect(admitted?.message.text).toMatch(
      /^⚙️ An event[\s\S]*<outside id="\w+">\nThe build broke\./,
    );
    expect(JSON.stringify(admitted)).not.toContain(RULES.token);
  });

  it('[H09] accept each key once, even after a restart, and treat events without a key as new', async () => {
    const first = await hooks().take('ci', event('a', 'delivery-1'));
    const again = await hooks().take('ci', event('b', 'delivery-1'));
    expect(first).toMatchObject({ kind: 'taken', isNew: true });
    expect(again).toEqual({ ...first, isNew: false });
    const both = await Promise.all([1, 2].map(() => hooks().take('ci', event('c', 'delivery-2'))));
    expect(both.map((one) => one.kind === 'taken' && one.isNew).toSorted()).toEqual([false, true]);
    expect(await hooks().take('door', event('a', 'delivery-1'))).toMatchObject({ isNew: true });
    for (const body of ['d', 'd']) await hooks().take('ci', event(body));
    const texts = (await waiting('beat:hook:ci')).map(
      ({ message }) => /">\n(.*)\n/.exec(message.text)?.[1],
    );
    expect(texts).toEqual(['a', 'c', 'd', 'd']);
  });

  it('[H09] derive a distinct id from each hook and key; ids of events without a key differ from these', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,39}$/);
    const key = fc.option(fc.string({ maxLength: 20 }), { nil: undefined });
    const { newId } = silentRuntime;
    fc.assert(
      fc.property(name, key, name, key, (one, its, other, others) => {
        const isSame = one === other && its === others && its !== undefined;
        expect(createEventId(one, its, newId) === createEventId(other, others, newId)).toBe(isSame);
      }),
    );
  });

  it.each([
    ['last', 'last'],
    ['test:1', 'test:1'],
    ['family', 'last family'],
    ['test:-100', 'last test:-100'],
  ])(
    '[H09] [H04] with the target %s find the chat for %s the way a standing task does',
    async (target, found) => {
      await hooks({ target }).take('ci', event('x'));
      expect(asked).toEqual([found]);
    },
  );

  it('[H09] [W02] for a group do not have a sender there, not even the owner', async () => {
    await hooks({ target: 'family' }).take('ci', event('x'));
    const [admitted] = await waiting('beat:hook:ci');
    expect(admitted).toMatchObject({ route: { chatType: 'group' } });
    expect(admitted?.fromOwner).not.toBe(true);
    expect(admitted?.message.sender.id).toBe('operator');
  });

  it("[H09] [F14] for another agent use one of that agent's lanes, and report an unknown agent", async () => {
    await hooks({ agent: 'support' }).take('ci', event('x'));
    expect(scene.woken).toEqual(['@support/beat:hook:ci']);
    expect(await waiting('@support/beat:hook:ci')).toHaveLength(1);
    const taken = await hooks({ agent: 'nobody' }).take('ci', event('x'));
    expect(taken).toEqual({ kind: 'nowhere', reason: 'there is no agent nobody' });
  });

  it('[H09] [D07] report that an event has no chat, or that too many events are waiting', async () => {
    expect(await hooks({ target: 'nobody' }).take('ci', event('x'))).toMatchObject({
      kind: 'nowhere',
    });
    for (let nth = 0; nth < 101; nth += 1) await hooks().take('ci', event('x'));
    expect(await hooks().take('ci', event('x'))).toMatchObject({ kind: 'full' });
    expect(await hooks().take('door', event('x'))).toMatchObject({ kind: 'taken' });
  });

  it('[H09] [H02] wake the heartbeat for the most overdue task or the named one, after any run in progress', async () => {
    scene.put(
      'HEARTBEAT.md',
      '## mail\n- every: 30 min\n- do: Look.\n## door\n- every: day\n- do: Look.\n',
    );
    const waking = { action: 'heartbeat', instruction: undefined } as const;
    await hooks(waking).take('ci', event('x', 'k'));
    await hooks({ ...waking, task: 'door' }).take('ci', event('x'));
    await hooks(waking).take('ci', event('x', 'k'));
    const ran = await waiting('beat:main');
    expect(ran.map(({ message }) => message.variables.task)).toEqual(['mail', 'door']);
    const [shown] = await hooks(waking).list();
    expect(shown?.events.map(({ outcome }) => outcome)).toEqual([
      'quiet: the standing task door started',
      'quiet: the standing task mail started',
    ]);
  });

  it('[H09] [G18] are listed with their latest events and without their tokens', async () => {
    await hooks().take('ci', event('x'));
    const listed = await hooks().list();
    expect(listed).toMatchObject([
      { name: 'ci', target: 'last', events: [{ id: 'hook_ci_1', outcome: 'under way' }] },
      { name: 'door', events: [] },
    ]);
    expect(JSON.stringify(listed)).not.toContain('secret');
  });
});
