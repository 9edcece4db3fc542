/**
 * Formatting on a range of text. Marks never overlap: each run lists all of its marks, outermost
 * first.
 */
export type RunMark =
  | { readonly type: 'bold' | 'italic' | 'underline' | 'strike' | 'spoiler' | 'code' }
  /** A formula with its delimiters; only a dialect that renders formulas has this mark. */
  | { readonly type: 'math' }
  | { readonly type: 'link'; readonly url: string };

/** A run of text with one set of marks. `\n` in the text is a visible line break. */
export interface TextRun {
  readonly text: string;
  readonly marks: readonly RunMark[];
}

/**
 * The containers around a leaf. Compared by identity: leaves of one list item share one `item`
 * object, and items of one list follow the same `list` object.
 */
export type LeafContainer =
  | { readonly type: 'quote' }
  | { readonly type: 'list'; readonly start: number | undefined }
  | { readonly type: 'item'; readonly marker: ItemMarker };

/**
 * The marker of a list item: `label` (the name of a footnote), otherwise `number`, otherwise a
 * bullet.
 */
export interface ItemMarker {
  readonly label?: string;
  readonly number?: number;
  /** Set for a task: whether it is checked. */
  readonly done?: boolean;
}

interface LeafBase {
  readonly within: readonly LeafContainer[];
  /** Containers from this index on begin with this leaf (and show their bullet here). */
  readonly fresh: number;
  /** Line breaks before this leaf: 1 starts a new line, 2 leaves an empty line. */
  readonly gap: 1 | 2;
}

/** A paragraph or, with `heading`, a heading of that level. */
export interface TextLeaf extends LeafBase {
  readonly kind: 'text';
  readonly runs: readonly TextRun[];
  readonly heading?: number;
}

/** A code block; `text` does not include the line break after its last line. */
export interface CodeLeaf extends LeafBase {
  readonly kind: 'code';
  readonly language: string | undefined;
  readonly text: string;
}

/**
 * A table already laid out in columns of equal width; `header` is repeated in every part. A row
 * takes several lines, separated by `\n`, when one of its cells does.
 */
export interface GridLeaf extends LeafBase {
  readonly kind: 'grid';
  readonly header: readonly string[];
  readonly rows: readonly string[];
}

export type TableCell = readonly TextRun[];

export type Alignment = 'left' | 'center' | 'right' | undefined;

/** A table for a dialect that has tables; `header` is repeated in every part. */
export interface TableLeaf extends LeafBase {
  readonly kind: 'table';
  readonly align: readonly Alignment[];
  readonly header: readonly TableCell[];
  readonly rows: readonly (readonly TableCell[])[];
}

interface RuleLeaf extends LeafBase {
  readonly kind: 'rule';
}

/**
 * A document is a flat list of leaves, each with its containers. Because the list is flat, a part
 * is a slice: cutting never takes a tree apart, and printers rebuild the nesting from the paths.
 */
export type Leaf = TextLeaf | CodeLeaf | GridLeaf | TableLeaf | RuleLeaf;

/**
 * The length of the text of these leaves, in UTF-16 units and with a line break between them: a
 * cheap lower bound for every printed form. Counting stops above `enough`.
 */
export function measureContent(leaves: readonly Leaf[], enough: number): number {
  let length = leaves.length - 1;
  for (const leaf of leaves) {
    for (const text of listLeafTexts(leaf)) {
      if (length > enough) return length;
      length += text.length;
    }
  }
  return length;
}

/**
 * Whether any text of the leaves is visible; platforms refuse a message without visible content.
 */
export function isVisibleLeaf(leaf: Leaf): boolean {
  const showsMarker = leaf.within.some(({ type }, at) => type === 'item' && at >= leaf.fresh);
  return leaf.kind === 'rule' || showsMarker || listLeafTexts(leaf).some(hasVisibleText);
}

/** The text of a leaf, run by run, line by line or cell by cell. */
export function* listLeafTexts(leaf: Leaf): Generator<string, undefined> {
  switch (leaf.kind) {
    case 'text':
      for (const { text } of leaf.runs) yield text;
      return;
    case 'code':
      yield leaf.text;
      return;
    case 'grid':
      yield* leaf.header;
      yield* leaf.rows;
      return;
    case 'table':
      for (const { text } of leaf.header.flat()) yield text;
      for (const row of leaf.rows) for (const { text } of row.flat()) yield text;
      return;
    case 'rule':
      return;
  }
}

/** Whether any of this text is visible; whitespace and zero-width characters are not. */
export function hasVisibleText(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(text);
}
