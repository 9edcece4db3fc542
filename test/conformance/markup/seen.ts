import type { Formats } from './expected.ts';
import { hasVisibleCharacter, isShaping, isVisible } from './visible.ts';

/** A stretch of text with uniform formatting, as a strict parser found it in a part. */
export interface TextStretch {
  readonly text: string;
  /** Undefined if the dialect does not support formatting. */
  readonly formats: Formats | undefined;
  /** The link that contains the text; all runs of one link share the same object. */
  readonly link?: { readonly url: string };
  /** Repeated in every part that continues the block. */
  readonly repeatable?: true;
}

/** One visible character, in the order of all parts. */
export interface SeenCharacter {
  readonly character: string;
  readonly formats: Formats | undefined;
  readonly startsPart: boolean;
  readonly startsLine: boolean;
  /** Whether the character may appear without being expected. */
  readonly skippable: boolean;
}

/** Encloses a link target, so that the target can be compared with the source. */
export const BEHIND = ['⟦', '⟧'] as const;

/**
 * Joins the parts; the target of each link follows its text.
 * @param addressForm see `Manner`.
 */
export function listSeenCharacters(
  parts: readonly (readonly TextStretch[])[],
  addressForm: (url: string) => string,
): SeenCharacter[] {
  const seen: SeenCharacter[] = [];
  let startsLine = true;
  let startsPart = true;
  const add = (text: string, formats: Formats | undefined, skippable: boolean) => {
    for (const character of text) {
      if (character === '\n') startsLine = true;
      if (!isVisible(character)) continue;
      const mayBeAdded = skippable || isShaping(character);
      seen.push({ character, formats, startsPart, startsLine, skippable: mayBeAdded });
      startsLine = false;
      startsPart = false;
    }
  };
  let continued = '';
  for (const [index, stretches] of parts.entries()) {
    startsPart = true;
    startsLine = true;
    const first = parts[index + 1]?.find(({ text }) => hasVisibleCharacter(text))?.link;
    for (const [at, { text, formats, link, repeatable }] of stretches.entries()) {
      add(text, formats, repeatable === true);
      if (link === undefined || stretches[at + 1]?.link === link) continue;
      const shown = getLinkText(stretches, link);
      const whole = continued + shown;
      const shows = (text: string) =>
        showsAddress(text, link.url) || showsAddress(addressForm(text), addressForm(link.url));
      // A split link needs to show its address only once.
      const isLast = !stretches.slice(at + 1).some(({ text }) => hasVisibleCharacter(text));
      const isCut = isLast && first?.url === link.url;
      const address = BEHIND.join(addressForm(link.url));
      if (isCut && !shows(whole)) add(address, formats, true);
      else if (!shows(whole)) {
        add(address, formats, shows(shown));
      }
      continued = isCut && !shows(whole) ? whole : '';
    }
  }
  return seen;
}

function getLinkText(stretches: readonly TextStretch[], link: object): string {
  return stretches
    .filter((stretch) => stretch.link === link)
    .map(({ text }) => text)
    .join('');
}

/** Whether the text of a link is its address, as with a bare URL. */
export function showsAddress(text: string, url: string): boolean {
  const seen = keepVisible(text);
  return ['', 'http://', 'mailto:'].some((scheme) => keepVisible(url) === scheme + seen);
}

function keepVisible(text: string): string {
  return [...text].filter(isVisible).join('');
}
