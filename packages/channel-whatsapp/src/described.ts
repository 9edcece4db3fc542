import type { proto } from '@whiskeysockets/baileys';

/** Lines of a contact that are worth reading to somebody; the rest are pictures and marks of the app. */
const TOLD = /^(?:item\d+\.)?(TEL|EMAIL|ORG)\b[^:]*:(.+)$/gim;

/**
 * Places, contacts and polls in words, so that they are answered instead of being passed over; empty
 * for everything else.
 */
export function described(content: proto.IMessage): string {
  const { locationMessage, liveLocationMessage, contactMessage, contactsArrayMessage } = content;
  const place = locationMessage ?? liveLocationMessage;
  if (place) return placeIn(place, locationMessage);
  const contacts = contactMessage ? [contactMessage] : (contactsArrayMessage?.contacts ?? []);
  if (contacts.length > 0) return contacts.map(contactIn).join('\n');
  const { pollCreationMessage, pollCreationMessageV2, pollCreationMessageV3 } = content;
  const poll = pollCreationMessage ?? pollCreationMessageV2 ?? pollCreationMessageV3;
  return poll ? pollIn(poll) : '';
}

function placeIn(
  { degreesLatitude, degreesLongitude }: proto.Message.ILocationMessage,
  named: proto.Message.ILocationMessage | null | undefined,
): string {
  const words = [named?.name, named?.address].filter(Boolean).join(', ');
  const at = `${(degreesLatitude ?? 0).toFixed(5)}, ${(degreesLongitude ?? 0).toFixed(5)}`;
  return `[Location: ${words === '' ? at : `${words} (${at})`}]`;
}

function contactIn({ displayName, vcard }: proto.Message.IContactMessage): string {
  const told = [...(vcard ?? '').matchAll(TOLD)].map(([, , value = '']) => value.trim());
  return `[Contact: ${[displayName ?? '', ...told].filter((part) => part !== '').join(', ')}]`;
}

function pollIn({ name, options }: proto.Message.IPollCreationMessage): string {
  const choices = (options ?? []).map(({ optionName }) => `- ${optionName ?? ''}`);
  return [`[Poll: ${name ?? ''}]`, ...choices].join('\n');
}
