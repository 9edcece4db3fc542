import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aMessage } from '../testing/a-message.ts';
import { CAPABILITIES } from '../testing/capabilities.ts';
import { IngressScene, POLICY } from '../testing/ingress-scene.ts';

const GROUP = { id: '-5', type: 'group', title: 'Team' } as const;
const LANE = 'telegram:default:42';

let scene: IngressScene;
let nth: number;
beforeEach(async () => {
  nth = 0;
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

/** Somebody (42 is the owner) writes, alone with the agent or in the group; gives back what they are told. */
async function write(text: string, sender = '42', inGroup = false): Promise<string | undefined> {
  nth += 1;
  const chat = inGroup ? GROUP : { id: sender };
  const receive = scene.ingressWith({ access: { ...POLICY.access, direct: 'open' } });
  const message = { messageId: `m${nth}`, text, chat, sender: { id: sender }, addressed: true };
  await receive(aMessage(message), CAPABILITIES);
  return (await scene.told(chat.id)).at(-1);
}

/** A turn of the owner’s chat that waits for a yes. */
async function ask(): Promise<void> {
  await write('note it');
  const taken = await scene.store.lanes.acquire(LANE, 'w', scene.now, 1_000);
  if (taken.kind === 'busy') throw new Error('busy');
  await scene.store.lanes.claim(taken.lease, 'collect', 't1', scene.now);
  const approval = {
    code: 'ABC234',
    turnId: 't1',
    callKey: 't1.0.0',
    tool: 'write',
    shown: '{"secret":"heron"}',
    askedBy: 'telegram:42',
    place: 'telegram direct 42',
    approvers: [],
    expiresAt: scene.now + 1_000,
  };
  await scene.store.approvals.ask(taken.lease, approval, [], scene.now);
  scene.happened.length = 0;
}

describe('/approve and /deny', () => {
  it('[G05] decide once, wake the turn, and say nothing of the arguments', async () => {
    await ask();
    expect(await write('/approve abc-234')).toBe('Allowed: write.');
    expect(scene.happened).toContain(`kick ${LANE}`);
    scene.happened.length = 0;
    expect(await write('/deny ABC234')).toBe('That was decided already: write was allowed.');
    expect(scene.happened).not.toContain(`kick ${LANE}`);
    expect((await scene.told()).join()).not.toContain('heron');
  });

  it('[G05] are for approvers alone, who learn nothing of whether there is such a code', async () => {
    await ask();
    const words = '/approve is for my owner, and for those my owner has named.';
    expect(await write('/approve ABC234', '7')).toBe(words);
    expect(await write('/approve ABC234', '7', true)).toBe(words);
    expect(await write('/approve QQQ777', '7', true)).toBe(words);
    expect(await scene.store.approvals.recent(1)).toMatchObject([{ state: 'pending' }]);
  });

  it.each([
    ['/approve', 'Waiting for a decision'],
    ['/approve QQQ777', 'I have asked nothing with that code.'],
    ['/approve 1', 'I have asked nothing with that code.'],
    ['/deny ABC234', 'Refused: write.'],
  ])('[G05] %s: %s', async (text, words) => {
    await ask();
    expect(await write(text)).toContain(words);
  });

  it('[G05] come too late when the time is up', async () => {
    await ask();
    scene.now += 1_000;
    expect(await write('/approve ABC234')).toContain('Too late');
  });
});

describe('/mode', () => {
  it.each([
    ['7', true, '/mode ask', 'ask mode: I look'],
    ['7', true, '/mode', 'This conversation is in agent mode.'],
    ['7', false, '/mode plan', 'plan mode: I look'],
    ['7', false, '/mode turbo', 'I know no such mode.'],
  ])('[G04] of %s (in a group: %s) %s: %s', async (sender, inGroup, text, words) => {
    expect(await write(text, sender, inGroup)).toContain(words);
  });

  it('[G04] in a group only an owner gives the agent more freedom', async () => {
    await write('/mode ask', '7', true);
    expect(await write('/mode agent', '7', true)).toContain('only my owner can switch me');
    expect(await write('/mode', '7', true)).toContain('in ask mode');
    expect(await write('/mode agent', '42', true)).toContain('agent mode: I use');
  });
});
