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
  // Its end must touch neither the same sign nor, where those count, a backslash.
  const knowsBackslash = mark !== 'strike' && mark !== 'spoiler';
  return (knowsBackslash && text.endsWith('\\')) || text.endsWith(sign.charAt(0));
}
