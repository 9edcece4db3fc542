import { describe, expect, it } from 'vitest';
import { postableOf } from './postable.ts';
import { traitsOf } from './traits.ts';

const slack = traitsOf('@chat-adapter/slack');
const body = (text: string) => ({ text, plain: `plain ${text}` });
const buttons = [{ label: 'Yes', data: '/approve A', style: 'success' as const }];

describe('what an adapter posts for a part', () => {
  it('is its text, in which an adapter replaces nothing', () => {
    expect(postableOf({ body: body('use {{emoji:wave}} and {{ x }}') }, slack)).toEqual({
      raw: 'use {{\u2060emoji:wave}} and {{ x }}',
    });
  });

  it('[G05] is a card with the text and the buttons', () => {
    expect(postableOf({ body: body('Run *it*?'), buttons }, slack)).toMatchObject({
      card: {
        children: [
          { type: 'text', content: 'Run *it*?' },
          {
            type: 'actions',
            children: [{ id: 'b0', value: '/approve A', label: 'Yes', style: 'primary' }],
          },
        ],
      },
    });
  });

  it('[G05] has no formats next to buttons where cards have a markup of their own', () => {
    const { card } = postableOf(
      { body: body('*x*'), buttons },
      traitsOf('@chat-adapter/gchat'),
    ) as {
      card: { children: unknown[] };
    };
    expect(card.children[0]).toMatchObject({ content: 'plain *x*' });
  });

  it('[G05] cuts a long text at lines, without losing any of it', () => {
    const text = Array.from({ length: 400 }, (_, n) => `line ${n}`).join('\n');
    const { card } = postableOf({ body: body(text), buttons }, slack) as {
      card: { children: { content?: string }[] };
    };
    const contents = card.children.flatMap(({ content }) => content ?? []);
    expect(contents.length).toBeGreaterThan(1);
    expect(contents.every((content) => content.length <= 3_000)).toBe(true);
    expect(contents.join('\n')).toBe(text);
  });

  it('[G05] is text alone where the buttons or the text do not fit', () => {
    const whatsapp = traitsOf('@chat-adapter/whatsapp');
    const four = [1, 2, 3, 4].map((n) => ({ label: `${n}`, data: `${n}` }));
    expect(postableOf({ body: body('x'), buttons: four }, whatsapp)).toEqual({ raw: 'x' });
    const long = 'x'.repeat(1_025);
    expect(postableOf({ body: body(long), buttons }, whatsapp)).toEqual({ raw: long });
  });

  it('cuts a label that is longer than the platform allows', () => {
    const label = 'a very long label of a button';
    const { card } = postableOf(
      { body: body('x'), buttons: [{ label, data: 'd' }] },
      traitsOf('@chat-adapter/whatsapp'),
    ) as { card: { children: { children?: { label: string }[] }[] } };
    expect(card.children[1]?.children?.[0]?.label).toBe('a very long label o…');
  });
});
