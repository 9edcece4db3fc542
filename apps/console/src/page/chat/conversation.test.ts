import { describe, expect, it } from 'vitest';
import { type Change, type Conversation, changed, isBusy, UNKNOWN } from './conversation.ts';
import type { Inbound, Part } from './wire.ts';

const inbound = (id: string, at: number, outcome: string | null = null): Inbound => ({
  type: 'inbound',
  id,
  text: `text of ${id}`,
  at,
  outcome,
});
const part = (id: string, at: number, turnId: string | null = 't1'): Part => ({
  type: 'part',
  id,
  turnId,
  html: `<p>${id}</p>`,
  buttons: [],
  at,
});
const history = (...entries: (Inbound | Part)[]): Change => ({
  type: 'history',
  history: { entries, commands: [] },
});
const told = (event: Extract<Change, { type: 'told' }>['event']): Change => ({
  type: 'told',
  event,
});
const online: Change = { type: 'link', link: 'online' };
const composed = (id: string, at: number): Change => ({
  type: 'composed',
  id,
  text: `text of ${id}`,
  at,
});
const after = (...changes: Change[]): Conversation => changes.reduce(changed, UNKNOWN);
const ids = (conversation: Conversation) => conversation.entries.map(({ id }) => id);
const deliveryOf = (conversation: Conversation, id: string) => {
  const entry = conversation.entries.find((other) => other.id === id);
  return entry?.kind === 'mine' ? entry.delivery : null;
};

describe('what the chat shows', () => {
  it('[D01] shows a message once, however it is told: composed, sent, by event and in the history', () => {
    const conversation = after(
      composed('m1', 10),
      { type: 'delivery', id: 'm1', delivery: { kind: 'sent', outcome: null } },
      told(inbound('m1', 11)),
      told(inbound('m1', 11)),
      history(inbound('m1', 11, 'answered')),
    );
    expect(ids(conversation)).toEqual(['m1']);
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'sent', outcome: 'answered' });
  });

  it('keeps a message that is not sent yet below all that is, until it is', () => {
    const waiting = after(composed('m1', 10), told(part('p1', 20, null)));
    expect(ids(waiting)).toEqual(['p1', 'm1']);
    const sent: Change = {
      type: 'delivery',
      id: 'm1',
      delivery: { kind: 'sent', outcome: null },
      at: 30,
    };
    expect(ids(changed(waiting, sent))).toEqual(['p1', 'm1']);
  });

  it('puts the answer below its question, even when it is told first', () => {
    expect(ids(after(told(part('p1', 12)), told(inbound('m1', 11))))).toEqual(['m1', 'p1']);
  });

  it('does not move an answer when the history knows an earlier time for it', () => {
    const live = after(told(inbound('m1', 1)), told(part('p1', 5)), told(inbound('m2', 4)));
    expect(ids(changed(live, history(inbound('m1', 1), part('p1', 3), inbound('m2', 4))))).toEqual(
      ids(live),
    );
  });

  it('a message of an earlier visit that the gateway had after all is not sent twice to the eye', () => {
    const conversation = after(history(inbound('m1', 5, 'answered')), composed('m1', 5));
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'sent', outcome: 'answered' });
  });

  it('keeps why a message was refused until it is dismissed', () => {
    const refused: Change = {
      type: 'delivery',
      id: 'm1',
      delivery: { kind: 'refused', reason: 'too long' },
    };
    const conversation = after(composed('m1', 1), refused, history());
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'refused', reason: 'too long' });
    expect(ids(changed(conversation, { type: 'dismissed', id: 'm1' }))).toEqual([]);
  });
});

describe('an answer that is being written', () => {
  const stream = (html: string) => told({ type: 'stream', turnId: 't1', html });
  const end = told({ type: 'stream-end', turnId: 't1' });

  it('[F12] is replaced by its final text', () => {
    const conversation = after(online, stream('<p>a</p>'), stream('<p>ab</p>'), end);
    expect(conversation.live).toEqual({ turnId: 't1', html: '<p>ab</p>', ended: true });
    const final = changed(conversation, told(part('p1', 9)));
    expect([final.live, ids(final)]).toEqual([null, ['p1']]);
  });

  it('[F12] does not come back when a late piece follows the final text', () => {
    expect(after(told(part('p1', 9)), stream('<p>a</p>')).live).toBeNull();
  });

  it('[F12] goes when it ended without a final text, because it was stopped', () => {
    expect(after(online, stream('<p>a</p>'), end, history()).live).toBeNull();
  });

  it('stays while the history is asked for in the middle of it', () => {
    expect(after(online, stream('<p>a</p>'), history()).live?.html).toBe('<p>a</p>');
  });

  it('[F12] goes with a gateway that was ended, and comes back with the next piece', () => {
    const restarted = after(online, stream('<p>a</p>'), { type: 'link', link: 'reconnecting' });
    expect(restarted.live?.html).toBe('<p>a</p>');
    const back = [online, history()].reduce(changed, restarted);
    expect(back.live).toBeNull();
    expect(changed(back, stream('<p>b</p>')).live?.html).toBe('<p>b</p>');
  });

  it.each<[string, Change[], boolean]>([
    ['nothing is known', [], false],
    ['it types', [online, told({ type: 'typing' })], true],
    ['it writes', [online, stream('a')], true],
    ['it has ended', [online, told({ type: 'typing' }), stream('a'), end], false],
    ['typing has faded', [online, told({ type: 'typing' }), { type: 'typing-faded' }], false],
    ['the line is broken', [stream('a'), { type: 'link', link: 'reconnecting' }], false],
  ])('[F12] can be stopped or not: %s', (_case, changes, busy) => {
    expect(isBusy(after(...changes))).toBe(busy);
  });
});
