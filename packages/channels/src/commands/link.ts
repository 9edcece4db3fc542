import { type InboundMessage, toAgentConversation } from '@parley/core';
import type { LinkAction, LinkResult, NewPart } from '@parley/store';
import { listAgentOwners } from '../ingress/agent-route.ts';
import { parseTypedCode } from '../ingress/one-time-code.ts';
import { createNoticeParts } from '../ingress/route.ts';
import { formatQuotedName, toPersonId } from '../ingress/sender.ts';
import { defineChatCommand } from './command.ts';

/** Creates or redeems a code that links two accounts of one person, or unlinks an account (F13). */
export const link = defineChatCommand({
  name: 'link',
  summary: 'link your accounts',
  takes: '[code]',
  rest: 'argument',
  who: 'everyone',
  where: 'direct',
  private: true,
  prepare: async (_context, { newCode }) => newCode(),
  async run({ argument, message, asker, rules, agent }, transaction, newCode) {
    const self = toPersonId(message);
    const action = parseLinkAction(argument, self, newCode);
    if (action === null) return { answer: renderLinkResult({ kind: 'unknown-code' }) };
    const rights = { isOwner: asker.isOwner, ownersOfAgents: listAgentOwners(rules) };
    const result = await transaction.link({ personId: self, ...rights }, action);
    return { answer: renderLinkResult(result), notify: createLinkNotices(result, message, agent) };
  },
});

/** Null when the argument is neither a code nor a word that the command accepts. */
export function parseLinkAction(
  argument: string,
  self: string,
  newCode: string,
): LinkAction | null {
  if (argument === '') return { kind: 'make', code: newCode };
  const off = /^off(?:\s+(\S+))?$/i.exec(argument);
  if (off !== null) return { kind: 'leave', personId: off[1] ?? self };
  const code = parseTypedCode(argument);
  return code === null ? null : { kind: 'type', code };
}

export function renderLinkResult(result: LinkResult): string {
  switch (result.kind) {
    case 'code':
      return describeLinkCode(result);
    case 'own-code':
      return 'That is the code you made. Send it to me from your other account.';
    case 'taken':
      return 'Another account has already typed that code. Make a new one with /link once it has expired.';
    case 'owner-must-make':
      return 'Someone who is not my owner made that code, and a linked account has all your rights. If both accounts are yours, make the code here with /link and type it there.';
    case 'to-confirm':
      return 'Almost done: now confirm it in the chat where the code was made. I have asked there.';
    case 'linked':
      return `Linked: ${listMembers(result.members)}. /link off unlinks this account.`;
    case 'left':
      return `\`${result.personId}\` is no longer linked.`;
    case 'not-linked':
      return 'That account is not linked with yours.';
    case 'unknown-code':
      return 'That code is not valid. A code from /link is valid for ten minutes and works once.';
  }
}

/** The notice to the other account. */
export function createLinkNotices(
  result: LinkResult,
  message: InboundMessage,
  agent: string | undefined,
): readonly NewPart[] {
  const inMain = (main: string | null) => ({
    conversationId: main === null ? null : toAgentConversation(agent, main),
  });
  if (result.kind === 'to-confirm') {
    const who = `${formatQuotedName(message.sender.name)} (\`${toPersonId(message)}\`)`;
    const text = `⚙️ ${who} typed your code. If that is you, send \`/link ${result.code}\` here: that account can then see our conversation and do everything you can. If it is not, do nothing.`;
    const { mainConversation, code: secret } = result;
    return createNoticeParts(text, result.makerRoute, { ...inMain(mainConversation), secret });
  }
  if (result.kind !== 'linked') return [];
  const text = `⚙️ Linked: ${listMembers(result.members)}.`;
  return createNoticeParts(text, result.otherRoute, inMain(result.mainConversation));
}

function describeLinkCode({
  code,
  members,
  typist,
}: Extract<LinkResult, { kind: 'code' }>): string {
  const linked = members.length === 0 ? [] : [`Linked so far: ${listMembers(members)}.`];
  const next =
    typist === null
      ? `Send \`/link ${code}\` to me from your other account. The code is valid for ten minutes; do not share it.`
      : `\`${typist}\` typed your code. If that is you, send \`/link ${code}\` here to link it.`;
  return [next, ...linked].join('\n\n');
}

function listMembers(members: readonly string[]): string {
  return members.map((member) => `\`${member}\``).join(', ');
}
