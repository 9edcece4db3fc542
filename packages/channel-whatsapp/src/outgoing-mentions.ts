import type { GroupMetadata } from '@whiskeysockets/baileys';
import { personIds } from './jids.ts';

/** `@` and digits at the edge of a word: how WhatsApp's texts name people. */
const NAMED = /(?<![\w@])@(\d{5,20})(?!\w)/g;

/**
 * Whom a text names among the members of a group, in the form that stands in the text: phones show a
 * name there, and notify the person. Others than members cannot be notified.
 */
export function mentionedIn(text: string, { participants }: GroupMetadata): string[] {
  const known = new Map<string, string>();
  for (const { id, phoneNumber, lid } of participants) {
    const person = personIds(id, phoneNumber, lid);
    for (const jid of [person.lid, person.pn]) {
      if (jid !== undefined) known.set(jid.split('@')[0] ?? '', jid);
    }
  }
  const named = [...text.matchAll(NAMED)].map(([, digits = '']) => known.get(digits));
  return [...new Set(named.filter((jid) => jid !== undefined))];
}
