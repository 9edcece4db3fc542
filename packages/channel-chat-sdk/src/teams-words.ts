import type { Message } from 'chat';
import { z } from 'zod';
import type { MessageTextFields, ReadingContext } from './to-inbound.ts';

const TeamsActivity = z.object({
  text: z.string().default(''),
  entities: z.array(z.unknown()).default([]),
  attachments: z.array(z.unknown()).default([]),
});
const Mention = z.object({
  type: z.literal('mention'),
  mentioned: z.object({ id: z.string() }),
  text: z.string().optional(),
});
const Html = z.object({ contentType: z.literal('text/html'), content: z.string() });

const LINK = /<a\b[^>]*\bhref="([^"]+)"[^>]*>(.*?)<\/a>/gis;
/** How Teams marks quoted and forwarded text, which was not typed by the sender. */
const QUOTED = /schema\.skype\.com\/(?:Reply|Forward)/i;
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' },
  ...{ '#39': "'", '#160': ' ' },
};

/**
 * Reads a Teams message from its raw text. The adapter would parse it as Markdown and lose
 * characters that people typed. Only the accompanying HTML contains link targets.
 */
export function readTeamsMessage(
  { raw, text, isMention }: Message,
  { bot }: ReadingContext,
): MessageTextFields {
  const { data } = TeamsActivity.safeParse(raw);
  if (data === undefined) return { text, mentions: [], isMention: isMention === true };
  const mentions = data.entities.flatMap((entity) => Mention.safeParse(entity).data ?? []);
  const [own] = mentions.filter(({ mentioned }) => mentioned.id === bot.userId);
  const html = data.attachments.flatMap((each) => Html.safeParse(each).data?.content ?? []).join();
  const typed = appendUrls(removePrefix(data.text.trim(), own?.text), html);
  return {
    text: toPlainText(typed),
    authored: QUOTED.test(html) ? {} : { text: true },
    mentions: mentions.map(({ mentioned }) => mentioned.id),
    isMention: isMention === true || own !== undefined,
  };
}

function removePrefix(text: string, start: string | undefined): string {
  if (start === undefined || !text.startsWith(start)) return text;
  return text.slice(start.length).replace(/^(?:[\s,:]|&nbsp;)+/, '');
}

function appendUrls(text: string, html: string): string {
  let made = text;
  let from = 0;
  for (const [, address = '', inner = ''] of html.matchAll(LINK)) {
    const label = inner.replaceAll(/<[^>]+>/g, '');
    const at = made.indexOf(label, from);
    if (label === '' || at < 0 || toPlainText(label) === toPlainText(address)) continue;
    const end = at + label.length;
    made = `${made.slice(0, end)} (${address})${made.slice(end)}`;
    from = end;
  }
  return made;
}

function toPlainText(text: string): string {
  const named = text
    .replaceAll(/<at\b[^>]*>(.*?)<\/at>/gis, '@$1')
    .replaceAll(/<br\s*\/?>/gi, '\n');
  const plain = named.replaceAll(/<\/?[a-z][^>]*>/gi, '');
  return plain.replaceAll(/&(#?\w+);/g, (all, name: string) => CHARACTERS[name] ?? all);
}
