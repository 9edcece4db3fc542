/**
 * Format characters that no list needs (bidi marks, tag characters); joiners stay, because emoji
 * are made of them.
 */
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu;
const BLANKS = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** An author's text, on one line and without invisible characters. */
export function cleanOneLine(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '').replace(BLANKS, ' ').trim();
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text inside an XML element: no author can close it or open another one. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A folder, and what people and the model see in its place. */
export interface ShownFolder {
  readonly folder: string;
  readonly shown: string;
}

/**
 * A path as people and the model see it: the home folder is written as `~` (S05). The first
 * matching folder counts.
 */
export function toShownLocation(path: string, folders: readonly ShownFolder[]): string {
  const found = folders.find(({ folder }) => folder !== '/' && path.startsWith(`${folder}/`));
  return cleanOneLine(
    found === undefined ? path : `${found.shown}${path.slice(found.folder.length)}`,
  );
}
