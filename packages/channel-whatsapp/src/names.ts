import { guarded } from '@parley/channels';
import { BoundedMap } from '@parley/core';
import type { Contact, WASocket } from '@whiskeysockets/baileys';
import { type PersonIds, toPersonIds, toPersonJid } from './people.ts';

/**
 * The maximum number of people whose names are cached, only in memory: a name is shown in mentions,
 * and nothing depends on it.
 */
const REMEMBERED = 5_000;

type NamedContact = Partial<
  Pick<Contact, 'id' | 'lid' | 'phoneNumber' | 'notify' | 'verifiedName'>
>;

/** The names that people gave themselves, by each of their ids. */
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
   * Collects people's names. Names in the phone's address book are private to its owner and
   * ignored.
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
