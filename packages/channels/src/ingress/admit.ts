import {
  agentOfConversation,
  busyIn,
  contextText,
  type InboundMessage,
  silentTracer,
} from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { IngressOutcome, SenderFacts } from '../adapter.ts';
import type { Albums } from './albums.ts';
import type { CommandAsker, TypedCommand } from './command.ts';
import { messageAfter, splitCommand } from './command-words.ts';
import { type IngressDecision, type PairingRules, personId, type SenderRights } from './decide.ts';
import { earlierMessages } from './earlier.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { type BacklogLimit, createSeldom } from './limits.ts';
import { GIVEN_UP, NO_ROOM, overflowNotice, strangerNotice, tooLongNotice } from './notices.ts';
import { CODE_LENGTH } from './one-time-code.ts';
import { pairingFull, pairingNotice, strangerWaits } from './pairing.ts';
import { noticeParts, partsOf } from './route.ts';
import { rankOf, runCommand } from './run-command.ts';

/** State of one account between messages, in memory and bounded. */
export interface Memory {
  readonly explain: Explainer;
  readonly albums: Albums;
  readonly backlog: BacklogLimit;
  /** Whether a group that is not allowed is to be noted, seldom enough. */
  readonly isGroupNews: (chatId: string) => boolean;
}

/** A message, what ingress will do with it, and who wrote it. */
interface Decided {
  readonly admitted: AdmittedMessage;
  readonly decision: IngressDecision;
  readonly rights: SenderRights;
  readonly sender: SenderFacts;
}

/** Applies a decision; resolves when the message is durable or refused for good (D01). */
export async function admit(
  deps: IngressDeps,
  { admitted, decision, rights, sender }: Decided,
  memory: Memory,
): Promise<IngressOutcome> {
  const { explain, albums } = memory;
  const who = { message: admitted.message, rights, sender };
  switch (decision.kind) {
    case 'ignore':
      if (decision.keepAsContext) {
        albums.hold(admitted);
        await keepAsContext(deps, admitted);
      }
      return { kind: 'ignored', reason: decision.reason };
    case 'refuse':
      await explainRefusal(deps, admitted, decision.notice, explain);
      if (decision.notice === null) await noteGroup(deps, admitted, memory);
      return {
        kind: 'refused',
        reason: decision.reason,
        ...(decision.notice === 'too-long' && { bound: 'size' }),
      };
    case 'command': {
      const rank = await rankOf(deps, who, decision.command);
      const { isOwner } = rights;
      return runWithMessage(deps, { admitted, command: decision.command, rank, isOwner }, memory);
    }
    case 'turn':
      if (decision.command !== undefined) {
        const rank = await rankOf(deps, who, decision.command);
        if (!rank.mayChangeChat) {
          return (await runCommand(deps, admitted, decision.command, rank)).outcome;
        }
      }
      for (const picture of albums.release(admitted.message)) {
        await acceptPicture(deps, picture, { admitted, rights }, memory);
      }
      for (const message of await earlierMessages(deps, admitted, sender)) {
        await keepAsContext(deps, { ...admitted, message });
      }
      return accept(deps, admitted, rights.isOwner, memory);
  }
}

interface RankedCommand {
  readonly admitted: AdmittedMessage;
  readonly command: TypedCommand;
  readonly rank: CommandAsker;
  readonly isOwner: boolean;
}

/** Runs a command; a message after it takes the room of a waiting message, as any other. */
async function runWithMessage(
  deps: IngressDeps,
  { admitted, command, rank, isOwner }: RankedCommand,
  { backlog }: Memory,
): Promise<IngressOutcome> {
  const { message } = admitted;
  if (messageAfter(message, command, splitCommand(command)) === null) {
    return (await runCommand(deps, admitted, command, rank)).outcome;
  }
  const { limits, busy = 'collect' } = deps.rules;
  const from = { person: placeHolderOf(message), isOwner };
  const room = await backlog.reserve(from);
  let stays = false;
  try {
    const most = room === 'room' ? limits.waitingPerConversation : 0;
    const { outcome, isWaiting } = await runCommand(deps, admitted, command, rank, most);
    stays = isWaiting;
    if (isWaiting && busyIn(busy, message) === 'interrupt') {
      deps.bus.publish({ type: 'message-waiting', conversationId: admitted.conversationId });
    }
    return outcome;
  } finally {
    if (room === 'room') backlog.release(from, stays);
  }
}

/** A picture that came before the text of its album: it is part of the question after all. */
async function acceptPicture(
  deps: IngressDeps,
  picture: AdmittedMessage,
  { admitted: { reason }, rights }: Pick<Decided, 'admitted' | 'rights'>,
  memory: Memory,
): Promise<void> {
  const { channel, account, chat, messageId } = picture.message;
  await deps.store.inbox.revise({ channel, account, chatId: chat.id, messageId }, null);
  const message = { ...picture.message, addressed: true };
  const admitted = { ...picture, message, ...(reason === undefined ? {} : { reason }) };
  await recordRefusal(deps, admitted, await accept(deps, admitted, rights.isOwner, memory));
}

async function explainRefusal(
  { rules, meter }: IngressDeps,
  admitted: AdmittedMessage,
  notice: Extract<IngressDecision, { kind: 'refuse' }>['notice'],
  explain: Explainer,
): Promise<void> {
  switch (notice) {
    case 'stranger':
      return explain.stranger(admitted);
    case 'pairing':
      return explain.pairing(admitted);
    case 'too-long':
      meter.count('parley_overflow_total', { channel: admitted.message.channel, bound: 'size' });
      return explain.tooLong(admitted, rules.limits.messageCharacters);
    case null:
      return;
  }
}

/** A group that is not on the allow list is noted, so that a person can allow it (F05). Never its text. */
async function noteGroup(
  { store, rules }: IngressDeps,
  { message: { channel, account, chat }, receivedAt }: AdmittedMessage,
  { isGroupNews }: Memory,
): Promise<void> {
  if (chat.type === 'direct' || rules.policy.access.groups !== 'allowlist') return;
  // What an access list may name, of which this chat is one of many.
  const chatId = chat.within ?? chat.id;
  if (!isGroupNews(chatId)) return;
  const title = chat.within === undefined ? (chat.title ?? null) : null;
  await store.seenGroups.note({ channel, account, chatId, title, seenAt: receivedAt });
}

/** Stores a message, as a stage of its trace. */
function store(
  { store: { inbox }, monotonic, meter, tracer = silentTracer }: IngressDeps,
  admitted: AdmittedMessage,
  room: number,
  onReplaced: (ids: readonly string[]) => void,
) {
  const startedAt = monotonic();
  return tracer.span('parley.inbox', {}, async (span) => {
    const outcome = await inbox.accept(admitted, room, onReplaced);
    span.note({ outcome });
    meter.observe('parley_inbox_seconds', monotonic() - startedAt, { outcome });
    return outcome;
  });
}

/** A message that cannot be stored is refused with a notice and a reason, never dropped in silence (D07). */
async function accept(
  deps: IngressDeps,
  admitted: AdmittedMessage,
  isOwner: boolean,
  { explain, backlog }: Memory,
): Promise<IngressOutcome> {
  const { limits, busy = 'collect' } = deps.rules;
  const { channel } = admitted.message;
  const inItsConversation = limits.waitingPerConversation;
  // Also at the limit: a message that is known already is never refused.
  let replaced: readonly string[] | undefined;
  const from = { person: placeHolderOf(admitted.message), isOwner };
  const { stored, room } = await storeWithin(backlog, from, (hasAny) =>
    store(deps, admitted, hasAny ? inItsConversation : 0, (ids) => {
      replaced = ids;
    }),
  );
  if (stored === 'full') {
    const bound = BOUND_OF[room];
    deps.meter.count('parley_overflow_total', { channel, bound });
    if (room === 'room') await explain.overflow(admitted, inItsConversation);
    else await explain.noRoom(admitted);
    return { kind: 'refused', reason: fullReason(room, limits), bound };
  }
  deps.pass('inbox-committed');
  // Also for a duplicate: the process may have died between storing and waking the first time.
  await deps.lanes.kick(admitted.conversationId);
  if (stored === 'duplicate') return { kind: 'duplicate' };
  if (busyIn(busy, admitted.message) === 'interrupt') {
    deps.bus.publish({ type: 'message-waiting', conversationId: admitted.conversationId });
  }
  const { conversationId } = admitted;
  return { kind: 'accepted', conversationId, ...(replaced && { replaced }) };
}

/** Stores a message within the limit, and always reports whether it waits now. */
async function storeWithin(
  backlog: BacklogLimit,
  from: Parameters<BacklogLimit['reserve']>[0],
  storeWhere: (hasRoom: boolean) => ReturnType<typeof store>,
) {
  const room = await backlog.reserve(from);
  let stays = false;
  try {
    const stored = await storeWhere(room === 'room');
    stays = stored === 'stored';
    return { stored, room };
  } finally {
    if (room === 'room') backlog.release(from, stays);
  }
}

type Room = Awaited<ReturnType<BacklogLimit['reserve']>>;

const BOUND_OF = { room: 'conversation', share: 'person', full: 'all' } as const;

function fullReason(room: Room, limits: IngressDeps['rules']['limits']): string {
  switch (room) {
    case 'room':
      return `${limits.waitingPerConversation} messages of this conversation wait already`;
    case 'share':
      return 'many messages of all chats wait, and of these this person has a share already';
    case 'full':
      return `${limits.totalWaiting} messages of all chats wait already`;
  }
}

/** Whose share of the waiting messages one takes. A client of the API makes up the people behind it. */
function placeHolderOf(message: InboundMessage): string {
  const person = personId(message);
  return message.channel === 'api' ? (person.split('/')[0] ?? person) : person;
}

/** An accepted message has its own row; every other one gets a row here (D08). */
export async function recordRefusal(
  { store }: Pick<IngressDeps, 'store'>,
  { message, receivedAt }: Pick<AdmittedMessage, 'message' | 'receivedAt'>,
  outcome: IngressOutcome,
): Promise<void> {
  if (outcome.kind !== 'ignored' && outcome.kind !== 'refused') return;
  const { channel, account, chat, messageId, sender } = message;
  await store.decisions.record({
    channel,
    account,
    chatId: chat.id,
    messageId,
    senderId: sender.id,
    outcome: outcome.kind,
    reason: outcome.reason,
    at: receivedAt,
    sentAt: message.sentAt,
  });
}

/** Keeps a message of a group for its next turn (F06). */
async function keepAsContext(
  { store: { groupContext }, rules: { limits } }: Pick<IngressDeps, 'store' | 'rules'>,
  { conversationId, message, receivedAt }: AdmittedMessage,
): Promise<void> {
  if (limits.groupContextMessages === 0) return;
  const { channel, account, chat, messageId, sender } = message;
  await groupContext.keep(
    { conversationId, channel, account, chatId: chat.id },
    { messageId, senderId: sender.id, senderName: nameOf(sender), text: contextText(message) },
    receivedAt,
    limits.groupContextMessages,
  );
}

function nameOf({ name, isBot }: InboundMessage['sender']): string {
  return isBot ? `${name} (bot)` : name;
}

/** Explains to senders why a message was not admitted (D07), seldom enough to be no nuisance. */
interface Explainer {
  /** Once an hour per sender. */
  stranger(admitted: AdmittedMessage): Promise<void>;
  /** With a code that an owner can approve; once while it is valid. */
  pairing(admitted: AdmittedMessage): Promise<void>;
  /** Once a minute per conversation, as all that is refused for its number or size. `limit` in characters. */
  tooLong(admitted: AdmittedMessage, limit: number): Promise<void>;
  /** Too many wait in this conversation. */
  overflow(admitted: AdmittedMessage, waiting: number): Promise<void>;
  /** Too many wait in all conversations together. */
  noRoom(admitted: AdmittedMessage): Promise<void>;
  /** Taking it in ended the process too often. */
  givenUp(admitted: AdmittedMessage): Promise<void>;
}

const STRANGER_NOTICE_EVERY_MS = 60 * 60_000;
const OVERFLOW_NOTICE_EVERY_MS = 60_000;

/** Sends the notices of one account; sent ones are remembered in memory, up to a bound. */
export function createExplainer(deps: IngressDeps): Explainer {
  const strangers = createSeldom(STRANGER_NOTICE_EVERY_MS, deps.monotonic);
  const floods = createSeldom(OVERFLOW_NOTICE_EVERY_MS, deps.monotonic);
  const notify = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    const { route, receivedAt } = admitted;
    await deps.store.outbox.enqueue(partsOf(markdown, route), receivedAt);
    await deps.deliver(route);
  };
  const notifyOnce = async (bound: string, admitted: AdmittedMessage, text: string) => {
    if (floods(`${bound} ${admitted.conversationId}`)) await notify(admitted, text);
  };
  const notifyStranger = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    if (deps.answersStrangers && strangers(admitted.message.sender.id)) {
      await notify(admitted, markdown);
    }
  };
  return {
    stranger: (admitted) => notifyStranger(admitted, strangerNotice(admitted.message)),
    async pairing(admitted) {
      const asked = await askOwner(deps, admitted);
      if (asked === 'full') await notifyStranger(admitted, pairingFull(pairingRules(deps)));
    },
    tooLong: (admitted, limit) =>
      notifyOnce('size', admitted, tooLongNotice(admitted.message.text.length, limit)),
    overflow: (admitted, waiting) => notifyOnce('conversation', admitted, overflowNotice(waiting)),
    noRoom: (admitted) => notifyOnce('all', admitted, NO_ROOM),
    givenUp: (admitted) => notifyOnce('fatal', admitted, GIVEN_UP),
  };
}

const USUAL_PAIRING: PairingRules = { characters: CODE_LENGTH, minutes: 60, pending: 3 };

function pairingRules({ rules: { policy } }: Pick<IngressDeps, 'rules'>): PairingRules {
  return policy.access.pairing ?? USUAL_PAIRING;
}

/**
 * Stores the request of a stranger, and sends the code: to the stranger, or where the channel says
 * nothing to strangers, to an owner whose direct chat is known. The log never names the stranger.
 */
async function askOwner(deps: IngressDeps, admitted: AdmittedMessage) {
  const { message, route, receivedAt } = admitted;
  const { channel, account, sender } = message;
  const applicant = { channel, account, senderId: sender.id, senderName: sender.name, route };
  const pairing = pairingRules(deps);
  const { characters, minutes, pending } = pairing;
  const code = deps.newCode(characters);
  const owner = deps.answersStrangers
    ? null
    : await deps.store.inbox.ownerRoute(agentOfConversation(admitted.conversationId));
  const to = deps.answersStrangers ? route : (owner?.route ?? null);
  // A stranger has no conversation yet.
  const toStranger = deps.answersStrangers
    ? partsOf(pairingNotice(message, code, pairing), route)
    : [];
  const news =
    owner === null
      ? toStranger
      : noticeParts(strangerWaits(message, code, pairing), owner.route, { ...owner, secret: code });
  const asked = await deps.store.pairing.request(applicant, code, news, receivedAt, {
    validMs: minutes * 60_000,
    pending,
  });
  if (asked !== 'new') return asked;
  deps.log.info({}, 'a stranger asks for access; "parley pair" shows the code');
  if (to !== null) await deps.deliver(to);
  return asked;
}
