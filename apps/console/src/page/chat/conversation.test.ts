import type { WebEvent, WebHistoryEntry } from '@parley/channels/web';
import { describe, expect, it } from 'vitest';
import {
  type AnswerEntry,
  applyChange,
  type Conversation,
  type ConversationChange,
  type DeliveryState,
  findLastQuestion,
  findPressedButton,
  isAnswering,
  listPressedLabels,
  type PersonMessageEntry,
  UNKNOWN,
} from './conversation.ts';

const inbound = (id: string, at: number, outcome: string | null = null): WebHistoryEntry => ({
  type: 'inbound',
  messageId: id,
  text: `text of ${id}`,
  at,
  outcome,
  turnId: null,
});
const part = (id: string, at: number, turnId: string | null = 't1'): WebHistoryEntry => ({
  type: 'part',
  partId: id,
  turnId,
  text: `<p>${id}</p>`,
  at,
});
const history = (...entries: WebHistoryEntry[]): ConversationChange => ({
  type: 'history',
  history: { entries, commands: [] },
});
const event = (event: WebEvent): ConversationChange => ({ type: 'event', event });
const online: ConversationChange = { type: 'link', link: 'online' };
const composed = (id: string, at: number): ConversationChange => ({
  type: 'composed',
  id,
  text: `text of ${id}`,
  at,
});
const after = (...changes: ConversationChange[]): Conversation =>
  changes.reduce(applyChange, UNKNOWN);
const ids = (conversation: Conversation) => conversation.entries.map(({ id }) => id);
const deliveryOf = (conversation: Conversation, id: string) => {
  const entry = conversation.entries.find((other) => other.id === id);
  return entry?.kind === 'mine' ? entry.delivery : null;
};

describe('the messages shown in the chat', () => {
  it('[D01] shows a message once, whether it is composed, sent, received as an event or loaded from the history', () => {
    const conversation = after(
      composed('m1', 10),
      { type: 'delivery', id: 'm1', delivery: { kind: 'sent', outcome: null } },
      event(inbound('m1', 11)),
      event(inbound('m1', 11)),
      history(inbound('m1', 11, 'answered')),
    );
    expect(ids(conversation)).toEqual(['m1']);
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'sent', outcome: 'answered' });
  });

  it('keeps an unsent message below all sent ones until it is sent', () => {
    const waiting = after(composed('m1', 10), event(part('p1', 20, null)));
    expect(ids(waiting)).toEqual(['p1', 'm1']);
    const sent: ConversationChange = {
      type: 'delivery',
      id: 'm1',
      delivery: { kind: 'sent', outcome: null },
      at: 30,
    };
    expect(ids(applyChange(waiting, sent))).toEqual(['p1', 'm1']);
  });

  it('puts an answer below its question, even if the answer arrives first', () => {
    expect(ids(after(event(part('p1', 12)), event(inbound('m1', 11))))).toEqual(['m1', 'p1']);
  });

  it('keeps an answer in place when the history contains an earlier time for it', () => {
    const live = after(event(inbound('m1', 1)), event(part('p1', 5)), event(inbound('m2', 4)));
    expect(
      ids(applyChange(live, history(inbound('m1', 1), part('p1', 3), inbound('m2', 4)))),
    ).toEqual(ids(live));
  });

  it('[F03] keeps messages that were sent during an answer below that answer', () => {
    const stream = event({ type: 'stream', turnId: 't1', text: 'so far' });
    const sent = event(inbound('m2', 5));
    const growing = after(event(inbound('m1', 1)), stream, composed('m3', 3), sent, stream);
    expect([ids(growing), growing.live?.place]).toEqual([['m1', 'm2', 'm3'], 'm1']);
    const ended = applyChange(growing, event({ type: 'stream-end', turnId: 't1' }));
    // In the history, the answer has a later time, namely when it was stored.
    for (const last of [event(part('p1', 9)), history(inbound('m1', 2), part('p1', 9))]) {
      const done = applyChange(ended, last);
      expect(ids(done)).toEqual(['m1', 'p1', 'm2', 'm3']);
      expect(ids(applyChange(done, history(part('p1', 9))))).toEqual(ids(done));
    }
  });

  it('shows a message from an earlier visit only once if the gateway had already received it', () => {
    const conversation = after(history(inbound('m1', 5, 'answered')), composed('m1', 5));
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'sent', outcome: 'answered' });
  });

  it('[U08] finds the message to ask again: the last sent message that is not a command', () => {
    const command = { kind: 'sent', outcome: 'command' } as const;
    const all = after(
      ...['m1', 'm2', 'm3'].map((id, at) => event(inbound(id, at))),
      { type: 'delivery', id: 'm3', delivery: command },
      composed('m4', 9),
    );
    expect(findLastQuestion(all.entries)?.id).toBe('m2');
  });

  it('[U08] removes what a later message replaced, as reported by an event or by the history', () => {
    const all = after(event(inbound('m1', 1)), event(part('p1', 2)), event(inbound('m2', 3)));
    const gone = ['m1', 'p1'].map((id) => ({ type: 'replaced', id }) as const);
    expect(ids(gone.map(event).reduce(applyChange, all))).toEqual(['m2']);
    expect(ids(applyChange(all, history(...gone, inbound('m2', 3))))).toEqual(['m2']);
  });

  it('ignores unknown events and shows everything else', () => {
    const newer = JSON.parse('{ "type": "hologram", "messageId": "h", "at": 2 }');
    expect(ids(after(history(newer, inbound('m1', 5)), event(newer)))).toEqual(['m1']);
  });

  it('[G05] shows the buttons of a question', () => {
    const buttons = [{ label: 'Approve', data: '/approve ABC234' }];
    const question: WebEvent = {
      type: 'part',
      partId: 'p',
      turnId: null,
      text: '',
      buttons,
      at: 1,
    };
    expect(after(event(question)).entries).toMatchObject([{ kind: 'answer', buttons }]);
  });

  it.each([
    ['before', [0, 1, 2]],
    ['after', [1, 0, 2]],
  ])(
    '[U08] notes that a message did not replace anything, whether its event arrives %s the receipt',
    (_when, order) => {
      const changes: ConversationChange[] = [
        event(inbound('m1', 11)),
        { type: 'delivery', id: 'm1', delivery: { kind: 'sent', outcome: null, isNew: true } },
        history(inbound('m1', 11, 'answered')),
      ];
      const conversation = after(composed('m1', 10), ...order.flatMap((nth) => changes[nth] ?? []));
      expect(deliveryOf(conversation, 'm1')).toEqual({
        ...{ kind: 'sent', outcome: 'answered', isNew: true },
      });
    },
  );

  it('shows the reason for a refusal until the message is dismissed', () => {
    const refused: ConversationChange = {
      type: 'delivery',
      id: 'm1',
      delivery: { kind: 'refused', reason: 'too long' },
    };
    const conversation = after(composed('m1', 1), refused, history());
    expect(deliveryOf(conversation, 'm1')).toEqual({ kind: 'refused', reason: 'too long' });
    expect(ids(applyChange(conversation, { type: 'dismissed', id: 'm1' }))).toEqual([]);
  });
});

describe('an answer that is still being written', () => {
  const stream = (text: string) => event({ type: 'stream', turnId: 't1', text });
  const end = event({ type: 'stream-end', turnId: 't1' });

  it('[F12] replaces an unfinished answer with its final text', () => {
    const conversation = after(online, stream('<p>a</p>'), stream('<p>ab</p>'), end);
    expect(conversation.live).toMatchObject({ turnId: 't1', html: '<p>ab</p>', ended: true });
    const final = applyChange(conversation, event(part('p1', 9)));
    expect([final.live, ids(final)]).toEqual([null, ['p1']]);
  });

  it('[F12] ignores a late piece of an answer that arrives after the final text', () => {
    expect(after(event(part('p1', 9)), stream('<p>a</p>')).live).toBeNull();
  });

  it('[F12] removes an unfinished answer that was stopped before its final text', () => {
    expect(after(online, stream('<p>a</p>'), end, history()).live).toBeNull();
  });

  it('keeps an unfinished answer when the history is loaded', () => {
    expect(after(online, stream('<p>a</p>'), history()).live?.html).toBe('<p>a</p>');
  });

  it('[F12] hides an unfinished answer when the gateway stops, and shows it again with the next piece', () => {
    const restarted = after(online, stream('<p>a</p>'), { type: 'link', link: 'reconnecting' });
    expect(restarted.live?.html).toBe('<p>a</p>');
    const back = [online, history()].reduce(applyChange, restarted);
    expect(back.live).toBeNull();
    expect(applyChange(back, stream('<p>b</p>')).live?.html).toBe('<p>b</p>');
  });

  it.each<[string, ConversationChange[], boolean]>([
    ['there is no answer', [], false],
    ['it types', [online, event({ type: 'typing' })], true],
    ['it writes', [online, stream('a')], true],
    ['it has ended', [online, event({ type: 'typing' }), stream('a'), end], false],
    ['typing has timed out', [online, event({ type: 'typing' }), { type: 'typing-faded' }], false],
    ['the connection is broken', [stream('a'), { type: 'link', link: 'reconnecting' }], false],
  ])('[F12] decides whether an answer can be stopped: %s', (_case, changes, busy) => {
    expect(isAnswering(after(...changes))).toBe(busy);
  });
});

const approve = { label: 'Approve', data: '/approve ABC234' };
const deny = { label: 'Deny', data: '/deny ABC234' };
const question: AnswerEntry = {
  kind: 'answer',
  id: 'p',
  turnId: null,
  html: '<p>May I?</p>',
  buttons: [approve, deny],
  at: 100,
};
const sent: DeliveryState = { kind: 'sent', outcome: null };
const sending: DeliveryState = { kind: 'sending', late: false };
const refused: DeliveryState = { kind: 'refused', reason: 'no' };
const mine = (text: string, at: number, delivery: DeliveryState): PersonMessageEntry => ({
  kind: 'mine',
  id: 'm',
  files: [],
  text,
  at,
  delivery,
});

describe('finding the pressed button', () => {
  it.each([
    ['a press that has arrived', mine('/deny ABC234', 101, sent), 'Deny'],
    ['its text, typed', mine(' /approve ABC234\n', 101, sent), 'Approve'],
    ['a press on its way, despite a wrong clock here', mine('/deny ABC234', 1, sending), 'Deny'],
    ['none: the press was refused and can be repeated', mine('/deny ABC234', 101, refused), null],
    ['none: another question was answered', mine('/deny QQQ777', 101, sent), null],
    ['none: the same text was written before the question', mine('/deny ABC234', 99, sent), null],
  ])('[G05] finds the pressed button: %s', (_what, entry, label) => {
    expect(findPressedButton(question, [question, entry])?.label ?? null).toBe(label);
  });

  it('[G05] takes the first pressed button if two were pressed', () => {
    const both = [mine(deny.data, 101, sent), mine(approve.data, 102, sent)];
    expect(findPressedButton(question, both)).toEqual(deny);
  });

  it('shows the label of the pressed button, for that button press only', () => {
    const again = { ...mine(deny.data, 200, sent), id: 'again' };
    const labels = listPressedLabels([question, mine(deny.data, 101, sent), again]);
    expect([...labels]).toEqual([['m', 'Deny']]);
  });
});
