import { proto, type SocketConfig, unpadRandomMax16 } from '@whiskeysockets/baileys';
import { type PersonIds, personIds, personJid } from './jids.ts';
import type { Envelope } from './sealed-mail.ts';
import type { Mail } from './to-inbound.ts';

/** What Baileys learned of who is who. */
export type KnownPeople = Pick<
  ReturnType<SocketConfig['makeSignalRepository']>['lidMapping'],
  'getPNForLID'
>;

/**
 * Reads what was in a seal together with what is on the envelope. Undefined for what is no message
 * of somebody else: bytes that are none, and copies of what the owner writes on the phone. A number
 * that is not on the envelope is the one learned before, so that a person keeps one id.
 */
export async function readMail(
  envelope: Envelope,
  plain: Uint8Array,
  people: KnownPeople,
): Promise<Mail | undefined> {
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
  return { chat, id, from, name: notify, time: Number(t) || 0, content };
}

/** The same person with the number that was learned before, if any was. */
export async function withNumber(person: PersonIds, people: KnownPeople): Promise<PersonIds> {
  const { lid, pn } = person;
  if (lid === undefined || pn !== undefined) return person;
  const number = personJid(await people.getPNForLID(lid));
  return number === undefined ? person : { lid, pn: number };
}

/** What Baileys cannot read either is left to it: it asks for the message once more. */
function contentOf(plain: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.decode(unpadRandomMax16(plain));
  } catch {
    return undefined;
  }
}
