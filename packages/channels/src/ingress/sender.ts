import { type InboundMessage, type Logger, reasonOf, toDisplayLine } from '@parley/core';
import type { LinkRepository, PairingRepository } from '@parley/store';
import type { DecisionRules } from './rules.ts';

/** For example `telegram:42`, the form of a person's id in the settings and the runtime facts. */
export function toPersonId(message: Pick<InboundMessage, 'channel' | 'sender'>): string {
  return `${message.channel}:${message.sender.id}`;
}

/**
 * A name chosen by a person, formatted as code in Markdown, so that it cannot be mistaken for
 * Parley's own text.
 */
export function formatQuotedName(name: string): string {
  const plain = toDisplayLine(name).replaceAll('`', '').trim();
  return plain === '' ? 'A person' : `\`${plain.slice(0, 80).toWellFormed()}\``;
}

export interface SenderRights {
  /** `telegram:42`. */
  readonly person: string;
  /** The sender is an owner of the bot. */
  readonly isOwner: boolean;
  /** An owner admitted the sender with a pairing code. */
  readonly isAllowed: boolean;
  /** The conversation shared by all linked direct chats of this owner; null for other people. */
  readonly mainConversation: string | null;
}

/** The author of a message or reaction, and its chat. */
export type AuthorInChat = Pick<InboundMessage, 'channel' | 'account' | 'chat' | 'sender'>;

export interface SenderRightsDeps {
  readonly store: {
    readonly pairing: Pick<PairingRepository, 'isAllowed'>;
    readonly links: LinkRepository;
  };
  readonly rules: Pick<DecisionRules, 'policy' | 'owners'>;
}

/**
 * Looks up the rights of a sender. The database is queried only when the result depends on it: in
 * direct chats, and for the rights of a command. Rejects when the database does not answer, so that
 * access is never granted by mistake.
 */
export async function findSenderRights(
  deps: SenderRightsDeps,
  message: AuthorInChat,
  isCommand: boolean,
): Promise<SenderRights> {
  const { store, rules } = deps;
  const { chat, sender } = message;
  const person = toPersonId(message);
  const isDirect = chat.type === 'direct';
  if (sender.isBot || (!isDirect && !isCommand)) {
    const isOwner = rules.owners.includes(person);
    return { person, isOwner, isAllowed: false, mainConversation: null };
  }
  const { isOwner, mainConversation } = await findOwnership(store.links, rules.owners, person);
  return {
    person,
    isOwner,
    isAllowed: isDirect && !isOwner && (await isAllowed(deps, message)),
    mainConversation: isDirect ? mainConversation : null,
  };
}

/**
 * Whether an account currently belongs to an owner, and the conversation shared by its linked
 * accounts.
 */
export async function findOwnership(
  links: LinkRepository,
  owners: readonly string[],
  person: string,
): Promise<Pick<SenderRights, 'isOwner' | 'mainConversation'>> {
  const link = await links.of(person);
  // One linked account belongs to an owner, and that owner has confirmed the others.
  const isOwners = link?.byOwner === true && link.members.some((one) => owners.includes(one));
  return {
    isOwner: owners.includes(person) || isOwners,
    mainConversation: isOwners ? link.mainConversation : null,
  };
}

async function isAllowed(
  { store, rules }: SenderRightsDeps,
  message: AuthorInChat,
): Promise<boolean> {
  const { channel, account, sender } = message;
  const { direct, allow } = rules.policy.access;
  if (direct !== 'pairing' || allow.includes(sender.id)) return false;
  return store.pairing.isAllowed(channel, account, sender.id);
}

/**
 * How long a platform may take to answer a question about a sender, in ms; later answers are
 * ignored.
 */
const ANSWER_WITHIN_MS = 3_000;

/** Asks a platform about a sender; undefined when it does not answer in time. */
export async function askPlatform<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  what: string,
  log: Pick<Logger, 'warn'>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  const late = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => late.reject(signal.reason), { once: true });
  try {
    return await Promise.race([ask(signal), late.promise]);
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, `the platform did not say ${what}`);
    return undefined;
  }
}
