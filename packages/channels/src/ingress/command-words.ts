import type { InboundMessage } from '@parley/core';
import { restOf, type TypedCommand } from './command.ts';
import { APPROVAL_CODE_LENGTH, leadingCode } from './one-time-code.ts';

/** The words of a command, by how it treats them. */
export interface CommandWords {
  /** What the command itself reads. */
  readonly argument: string;
  /** Words that are answered as a message after it; empty where there are none. */
  readonly onward: string;
  /** Words that it does nothing with, which it says. */
  readonly unused: string;
}

/** Splits what was typed after a command by what the command does with it; none of it is in no part. */
export function splitCommand({ name, argument }: TypedCommand): CommandWords {
  switch (restOf(name)) {
    case 'text':
      return { argument, onward: '', unused: '' };
    case 'argument':
      return { argument: argument.replace(/[.,;:!?…。！？]+$/, ''), onward: '', unused: '' };
    case 'message':
      return { argument: '', onward: meant(argument), unused: '' };
    case 'none':
      return { argument: '', onward: '', unused: meant(argument) };
    case 'word': {
      const [, typed = '', onward = ''] = /^(\S+)\s*(.*)$/s.exec(argument) ?? [];
      const word = typed.replace(/[.,:;!?…]+$/, '');
      // "/mode how does that work" names no mode: all of it is a message.
      const isWord = onward === '' || MODES.has(word.toLowerCase());
      return isWord
        ? { argument: word, onward: meant(onward), unused: '' }
        : { argument: '', onward: argument, unused: '' };
    }
    case 'code': {
      const found = leadingCode(argument, APPROVAL_CODE_LENGTH);
      if (found === null) return { argument, onward: '', unused: '' };
      return { argument: found.code, onward: meant(found.rest), unused: '' };
    }
  }
}

/** The words that `/mode` reads, the only command that reads one. */
const MODES: ReadonlySet<string> = new Set(['agent', 'ask', 'plan']);

/** A full stop, a smile or a bracket behind a command says nothing. */
function meant(words: string): string {
  return /[\p{L}\p{N}]/u.test(words) ? words : '';
}

/**
 * The message that is left of one with a command: its words, and the files beside it. Null: nothing is left to answer. What
 * follows `/start` on Telegram is in the address that the person opened, and text of its author.
 */
export function messageAfter(
  message: InboundMessage,
  command: TypedCommand,
  { onward }: Pick<CommandWords, 'onward'>,
): InboundMessage | null {
  if (command.spoken === 'kept') return message;
  const isCarried = CARRIES_FILES.has(restOf(command.name)) && message.attachments !== undefined;
  if (onward === '' && !isCarried) return null;
  const { authored, ...rest } = message;
  const isOfLink = /^\s*[/／]start\s/i.test(message.text) && /^[\w-]{1,64}$/.test(onward);
  const { text: _text, ...others } = authored ?? {};
  const by = isOfLink ? { authored: others } : authored && { authored };
  return { ...rest, ...by, text: onward, typed: message.text };
}

const CARRIES_FILES: ReadonlySet<string> = new Set(['message', 'word']);

/** What a command says of words and files that it did nothing with, in Markdown; null: there are none. */
export function leftOverText(
  { name }: Pick<TypedCommand, 'name'>,
  { unused }: Pick<CommandWords, 'unused'>,
  { attachments }: Pick<InboundMessage, 'attachments'>,
): string | null {
  const hasFiles = attachments !== undefined && !CARRIES_FILES.has(restOf(name));
  if (unused === '' && !hasFiles) return null;
  const what = [unused !== '' && 'the words after it', hasFiles && 'the file beside it']
    .filter((part) => part !== false)
    .join(' and ');
  return `/${name} takes nothing else: I did not read ${what}. Send that without the command, if it is for me.`;
}
