/** A person as WhatsApp names them: by an identity without number, by number, or both. */
export interface PersonIds {
  /** `…@lid`. */
  readonly lid?: string | undefined;
  /** `…@s.whatsapp.net`. */
  readonly pn?: string | undefined;
}

/** `49151…:3@s.whatsapp.net`, `49151…@hosted`, `123_1:2@lid` name one person and a device of theirs. */
const PERSON = /^(\d+)(?:_\d+)?(?::\d+)?@(s\.whatsapp\.net|c\.us|hosted|lid|hosted\.lid)$/;

/** The person's JID without device, in the common domain; undefined for anything that is no person. */
export function personJid(jid: string | null | undefined): string | undefined {
  const [, user, server = ''] = PERSON.exec(jid ?? '') ?? [];
  if (user === undefined) return undefined;
  return `${user}@${server.endsWith('lid') ? 'lid' : 's.whatsapp.net'}`;
}

/** Sorts JIDs of one person into its two forms. */
export function personIds(...jids: readonly (string | null | undefined)[]): PersonIds {
  const all = jids.map(personJid).filter((jid) => jid !== undefined);
  const lid = all.find((jid) => jid.endsWith('@lid'));
  const pn = all.find((jid) => !jid.endsWith('@lid'));
  return { ...(lid === undefined ? {} : { lid }), ...(pn === undefined ? {} : { pn }) };
}

/** Whether a JID in any form is one of these. */
export function isPerson(jid: string | null | undefined, { lid, pn }: PersonIds): boolean {
  const person = personJid(jid);
  return person !== undefined && (person === lid || person === pn);
}

/** `…@g.us`. */
export function isGroup(jid: string | null | undefined): boolean {
  return jid?.endsWith('@g.us') === true;
}

/** How settings name people: bare digits for a number, `…@lid` for an identity without one. */
export function publicId(jid: string): string {
  return jid.replace(/@s\.whatsapp\.net$/, '');
}
