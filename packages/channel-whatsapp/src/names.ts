import { guarded } from '@parley/channels';
import { BoundedMap } from '@parley/core';
import type { Contact, WASocket } from '@whiskeysockets/baileys';
import { type PersonIds, toPersonIds, toPersonJid } from './people.ts';

/**
 * The maximum number of people whose names are cached. The cache is only in memory, because names
 * are only shown in mentions.
 */
const REMEMBERED = 5_000;

type NamedContact = Partial<
  Pick<Contact, 'id' | 'lid' | 'phoneNumber' | 'notify' | 'verifiedName'>
>;

/** The names that people chose for themselves, keyed by each of their ids. */
export class ContactNames {
  readonly #names = new BoundedMap<string, string>(REMEMBERED);

  note({ lid, pn }: PersonIds, name: string | null | undefined): void {
    if (!name) return;
    if (lid !== undefined) this.#names.set(lid, name);
    if (pn !== undefined) this.#names.set(pn, name);
  }

  of(jid: string): string | undefined {
    return this.#names.get(toPersonJid(jid) ?? jid);
  }

  /**
   * Collects the names that people chose for themselves. Names from the phone's address book are
   * private to its owner, so they are ignored.
   */
  listen({ ev }: Pick<WASocket, 'ev'>): void {
    const note = guarded('contacts', (contacts: readonly NamedContact[]) => {
      for (const { id, lid, phoneNumber, notify, verifiedName } of contacts) {
        this.note(toPersonIds(id, lid, phoneNumber), notify ?? verifiedName);
      }
    });
    ev.on('contacts.upsert', note);
    ev.on('contacts.update', note);
  }
}
