import {
  type Button,
  formatInlineCode,
  type InboundMessage,
  pluralize,
  toDisplayLine,
  toLiteralLine,
} from '@parley/core';
import type { DoneEffect, RewindPoint, Rewound } from '@parley/store';
import { defineChatCommand, type MessageMemory } from './command.ts';
import { toServiceCommandSender } from './service-command.ts';

/** The most exchanges that one command undoes. */
const MAX_EXCHANGES = 50;
/**
 * How many questions, actions and memories the answer lists, and how much of each, in characters.
 */
const MAX_LISTED = 10;
const FIRST_WORDS = 60;
const LABEL_WORDS = 20;
/** The button of a memory contains its id; platforms limit the number of buttons. */
const MAX_BUTTONS = 4;

const HOW =
  'Send `/rewind` to take back your last question with my answer, or `/rewind 3` for the last three. Or quote a message with `/rewind`: a question is taken back with everything after it; of an answer, only what follows it.';

export const rewind = defineChatCommand({
  name: 'rewind',
  summary: 'take back the last question, or quote a message to go back to it',
  takes: '[number]',
  rest: 'argument',
  who: 'everyone',
  groupRight: 'needed',
  prepare: async (context, { services }) =>
    (await services.savedMemories?.(toServiceCommandSender(context))) ?? [],
  async run({ argument, message, conversationId }, transaction, memories) {
    const point = parseRewindPoint(argument, message);
    if (point === null) return { answer: HOW };
    const result = await transaction.rewind(point);
    if (result === 'nothing') return { answer: 'There is nothing to take back in this session.' };
    if (result === 'unknown') {
      return { answer: 'I do not see that message any more, so I cannot go back to it.' };
    }
    const saved = findMemoriesOf(result, memories);
    return {
      answer: describeRewind(result, saved),
      buttons: saved.slice(0, MAX_BUTTONS).map(createForgetButton),
      stop: [...(result.stoppedTurn === null ? [] : [conversationId]), ...result.stoppedSubAgents],
    };
  },
});

/** A number wins over a quoted message; null for anything else. */
export function parseRewindPoint(
  argument: string,
  { channel, account, chat, replyTo }: InboundMessage,
): RewindPoint | null {
  if (/^[1-9]\d?$/.test(argument) && Number(argument) <= MAX_EXCHANGES) {
    return { kind: 'exchanges', count: Number(argument) };
  }
  if (argument !== '') return null;
  if (replyTo === undefined) return { kind: 'exchanges', count: 1 };
  const place = { channel, account, chatId: chat.id };
  return { kind: 'quoted', chat: place, messageId: replyTo.messageId };
}

/** The memories that were saved from messages that are taken back. */
export function findMemoriesOf<Memory extends MessageMemory>(
  { messages }: Pick<Rewound, 'messages'>,
  memories: readonly Memory[],
): readonly Memory[] {
  return memories.filter((memory) =>
    messages.some(
      ({ message: { channel, chat, messageId } }) =>
        memory.channel === channel && memory.chat === chat.id && memory.message === messageId,
    ),
  );
}

/** The answer, which claims nothing to be undone that was done outside the conversation. */
function describeRewind(rewound: Rewound, memories: readonly MessageMemory[]): string {
  const { messages, stoppedTurn, setAside } = rewound;
  const questions = messages.map(({ message }) => `- ${quoteWords(message.typed ?? message.text)}`);
  const effects = rewound.effects.filter(
    ({ tool }) => tool !== 'save_memory' || memories.length === 0,
  );
  return [
    ...(stoppedTurn === null ? [] : ['Stopped.']),
    ...(setAside === 0 ? [] : [`${pluralize(setAside, 'waiting message')} set aside unanswered.`]),
    ...(rewound.turns.length === 0
      ? []
      : [listItems('Taken back: I no longer see this, but it stays readable.', questions)]),
    ...(effects.length === 0
      ? []
      : [listItems('This was done meanwhile and is **not** undone:', effects.map(describeEffect))]),
    ...(memories.length === 0
      ? []
      : [
          listItems(
            'This was saved meanwhile; remove it if you like:',
            memories.map(describeMemory),
          ),
        ]),
  ].join('\n\n');
}

function listItems(heading: string, items: readonly string[]): string {
  const more = items.length - MAX_LISTED;
  const shown = items.slice(0, MAX_LISTED);
  return [heading, '', ...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n').trim();
}

function describeEffect({ tool, about, state }: DoneEffect): string {
  const how = { done: '', failed: ' (failed)', unknown: ' (was still running; may have happened)' };
  return `- ${formatInlineCode(tool)}${about === '' ? '' : ` ${toLiteralLine(about)}`}${how[state]}`;
}

const describeMemory = ({ id, text }: MessageMemory) =>
  `- ${quoteWords(text)}: ${formatInlineCode(`/forget ${id}`)}`;

function createForgetButton({ id, text }: MessageMemory): Button {
  return { label: `Forget “${cutWords(text, LABEL_WORDS)}”`, data: `/forget ${id}` };
}

/** The first words of a text, or a dash for a message without text. */
function quoteWords(text: string): string {
  const words = cutWords(text, FIRST_WORDS);
  return words === '' ? '—' : `“${toLiteralLine(words)}”`;
}

function cutWords(text: string, most: number): string {
  const line = Array.from(toDisplayLine(text).replaceAll(/\s+/g, ' ').trim());
  return line.length <= most ? line.join('') : `${line.slice(0, most).join('')}…`;
}
