import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { HtmlBlock } from '../ui/html-block.ts';
import { timeOf } from '../ui/moment.ts';
import { Choices } from './choices.ts';
import type { Answer, Delivery, Mine } from './conversation.ts';
import { commandIn } from './match-commands.ts';
import type { Button, CommandHint } from './wire.ts';

/** What can be done with messages. */
export interface MessageActions {
  /** Takes a refused message back into the field. */
  readonly edit: (message: Mine) => void;
  readonly dismiss: (id: string) => void;
  readonly press: (message: Answer, button: Button) => void;
}

interface MineProps {
  readonly message: Mine;
  readonly commands: readonly CommandHint[];
  /** What stood on the button, where it was a press. */
  readonly label: string | null;
  readonly actions: MessageActions;
}

/** What the person wrote: a bubble, or for a command or a press a small mark in the middle. */
export function MineMessage({ message, commands, label, actions }: MineProps): VNode {
  const { text, at, delivery } = message;
  const command = commandIn(text, commands);
  const isQuiet = (command !== null || label !== null) && delivery.kind === 'sent';
  const words = command === 'new' ? 'New conversation' : `/${command}`;
  const body = isQuiet
    ? h('p', { class: 'command-mark' }, label ?? words)
    : h(Bubble, { text: label ?? text });
  return h(
    'article',
    {
      class: `mine ${isQuiet ? `is-command command-${command ?? 'press'}` : ''} is-${delivery.kind}`,
    },
    h('span', { class: 'visually-hidden' }, `You, ${timeOf(at)}:`),
    body,
    !isQuiet && h(DeliveryNote, { message, actions }),
  );
}

/** Longer than this is folded; in characters and lines. About one screen of a telephone. */
const FOLD_CHARACTERS = 1_800;
const FOLD_LINES = 24;

function Bubble({ text }: { readonly text: string }): VNode {
  const [open, setOpen] = useState(false);
  const long =
    text.length > FOLD_CHARACTERS || text.split('\n', FOLD_LINES + 1).length > FOLD_LINES;
  // Laying out a megabyte that nobody sees would freeze the page.
  const shown = long && !open ? text.slice(0, FOLD_CHARACTERS) : text;
  return h(
    'div',
    { class: `bubble ${long && !open ? 'is-folded' : ''}` },
    h('p', { dir: 'auto' }, shown),
    long &&
      h(
        'button',
        {
          type: 'button',
          class: 'text-button',
          'aria-expanded': open,
          onClick: () => setOpen(!open),
        },
        open ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`,
      ),
  );
}

function DeliveryNote({ message, actions }: Omit<MineProps, 'commands' | 'label'>): VNode {
  const { delivery, id } = message;
  const words = deliveryWords(delivery, message.at);
  const notes = [h('span', null, words)];
  if (delivery.kind === 'refused') {
    const { edit, dismiss } = actions;
    notes.push(
      textButton('Edit', () => edit(message)),
      textButton('Remove', () => dismiss(id)),
    );
  }
  return h('p', { class: 'note' }, notes);
}

function textButton(label: string, onClick: () => void): VNode {
  return h('button', { type: 'button', class: 'text-button', onClick }, label);
}

/** What is said under a message of one's own. */
function deliveryWords(delivery: Delivery, at: number): string {
  if (delivery.kind === 'refused') return delivery.reason;
  if (delivery.kind === 'sending') {
    return delivery.late ? 'Not sent yet, trying again…' : 'Sending…';
  }
  return delivery.outcome === 'stopped' ? `${timeOf(at)} · stopped` : timeOf(at);
}

interface AnswerProps {
  readonly message: Answer;
  /** The agent's name. */
  readonly agent: string;
  /** The button below it that was pressed before. */
  readonly chosen: Button | null;
  readonly onPress: (message: Answer, button: Button) => void;
}

/** What was answered; commands and notices, which no model wrote, are set apart. */
export function AnswerMessage({ message, agent, chosen, onPress }: AnswerProps): VNode {
  const { html, buttons, at, turnId } = message;
  return h(
    'article',
    { class: turnId === null ? 'answer is-notice' : 'answer' },
    h('span', { class: 'visually-hidden' }, `${agent}, ${timeOf(at)}:`),
    h(HtmlBlock, { html }),
    h(Choices, { buttons, chosen, onPress: (button) => onPress(message, button) }),
    h('p', { class: 'note' }, h('time', { dateTime: new Date(at).toISOString() }, timeOf(at))),
  );
}
