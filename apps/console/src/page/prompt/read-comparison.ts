import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from './read-prompt.ts';

/** Characters and estimated tokens of a piece of a prompt. */
export interface Size {
  readonly characters: number;
  readonly bytes: number;
  readonly tokens: number;
}

/** Whole lines that both texts have, or only the earlier, or only the later one. */
export interface Piece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** What became of one layer from the earlier turn to the later. */
export interface LayerChange {
  readonly layer: string;
  readonly change: 'same' | 'changed' | 'added' | 'removed';
  readonly pieces: readonly Piece[];
  /** So many characters of it lie in the beginning that both share. */
  readonly shared: number;
}

/** Two prompts side by side. */
export interface Comparison {
  readonly before: Size;
  readonly after: Size;
  readonly prefix: Size;
  /** From 0 to 1. */
  readonly share: number;
  readonly layers: readonly LayerChange[];
}

/** Reads a comparison; null when it is none. */
export function readComparison(data: unknown): Comparison | null {
  const { before, after, prefix, share, parts } = fieldsOf(data);
  if (typeof share !== 'number') return null;
  return {
    before: sizeOf(before),
    after: sizeOf(after),
    prefix: sizeOf(prefix),
    share,
    layers: listOf(parts).map(readLayer),
  };
}

function readLayer(data: unknown): LayerChange {
  const { layer, change, pieces, shared } = fieldsOf(data);
  return {
    layer: textOf(layer),
    change: change === 'same' || change === 'added' || change === 'removed' ? change : 'changed',
    pieces: listOf(pieces).map((piece) => {
      const { kind, text } = fieldsOf(piece);
      return { kind: kind === 'removed' || kind === 'added' ? kind : 'same', text: textOf(text) };
    }),
    shared: numberOf(shared),
  };
}

function sizeOf(data: unknown): Size {
  const { characters, bytes, tokens } = fieldsOf(data);
  return { characters: numberOf(characters), bytes: numberOf(bytes), tokens: numberOf(tokens) };
}

/** A stretch of a layer's text: what became of it, and whether it lies in the shared beginning. */
export interface Stretch extends Piece {
  readonly shared: boolean;
}

/**
 * The pieces of a layer, cut where the shared beginning ends. It ends within the first line that
 * differs, so the beginnings of the removed and of the added line are both part of it.
 */
export function stretchesOf({ pieces, shared }: LayerChange): readonly Stretch[] {
  let left = { removed: shared, added: shared };
  return pieces.flatMap(({ kind, text }) => {
    const within = Math.max(
      0,
      Math.min(text.length, kind === 'removed' ? left.removed : left.added),
    );
    if (kind !== 'added') left = { ...left, removed: left.removed - text.length };
    if (kind !== 'removed') left = { ...left, added: left.added - text.length };
    const cut = [
      { kind, text: text.slice(0, within), shared: true },
      { kind, text: text.slice(within), shared: false },
    ];
    return cut.filter((stretch) => stretch.text !== '');
  });
}
