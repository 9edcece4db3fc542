import type { InboundMessage } from '@parley/core';
import type { TypedCommand } from '../commands/command.ts';
import { splitCommand } from '../commands/typed-command.ts';
import type { AccountPolicy, DecisionRules, DirectMode, GroupMode } from './rules.ts';
import type { AuthorInChat, SenderRights } from './sender.ts';

/** The ingress decision about a message and its reason, derived from facts without side effects. */
export type IngressDecision = { readonly reason: string } & (
  | { readonly kind: 'turn' }
  /**
   * Includes commands that run as a turn. `isOwner`: whether the command has the rights of an
   * owner.
   */
  | { readonly kind: 'command'; readonly command: TypedCommand; readonly isOwner: boolean }
  /** `storeAsContext`: the text is kept for the group's next turn (F06). */
  | { readonly kind: 'ignore'; readonly keepAsContext: boolean }
  /** `notice`: the explanation sent to the sender, if any. */
  | { readonly kind: 'refuse'; readonly notice: StrangerNotice | 'too-long' | null }
);

/** The ingress pipeline as one pure function: bot guard, access, activation, command, size. */
export function decideIngress(
  message: InboundMessage,
  command: TypedCommand | null,
  { policy, limits }: Pick<DecisionRules, 'policy' | 'limits'>,
  rights: Pick<SenderRights, 'isOwner' | 'isAllowed'>,
): IngressDecision {
  if (message.sender.isBot) return createIgnoreDecision('written by a bot');
  const access = decideAccess(message, policy, rights);
  if (access.kind === 'refused') {
    return { kind: 'refuse', reason: access.reason, notice: access.notice };
  }
  const activation = decideActivation(message, policy);
  // The message may replace an earlier one whose files it keeps.
  const isEmpty =
    message.text.trim() === '' && (message.attachments ?? message.replaces) === undefined;
  if (activation.kind === 'stay-silent') {
    return createIgnoreDecision(activation.reason, activation.keepAsContext && !isEmpty);
  }
  // A bare mention in a reply or next to a quotation is a question about that message.
  const isAbout = message.quotation !== undefined || (message.replyTo?.text ?? '') !== '';
  if (isEmpty && !isAbout) return createIgnoreDecision('no text');
  const reason = `${access.reason}; ${activation.reason}`;
  // A command's argument may have any length; a message after the command is limited like any
  // other.
  const length = command === null ? message.text.length : splitCommand(command).onward.length;
  if (length > limits.messageCharacters) {
    const tooLong = `longer than ${limits.messageCharacters} characters`;
    return { kind: 'refuse', reason: tooLong, notice: 'too-long' };
  }
  if (command === null) return { kind: 'turn', reason };
  return { kind: 'command', command, isOwner: rights.isOwner, reason };
}

function createIgnoreDecision(reason: string, keepAsContext = false): IngressDecision {
  return { kind: 'ignore', reason, keepAsContext };
}

/**
 * Whether a sender may talk to the bot in this chat; if not, the reason, and the notice for a
 * stranger.
 */
export type AccessDecision =
  | { readonly kind: 'allowed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly notice: StrangerNotice | null };

/**
 * How a stranger can get access, according to the notice: `stranger`, through the settings;
 * `pairing`, with a code.
 */
export type StrangerNotice = 'stranger' | 'pairing';

/**
 * Decides whether a sender has access (F05). Owners may always write in direct chats; in groups the
 * group's access decides, and the sender's roles if the settings name any. Access is denied unless
 * a rule clearly allows it.
 */
export function decideAccess(
  message: Pick<AuthorInChat, 'chat' | 'sender'>,
  { access }: Pick<AccountPolicy, 'access'>,
  rights: Pick<SenderRights, 'isOwner' | 'isAllowed'>,
): AccessDecision {
  const { chat, sender } = message;
  if (chat.type !== 'direct') {
    const group = decideGroup(chat, access);
    const { allowRoles = [] } = access;
    const isMember =
      allowRoles.length === 0 ||
      rights.isOwner ||
      sender.roles?.some((id) => allowRoles.includes(id));
    if (group.kind === 'refused' || isMember) return group;
    return { kind: 'refused', reason: 'the sender has none of the allowed roles', notice: null };
  }
  if (rights.isOwner) return { kind: 'allowed', reason: 'written by an owner' };
  return decideSenderAccess(access.direct, access.allow.includes(sender.id), rights.isAllowed);
}

/** Whether a group is served, regardless of the sender. */
export function decideGroup(
  chat: InboundMessage['chat'],
  { groups, allowGroups }: AccountPolicy['access'],
): AccessDecision {
  const ids = [chat.id, chat.movedTo, chat.within].filter((id) => id !== undefined);
  return decideGroupAccess(
    groups,
    ids.some((id) => allowGroups.includes(id)),
  );
}

/**
 * In a group that is not served, an explanation would be noise and would reveal that a bot is
 * present.
 */
function decideGroupAccess(mode: GroupMode, isNamed: boolean): AccessDecision {
  if (mode === 'open') return { kind: 'allowed', reason: 'all groups are served' };
  if (mode === 'allowlist' && isNamed) {
    return { kind: 'allowed', reason: 'the group is on the allow list' };
  }
  return mode === 'allowlist'
    ? { kind: 'refused', reason: 'the group is not on the allow list', notice: null }
    : { kind: 'refused', reason: 'groups are disabled', notice: null };
}

function decideSenderAccess(
  mode: DirectMode,
  isNamed: boolean,
  isAllowed: boolean,
): AccessDecision {
  switch (mode) {
    case 'open':
      return { kind: 'allowed', reason: 'direct chats are open to everyone' };
    case 'allowlist':
      return isNamed
        ? { kind: 'allowed', reason: 'the sender is on the allow list' }
        : { kind: 'refused', reason: 'the sender is not on the allow list', notice: 'stranger' };
    case 'pairing':
      if (isNamed) return { kind: 'allowed', reason: 'the sender is on the allow list' };
      return isAllowed
        ? { kind: 'allowed', reason: 'an owner allowed the sender' }
        : { kind: 'refused', reason: 'no owner has allowed the sender', notice: 'pairing' };
    case 'token':
      return { kind: 'allowed', reason: 'sent with a client’s token' };
    case 'disabled':
      return { kind: 'refused', reason: 'direct chats are disabled', notice: null };
  }
}

/** Whether an allowed message gets an answer, and why. */
export type ActivationDecision =
  | { readonly kind: 'answer'; readonly reason: string }
  /** `storeAsContext`: a later turn of the group may need the message. */
  | { readonly kind: 'stay-silent'; readonly reason: string; readonly keepAsContext: boolean };

/** Decides activation (F06): always in direct chats, and in groups according to the settings. */
function decideActivation(
  message: InboundMessage,
  { activation }: Pick<AccountPolicy, 'activation'>,
): ActivationDecision {
  if (message.chat.type === 'direct') return { kind: 'answer', reason: 'in a direct chat' };
  switch (activation) {
    case 'always':
      return { kind: 'answer', reason: 'everything in groups is answered' };
    case 'never':
      return { kind: 'stay-silent', reason: 'groups are never answered', keepAsContext: false };
    case 'mention':
      return message.addressed
        ? { kind: 'answer', reason: 'addressed to the bot' }
        : { kind: 'stay-silent', reason: 'the bot was not addressed', keepAsContext: true };
  }
}
