import { describe, expect, it } from 'vitest';
import { chosenOf, labelsOf } from './chosen.ts';
import type { Answer, Delivery, Mine } from './conversation.ts';

const approve = { label: 'Approve', data: '/approve ABC234' };
const deny = { label: 'Deny', data: '/deny ABC234' };
const question: Answer = {
  kind: 'answer',
  id: 'p',
  turnId: null,
  html: '<p>May I?</p>',
  buttons: [approve, deny],
  at: 100,
};
const sent: Delivery = { kind: 'sent', outcome: null };
const sending: Delivery = { kind: 'sending', late: false };
const refused: Delivery = { kind: 'refused', reason: 'no' };
const mine = (text: string, at: number, delivery: Delivery): Mine => ({
  kind: 'mine',
  id: 'm',
  text,
  at,
  delivery,
});

describe('which button was pressed', () => {
  it.each([
    ['one that was pressed and has arrived', mine('/deny ABC234', 101, sent), 'Deny'],
    ['its words, typed', mine(' /approve ABC234\n', 101, sent), 'Approve'],
    ['one on its way, whatever the clock here says', mine('/deny ABC234', 1, sending), 'Deny'],
    ['none: it was refused and can be pressed again', mine('/deny ABC234', 101, refused), null],
    ['none: another question was answered', mine('/deny QQQ777', 101, sent), null],
    ['none: the same was said before it was asked', mine('/deny ABC234', 99, sent), null],
  ])('[G05] is %s', (_what, entry, label) => {
    expect(chosenOf(question, [question, entry])?.label ?? null).toBe(label);
  });

  it('[G05] is the first of two', () => {
    const both = [mine(deny.data, 101, sent), mine(approve.data, 102, sent)];
    expect(chosenOf(question, both)).toEqual(deny);
  });

  it('is shown by what stood on it, and only that one press', () => {
    const again = { ...mine(deny.data, 200, sent), id: 'again' };
    const labels = labelsOf([question, mine(deny.data, 101, sent), again]);
    expect([...labels]).toEqual([['m', 'Deny']]);
  });
});
