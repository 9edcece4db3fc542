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
  | { readonly kind: 'group'; readonly id: string; readonly group: Group };

/** @throws Error for a JID that is neither a person nor a group. */
export function chatOf(account: Account, jid: string): Chat {
  const group = account.groups.find(jid);
  if (group !== undefined) return { kind: 'group', id: group.jid, group };
  const person = account.people.get(jid);
  return { kind: 'direct', id: person.id, person };
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
