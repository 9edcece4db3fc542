import { type BusyPolicy, type InboundMessage, mayCommand } from '@parley/core';
import type { LinkRepository, PairingRepository } from '@parley/store';
import type { AgentRules } from './agent-route.ts';
import { type GroupCommands, isInTurn, parseCommand, type TypedCommand } from './command.ts';
import { splitCommand } from './command-words.ts';

/** What ingress will do with a message and why, decided from facts alone. */
export type IngressDecision = {
  readonly reason: string;
} /** `command`: one that runs as a turn. */ & (
  | { readonly kind: 'turn'; readonly command?: TypedCommand }
  | { readonly kind: 'command'; readonly command: TypedCommand }
  /** `keepAsContext`: the text is kept for the next turn of the group (F06). */
  | { readonly kind: 'ignore'; readonly keepAsContext: boolean }
  /** `notice`: the explanation that the sender gets, if any. */
  | { readonly kind: 'refuse'; readonly notice: StrangerNotice | 'too-long' | null }
);

export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  /** Who may decide approvals besides owners. */
  readonly approvers?: readonly string[];
  readonly limits: IngressLimits;
  /** For messages that arrive during a turn; `collect` when absent. */
  readonly busy?: BusyPolicy;
  /** Absent: there is one agent. The owners above are those of the default one (F14). */
  readonly agents?: AgentRules | undefined;
}

/** The ingress pipeline as one pure function: bot guard, access, activation, command, size. */
export function decideIngress(
  message: InboundMessage,
  { policy, limits }: Pick<DecisionRules, 'policy' | 'limits'>,
  rights: Pick<SenderRights, 'isOwner' | 'isAllowed'>,
): IngressDecision {
  if (message.sender.isBot) return ignore('written by a bot');
  const access = decideAccess(message, policy, rights);
  if (access.kind === 'refused') {
    return { kind: 'refuse', reason: access.reason, notice: access.notice };
  }
  const activation = decideActivation(message, policy);
  // The files of an earlier message may go along.
  const isEmpty =
    message.text.trim() === '' && (message.attachments ?? message.replaces) === undefined;
  if (activation.kind === 'stay-silent') {
    return ignore(activation.reason, activation.keepAsContext && !isEmpty);
  }
  // A mention alone below another message, or beside a quotation, is a question about it.
  const isAbout = message.quotation !== undefined || (message.replyTo?.text ?? '') !== '';
  if (isEmpty && !isAbout) return ignore('no text');
  const reason = `${access.reason}; ${activation.reason}`;
  const command = commandIn(message);
  const isReady = command !== null && !isInTurn(command.name);
  // What a command itself reads may be of any length; the message behind one is a message.
  const length = isReady ? splitCommand(command).onward.length : message.text.length;
  if (length > limits.messageCharacters) {
    const tooLong = `longer than ${limits.messageCharacters} characters`;
    return { kind: 'refuse', reason: tooLong, notice: 'too-long' };
  }
  if (isReady) return { kind: 'command', command, reason };
  return { kind: 'turn', reason, ...(command && { command }) };
}

/** A text that its sender did not type, as one of an inline bot, gives no commands. */
function commandIn(message: Pick<InboundMessage, 'text' | 'authored'>) {
  return mayCommand(message) ? parseCommand(message.text) : null;
}

function ignore(reason: string, keepAsContext = false): IngressDecision {
  return { kind: 'ignore', reason, keepAsContext };
}

/** The codes of strangers: how long one is, how long it is valid, and how many people may wait at a time. */
export interface PairingRules {
  readonly characters: number;
  readonly minutes: number;
  readonly pending: number;
}

/** Who may talk to an account and when the bot answers in groups (F05, F06); from the settings. */
export interface AccountPolicy {
  readonly access: {
    readonly direct: DirectMode;
    /** Eight characters, an hour and three people when absent. */
    readonly pairing?: PairingRules | undefined;
    readonly groups: GroupMode;
    /** User ids (as the platform writes them) that may write in direct chats. */
    readonly allow: readonly string[];
    /** Chat ids of groups that are served. */
    readonly allowGroups: readonly string[];
    /** Where there are any, members with none of these roles may not write in groups. */
    readonly allowRoles?: readonly string[];
    readonly groupCommands: GroupCommands;
  };
  readonly activation: 'mention' | 'always' | 'never';
  readonly answers: AnswerStyle;
}

/** How answers of an account are printed, beyond what its platform dictates. */
export interface AnswerStyle {
  /** `live`: what looks like a mention may ping people (M05). */
  readonly mentions: 'dead' | 'live';
  /** Shortest time between two edits of a growing answer; as the platform takes them when absent. */
  readonly editSeconds?: number | undefined;
  /** Several parts of an answer say which they are. */
  readonly numbered: boolean;
  /** An emoji on a message while it is answered; absent: none. */
  readonly acknowledge?: string | undefined;
}

/**
 * `open`: everyone; `allowlist`: listed people; `pairing`: also people whom an owner allowed; `disabled`: no one;
 * `token`: the adapter has asked for a token (no setting has this).
 */
export type DirectMode = 'pairing' | 'allowlist' | 'open' | 'disabled' | 'token';

/** `open`: all groups; `allowlist`: listed groups; `disabled`: none. */
export type GroupMode = 'allowlist' | 'open' | 'disabled';

/** Limits of incoming messages (D07). */
export interface IngressLimits {
  /** Longest message, in characters (UTF-16 units). */
  readonly messageCharacters: number;
  /** Messages of one conversation that may wait for a turn. */
  readonly waitingPerConversation: number;
  /** The same, in all conversations of all accounts. */
  readonly totalWaiting: number;
  /** Messages that do not address the bot and are kept for the group's next turn; 50 when absent. */
  readonly groupContextMessages?: number | undefined;
}

/** Rights of the sender of a message. */
export interface SenderRights {
  /** The bot belongs to them. */
  readonly isOwner: boolean;
  /** An owner allowed them by a pairing code. */
  readonly isAllowed: boolean;
  /** The conversation that all linked direct chats of this owner share; null for other people. */
  readonly mainConversation: string | null;
}

/** Who did something, and where. */
type Authored = Pick<InboundMessage, 'channel' | 'account' | 'chat' | 'sender'>;

export interface SenderRightsDeps {
  readonly store: {
    readonly pairing: Pick<PairingRepository, 'isAllowed'>;
    readonly links: LinkRepository;
  };
  readonly rules: Pick<DecisionRules, 'policy' | 'owners'>;
}

/**
 * Looks a sender up. The database is asked only where it matters: in direct chats, and for the rights of a
 * command. Rejects when the database does not answer, so that access is never granted by mistake.
 */
export async function senderRights(
  deps: SenderRightsDeps,
  message: Authored & Pick<InboundMessage, 'text' | 'authored'>,
): Promise<SenderRights> {
  const { store, rules } = deps;
  const { chat, sender } = message;
  const person = personId(message);
  const isDirect = chat.type === 'direct';
  const isNamed = rules.owners.includes(person);
  if (sender.isBot || (!isDirect && commandIn(message) === null)) {
    return { isOwner: isNamed, isAllowed: false, mainConversation: null };
  }
  const { isOwner, mainConversation } = await ownershipOf(store.links, rules.owners, person);
  return {
    isOwner,
    isAllowed: isDirect && !isOwner && (await isAllowed(deps, message)),
    mainConversation: isDirect ? mainConversation : null,
  };
}

/** Whether an account belongs to an owner now, and the conversation that linked accounts share. */
export async function ownershipOf(
  links: LinkRepository,
  owners: readonly string[],
  person: string,
): Promise<Pick<SenderRights, 'isOwner' | 'mainConversation'>> {
  const link = await links.of(person);
  // One account of the link is an owner's, and that owner confirmed the others.
  const isOwners = link?.byOwner === true && link.members.some((one) => owners.includes(one));
  return {
    isOwner: owners.includes(person) || isOwners,
    mainConversation: isOwners ? link.mainConversation : null,
  };
}

async function isAllowed({ store, rules }: SenderRightsDeps, message: Authored): Promise<boolean> {
  const { channel, account, sender } = message;
  const { direct, allow } = rules.policy.access;
  if (direct !== 'pairing' || allow.includes(sender.id)) return false;
  return store.pairing.isAllowed(channel, account, sender.id);
}

/** Whether a sender may talk to the bot here; if not, why, and the notice for a stranger. */
export type AccessDecision =
  | { readonly kind: 'allowed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly notice: StrangerNotice | null };

/** How to get access: `stranger`, through the settings; `pairing`, with a code. */
export type StrangerNotice = 'stranger' | 'pairing';

/** `telegram:42`: how owners are named in the settings and people in the runtime facts. */
export function personId(message: Pick<InboundMessage, 'channel' | 'sender'>): string {
  return `${message.channel}:${message.sender.id}`;
}

/**
 * Decides access (F05). Owners may always write in direct chats; in groups the group decides, and where the
 * settings name roles, those of the sender. Anything not clearly allowed is refused.
 */
export function decideAccess(
  message: Pick<Authored, 'chat' | 'sender'>,
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
  return ofSender(access.direct, access.allow.includes(sender.id), rights.isAllowed);
}

/** Whether a group is served; the sender plays no part. */
export function decideGroup(
  chat: InboundMessage['chat'],
  { groups, allowGroups }: AccountPolicy['access'],
): AccessDecision {
  const ids = [chat.id, chat.movedTo, chat.within].filter((id) => id !== undefined);
  return ofGroup(
    groups,
    ids.some((id) => allowGroups.includes(id)),
  );
}

/** In a group that is not served an explanation would be noise, and would reveal that a bot listens. */
function ofGroup(mode: GroupMode, isNamed: boolean): AccessDecision {
  if (mode === 'open') return { kind: 'allowed', reason: 'all groups are served' };
  if (mode === 'allowlist' && isNamed) {
    return { kind: 'allowed', reason: 'the group is on the allow list' };
  }
  return mode === 'allowlist'
    ? { kind: 'refused', reason: 'the group is not on the allow list', notice: null }
    : { kind: 'refused', reason: 'groups are disabled', notice: null };
}

function ofSender(mode: DirectMode, isNamed: boolean, isAllowed: boolean): AccessDecision {
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
      return { kind: 'allowed', reason: 'sent with the token of a client' };
    case 'disabled':
      return { kind: 'refused', reason: 'direct chats are disabled', notice: null };
  }
}

/** Whether an allowed message gets an answer, and why. */
export type ActivationDecision =
  | { readonly kind: 'answer'; readonly reason: string }
  /** `keepAsContext`: a later turn of the group may need to know what was said. */
  | { readonly kind: 'stay-silent'; readonly reason: string; readonly keepAsContext: boolean };

/** Decides activation (F06): always in direct chats, in groups only as the settings say. */
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
