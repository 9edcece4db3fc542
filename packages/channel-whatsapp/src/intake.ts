import type { ChannelContext } from '@parley/channels';
import { proto, type SocketConfig, unpadRandomMax16 } from '@whiskeysockets/baileys';
import {
  type Change,
  changeIn,
  chatIdOf,
  isForUs,
  peopleIn,
  type RawMessage,
  toInbound,
  toReaction,
  withEdit,
} from './content.ts';
import type { Envelope } from './decrypt.ts';
import {
  type Contacts,
  type Groups,
  isGroup,
  isPerson,
  type PersonIds,
  personIds,
  personJid,
} from './people.ts';
import type { RecentMessages } from './quotes.ts';

/** Baileys' mapping of identities to numbers. */
type KnownPeople = Pick<
  ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'],
  'getPNForLID'
>;

/**
 * Reads a decrypted message together with its envelope. Undefined for bytes that are no message, and for
 * copies of what the owner writes on the phone. A number that is not on the envelope is the one known from
 * earlier messages, so that a person keeps one id.
 */
export async function readMessage(
  envelope: Envelope,
  plain: Uint8Array,
  people: KnownPeople,
): Promise<RawMessage | undefined> {
  const content = contentOf(plain);
  const { from: chat, id, participant, notify = '', t = '0' } = envelope;
  if (content === undefined || content.deviceSentMessage || !chat || !id) return undefined;
  const { participant_pn, participant_lid, sender_pn, sender_lid } = envelope;
  const written = personIds(
    participant ?? chat,
    participant_pn,
    participant_lid,
    sender_pn,
    sender_lid,
  );
  const from = await withNumber(written, people);
  return { chat, id, participant, from, name: notify, time: Number(t) || 0, content };
}

/** The same person with the number known from earlier messages, if any. */
async function withNumber(person: PersonIds, people: KnownPeople): Promise<PersonIds> {
  const { lid, pn } = person;
  if (lid === undefined || pn !== undefined) return person;
  const number = personJid(await people.getPNForLID(lid));
  return number === undefined ? person : { lid, pn: number };
}

/** Baileys handles what it cannot read either: it asks for the message again. */
function contentOf(plain: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.decode(unpadRandomMax16(plain));
  } catch {
    return undefined;
  }
}

interface IntakeDeps {
  readonly context: Pick<
    ChannelContext<unknown>,
    'account' | 'commands' | 'receive' | 'revise' | 'reacted'
  >;
  /** All ids of the account; empty before it is linked. */
  readonly me: () => PersonIds;
  readonly contacts: Contacts;
  readonly recent: RecentMessages;
  readonly groups: Pick<Groups, 'title' | 'isAdmin'>;
  /** Called with a message that is answered. */
  readonly read: (raw: RawMessage) => void;
}

/**
 * Admits a message, an edit, a deletion or a reaction. Resolves once it is durable or refused permanently; rejects when
 * it has to be delivered again.
 */
export async function admitMessage(
  deps: IntakeDeps,
  raw: RawMessage,
  known: KnownPeople,
): Promise<void> {
  const me = deps.me();
  if (!isForUs(raw, me)) return;
  const sender = await deps.contacts.jidOf(raw.from);
  if (sender === undefined) return;
  const change = changeIn(raw.content);
  if (change !== undefined) return admitChange(deps, { raw, sender, change }, known);
  const { account, commands, receive, reacted } = deps.context;
  const title = deps.groups.title(raw.chat);
  const people = await namesOf(deps, peopleIn(raw), known);
  const facts = { account, me, sender, title, people, commands };
  const reaction = toReaction(raw, facts);
  if (reaction !== undefined) return reacted(reaction);
  const message = toInbound(raw, facts);
  if (message === undefined) return;
  deps.recent.remember(message, raw.from);
  const outcome = await receive(message, {
    isAdministrator: async () => isGroup(raw.chat) && deps.groups.isAdmin(raw.chat, raw.from),
  });
  if (outcome.kind === 'accepted' || outcome.kind === 'command') deps.read(raw);
  if (outcome.kind === 'refused') deps.recent.forget(message);
  else if (message.chat.type === 'direct') await deps.contacts.keepIdentity(raw.from);
}

interface ChangingMessage {
  readonly raw: RawMessage;
  readonly sender: string;
  readonly change: Change;
}

/** A message that is not kept any more is too old to be still in the queue. */
async function admitChange(
  deps: IntakeDeps,
  { raw, sender, change }: ChangingMessage,
  known: KnownPeople,
): Promise<void> {
  const { recent, context } = deps;
  const chatId = chatIdOf(raw.chat, sender);
  const old = recent.find(chatId, change.id);
  if (old === undefined || !(await mayChange(deps, raw, old.from, change))) return;
  if (change.kind === 'deleted') {
    await context.revise({ kind: 'deleted', chatId, messageId: change.id });
    recent.forget(old.message);
    return;
  }
  const named = peopleIn({ ...raw, content: change.content });
  const people = await namesOf(deps, named, known);
  const here = { me: deps.me(), people, commands: context.commands };
  const message = withEdit(old.message, change.content, here);
  if (message === undefined) return;
  await context.revise({ kind: 'edited', message });
  recent.remember(message, old.from);
}

/** No other check stops a member of a group from changing another's message: the key is the group's. */
async function mayChange(
  { groups }: IntakeDeps,
  { chat, from }: RawMessage,
  author: PersonIds,
  { kind }: Change,
): Promise<boolean> {
  if (isPerson(from.lid, author) || isPerson(from.pn, author)) return true;
  return kind === 'deleted' && isGroup(chat) && groups.isAdmin(chat, from);
}

async function namesOf(
  { contacts }: IntakeDeps,
  jids: readonly string[],
  known: KnownPeople,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const jid of new Set(jids)) {
    const name = await contacts.jidOf(await withNumber(personIds(jid), known));
    if (name !== undefined) names.set(jid, name);
  }
  return names;
}
