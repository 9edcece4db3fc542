import { describe, expect, it } from 'vitest';
import { toPostable } from './postable.ts';
import { getTraits } from './traits.ts';

const slack = getTraits('@chat-adapter/slack');
const body = (text: string) => ({ text, plain: `plain ${text}` });
const buttons = [{ label: 'Yes', data: '/approve A', style: 'success' as const }];

describe('posting a message part through an adapter', () => {
  it('sends raw text in which the adapter does not replace any placeholders', () => {
    expect(toPostable({ body: body('use {{emoji:wave}} and {{ x }}') }, slack)).toEqual({
      raw: 'use {{\u2060emoji:wave}} and {{ x }}',
    });
  });

  it('[G05] sends a card with the text and the buttons', () => {
    expect(toPostable({ body: body('Run *it*?'), buttons }, slack)).toMatchObject({
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

  it('[G05] sends plain text next to buttons on platforms whose cards have their own markup', () => {
    const { card } = toPostable(
      { body: body('*x*'), buttons },
      getTraits('@chat-adapter/gchat'),
    ) as {
      card: { children: unknown[] };
    };
    expect(card.children[0]).toMatchObject({ content: 'plain *x*' });
  });

  it('[G05] splits a long text at line breaks without losing any of it', () => {
    const text = Array.from({ length: 400 }, (_, n) => `line ${n}`).join('\n');
    const { card } = toPostable({ body: body(text), buttons }, slack) as {
      card: { children: { content?: string }[] };
    };
    const contents = card.children.flatMap(({ content }) => content ?? []);
    expect(contents.length).toBeGreaterThan(1);
    expect(contents.every((content) => content.length <= 3_000)).toBe(true);
    expect(contents.join('\n')).toBe(text);
  });

  it('[G05] sends only the text if the buttons or the text do not fit into a card', () => {
    const whatsapp = getTraits('@chat-adapter/whatsapp');
    const four = [1, 2, 3, 4].map((n) => ({ label: `${n}`, data: `${n}` }));
    expect(toPostable({ body: body('x'), buttons: four }, whatsapp)).toEqual({ raw: 'x' });
    const long = 'x'.repeat(1_025);
    expect(toPostable({ body: body(long), buttons }, whatsapp)).toEqual({ raw: long });
  });

  it('truncates a label that is longer than the platform allows', () => {
    const label = 'a very long label of a button';
    const { card } = toPostable(
      { body: body('x'), buttons: [{ label, data: 'd' }] },
      getTraits('@chat-adapter/whatsapp'),
    ) as { card: { children: { children?: { label: string }[] }[] } };
    expect(card.children[1]?.children?.[0]?.label).toBe('a very long label o…');
  });
});
