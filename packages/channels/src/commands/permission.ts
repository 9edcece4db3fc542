import type { Logger } from '@parley/core';
import type { SenderFacts } from '../adapter.ts';
import type { DecisionRules, GroupCommands } from '../ingress/rules.ts';
import { askPlatform } from '../ingress/sender.ts';
import type { ChatCommand, CommandSender, TypedCommand } from './command.ts';

/** The reason why a command is refused. */
type CommandRefusal = 'owner-only' | 'approver-only' | 'direct-only' | 'group-right';

/**
 * Decides by the sender and the chat; null when the command is allowed. Rights are checked before
 * the kind of chat, so that a refusal reveals nothing.
 */
export function findRefusal(
  command: ChatCommand,
  { isOwner, isDirect, isApprover, mayChangeChat }: CommandSender,
): CommandRefusal | null {
  if (command.who === 'owner' && !isOwner) return 'owner-only';
  if (command.who === 'approver' && !isApprover) return 'approver-only';
  if (command.where === 'direct' && !isDirect) return 'direct-only';
  const isRefused = command.groupRight !== undefined && command.groupRight !== 'limits';
  return isRefused && !mayChangeChat ? 'group-right' : null;
}

/** Explains politely, without calling the model, why a command was not run. */
export function describeRefusal(
  { name }: ChatCommand,
  why: CommandRefusal,
  rule: GroupCommands,
): string {
  switch (why) {
    case 'owner-only':
      return `/${name} is for my owner only.`;
    case 'approver-only':
      return `/${name} is for my owner, and for those my owner has named.`;
    case 'direct-only':
      return `Please send me /${name} in a direct chat: the answer is not for everyone here.`;
    case 'group-right':
      return `/${name} changes this conversation for everyone here, so it is for ${HOLDERS[rule]}.`;
  }
}

const HOLDERS: Readonly<Record<GroupCommands, string>> = {
  owners: 'my owner',
  approvers: 'my owner and those my owner has named',
  administrators: 'administrators of this group, my owner and those my owner has named',
  everyone: 'everyone here',
};

/** Unlisted commands are sent by buttons. */
export function isListed({ unlisted }: ChatCommand): boolean {
  return unlisted !== true;
}

/** The commands that this person can use, for `/help`. */
export function listUsableCommands(
  commands: readonly ChatCommand[],
  asker: CommandSender,
): readonly ChatCommand[] {
  // The list includes commands for direct chats, because the person can use them there.
  const anywhere = { ...asker, isDirect: true };
  return commands.filter((one) => isListed(one) && findRefusal(one, anywhere) === null);
}

/**
 * The rights of a command's sender; the platform is asked only for commands that depend on its
 * answer.
 */
export async function resolveCommandSender(
  { policy, approvers }: Pick<DecisionRules, 'policy' | 'approvers'>,
  sender: { readonly person: string; readonly isOwner: boolean; readonly isDirect: boolean },
  { command, argument }: TypedCommand,
  facts: SenderFacts,
  log: Pick<Logger, 'warn'>,
): Promise<CommandSender> {
  const { isOwner, isDirect } = sender;
  const isApprover = isOwner || approvers?.includes(sender.person) === true;
  const rank = { isOwner, isDirect, isApprover };
  const { groupRight } = command;
  const depends = groupRight === 'needed-for-words' ? argument !== '' : groupRight !== undefined;
  const { groupCommands } = policy.access;
  const mayChangeChat = !depends || (await hasGroupRight(groupCommands, rank, facts, log));
  return { ...rank, mayChangeChat };
}

/** The sender's rights that do not depend on the platform. */
type SenderRole = Omit<CommandSender, 'mayChangeChat'>;

/** Decides by the setting alone; `ask` when the platform must be asked. */
export function decideGroupRight(
  rule: GroupCommands,
  { isDirect, isOwner, isApprover }: SenderRole,
): 'granted' | 'denied' | 'ask' {
  if (isDirect || isOwner || rule === 'everyone') return 'granted';
  if (rule === 'owners') return 'denied';
  if (isApprover) return 'granted';
  return rule === 'administrators' ? 'ask' : 'denied';
}

/**
 * Like `decideGroupRight`, but asks the platform when the setting requires it. If the platform does not
 * answer in time, the sender has no right.
 */
export async function hasGroupRight(
  rule: GroupCommands,
  rank: SenderRole,
  { isAdministrator }: SenderFacts,
  log: Pick<Logger, 'warn'>,
  withinMs?: number,
): Promise<boolean> {
  const right = decideGroupRight(rule, rank);
  if (right !== 'ask') return right === 'granted';
  if (isAdministrator === undefined) return false;
  return (await askPlatform(isAdministrator, 'who is an administrator', log, withinMs)) ?? false;
}
