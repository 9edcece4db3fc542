import type { ChannelContext } from '@parley/channels';
import type { Acquaintances } from './acquaintances.ts';
import { type Change, changeIn } from './content.ts';
import type { Groups } from './groups.ts';
import { isGroup, isPerson, type PersonIds, personIds } from './jids.ts';
import { type KnownPeople, withNumber } from './read-mail.ts';
import type { RecentMessages } from './recent-messages.ts';
import { chatIdOf, isForUs, type Mail, namedIn, reworded, toInbound } from './to-inbound.ts';

/** What taking a message needs. */
export interface MailTaker {
  readonly context: Pick<ChannelContext<unknown>, 'account' | 'commands' | 'receive' | 'revise'>;
  /** Every name of the account; nothing before it is linked. */
  readonly me: () => PersonIds;
  readonly acquaintances: Acquaintances;
  readonly recent: RecentMessages;
  readonly groups: Pick<Groups, 'title' | 'isAdmin'>;
}

/**
 * Hands a message, an edit or a deletion to the core. Resolves once that is durable or refused for
 * good; rejects when it has to come again.
 */
export async function takeMail(deps: MailTaker, mail: Mail, known: KnownPeople): Promise<void> {
  const me = deps.me();
  if (!isForUs(mail, me)) return;
  const writer = await deps.acquaintances.jidOf(mail.from);
  if (writer === undefined) return;
  const change = changeIn(mail.content);
  if (change !== undefined) return takeChange(deps, { mail, writer, change }, known);
  const { account, commands, receive } = deps.context;
  const title = deps.groups.title(mail.chat);
  const people = await namesOf(deps, namedIn(mail), known);
  const message = toInbound(mail, { account, me, writer, title, people, commands });
  if (message === undefined) return;
  deps.recent.remember(message, mail.from);
  const outcome = await receive(message, {
    isAdministrator: async () => isGroup(mail.chat) && deps.groups.isAdmin(mail.chat, mail.from),
  });
  if (outcome.kind === 'refused') deps.recent.forget(message);
  else if (message.chat.type === 'direct') await deps.acquaintances.letIn(mail.from);
}

interface ChangingMail {
  readonly mail: Mail;
  readonly writer: string;
  readonly change: Change;
}

/** What was not remembered is too old to wait for its turn still. */
async function takeChange(
  deps: MailTaker,
  { mail, writer, change }: ChangingMail,
  known: KnownPeople,
): Promise<void> {
  const { recent, context } = deps;
  const chatId = chatIdOf(mail.chat, writer);
  const old = recent.find(chatId, change.id);
  if (old === undefined || !(await mayChange(deps, mail, old.from, change))) return;
  if (change.kind === 'deleted') {
    await context.revise({ kind: 'deleted', chatId, messageId: change.id });
    recent.forget(old.message);
    return;
  }
  const named = namedIn({ ...mail, content: change.content });
  const people = await namesOf(deps, named, known);
  const here = { me: deps.me(), people, commands: context.commands };
  const message = reworded(old.message, change.content, here);
  if (message === undefined) return;
  await context.revise({ kind: 'edited', message });
  recent.remember(message, old.from);
}

/** Nothing else stops one member of a group from changing what another wrote: the seal is the group's. */
async function mayChange(
  { groups }: MailTaker,
  { chat, from }: Mail,
  author: PersonIds,
  { kind }: Change,
): Promise<boolean> {
  if (isPerson(from.lid, author) || isPerson(from.pn, author)) return true;
  return kind === 'deleted' && isGroup(chat) && groups.isAdmin(chat, from);
}

async function namesOf(
  { acquaintances }: MailTaker,
  jids: readonly string[],
  known: KnownPeople,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const jid of new Set(jids)) {
    const name = await acquaintances.jidOf(await withNumber(personIds(jid), known));
    if (name !== undefined) names.set(jid, name);
  }
  return names;
}
