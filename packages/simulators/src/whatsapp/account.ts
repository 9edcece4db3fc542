import type { Companion } from './companion.ts';
import type { Faults } from './faults.ts';
import type { Group, Groups } from './groups.ts';
import type { Mailbox } from './mailbox.ts';
import type { People, Person } from './people.ts';
import type { Transcript } from './transcript.ts';

/** Everything the double keeps: the bot's account, the people, what was said. */
export interface Account {
  /** The person whose account the bot is linked to; their phone is device 0. */
  readonly me: Person & { readonly pn: string };
  readonly people: People;
  readonly groups: Groups;
  readonly mailbox: Mailbox;
  readonly transcript: Transcript;
  readonly faults: Faults;
  /** `host:port` that media goes to. */
  readonly mediaHost: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The linked client, connected or not. */
  companion: Companion | undefined;
}

/** Where something is said. */
export type Chat =
  | { readonly kind: 'direct'; readonly id: string; readonly person: Person }
  | { readonly kind: 'group'; readonly id: string; readonly group: Group }
  /** Somebody's status, or a list of theirs: not meant for the bot alone. */
  | { readonly kind: 'broadcast'; readonly id: string }
  /** A channel that the account follows: not sealed. */
  | { readonly kind: 'newsletter'; readonly id: string };

/** @throws Error for a JID that the double does not know. */
export function chatOf(account: Account, jid: string): Chat {
  if (jid.endsWith('@broadcast')) return { kind: 'broadcast', id: jid };
  if (jid.endsWith('@newsletter')) return { kind: 'newsletter', id: jid };
  if (jid.endsWith('@g.us')) return { kind: 'group', id: jid, group: account.groups.get(jid) };
  const person = account.people.get(jid);
  return { kind: 'direct', id: person.id, person };
}

/** The same without a complaint about one that the double does not know. */
export function findChat(account: Account, jid: string): Chat | undefined {
  const isKnown = account.groups.find(jid) !== undefined || account.people.find(jid) !== undefined;
  return isKnown ? chatOf(account, jid) : undefined;
}

/** @throws Error while no client is linked: there is nobody to write to. */
export function linked(account: Account): Companion {
  if (account.companion === undefined) throw new Error('No client is linked: scan its QR first');
  return account.companion;
}

/** The double's time in seconds, as it stands on stanzas. */
export function seconds(account: Account): number {
  return Math.floor(account.clock() / 1000);
}
