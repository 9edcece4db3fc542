import type { Button, OutboundPart, RenderedPart } from '@parley/core';
import { Actions, type AdapterPostableMessage, Card, Button as CardButton, CardText } from 'chat';
import type { PlatformTraits } from './traits.ts';

/** Text in the platform's own dialect, as printed by Parley. */
export function toPostableText({ text }: Pick<RenderedPart, 'text'>): AdapterPostableMessage {
  return { raw: escapeEmojiTokens(text) };
}

/**
 * Every adapter replaces `{{emoji:wave}}` with an emoji, even in code; a word joiner prevents that.
 */
export function escapeEmojiTokens(text: string): string {
  return text.replaceAll(/\{\{(?=emoji:\w+\}\})/gi, '{{\u2060');
}

export function isCard(message: AdapterPostableMessage): boolean {
  return typeof message === 'object' && 'card' in message;
}

/**
 * Returns what an adapter posts for a message part without a file: text, or a card if there are
 * buttons.
 */
export function toPostable(
  { body, buttons }: Pick<OutboundPart, 'body' | 'buttons'>,
  traits: PlatformTraits,
): AdapterPostableMessage {
  // These platforms use different markup in cards and in messages.
  const blocks = splitIntoBlocks(
    escapeEmojiTokens(traits.cards === 'plain' ? body.plain : body.text),
    traits,
  );
  // Without buttons, a question can still be answered by its number or code.
  if (buttons === undefined || blocks === undefined || !fitsButtonLimit(buttons, traits)) {
    return toPostableText(body);
  }
  const rows = [Actions(buttons.map((button, index) => toButton(button, index, traits)))];
  return { card: Card({ children: [...blocks.map((text) => CardText(text)), ...rows] }) };
}

function fitsButtonLimit(buttons: readonly Button[], { maxButtons }: PlatformTraits): boolean {
  return maxButtons === undefined || buttons.length <= maxButtons;
}

function toButton({ label, data, style }: Button, index: number, { maxLabel }: PlatformTraits) {
  return CardButton({
    // Button ids must be unique within a message, but two buttons may have the same data.
    id: `b${index}`,
    value: data,
    label: label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…` : label,
    ...(style !== undefined && { style: style === 'danger' ? 'danger' : 'primary' }),
  });
}

/**
 * The text in blocks of at most the maximum length, split at line breaks where possible; undefined
 * if there are too many blocks.
 */
function splitIntoBlocks(text: string, { blocks }: PlatformTraits): readonly string[] | undefined {
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
