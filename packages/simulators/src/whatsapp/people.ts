import { jidNormalizedUser } from '@whiskeysockets/baileys';
import { z } from 'zod';
import { SignalParty } from './signal.ts';

/** A person with WhatsApp on a phone. */
export interface Person {
  /**
   * The double's id for the person and their direct chat: the JID of the number, or the LID if the
   * number is hidden.
   */
  readonly id: string;
  /** `…@s.whatsapp.net`; absent when the bot must not know the number. */
  readonly pn?: string;
  /** `…@lid`, the identity without a number. */
  readonly lid: string;
  readonly name: string;
  /** Which identity their messages to the bot use; the other one may be included additionally. */
  readonly addressing: 'pn' | 'lid';
  readonly phone: SignalParty;
}

/** The options of a person; all of them have defaults. */
export const PersonOptions = z.strictObject({
  name: z.string().optional(),
  /** Digits including the country code. */
  number: z.string().optional(),
  lid: z.string().optional(),
  addressing: z.enum(['pn', 'lid']).optional(),
  /** Whether their number is hidden from everyone. */
  hidden: z.boolean().optional(),
});

export type PersonOptions = z.infer<typeof PersonOptions>;

const FIRST_NUMBER = 491_500_000_001;
const FIRST_LID = 10_000_000_000_001;
/**
 * The number of people with separate keys. Signing keys takes 8 ms, so further phones reuse them,
 * each with separate sessions.
 */
const WITH_OWN_KEYS = 20;

/** All people of the double, found by any of their JIDs. */
export class People {
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

  /** Sets the number that the bot learns (digits only), or hides it from now on. */
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

  /** @throws Error for an unknown JID */
  get(jid: string): Person {
    const person = this.find(jid);
    if (person === undefined) throw new Error(`Unknown person ${jid}: call addPerson() first`);
    return person;
  }
}
