import type { InboundMessage } from '@parley/contracts';
import type { CommandResult, PairingRequest } from '@parley/store';
import { personId } from './access.ts';

const VALID = 'It is valid for an hour.';

/** Tells a stranger how to be let in, in Markdown. */
export function pairingNotice(message: InboundMessage, code: string): string {
  return [
    'This bot is private and does not know you yet.',
    `Your code is \`${code}\`. ${VALID} Its owner lets you in by writing \`/pair ${code}\` to it, or with the command \`parley pair ${code}\`.`,
    `If the bot is yours, add \`${personId(message)}\` to \`owners\` in its settings file instead.`,
  ].join('\n\n');
}

/** Tells a stranger that others wait already. */
export const PAIRING_FULL =
  'This bot is private, and too many people are waiting to be let in. Please try again in an hour.';

/** Tells an owner of a stranger to whom the bot says nothing. */
export function strangerWaits(message: InboundMessage, code: string): string {
  return `⚙️ ${named(message.sender.name)} (\`${personId(message)}\`) wants to write to me and got no answer. \`/pair ${code}\` lets them in. ${VALID}`;
}

/** Tells somebody that an owner let them in. */
export const WELCOME = 'You are let in. Just write to me; /help shows what else there is.';

/** What `/pair` and `parley pair` say, in Markdown. */
export function pairText(
  argument: string,
  { approved, pending }: NonNullable<CommandResult['pairing']>,
): string {
  const waiting =
    pending.length === 0
      ? 'Nobody waits to be let in.'
      : ['Waiting to be let in:\n', ...pending.map(waitingLine)].join('\n');
  if (approved !== null) return `${who(approved)} is let in.`;
  if (argument === '') return waiting;
  return `Nobody waits with that code; codes are valid for an hour.\n\n${waiting}`;
}

function waitingLine(request: PairingRequest): string {
  return `- ${who(request)}: \`/pair ${request.code}\``;
}

function who({ channel, senderId, senderName }: PairingRequest): string {
  return `${named(senderName)} (\`${channel}:${senderId}\`)`;
}

/** A name somebody gave themselves, as code: it cannot look like a part of our own words. */
export function named(name: string): string {
  const plain = name.replace(/[\p{C}`]/gu, '').trim();
  return plain === '' ? 'Somebody' : `\`${plain.slice(0, 80).toWellFormed()}\``;
}
