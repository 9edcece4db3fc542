import type { proto } from '@whiskeysockets/baileys';
import { heading, linesOf, oneLine, type Reading } from './reading.ts';

/** A place with its name, address, comment and link. */
export function readLocation(place: proto.Message.ILocationMessage): Reading {
  return { shown: linesOf(placeLine(place), place.comment, place.url) };
}

export function readLiveLocation(place: proto.Message.ILiveLocationMessage): Reading {
  return { shown: linesOf(placeLine(place), place.caption) };
}

type Place = proto.Message.ILocationMessage;

export function placeLine(place: Place): string {
  return heading('Location', placeText(place));
}

/** `Tower, Square 1 (52.52001, 13.40495)`; a place without coordinates has its name alone. */
export function placeText({ degreesLatitude, degreesLongitude, name, address }: Place): string {
  const called = [oneLine(name), oneLine(address)].filter((part) => part !== '').join(', ');
  const isAt = degreesLatitude != null || degreesLongitude != null;
  if (!isAt && called !== '') return called;
  const at = `${(degreesLatitude ?? 0).toFixed(5)}, ${(degreesLongitude ?? 0).toFixed(5)}`;
  return called === '' ? at : `${called} (${at})`;
}

/** Lines of a contact that matter to a reader; the rest are pictures and data of the app. */
const CONTACT_LINES = /^(?:item\d+\.)?(?:TEL|EMAIL|ORG|TITLE|URL|ADR|BDAY|NOTE)\b[^:\n]*:(.+)$/gim;
const FULL_NAME = /^FN\b[^:\n]*:(.+)$/im;

export function readContact(contact: proto.Message.IContactMessage): Reading {
  return { shown: contactLine(contact) };
}

export function readContacts({ contacts }: proto.Message.IContactsArrayMessage): Reading {
  return { shown: (contacts ?? []).map(contactLine).join('\n') };
}

function contactLine({ displayName, vcard }: proto.Message.IContactMessage): string {
  const card = vcard ?? '';
  const name = displayName || FULL_NAME.exec(card)?.[1];
  const details = [...card.matchAll(CONTACT_LINES)].map(([, value]) => fieldsOf(value));
  return `[Contact: ${[oneLine(name), ...details].filter((part) => part !== '').join(', ')}]`;
}

/** Addresses and companies have several fields, of which some are empty. */
function fieldsOf(value: string | undefined): string {
  const fields = (value ?? '').split(';').map(oneLine);
  return fields.filter((field) => field !== '').join(', ');
}
