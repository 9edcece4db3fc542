import type { Construct, SyntaxExtension } from './syntax.ts';

const CONSTRUCTS: readonly string[] = ['emailAutolink', 'protocolAutolink', 'wwwAutolink'];

/**
 * GFM finds addresses that stand bare in the text by trying at every word, which takes a third of
 * the time. The same syntax, tried only where an address may begin.
 */
export function quickAddresses(gfm: SyntaxExtension): (markdown: string) => SyntaxExtension {
  const without = withAddresses(gfm, () => []);
  return (markdown) => {
    // Behind tabs the parser counts columns instead of characters.
    if (markdown.includes('\t')) return gfm;
    const places = placesOfAddresses(markdown);
    if (places.size === 0) return without;
    return withAddresses(gfm, (construct) => [triedAt(construct, places)]);
  };
}

function withAddresses(
  gfm: SyntaxExtension,
  replace: (construct: Construct) => readonly Construct[],
): SyntaxExtension {
  const text: Record<string, Construct[]> = {};
  for (const [code, constructs] of Object.entries(gfm.text ?? {})) {
    const replaced = [constructs ?? []]
      .flat()
      .flatMap((one) => (CONSTRUCTS.includes(one.name ?? '') ? replace(one) : [one]));
    if (replaced.length > 0) text[code] = replaced;
  }
  return { ...gfm, text };
}

function triedAt(construct: Construct, places: ReadonlySet<number>): Construct {
  return {
    ...construct,
    previous(code) {
      const isPossible = construct.previous?.call(this, code) ?? true;
      return isPossible && places.has(this.now().offset);
    },
  };
}

function placesOfAddresses(markdown: string): ReadonlySet<number> {
  const places = new Set<number>();
  for (const { index } of markdown.matchAll(/https?:\/\/|www\./gi)) places.add(index);
  for (let at = markdown.indexOf('@'); at >= 0; at = markdown.indexOf('@', at + 1)) {
    let begin = at;
    while (isInName(markdown.charCodeAt(begin - 1))) begin -= 1;
    places.add(begin);
  }
  return places;
}

/** Whether the character may stand before the `@` of an e-mail address. */
function isInName(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isDigit || isLetter || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x5f;
}
