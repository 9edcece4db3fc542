import type { Mark } from '../document.ts';

/** A format that Discord writes with a sign on either side. */
export type DiscordMark = Exclude<Mark['type'], 'code' | 'link'>;

/** How Discord writes each format. Italic never with underscores: those hold at word edges only. */
export const SIGN_OF: Readonly<Record<DiscordMark, string>> = {
  bold: '**',
  italic: '*',
  underline: '__',
  strike: '~~',
  spoiler: '||',
};

/**
 * Whether this text, which no backslash can change, would end the mark it stands in.
 * @param text with the signs round it: the backticks of code.
 */
export function conflicts(text: string, mark: DiscordMark): boolean {
  const sign = SIGN_OF[mark];
  if (text.includes(sign)) return true;
  // Bars and tildes must not touch any; the others would be escaped.
  const knowsBackslash = mark !== 'strike' && mark !== 'spoiler';
  return text.endsWith(knowsBackslash ? '\\' : sign.charAt(0));
}
