import { type CodeLeaf, isVisible, type Leaf, type TextLeaf } from '../document.ts';
import { nextPart, type Room, splitLeaves, takeAhead } from '../split/split.ts';
import { finish } from '../steps.ts';

/** A leaf whose text may go on: code, or text to show as it is written. */
export type GrowingLeaf = CodeLeaf | TextLeaf;

/** Parts as far as they are final, and what follows them. */
export interface Parts {
  readonly settled: Leaf[][];
  readonly open: Leaf[][];
}

/**
 * Makes parts of leaves that come one after the other. A part is settled once its end would be the
 * same whatever follows; it is then handed out and forgotten.
 */
export class PartMaker {
  readonly #room: Room;
  /** Final leaves that are in no part yet. */
  #waiting: Leaf[] = [];
  /** The leaf behind them that goes on. */
  #growing: GrowingLeaf | undefined;

  constructor(room: Room) {
    this.#room = room;
  }

  /** Takes leaves that will not change. */
  add(leaves: readonly Leaf[]): void {
    for (const leaf of leaves) this.#waiting.push(leaf);
  }

  /** Takes the beginning of a leaf, or lets it go on. */
  grow(leaf: GrowingLeaf): void {
    this.#growing = this.#longer(leaf);
  }

  /** The leaf that was growing has come to its end. */
  endGrowing(): void {
    if (this.#growing !== undefined && textOf(this.#growing).trim() !== '') {
      this.#waiting.push(this.#growing);
    }
    this.#growing = undefined;
  }

  /**
   * Takes out the parts that are settled, and makes parts of the rest.
   * @param more lets the growing leaf go on for now.
   * @param open leaves behind it that may change.
   */
  take(more: GrowingLeaf | undefined, open: readonly Leaf[]): Parts {
    const all = this.#all(more, open);
    if (this.#room.load(all) <= 1) return { settled: [], open: [all].filter(isShown) };
    const settled = [...this.#settleWaiting(), ...this.#settleGrowing()].filter(isShown);
    return { settled, open: finish(splitLeaves(this.#all(more, open), this.#room)) };
  }

  #all(more: GrowingLeaf | undefined, open: readonly Leaf[]): Leaf[] {
    const growing = more === undefined ? this.#growing : this.#longer(more);
    return [...this.#waiting, ...(growing === undefined ? [] : [growing]), ...open];
  }

  #settleWaiting(): Leaf[][] {
    const parts: Leaf[][] = [];
    const waiting = this.#waiting.toReversed();
    let fitsAll = false;
    while (waiting.length > 0 && !fitsAll) {
      const ahead = takeAhead(waiting, this.#room.window);
      const { head, rest } = nextPart(ahead, this.#room);
      fitsAll = head === ahead;
      if (!fitsAll) parts.push(head);
      for (const leaf of (fitsAll ? head : rest).toReversed()) waiting.push(leaf);
    }
    this.#waiting = waiting.reverse();
    return parts;
  }

  /** Where a text is best cut may depend on what follows, but not on what is behind the window. */
  #settleGrowing(): Leaf[][] {
    const parts: Leaf[][] = [];
    while (this.#growing !== undefined && textOf(this.#growing).length > this.#room.window) {
      const ahead = [...this.#waiting, this.#growing];
      const { head, rest } = nextPart(ahead, this.#room);
      parts.push(head);
      const last = rest.at(-1);
      const goesOn = last?.kind === 'code' || last?.kind === 'text';
      this.#growing = goesOn ? last : rewritten(this.#growing, '');
      this.#waiting = goesOn ? rest.slice(0, -1) : rest;
    }
    return parts;
  }

  #longer(more: GrowingLeaf): GrowingLeaf {
    if (this.#growing === undefined) return more;
    return rewritten(this.#growing, textOf(this.#growing) + textOf(more));
  }
}

function isShown(part: readonly Leaf[]): boolean {
  return part.some(isVisible);
}

function textOf(leaf: GrowingLeaf): string {
  return leaf.kind === 'code' ? leaf.text : leaf.runs.map(({ text }) => text).join('');
}

function rewritten(leaf: GrowingLeaf, text: string): GrowingLeaf {
  return leaf.kind === 'code' ? { ...leaf, text } : { ...leaf, runs: [{ text, marks: [] }] };
}
