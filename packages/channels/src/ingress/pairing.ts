import { getConversationAgent, type InboundMessage, pluralize } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { IngressDeps } from './ingress-deps.ts';
import { CODE_LENGTH } from './one-time-code.ts';
import { createNoticeParts, renderNoticeParts } from './route.ts';
import type { PairingRules } from './rules.ts';
import { formatQuotedName, toPersonId } from './sender.ts';

const DEFAULT_PAIRING: PairingRules = { characters: CODE_LENGTH, minutes: 60, pending: 3 };

export function getPairingRules({ rules: { policy } }: Pick<IngressDeps, 'rules'>): PairingRules {
  return policy.access.pairing ?? DEFAULT_PAIRING;
}

/**
 * Stores a stranger's request and sends the code: to the stranger or, on a channel that does not
 * answer strangers, to an owner whose direct chat is known. The log never names the stranger.
 */
export async function requestPairing(
  deps: IngressDeps,
  admitted: AdmittedMessage,
): Promise<'new' | 'known' | 'full'> {
  const { message, route, receivedAt } = admitted;
  const { channel, account, sender } = message;
  const applicant = { channel, account, senderId: sender.id, senderName: sender.name, route };
  const pairing = getPairingRules(deps);
  const { characters, minutes, pending } = pairing;
  const code = deps.newCode(characters);
  const owner = deps.answersStrangers
    ? null
    : await deps.store.inbox.ownerRoute(getConversationAgent(admitted.conversationId));
  const to = deps.answersStrangers ? route : (owner?.route ?? null);
  // A stranger does not have a conversation yet.
  const toStranger = deps.answersStrangers
    ? renderNoticeParts(createPairingNotice(code, pairing), route)
    : [];
  const news =
    owner === null
      ? toStranger
      : createNoticeParts(createOwnerPairingNotice(message, code, pairing), owner.route, {
          ...owner,
          secret: code,
        });
  const asked = await deps.store.pairing.request(applicant, code, news, receivedAt, {
    validMs: minutes * 60_000,
    pending,
  });
  if (asked !== 'new') return asked;
  deps.log.info({}, 'a stranger asks for access; "parley pair" shows the code');
  if (to !== null) await deps.deliver(to);
  return asked;
}

/** Formats `an hour` or `15 minutes`. */
function formatPairingDuration({ minutes }: Pick<PairingRules, 'minutes'>): string {
  if (minutes === 60) return 'an hour';
  return minutes % 60 === 0 ? pluralize(minutes / 60, 'hour') : pluralize(minutes, 'minute');
}

/** Explains to a stranger how to get access, in Markdown. */
function createPairingNotice(code: string, rules: PairingRules): string {
  return [
    'This bot is private and does not know you yet.',
    `Your code is \`${code}\`. It is valid for ${formatPairingDuration(rules)}. The owner can let you in by sending \`/pair ${code}\` to this bot, or with the command \`parley pair ${code}\`.`,
    "If the bot is yours, open *Set up* on its page and press “That's me”, or run `parley setup`.",
  ].join('\n\n');
}

/** Sent to a stranger when too many others are already waiting. */
export const pairingFull = (rules: PairingRules): string =>
  `This bot is private, and too many people are waiting for access. Please try again in ${formatPairingDuration(rules)}.`;

/** Sent to an owner about a stranger whom the bot does not answer. */
function createOwnerPairingNotice(
  message: InboundMessage,
  code: string,
  rules: PairingRules,
): string {
  return `⚙️ ${formatQuotedName(message.sender.name)} (\`${toPersonId(message)}\`) wants to write to me and got no answer. \`/pair ${code}\` lets them in. It is valid for ${formatPairingDuration(rules)}.`;
}
