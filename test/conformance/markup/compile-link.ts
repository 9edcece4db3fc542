import type { Compilation } from './compilation.ts';
import { type ExpectedItem, joinText } from './expected.ts';
import { BEHIND, showsAddress } from './seen.ts';
import type { CharacterContext } from './step-writer.ts';
import { hasVisibleCharacter } from './visible.ts';

type ExpectedLink = Extract<ExpectedItem, { kind: 'link' }>;

/** The ways in which the address of a link may appear. */
interface AddressDisplay {
  /** Either written out, or the target of the text. */
  readonly ways: readonly (() => void)[];
  /** Whether the text already shows the address. */
  readonly isShown: boolean;
  /** Whether the address may be left out. */
  readonly mayMiss: boolean;
}

/** A link with its text and, once, its address, as the target of the text or after it. */
export function compileLink(
  { url, content }: ExpectedLink,
  at: CharacterContext,
  to: Compilation,
): void {
  const { writer, manner } = to;
  if (!hasVisibleCharacter(url)) {
    to.all(content, at, to);
    return;
  }
  const text = joinText(content);
  // Discord treats a mark directly after an address as part of the address.
  const isBareWithSigns = manner.linksInPieces && showsAddress(text, url) && /[*_~|]/.test(url);
  const place = isBareWithSigns ? { ...at, unformatted: true } : at;
  const address = (shown: string) => () => writer.text(shown, undefined, place, false);
  const written = address(`(${url})`);
  const behind = address(BEHIND.join(manner.addressForm(url)));
  const isShown = showsAddress(text, url);
  const mayMiss = manner.addresses === 'optional';
  const telling = { ways: [written, behind], isShown, mayMiss };
  if (!manner.keepsWhole(text.length + url.length)) compilePieces(content, place, to, telling);
  else if (manner.linksInPieces) {
    writer.whole(() => compilePieces(content, place, to, telling));
  } else {
    writer.whole(() => to.all(content, place, to));
    if (isShown) return;
    if (manner.addresses === 'optional') writer.optional(written);
    else if (manner.addresses(url)) behind();
    else written();
  }
}

/**
 * A link that may be split into pieces, each of which may show the address, and one of which must.
 * Compiled twice, for the states before and after the address was first shown.
 */
function compilePieces(
  content: readonly ExpectedItem[],
  place: CharacterContext,
  to: Compilation,
  { ways, isShown, mayMiss }: AddressDisplay,
): void {
  const { writer, manner } = to;
  const tell = (anywhere: boolean) => {
    writer.oneOf(ways);
    if (!anywhere) writer.only('at-part');
  };
  const exits: number[][] = [];
  for (const item of splitCharacters(content)) {
    to.all([item], place, to);
    const told = writer.fork();
    told.push(writer.here);
    writer.aside(() => tell(manner.linksInPieces));
    exits.push(writer.fork());
    told.push(writer.here);
  }
  if (isShown || mayMiss) writer.optional(() => tell(true));
  else tell(true);
  const end = writer.fork();
  for (const [index, item] of splitCharacters(content).entries()) {
    to.all([item], place, to);
    writer.optional(() => tell(manner.linksInPieces));
    // Where the address is shown first, reading continues after that character.
    exits[index]?.push(writer.here);
  }
  writer.optional(() => tell(true));
  end.push(writer.here);
}

/** The content with its text split into characters. */
function splitCharacters(content: readonly ExpectedItem[]): ExpectedItem[] {
  return content.flatMap((item): ExpectedItem[] => {
    if (item.kind !== 'text' && item.kind !== 'maybe') return [item];
    return [...item.text].map((text) => ({ ...item, text }));
  });
}
