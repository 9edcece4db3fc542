/** A format that a strict parser can tell: `bold`, `code`, …, or `language-js` on a code block. */
export type Format =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'underline'
  | 'spoiler'
  | 'code'
  | 'link'
  | `language-${string}`;

/** Formats of one stretch of text. */
export type Formats = ReadonlySet<Format>;

/**
 * What a reader of the source must see, in order. Told by the tests' own reading of the source, so
 * that a mistake of the renderer cannot hide in it. White space is left to the renderer.
 */
export type Expected =
  /** Undefined formats: any. */
  | { readonly kind: 'text'; readonly text: string; readonly formats: Formats | undefined }
  /** Syntax beyond GFM, such as spoiler bars: shown as written or turned into a format. */
  | { readonly kind: 'maybe'; readonly text: string }
  /** Its address is behind the text or follows it, unless the text shows it. */
  | { readonly kind: 'link'; readonly url: string; readonly content: readonly Expected[] }
  /** What stands in front of a list item or footnote. */
  | { readonly kind: 'marker'; readonly marker: ItemMarker }
  | { readonly kind: 'heading'; readonly content: readonly Expected[] }
  | { readonly kind: 'quote'; readonly content: readonly Expected[] }
  | { readonly kind: 'table'; readonly header: ExpectedRow; readonly rows: readonly ExpectedRow[] }
  | { readonly kind: 'rule' };

/** The cells of one row. */
export type ExpectedRow = readonly (readonly Expected[])[];

/** A footnote's label, a number, or neither for a bullet; `done` for a task. */
export interface ItemMarker {
  readonly label?: string;
  readonly number?: number;
  readonly done?: boolean;
}

/** The text of some content, without addresses. */
export function textOf(content: readonly Expected[]): string {
  return content
    .map((item) => {
      if (item.kind === 'text' || item.kind === 'maybe') return item.text;
      return item.kind === 'link' || item.kind === 'heading' ? textOf(item.content) : '';
    })
    .join('');
}
