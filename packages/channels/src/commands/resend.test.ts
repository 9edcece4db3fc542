import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, POLICY } from '../testing/ingress-scene.ts';

const GROUP = { id: '-5', type: 'group', title: 'Team' } as const;
const ANN = '7';
const STRANGER = '8';

let scene: IngressScene;
let nth: number;
beforeEach(async () => {
  nth = 0;
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

interface Press {
  readonly from?: string;
  readonly chat?: { readonly id: string; readonly type?: 'group'; readonly threadId?: string };
  readonly messageId?: string;
}

/** Sends a message or a button press, and returns the outcome of ingress. */
function write(text: string, { from = ANN, chat = GROUP, messageId }: Press = {}) {
  nth += 1;
  const access = { ...POLICY.access, direct: 'open' } as const;
  const sender = { id: from };
  const message = { messageId: messageId ?? `m${nth}`, text, chat, sender, addressed: true };
  return scene.ingressWith({ access })(createMessage(message), CAPABILITIES);
}

/** Answers Ann's question in the group with an unknown outcome; returns the notice's button. */
async function lose(): Promise<string> {
  await write('/whoami');
  const { outbox } = scene.store;
  const due = await outbox.next({ channel: 'telegram', account: 'default', chatId: GROUP.id });
  if (due === null) throw new Error('Nothing was answered.');
  await outbox.markSending(due.part.id, scene.now);
  await outbox.markFailed(due.part.id, 'unknown', 'killed', scene.now, null);
  return `/resend ${due.part.idempotencyKey}`;
}

/** The next parts to send to a chat, in order. */
async function due(chatId: string = GROUP.id): Promise<readonly string[]> {
  const parts = await scene.store.outbox.recent(
    { channel: 'telegram', account: 'default', chatId },
    100,
  );
  return parts.filter(({ state }) => state === 'pending').map(({ part }) => part.body.plain);
}

const ANSWER = expect.stringContaining('You are telegram:7');
const DONE = 'I have sent it again.';
const AGAIN = expect.stringContaining('already settled');

describe('/resend', () => {
  it('[D04] sends a possibly lost part again before confirming, and removes the button', async () => {
    const button = await lose();
    expect(await write(button)).toEqual({ kind: 'command', name: 'resend', settled: true });
    expect(await due()).toEqual([ANSWER, DONE]);
    expect(scene.happened).toContain(`deliver ${GROUP.id}`);
  });

  it('[D04] does not resend a message part that was lost in another topic of the chat', async () => {
    await lose();
    const topic = { from: '42', chat: { ...GROUP, threadId: '7' } };
    await write('/resend', topic);
    expect(await due()).toEqual([expect.stringContaining('nothing to send again')]);
    await write('/resend', { from: '42' });
    expect(await due()).toContain(DONE);
  });

  it('[D04] works once: neither a second press nor a redelivered one has an effect', async () => {
    const button = await lose();
    await Promise.all([write(button), write(button)]);
    expect(await due()).toEqual([ANSWER, DONE, AGAIN]);
    const press = { messageId: 'press' };
    await write(button, press);
    expect(await write(button, press)).toEqual({ kind: 'duplicate' });
    expect((await due()).filter((text) => text.startsWith('You are'))).toHaveLength(1);
  });

  it('[D04] without a key, resends the newest lost part in this chat, never one from another chat', async () => {
    await lose();
    await write('/resend', { chat: { id: ANN } });
    expect(await due(ANN)).toEqual([expect.stringContaining('nothing to send again')]);
    await write('/resend');
    expect(await due()).toEqual([ANSWER, DONE]);
  });

  it('[D04] does not send anything when the key belongs to another chat', async () => {
    const button = await lose();
    await write(button, { chat: { id: ANN } });
    expect(await due(ANN)).toEqual([expect.stringContaining('nothing to send again')]);
    expect(await due()).toEqual([]);
  });

  it('[D04] can be used in a group only by the person who asked and by those who may change the conversation', async () => {
    const button = await lose();
    const outcome = await write(button, { from: STRANGER });
    expect(outcome).toMatchObject({ declined: expect.stringContaining('another person') });
    expect(outcome).not.toHaveProperty('settled');
    await write(button, { from: '42' });
    expect(await due()).toEqual([expect.stringContaining('another person'), ANSWER, DONE]);
  });
});
