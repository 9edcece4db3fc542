import type { ChannelContext } from '@parley/channels';
import { type Clock, type InboundMessage, type Logger, reasonOf } from '@parley/core';
import { proto, type SocketConfig, unpadRandomMax16 } from '@whiskeysockets/baileys';
import type { ChatDirectory, ChatUpdate } from './chats.ts';
import {
  applyEdit,
  type ChatChange,
  isIncomingMessage,
  listPeople,
  parseChatChange,
  type RawMessage,
  toChatId,
  toInbound,
  toReaction,
} from './content.ts';
import type { MessageEnvelope } from './decrypt.ts';
import { toSafeInteger } from './kinds/reading.ts';
import { findContextInfo, unwrapMessage } from './look.ts';
import type { ContactNames } from './names.ts';
import {
  type ContactDirectory,
  type GroupCache,
  isGroup,
  isPerson,
  type PersonIds,
  toPersonIds,
  toPersonJid,
  toPublicId,
} from './people.ts';
import { isMessageFromPerson, type RecentMessageCache } from './quotes.ts';
import { toMessageSeconds } from './times.ts';

/** Baileys' mapping from identities to numbers. */
type IdentityMapping = Pick<
  ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'],
  'getPNForLID'
>;

/**
 * Parses a decrypted message together with its envelope; undefined for bytes that are not a
 * message. If the envelope does not contain a number, the number known from earlier messages is
 * used, so that a person keeps one id.
 */
export async function parseMessage(
  envelope: MessageEnvelope,
  plain: Uint8Array,
  people: IdentityMapping,
  clock: Clock,
): Promise<RawMessage | undefined> {
  const decoded = decodeContent(plain);
  if (decoded === undefined) return undefined;
  return createRawMessage(envelope, decoded, people, clock);
}

type DecodedContent = Pick<RawMessage, 'content' | 'unread'>;

/** A message with its envelope; undefined if the envelope lacks a sender or an id. */
export async function createRawMessage(
  envelope: MessageEnvelope,
  decoded: DecodedContent,
  people: IdentityMapping,
  clock: Clock,
): Promise<RawMessage | undefined> {
  const { from: chat, id, participant, notify = '', t } = envelope;
  if (!chat || !id) return undefined;
  const { participant_pn, participant_lid, sender_pn, sender_lid } = envelope;
  const written = toPersonIds(
    participant ?? chat,
    participant_pn,
    participant_lid,
    sender_pn,
    sender_lid,
  );
  const from = await addKnownNumber(written, people);
  const time = toMessageSeconds(Number(t), clock);
  return { chat, id, participant, from, name: notify, time, ...decoded };
}

/** Adds the number known from earlier messages to a person's ids, if there is one. */
async function addKnownNumber(person: PersonIds, people: IdentityMapping): Promise<PersonIds> {
  const { lid, pn } = person;
  if (lid === undefined || pn !== undefined) return person;
  const number = toPersonJid(await people.getPNForLID(lid));
  return number === undefined ? person : { lid, pn: number };
}

/**
 * Decodes a message; undefined if that fails. Baileys cannot decode such a message either, so it
 * requests the message again.
 */
function decodeContent(plain: Uint8Array): DecodedContent | undefined {
  try {
    const bytes = unpadRandomMax16(plain);
    const content = proto.Message.decode(bytes);
    return { content, ...(isUnknown(content, bytes) && { unread: UNKNOWN }) };
  } catch {
    return undefined;
  }
}

export const UNKNOWN = 'a message of a kind that is newer than Parley';

/** Whether a message has bytes but no known fields, because its kind is newer than Baileys. */
function isUnknown(content: proto.IMessage, bytes: Uint8Array): boolean {
  const fields = Object.keys(content).filter((name) => name !== 'messageContextInfo');
  return fields.length === 0 && proto.Message.encode(content).finish().length < bytes.length;
}

interface IntakeDeps {
  readonly context: Pick<
    ChannelContext<unknown>,
    'account' | 'commands' | 'receive' | 'revise' | 'reacted' | 'ignored' | 'message' | 'history'
  >;
  /** All ids of the account; empty before it is linked. */
  readonly me: () => PersonIds;
  readonly contacts: ContactDirectory;
  readonly recent: RecentMessageCache;
  readonly groups: Pick<GroupCache, 'title' | 'isAdmin'>;
  readonly chats: Pick<ChatDirectory, 'hear'>;
  readonly names: Pick<ContactNames, 'note' | 'of'>;
  readonly log: Logger;
  /** Called with a message that will be answered. */
  readonly read: (raw: RawMessage) => void;
}

/**
 * Admits a message, an edit, a deletion, a reaction, or a new timer for the chat. Resolves once the
 * event is durable or has been refused permanently; rejects if it must be delivered again.
 */
export async function admitMessage(
  deps: IntakeDeps,
  raw: RawMessage,
  known: IdentityMapping,
): Promise<void> {
  const me = deps.me();
  if (!isIncomingMessage(raw, me)) return;
  const sender = await deps.contacts.jidOf(raw.from);
  if (sender === undefined) return;
  deps.names.note(raw.from, raw.name);
  const change = parseChatChange(raw.content);
  if (change !== undefined) return admitChange(deps, { raw, sender, change }, known);
  const { account, commands, reacted } = deps.context;
  const title = deps.groups.title(raw.chat);
  const reaction = toReaction(raw, { account, sender, title });
  if (reaction !== undefined) return reacted(reaction);
  const people = await lookUpNames(deps, listPeople(raw), known);
  const facts = { account, me, sender, title, people, commands, ...createNameLookups(deps) };
  const inbound = toInbound(raw, facts);
  if (inbound.kind === 'message') return receiveMessage(deps, { raw, sender }, inbound.message);
  if (inbound.reason !== undefined) await recordIgnoredEvent(deps, { raw, sender }, inbound.reason);
}

async function receiveMessage(
  deps: IntakeDeps,
  sent: ReceivedMessage,
  message: InboundMessage,
): Promise<void> {
  const { raw } = sent;
  if (!deps.recent.remember(message, raw.from)) return recordIgnoredEvent(deps, sent, OTHERS_ID);
  const { keep } = await deps.chats.hear(message.chat.id, parseChatUpdate(raw));
  const outcome = await deps.context.receive(message, {
    isAdministrator: async () => isGroup(raw.chat) && deps.groups.isAdmin(raw.chat, raw.from),
  });
  const isTaken = outcome.kind === 'accepted' || outcome.kind === 'command';
  if (isTaken && raw.isNotice !== true) deps.read(raw);
  if (outcome.kind === 'refused') return deps.recent.forget(message);
  await keep();
  if (message.chat.type === 'direct') await deps.contacts.keepIdentity(raw.from);
}

/** The address that a person used, and the timer on the person's message. */
export function parseChatUpdate({ chat, content }: RawMessage): ChatUpdate {
  const { expiration, ephemeralSettingTimestamp } =
    findContextInfo(unwrapMessage(content).content) ?? {};
  return {
    address: isGroup(chat) ? undefined : toPersonJid(chat),
    // Apps omit the timer if messages do not disappear. A message without a timer does not prove
    // that the timer is off, because it may come from an older app.
    expiration: expiration || undefined,
    setAt: toSafeInteger(ephemeralSettingTimestamp),
  };
}

function createNameLookups({ names, groups }: IntakeDeps) {
  return {
    nameOf: (jid: string) => names.of(jid),
    titleOf: (jid: string) => groups.title(jid),
  };
}

const OTHERS_ID = "it has the id of someone else's message";

interface ReceivedMessage {
  readonly raw: RawMessage;
  readonly sender: string;
}

/**
 * Records why an event was ignored. If the reason cannot be stored, this is only logged, so that
 * the message is not delivered again.
 */
async function recordIgnoredEvent(
  { context, log }: IntakeDeps,
  { raw, sender }: ReceivedMessage,
  reason: string,
) {
  const { chat, id: messageId, time } = raw;
  const chatId = toChatId(chat, sender);
  const event = { chatId, messageId, senderId: toPublicId(sender), at: time * 1000 };
  await context.ignored(event, reason).catch((thrown: unknown) => {
    log.debug({ reason: reasonOf(thrown) }, 'the reason for ignoring an event was not stored');
  });
}

interface ChangingMessage extends ReceivedMessage {
  readonly change: ChatChange;
}

/**
 * Admits a change. If the changed message is no longer in memory, it is too old to be in the queue.
 */
async function admitChange(
  deps: IntakeDeps,
  { raw, sender, change }: ChangingMessage,
  known: IdentityMapping,
): Promise<void> {
  const { recent, context } = deps;
  const chatId = toChatId(raw.chat, sender);
  if (change.kind === 'expiration') return recordTimerChange(deps, { raw, sender }, change.seconds);
  const old = recent.find(chatId, change.id);
  if (old === undefined || !(await canChangeMessage(deps, { raw, sender }, old.from, change))) {
    const what = change.kind === 'deleted' ? 'a deletion' : 'a change';
    return recordIgnoredEvent(
      deps,
      { raw, sender },
      `${what} of a message that was already answered, or that is not theirs`,
    );
  }
  if (change.kind === 'deleted') {
    await context.revise({ kind: 'deleted', chatId, messageId: change.id });
    recent.forget(old.message);
    return;
  }
  const named = listPeople({ ...raw, content: change.content });
  const people = await lookUpNames(deps, named, known);
  const here = { me: deps.me(), people, commands: context.commands, ...createNameLookups(deps) };
  const message = applyEdit(old.message, change.content, here);
  if (message === undefined) {
    return recordIgnoredEvent(deps, { raw, sender }, 'an edit that leaves nothing to read');
  }
  await context.revise({ kind: 'edited', message });
  recent.remember(message, old.from);
}

/**
 * Records a chat's new timer. For groups, WhatsApp itself reports the duration; see `GroupCache`.
 */
async function recordTimerChange(
  deps: IntakeDeps,
  { raw, sender }: ReceivedMessage,
  seconds: number,
): Promise<void> {
  const { content, time: setAt } = raw;
  const stated = toSafeInteger(
    unwrapMessage(content).content.protocolMessage?.ephemeralSettingTimestamp,
  );
  const news = { expiration: seconds, setAt: stated || setAt };
  const chatId = toChatId(raw.chat, sender);
  const { keep, isKept } = await deps.chats.hear(chatId, news);
  // Nothing is stored about strangers. The first answered message also stores what earlier messages
  // revealed.
  if (isKept || (await deps.context.history(chatId, 1)).length > 0) await keep();
  const reason = seconds > 0 ? `messages disappear after ${seconds} s` : 'messages stay again';
  await recordIgnoredEvent(deps, { raw, sender }, `a setting of the chat: ${reason}`);
}

/**
 * Whether a person may change a message. This check is necessary because all group members share
 * the group's key, so one member could change another's message.
 */
async function canChangeMessage(
  { groups, context }: IntakeDeps,
  { raw: { chat, from }, sender }: ReceivedMessage,
  author: PersonIds,
  { kind, id }: Exclude<ChatChange, { kind: 'expiration' }>,
): Promise<boolean> {
  if (isPerson(from.lid, author) || isPerson(from.pn, author)) {
    // After a restart, a forged copy of an earlier message may be the first copy that is
    // remembered.
    return isMessageFromPerson(context, toChatId(chat, sender), id, from);
  }
  return kind === 'deleted' && isGroup(chat) && groups.isAdmin(chat, from);
}

async function lookUpNames(
  { contacts }: IntakeDeps,
  jids: readonly string[],
  known: IdentityMapping,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const jid of new Set(jids)) {
    const name = await contacts.jidOf(await addKnownNumber(toPersonIds(jid), known));
    if (name !== undefined) names.set(jid, name);
  }
  return names;
}
