import {
  type Clock,
  conversationOfAgent,
  countOf,
  type InboundMessage,
  visibleLine,
} from '@parley/core';
import { render } from '@parley/markup';
import type {
  CommandEffect,
  CommandResult,
  LinkAction,
  LinkAsker,
  LinkResult,
  NewPart,
  PairingRequest,
  Store,
} from '@parley/store';
import { type PairingRules, personId } from './decide.ts';
import { typedCode, typedPairingCode } from './one-time-code.ts';
import { noticeParts } from './route.ts';

export { CODE_LENGTH, oneTimeCode, typedCode } from './one-time-code.ts';

/** Such as `an hour` or `15 minutes`. */
function lasting({ minutes }: Pick<PairingRules, 'minutes'>): string {
  if (minutes === 60) return 'an hour';
  return minutes % 60 === 0 ? countOf(minutes / 60, 'hour') : countOf(minutes, 'minute');
}

/** Explains to a stranger how to get access, in Markdown. */
export function pairingNotice(message: InboundMessage, code: string, rules: PairingRules): string {
  return [
    'This bot is private and does not know you yet.',
    `Your code is \`${code}\`. It is valid for ${lasting(rules)}. Its owner allows you by writing \`/pair ${code}\` to it, or with the command \`parley pair ${code}\`.`,
    `If the bot is yours, add \`${personId(message)}\` to \`owners\` in its settings file instead.`,
  ].join('\n\n');
}

/** To a stranger: others wait already. */
export const pairingFull = (rules: PairingRules): string =>
  `This bot is private, and too many people are waiting for access. Please try again in ${lasting(rules)}.`;

/** To an owner: about a stranger whom the bot does not answer. */
export function strangerWaits(message: InboundMessage, code: string, rules: PairingRules): string {
  return `⚙️ ${named(message.sender.name)} (\`${personId(message)}\`) wants to write to me and got no answer. \`/pair ${code}\` allows them. It is valid for ${lasting(rules)}.`;
}

/** The notice that an owner allowed a person. */
const WELCOME = 'You have access now. Just write to me; /help shows what else there is.';

/** What `/pair` and `parley pair` say, in Markdown. */
export function pairText(
  argument: string,
  { approved, pending }: NonNullable<CommandResult['pairing']>,
): string {
  const waiting =
    pending.length === 0
      ? 'No one is waiting for access.'
      : ['Waiting for access:\n', ...pending.map(waitingLine)].join('\n');
  if (approved !== null) return `${who(approved)} has access now.`;
  if (argument === '') return waiting;
  return `No one is waiting with that code; it may have run out.\n\n${waiting}`;
}

function waitingLine(request: PairingRequest): string {
  return `- ${who(request)}: \`/pair ${request.code}\``;
}

function who({ channel, senderId, senderName }: PairingRequest): string {
  return `${named(senderName)} (\`${channel}:${senderId}\`)`;
}

/** A name that a person chose, as code: it cannot look like a part of our own text. */
function named(name: string): string {
  const plain = visibleLine(name).replaceAll('`', '').trim();
  return plain === '' ? 'A person' : `\`${plain.slice(0, 80).toWellFormed()}\``;
}

const TERMINAL = { dialect: 'plain', maxLength: 10_000, unit: 'utf16' } as const;

/** The notice to an allowed person, in their own chat. */
export function welcomeParts({ route }: PairingRequest): readonly NewPart[] {
  return noticeParts(WELCOME, route, { conversationId: null });
}

/**
 * `/pair` without a chat: lets the sender of `argument` in, or lists who waits when it is empty.
 * Returns plain text. A running gateway notifies the person within seconds, otherwise the next one that starts.
 */
export async function pair(
  store: Pick<Store, 'pairing'>,
  argument: string,
  clock: Clock,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const code = typedPairingCode(argument);
  const now = clock();
  const approved = code === null ? null : await store.pairing.approve(code, welcomeParts, now);
  const pending = await store.pairing.pending(now);
  const ok = approved !== null || argument === '';
  const plain = render(pairText(argument, { approved, pending }), TERMINAL);
  return { ok, text: plain.map((part) => part.plain).join('\n') };
}

/** Takes the request with this code off the list. The person is not told, and can ask again when the code has run out. */
export async function refusePairing(
  store: Pick<Store, 'pairing'>,
  argument: string,
  clock: Clock,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const code = typedPairingCode(argument);
  const refused = code === null ? null : await store.pairing.refuse(code, clock());
  if (refused === null) {
    return { ok: false, text: 'No one is waiting with that code; it may have run out.' };
  }
  const plain = render(`${who(refused)} gets no access.`, TERMINAL);
  return { ok: true, text: plain.map((part) => part.plain).join('\n') };
}

/** What `/link` with this argument asks for; null when the argument is no code and nothing else. */
export function linkAction(argument: string, self: string, newCode: string): LinkAction | null {
  if (argument === '') return { kind: 'make', code: newCode };
  const off = /^off(?:\s+(\S+))?$/i.exec(argument);
  if (off !== null) return { kind: 'leave', personId: off[1] ?? self };
  const code = typedCode(argument);
  return code === null ? null : { kind: 'type', code };
}

/** The effect of `/link`; a code that cannot be one has none. */
export function linkEffect(
  message: InboundMessage,
  argument: string,
  rights: Pick<LinkAsker, 'isOwner' | 'ownersOfAgents'>,
  newCode: string,
): CommandEffect {
  const asker = { personId: personId(message), ...rights };
  const action = linkAction(argument, asker.personId, newCode);
  return action === null ? { kind: 'none' } : { kind: 'link', asker, action };
}

/** What `/link` answers, in Markdown. */
export function linkText(result: LinkResult | undefined): string {
  switch (result?.kind) {
    case 'code':
      return codeText(result);
    case 'own-code':
      return 'That is the code you made. Write it to me from your other account.';
    case 'taken':
      return 'Another account has typed that code already. Make a new one with /link when it has run out.';
    case 'owner-must-make':
      return 'That code was made by a person who is not my owner, and a linked account has all your rights. If both accounts are yours, make the code here with /link and type it there.';
    case 'to-confirm':
      return 'Almost done: now confirm it in the chat where the code was made. I have asked there.';
    case 'linked':
      return `Linked: ${listed(result.members)}. /link off takes this account out again.`;
    case 'left':
      return `\`${result.personId}\` is not linked any more.`;
    case 'not-linked':
      return 'That account is not linked with yours.';
    case 'unknown-code':
    case undefined:
      return 'That code is not valid. A code of /link is valid for ten minutes and works once.';
  }
}

/** The notice to the other account. */
export function linkNews(
  result: LinkResult | undefined,
  message: InboundMessage,
  agent: string | undefined,
): readonly NewPart[] {
  const inMain = (main: string | null) => ({
    conversationId: main === null ? null : conversationOfAgent(agent, main),
  });
  if (result?.kind === 'to-confirm') {
    const who = `${named(message.sender.name)} (\`${personId(message)}\`)`;
    const text = `⚙️ ${who} typed your code. If that is you, write \`/link ${result.code}\` here: that account then sees our conversation and may do all that you may. If it is not, do nothing.`;
    const { mainConversation, code: secret } = result;
    return noticeParts(text, result.makerRoute, { ...inMain(mainConversation), secret });
  }
  if (result?.kind !== 'linked') return [];
  const text = `⚙️ Linked: ${listed(result.members)}.`;
  return noticeParts(text, result.otherRoute, inMain(result.mainConversation));
}

function codeText({ code, members, typist }: Extract<LinkResult, { kind: 'code' }>): string {
  const linked = members.length === 0 ? [] : [`Linked so far: ${listed(members)}.`];
  const next =
    typist === null
      ? `Write \`/link ${code}\` to me from your other account. The code is valid for ten minutes; do not share it.`
      : `\`${typist}\` typed your code. If that is you, write \`/link ${code}\` here to link it.`;
  return [next, ...linked].join('\n\n');
}

function listed(members: readonly string[]): string {
  return members.map((member) => `\`${member}\``).join(', ');
}
