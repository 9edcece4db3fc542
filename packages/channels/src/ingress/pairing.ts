import { countOf, type InboundMessage } from '@parley/core';
import type { PairingRules } from './rules.ts';
import { personId, quotedName } from './sender.ts';

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
  return `⚙️ ${quotedName(message.sender.name)} (\`${personId(message)}\`) wants to write to me and got no answer. \`/pair ${code}\` allows them. It is valid for ${lasting(rules)}.`;
}
