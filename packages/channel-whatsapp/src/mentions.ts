import { toDisplayLine } from '@parley/core';
import type { proto } from '@whiskeysockets/baileys';
import { isPerson, type PersonIds, toPersonJid } from './people.ts';

/** The fields in a message's context that name people. */
type MentionContext = Pick<proto.IContextInfo, 'mentionedJid' | 'groupMentions'> | null | undefined;

/**
 * The maximum length, in characters, of a name that replaces a mention; it is limited because
 * people choose their own names.
 */
const MAX_NAME = 60;

/** A name chosen by a person, shortened to one line. */
export function shortenName(name: string): string {
  const line = toDisplayLine(name).replace(/\s+/g, ' ').trim();
  return line.length > MAX_NAME ? `${line.slice(0, MAX_NAME).toWellFormed()}…` : line;
}

/** Matches `@` and the digits of an identity or a number, or the complete id of a group. */
const MENTION = /@(\d{5,20}(?:-\d{1,20})?)(@g\.us)?/g;

/**
 * Replaces mentions with what people see: `@1234567` becomes `@Ann`. Only people whom the message
 * mentions are looked up, by any of their ids. If the name for a mention is unknown, the mention
 * stays unchanged, because a number must not be mistaken for another person's number.
 */
export function replaceMentions(
  text: string,
  context: MentionContext,
  nameOf: (jid: string) => string | undefined,
): string {
  const names = new Map<string, string>();
  for (const mentioned of context?.mentionedJid ?? []) {
    const jid = toPersonJid(mentioned);
    const name = jid === undefined ? '' : shortenName(nameOf(jid) ?? '');
    if (jid !== undefined && name !== '') names.set(getJidUser(jid), name);
  }
  for (const { groupJid, groupSubject } of context?.groupMentions ?? []) {
    const name = shortenName(groupSubject ?? '');
    if (groupJid && name !== '') names.set(groupJid, name);
  }
  if (names.size === 0) return text;
  return text.replace(MENTION, (mention, user: string, server = '') => {
    const name = names.get(`${user}${server}`) ?? names.get(user);
    return name === undefined ? mention : `@${name}`;
  });
}

/** Whether a text or its list of mentions contains one of these ids. */
export function mentionsPerson(text: string, context: MentionContext, person: PersonIds): boolean {
  if (context?.mentionedJid?.some((jid) => isPerson(jid, person)) === true) return true;
  const own = [person.lid, person.pn].flatMap((jid) =>
    jid === undefined ? [] : [getJidUser(jid)],
  );
  return [...text.matchAll(MENTION)].some(([, user = '', server]) => !server && own.includes(user));
}

function getJidUser(jid: string): string {
  return jid.split('@')[0] ?? '';
}
