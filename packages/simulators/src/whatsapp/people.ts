import { jidNormalizedUser } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { SignalParty } from './signal.ts';

export interface Person {
  /**
   * The double's id for the person and the direct chat: the JID of the number, or the LID if the
   * number is hidden.
   */
  readonly id: string;
  /** The JID of the number, `…@s.whatsapp.net`; absent when the bot must not see the number. */
  readonly pn?: string;
  /** The identity without a number, `…@lid`. */
  readonly lid: string;
  readonly name: string;
  /** The identity used in messages to the bot, which may also include the other identity. */
  readonly addressing: 'pn' | 'lid';
  readonly phone: SignalParty;
}

/** The options of a person; each has a default. */
export const PersonOptions = z.strictObject({
  name: z.string().optional(),
  /** The phone number as digits including the country code. */
  number: z.string().optional(),
  lid: z.string().optional(),
  addressing: z.enum(['pn', 'lid']).optional(),
  /** Whether the number is hidden from everyone. */
  hidden: z.boolean().optional(),
});

export type PersonOptions = z.infer<typeof PersonOptions>;

const FIRST_NUMBER = 491_500_000_001;
const FIRST_LID = 10_000_000_000_001;
/**
 * The number of people with separate keys. Signing keys takes 8 ms, so further phones reuse the
 * keys, each with separate sessions.
 */
const WITH_OWN_KEYS = 20;

/** The people of the double, indexed by all of their JIDs. */
export class PeopleStore {
  readonly #all: Person[] = [];
  readonly #byJid = new Map<string, Person>();

  /** @throws Error when the number or the LID is already taken */
  add(options: PersonOptions = {}): Person {
    const nth = this.#all.length;
    const lid = `${options.lid ?? FIRST_LID + nth}@lid`;
    const pn = `${options.number ?? FIRST_NUMBER + nth}@s.whatsapp.net`;
    const hidden = options.hidden === true;
    const person: Person = {
      id: hidden ? lid : pn,
      ...(hidden ? {} : { pn }),
      lid,
      name: options.name ?? `Person ${nth + 1}`,
      addressing: hidden ? 'lid' : (options.addressing ?? 'pn'),
      phone: new SignalParty(this.#all[WITH_OWN_KEYS]?.phone.creds),
    };
    for (const jid of [lid, ...(hidden ? [] : [pn])]) {
      if (this.#byJid.has(jid)) throw new Error(`${jid} belongs to another person`);
      this.#byJid.set(jid, person);
    }
    this.#all.push(person);
    return person;
  }

  get all(): readonly Person[] {
    return this.#all;
  }

  /** Sets the number that the bot sees (digits only), or hides it. */
  showNumber(jid: string, number: string | undefined): void {
    const person = this.get(jid);
    const pn = number === undefined ? undefined : `${number}@s.whatsapp.net`;
    Object.assign(person, { pn, addressing: 'lid' });
    if (pn !== undefined) this.#byJid.set(pn, person);
  }

  /** Finds a person by number or LID, with or without a device; bare digits are a number. */
  find(jid: string): Person | undefined {
    const full = jid.includes('@') ? jidNormalizedUser(jid) : `${jid}@s.whatsapp.net`;
    return this.#byJid.get(full);
  }

  /** @throws Error if no person has this JID */
  get(jid: string): Person {
    const person = this.find(jid);
    if (person === undefined) throw new Error(`Unknown person ${jid}: call addPerson() first`);
    return person;
  }
}
