import type { Attachment } from '@parley/contracts';
import { quoteUntrusted } from '@parley/prompt';

/** What is said of an attachment: its kind and the name that its sender gave it. */
export interface Named {
  readonly kind: Attachment['kind'];
  readonly name?: string | null | undefined;
}

const LONGEST_NAME = 80;
const NOUNS: Readonly<Record<Attachment['kind'], string>> = {
  image: 'picture',
  audio: 'recording',
  voice: 'voice message',
  video: 'video',
  document: 'document',
  sticker: 'sticker',
};

/** `picture "cat.jpg"`, for the model: the name is data and cannot leave its quotes (P18). */
export function labelFor({ kind, name }: Named): string {
  return name ? `${NOUNS[kind]} ${quoteUntrusted(name, LONGEST_NAME)}` : NOUNS[kind];
}

/** ``the document `report.pdf` ``, for people, in Markdown: in a name nothing is markup. */
export function nameForPeople({ kind, name }: Named): string {
  const plain = (name ?? '').replaceAll(/[`\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (plain === '') return `the ${NOUNS[kind]}`;
  const cut =
    plain.length > LONGEST_NAME ? `${plain.slice(0, LONGEST_NAME).toWellFormed()}…` : plain;
  return `the ${NOUNS[kind]} \`${cut}\``;
}

/** What stands for an attachment where nothing is known but that it came. */
export function standInFor(named: Named): string {
  return `[${labelFor(named)}]`;
}
