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

/** Whether this text, which no backslash can change, would end the mark it stands in. */
export function conflicts(text: string, mark: DiscordMark): boolean {
  if (mark === 'underline') return text.includes('__');
  return text.includes(SIGN_OF[mark].charAt(0));
}
