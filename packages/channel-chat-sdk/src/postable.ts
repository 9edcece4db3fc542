import type { Button, OutboundPart, RenderedPart } from '@parley/core';
import { Actions, type AdapterPostableMessage, Card, Button as CardButton, CardText } from 'chat';
import type { Traits } from './traits.ts';

/** Text in the platform's own dialect, as the printers of Parley write it. */
export function postableText({ text }: Pick<RenderedPart, 'text'>): AdapterPostableMessage {
  return { raw: literal(text) };
}

/** Every adapter replaces `{{emoji:wave}}` by an emoji, even in code. A word joiner prevents that. */
export function literal(text: string): string {
  return text.replaceAll(/\{\{(?=emoji:\w+\}\})/gi, '{{\u2060');
}

export function isCard(message: AdapterPostableMessage): boolean {
  return typeof message === 'object' && 'card' in message;
}

/** What an adapter posts for a part without a file: text, or a card when there are buttons. */
export function postableOf(
  { body, buttons }: Pick<OutboundPart, 'body' | 'buttons'>,
  traits: Traits,
): AdapterPostableMessage {
  // Cards of these platforms have a markup of their own, which is not that of messages.
  const blocks = blocksOf(literal(traits.cards === 'plain' ? body.plain : body.text), traits);
  // Without its buttons a question is still answered by its number or its code.
  if (buttons === undefined || blocks === undefined || !fits(buttons, traits)) {
    return postableText(body);
  }
  const rows = [Actions(buttons.map((button, index) => toButton(button, index, traits)))];
  return { card: Card({ children: [...blocks.map((text) => CardText(text)), ...rows] }) };
}

function fits(buttons: readonly Button[], { maxButtons }: Traits): boolean {
  return maxButtons === undefined || buttons.length <= maxButtons;
}

function toButton({ label, data, style }: Button, index: number, { maxLabel }: Traits) {
  return CardButton({
    // Unique within the message; the data of two buttons may be equal.
    id: `b${index}`,
    value: data,
    label: label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…` : label,
    ...(style !== undefined && { style: style === 'danger' ? 'danger' : 'primary' }),
  });
}

/** The text in blocks of the greatest length, cut at lines where possible; undefined if too many. */
function blocksOf(text: string, { blocks }: Traits): readonly string[] | undefined {
  if (blocks === undefined) return [text];
  const { maxLength, max } = blocks;
  const made: string[] = [];
  let rest = text;
  while (rest.length > maxLength) {
    const line = rest.lastIndexOf('\n', maxLength);
    const cut = line > maxLength / 2 ? line : maxLength;
    made.push(rest.slice(0, cut).toWellFormed());
    rest = rest.slice(cut).replace(/^\n/, '');
  }
  if (rest.trim() !== '') made.push(rest);
  return made.length <= max ? made : undefined;
}
