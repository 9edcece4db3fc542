import { canBeCommand, type InboundMessage } from '@parley/core';
import { APPROVAL_CODE_LENGTH, splitLeadingCode } from '../ingress/one-time-code.ts';
import type { CommandInfo } from '../menu.ts';
import type { ChatCommand, CommandTextParts, RestHandling, TypedCommand } from './command.ts';
import { CHAT_COMMANDS } from './list.ts';

/**
 * Returns the command in a message. A text that its sender did not type, such as text from an
 * inline bot, does not contain a command.
 */
export function parseMessageCommand(
  message: Pick<InboundMessage, 'text' | 'authored'>,
  commands?: readonly ChatCommand[],
): TypedCommand | null {
  return canBeCommand(message) ? parseCommand(message.text, commands) : null;
}

/**
 * Returns the command at the beginning of a text, or null when the text is ordinary. Ordinary text
 * does not start with a command, or starts with an unknown command or one for another bot
 * (`/stop@my_bot`; an adapter removes its own bot name). Letter case, a full-width slash, a full
 * stop after the name and the backticks of a copied command are ignored.
 */
export function parseCommand(
  text: string,
  commands: readonly ChatCommand[] = CHAT_COMMANDS,
): TypedCommand | null {
  const plain = /^\s*`([^`]+)`\s*$/.exec(text)?.[1] ?? text;
  const [, word, argument = ''] = COMMAND.exec(plain) ?? [];
  if (word === undefined) return null;
  const typed = word.toLowerCase();
  const command = commands.find(
    ({ name, aliases = [] }) => name === typed || aliases.includes(typed),
  );
  return command === undefined ? null : { command, argument: argument.trim() };
}

const COMMAND = /^[\s\p{Cf}]*[/／]([a-z]+)[.,:;!?…。！，：；？]*(?:\s+(.*))?$/isu;

/**
 * Whether a text is a command in the list, with or without text after it; `-` and `_` are
 * equivalent.
 */
export function isCommand(text: string, commands: readonly CommandInfo[]): boolean {
  const word = /^\s*\/([a-z0-9_-]+)(?:\s|$)/i.exec(text)?.[1]?.toLowerCase();
  const plain = (name: string | undefined) => name?.replaceAll('-', '_');
  return word !== undefined && commands.some(({ name }) => plain(name) === plain(word));
}

/**
 * Splits the text after a command according to its `rest`; every character ends up in one of the
 * parts.
 */
export function splitCommand({ command, argument }: TypedCommand): CommandTextParts {
  switch (command.rest) {
    case 'text':
      return { argument, onward: '', unused: '' };
    case 'argument':
      return { argument: argument.replace(/[.,;:!?…。！？]+$/, ''), onward: '', unused: '' };
    case 'message':
      return { argument: '', onward: trimPunctuation(argument), unused: '' };
    case 'none':
      return { argument: '', onward: '', unused: trimPunctuation(argument) };
    case 'code': {
      const found = splitLeadingCode(argument, APPROVAL_CODE_LENGTH);
      if (found === null) return { argument, onward: '', unused: '' };
      return { argument: found.code, onward: trimPunctuation(found.rest), unused: '' };
    }
    default:
      return splitWord(argument, command.rest);
  }
}

function splitWord(argument: string, known: readonly string[]): CommandTextParts {
  const [, typed = '', onward = ''] = /^(\S+)\s*(.*)$/s.exec(argument) ?? [];
  const word = typed.replace(/[.,:;!?…]+$/, '');
  // "/mode how does that work" does not name a mode, so all of the text is a message.
  const isWord = onward === '' || known.includes(word.toLowerCase());
  return isWord
    ? { argument: word, onward: trimPunctuation(onward), unused: '' }
    : { argument: '', onward: argument, unused: '' };
}

/** A full stop, an emoticon or a bracket after a command has no meaning. */
function trimPunctuation(words: string): string {
  return /[\p{L}\p{N}]/u.test(words) ? words : '';
}

/**
 * The message that remains after the command is removed: its text and files. Null when no text or
 * file is left to answer. On Telegram, the text after `/start` comes from the link that the person
 * opened, so its author is the link's creator.
 */
export function toFollowingMessage(
  message: InboundMessage,
  { command, spoken }: TypedCommand,
  { onward }: Pick<CommandTextParts, 'onward'>,
): InboundMessage | null {
  if (spoken === 'kept') return message;
  const isCarried = carriesFiles(command.rest) && message.attachments !== undefined;
  if (onward === '' && !isCarried) return null;
  const { authored, ...rest } = message;
  const isOfLink = /^\s*[/／]start\s/i.test(message.text) && /^[\w-]{1,64}$/.test(onward);
  const { text: _text, ...others } = authored ?? {};
  const by = isOfLink ? { authored: others } : authored && { authored };
  return { ...rest, ...by, text: onward, typed: message.text };
}

/** Whether files attached to the command belong to the message after it. */
function carriesFiles(rest: RestHandling): boolean {
  return rest === 'message' || typeof rest === 'object';
}

/**
 * The notice about text and files that a command ignored, in Markdown; null when there are none.
 */
export function describeUnusedInput(
  { name, rest }: Pick<ChatCommand, 'name' | 'rest'>,
  { unused }: Pick<CommandTextParts, 'unused'>,
  { attachments }: Pick<InboundMessage, 'attachments'>,
): string | null {
  const hasFiles = attachments !== undefined && !carriesFiles(rest);
  if (unused === '' && !hasFiles) return null;
  const what = [unused !== '' && 'the words after it', hasFiles && 'the file beside it']
    .filter((part) => part !== false)
    .join(' and ');
  return `/${name} takes no other input: I did not read ${what}. Send that without the command, if it is for me.`;
}
