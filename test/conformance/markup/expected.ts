/** A format recognized by a strict parser: `bold`, `code`, …, or `language-js` on a code block. */
export type Format =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'underline'
  | 'spoiler'
  | 'code'
  | 'link'
  | `language-${string}`;

/** The formats of one stretch of text. */
export type Formats = ReadonlySet<Format>;

/**
 * Content that a reader of the source must see, in order. Comes from the tests' own parser, so that
 * an error in the renderer cannot hide in the expectation. The renderer chooses the white space.
 */
export type ExpectedItem =
  /** An undefined `formats` accepts any formats. */
  | { readonly kind: 'text'; readonly text: string; readonly formats: Formats | undefined }
  /** Syntax beyond GFM, such as spoiler bars: shown as written or converted to a format. */
  | { readonly kind: 'maybe'; readonly text: string }
  /** The address is the target of the text or follows it, unless the text shows the address. */
  | { readonly kind: 'link'; readonly url: string; readonly content: readonly ExpectedItem[] }
  /** The marker of a list item or footnote. */
  | { readonly kind: 'marker'; readonly marker: ItemMarker }
  | { readonly kind: 'heading'; readonly content: readonly ExpectedItem[] }
  | { readonly kind: 'quote'; readonly content: readonly ExpectedItem[] }
  | { readonly kind: 'table'; readonly header: ExpectedRow; readonly rows: readonly ExpectedRow[] }
  | { readonly kind: 'rule' };

/** The cells of one row. */
export type ExpectedRow = readonly (readonly ExpectedItem[])[];

/** The label of a footnote, a number, or neither for a bullet; `done` for a task. */
export interface ItemMarker {
  readonly label?: string;
  readonly number?: number;
  readonly done?: boolean;
}

/** The text of content, without addresses. */
export function joinText(content: readonly ExpectedItem[]): string {
  return content
    .map((item) => {
      if (item.kind === 'text' || item.kind === 'maybe') return item.text;
      return item.kind === 'link' || item.kind === 'heading' ? joinText(item.content) : '';
    })
    .join('');
}
