import type { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { CommandEffect, LinkAction, LinkResult } from '@parley/store';
import { personId } from './decide.ts';
import { named, typedCode } from './pairing.ts';

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
  isOwner: boolean,
  newCode: string,
): CommandEffect {
  const asker = { personId: personId(message), isOwner };
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
      return 'That code was made by somebody who is not my owner, and whoever is linked to you may do all that you may. If both accounts are yours, make the code here with /link and type it there.';
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

/** What the other account is told of it, and where; null when there is nothing to tell. */
export function linkNews(
  result: LinkResult | undefined,
  message: InboundMessage,
): { readonly route: ReplyRoute; readonly text: string } | null {
  if (result?.kind === 'to-confirm') {
    const who = `${named(message.sender.name)} (\`${personId(message)}\`)`;
    const text = `⚙️ ${who} typed your code. If that is you, write \`/link ${result.code}\` here: that account then sees our conversation and may do all that you may. If it is not, do nothing.`;
    return { route: result.makerRoute, text };
  }
  if (result?.kind !== 'linked') return null;
  return { route: result.otherRoute, text: `⚙️ Linked: ${listed(result.members)}.` };
}

function codeText({ code, members, typist }: Extract<LinkResult, { kind: 'code' }>): string {
  const linked = members.length === 0 ? [] : [`Linked so far: ${listed(members)}.`];
  const next =
    typist === null
      ? `Write \`/link ${code}\` to me from your other account. The code is valid for ten minutes; give it to nobody.`
      : `\`${typist}\` typed your code. If that is you, write \`/link ${code}\` here to link it.`;
  return [next, ...linked].join('\n\n');
}

function listed(members: readonly string[]): string {
  return members.map((member) => `\`${member}\``).join(', ');
}
