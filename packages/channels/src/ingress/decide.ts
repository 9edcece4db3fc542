import type { BusyPolicy, InboundMessage } from '@parley/core';
import type { LinkRepository, PairingRepository } from '@parley/store';
import { type GroupCommands, isInTurn, parseCommand, type TypedCommand } from './command.ts';

/** What ingress will do with a message and why, decided from facts alone. */
export type IngressDecision = {
  readonly reason: string;
} /** `command`: one that is carried out as a turn. */ & (
  | { readonly kind: 'turn'; readonly command?: TypedCommand }
  | { readonly kind: 'command'; readonly command: TypedCommand }
  /** `overhear`: the text is kept for the next turn of the group (F06). */
  | { readonly kind: 'ignore'; readonly overhear: boolean }
  /** `tell` says whether the sender deserves an explanation, and which. */
  | { readonly kind: 'refuse'; readonly tell: StrangerNews | 'too-long' | null }
);

/** What the decision is made by. */
export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  /** Who may decide approvals besides owners. */
  readonly approvers?: readonly string[];
  readonly limits: IngressLimits;
  /** What becomes of messages that arrive during a turn; `collect` when absent. */
  readonly busy?: BusyPolicy;
}

/** The ingress pipeline as one pure function: bot guard, access, activation, command, size. */
export function decideIngress(
  message: InboundMessage,
  { policy, limits }: Pick<DecisionRules, 'policy' | 'limits'>,
  standing: Pick<Standing, 'isOwner' | 'isLetIn'>,
): IngressDecision {
  if (message.sender.isBot) return ignore('written by a bot');
  const access = decideAccess(message, policy, standing);
  if (access.kind === 'refused') {
    return { kind: 'refuse', reason: access.reason, tell: access.tell };
  }
  const activation = decideActivation(message, policy);
  const isEmpty = message.text.trim() === '' && message.attachments === undefined;
  if (activation.kind === 'stay-silent') {
    return ignore(activation.reason, activation.overhear && !isEmpty);
  }
  if (isEmpty) return ignore('no text');
  const reason = `${access.reason}; ${activation.reason}`;
  const command = parseCommand(message.text);
  if (command && !isInTurn(command.name)) return { kind: 'command', command, reason };
  if (message.text.length > limits.messageCharacters) {
    const tooLong = `longer than ${limits.messageCharacters} characters`;
    return { kind: 'refuse', reason: tooLong, tell: 'too-long' };
  }
  return { kind: 'turn', reason, ...(command && { command }) };
}

function ignore(reason: string, overhear = false): IngressDecision {
  return { kind: 'ignore', reason, overhear };
}

/** Who may talk to an account and when the bot answers in groups (F05, F06); from the settings. */
export interface AccountPolicy {
  readonly access: {
    readonly direct: DirectMode;
    readonly groups: GroupMode;
    /** User ids (as the platform writes them) that may write in direct chats. */
    readonly allow: readonly string[];
    /** Chat ids of groups that are served. */
    readonly allowGroups: readonly string[];
    readonly groupCommands: GroupCommands;
  };
  readonly activation: 'mention' | 'always' | 'never';
  readonly answers: AnswerStyle;
}

/** How answers of an account are printed, beyond what its platform dictates. */
export interface AnswerStyle {
  /** `live`: what looks like a mention may ping people (M05). */
  readonly mentions: 'dead' | 'live';
  /** Several parts of an answer say which they are. */
  readonly numbered: boolean;
}

/** `open`: everybody; `allowlist`: those named; `pairing`: also those an owner let in; `disabled`: nobody. */
export type DirectMode = 'pairing' | 'allowlist' | 'open' | 'disabled';

/** `open`: all groups; `allowlist`: those named; `disabled`: none. */
export type GroupMode = 'allowlist' | 'open' | 'disabled';

/** Bounds of what is taken in (D07). */
export interface IngressLimits {
  /** Longest message, in characters (UTF-16 units). */
  readonly messageCharacters: number;
  /** Messages of one conversation that may wait for a turn. */
  readonly waitingPerConversation: number;
  /** The same of all conversations together, whatever the account. */
  readonly waitingInAll: number;
}

/** What Parley knows of the sender of a message besides the message itself. */
export interface Standing {
  /** The bot belongs to them. */
  readonly isOwner: boolean;
  /** An owner let them in with a code. */
  readonly isLetIn: boolean;
  /** The conversation that all linked direct chats of this owner share; null for everybody else. */
  readonly mainConversation: string | null;
}

/** What looking a sender up needs. */
export interface StandingDeps {
  readonly store: {
    readonly pairing: Pick<PairingRepository, 'isLetIn'>;
    readonly links: LinkRepository;
  };
  readonly rules: Pick<DecisionRules, 'policy' | 'owners'>;
}

/**
 * Looks a sender up. The database is asked only where its answer can matter: in direct chats, and for
 * the permission of a command. Rejects when it does not answer, so that nobody gets in then.
 */
export async function standingOf(deps: StandingDeps, message: InboundMessage): Promise<Standing> {
  const { store, rules } = deps;
  const { chat, sender } = message;
  const person = personId(message);
  const isDirect = chat.type === 'direct';
  const isNamed = rules.owners.includes(person);
  if (sender.isBot || (!isDirect && parseCommand(message.text) === null)) {
    return { isOwner: isNamed, isLetIn: false, mainConversation: null };
  }
  const { isOwner, mainConversation } = await ownershipOf(store.links, rules.owners, person);
  return {
    isOwner,
    isLetIn: isDirect && !isOwner && (await isLetIn(deps, message)),
    mainConversation: isDirect ? mainConversation : null,
  };
}

/** Whether an account is an owner's now, and the conversation that linked ones share. */
export async function ownershipOf(
  links: LinkRepository,
  owners: readonly string[],
  person: string,
): Promise<Pick<Standing, 'isOwner' | 'mainConversation'>> {
  const link = await links.of(person);
  // One of its accounts is an owner's, who confirmed each of the others.
  const isOwners = link?.byOwner === true && link.members.some((one) => owners.includes(one));
  return {
    isOwner: owners.includes(person) || isOwners,
    mainConversation: isOwners ? link.mainConversation : null,
  };
}

async function isLetIn({ store, rules }: StandingDeps, message: InboundMessage): Promise<boolean> {
  const { channel, account, sender } = message;
  const { direct, allow } = rules.policy.access;
  if (direct !== 'pairing' || allow.includes(sender.id)) return false;
  return store.pairing.isLetIn(channel, account, sender.id);
}

/** Whether a sender may talk to the bot here, and if not, why, and what a stranger is to be told. */
export type AccessDecision =
  | { readonly kind: 'allowed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly tell: StrangerNews | null };

/** `stranger`: how to be let in through the settings. `pairing`: with a code. */
export type StrangerNews = 'stranger' | 'pairing';

/** `telegram:42`: how owners are named in the settings and people in the runtime facts. */
export function personId(message: Pick<InboundMessage, 'channel' | 'sender'>): string {
  return `${message.channel}:${message.sender.id}`;
}

/**
 * Decides access (F05). Owners may always write in direct chats; in groups the group decides,
 * whoever writes. Anything not clearly allowed is refused.
 */
export function decideAccess(
  message: InboundMessage,
  { access }: Pick<AccountPolicy, 'access'>,
  standing: Pick<Standing, 'isOwner' | 'isLetIn'>,
): AccessDecision {
  const { chat, sender } = message;
  if (chat.type !== 'direct') return ofGroup(access.groups, access.allowGroups.includes(chat.id));
  if (standing.isOwner) return { kind: 'allowed', reason: 'written by an owner' };
  return ofSender(access.direct, access.allow.includes(sender.id), standing.isLetIn);
}

/** In a group that is not served an explanation would be noise, and would tell that a bot listens. */
function ofGroup(mode: GroupMode, isNamed: boolean): AccessDecision {
  if (mode === 'open') return { kind: 'allowed', reason: 'all groups are served' };
  if (mode === 'allowlist' && isNamed) {
    return { kind: 'allowed', reason: 'the group is on the allow list' };
  }
  return mode === 'allowlist'
    ? { kind: 'refused', reason: 'the group is not on the allow list', tell: null }
    : { kind: 'refused', reason: 'groups are disabled', tell: null };
}

function ofSender(mode: DirectMode, isNamed: boolean, isLetIn: boolean): AccessDecision {
  switch (mode) {
    case 'open':
      return { kind: 'allowed', reason: 'direct chats are open to everybody' };
    case 'allowlist':
      return isNamed
        ? { kind: 'allowed', reason: 'the sender is on the allow list' }
        : { kind: 'refused', reason: 'the sender is not on the allow list', tell: 'stranger' };
    case 'pairing':
      if (isNamed) return { kind: 'allowed', reason: 'the sender is on the allow list' };
      return isLetIn
        ? { kind: 'allowed', reason: 'an owner let the sender in' }
        : { kind: 'refused', reason: 'no owner has let the sender in', tell: 'pairing' };
    case 'disabled':
      return { kind: 'refused', reason: 'direct chats are disabled', tell: null };
  }
}

/** Whether a message that is allowed also asks the bot for an answer, and why. */
export type ActivationDecision =
  | { readonly kind: 'answer'; readonly reason: string }
  /** `overhear`: a later turn of the group may need to know what was said. */
  | { readonly kind: 'stay-silent'; readonly reason: string; readonly overhear: boolean };

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
      return { kind: 'stay-silent', reason: 'groups are never answered', overhear: false };
    case 'mention':
      return message.addressed
        ? { kind: 'answer', reason: 'addressed to the bot' }
        : { kind: 'stay-silent', reason: 'nobody addressed the bot', overhear: true };
  }
}
