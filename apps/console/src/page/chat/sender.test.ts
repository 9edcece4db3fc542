import { describe, expect, it } from 'vitest';
import type { DeliveryState } from './conversation.ts';
import { createSender, toSendAttempt } from './sender.ts';

type Reply = Response | 'unreachable';
const ok = () => Response.json({ outcome: { kind: 'accepted' }, at: 7 });
const status = (code: number, error = 'no') => Response.json({ error }, { status: code });

/** A sender whose gateway replies with the responses in a list, one after another. */
function scene(replies: Reply[], hold = false) {
  const sent: string[] = [];
  const heard: [string, DeliveryState][] = [];
  const sender = createSender({
    base: '/c',
    request: async (_path, init) => {
      sent.push(JSON.parse(String(init.body)).id);
      const reply = replies.shift() ?? ok();
      if (reply === 'unreachable') throw new TypeError('Failed to fetch');
      return reply;
    },
    upload: () => Promise.reject(new Error('not used here')),
    files: { of: async () => [] },
    pause: (task) => {
      if (!hold) queueMicrotask(task);
    },
    listener: (id, delivery) => heard.push([id, delivery]),
  });
  const states = (id: string) => heard.filter(([its]) => its === id).map(([, { kind }]) => kind);
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
  return { sender, sent, heard, states, settle };
}
const message = (id: string) => ({ id, text: 'hello', at: 1 });

describe('sending', () => {
  it('[D01] sends the message again with the same id until the gateway has accepted it', async () => {
    const { sender, sent, states, settle } = scene(['unreachable', status(503), 'unreachable']);
    sender.send(message('a'));
    await settle();
    expect(sent).toEqual(['a', 'a', 'a', 'a']);
    expect(states('a')).toEqual(['sending', 'sending', 'sending', 'sent']);
  });

  it.each([
    ['of itself', ['old'], undefined],
    ['that it was not replaced', [], true],
  ])(
    '[U08] reports the outcome of a message that was meant to replace another one: %s',
    async (_what, replaced, isNew) => {
      const reply = Response.json({ outcome: { kind: 'accepted', replaced }, at: 7 });
      const { sender, heard, settle } = scene([reply]);
      sender.send({ ...message('a'), replaces: 'old' });
      await settle();
      expect(heard).toEqual([['a', { kind: 'sent', outcome: null, ...(isNew && { isNew }) }]]);
    },
  );

  it('[D02] keeps the order: the second message waits until the first is sent', async () => {
    const { sender, sent, settle } = scene(['unreachable', 'unreachable']);
    sender.send(message('a'));
    sender.send(message('b'));
    await settle();
    expect(sent).toEqual(['a', 'a', 'a', 'b']);
  });

  it('sends /stop ahead of the queue', async () => {
    const { sender, sent, settle } = scene(['unreachable'], true);
    sender.send(message('a'));
    sender.send(message('b'));
    await settle();
    sender.overtake(message('stop'));
    await settle();
    expect(sent).toEqual(['a', 'stop']);
  });

  it('ends the pause early when the gateway is back', async () => {
    const { sender, sent, settle } = scene(['unreachable'], true);
    sender.send(message('a'));
    await settle();
    sender.retryNow();
    await settle();
    expect(sent).toEqual(['a', 'a']);
  });

  it('continues with the next message after a refusal', async () => {
    const { sender, states, settle } = scene([status(413)]);
    sender.send(message('a'));
    sender.send(message('b'));
    await settle();
    expect([states('a').at(-1), states('b')]).toEqual(['refused', ['sent']]);
  });
});

describe("interpreting the gateway's answers", () => {
  it.each<[number, Parameters<typeof toSendAttempt>[1], string]>([
    [200, { outcome: { kind: 'accepted', conversationId: 'c' }, at: 5 }, 'sent'],
    [200, { outcome: { kind: 'duplicate' } }, 'sent'],
    [200, { outcome: { kind: 'command', name: 'help' } }, 'sent'],
    [200, { outcome: { kind: 'refused', reason: 'too long' } }, 'refused'],
    [413, { error: 'That message is larger than 4 MB.' }, 'refused'],
    [400, {}, 'refused'],
    [401, {}, 'signed-out'],
    [429, {}, 'again'],
    [500, {}, 'again'],
    [503, {}, 'again'],
  ])('interprets status %i with body %o as %s', (code, body, expected) => {
    const attempt = toSendAttempt(code, body);
    expect(typeof attempt === 'object' ? attempt.delivery.kind : attempt).toBe(expected);
  });
});
