/**
 * A format that a strict parser can recognize: `bold`, `code`, …, or `language-js` on a code block.
 */
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
 * What a reader of the source must see, in order. It comes from the tests' own parse of the source,
 * so that a mistake of the renderer cannot hide in it. White space is left to the renderer.
 */
export type Expected =
  /** When `formats` is undefined, any are accepted. */
  | { readonly kind: 'text'; readonly text: string; readonly formats: Formats | undefined }
  /** Syntax beyond GFM, such as spoiler bars: shown as written or converted to a format. */
  | { readonly kind: 'maybe'; readonly text: string }
  /** Its address is the target of the text or follows it, unless the text shows it. */
  | { readonly kind: 'link'; readonly url: string; readonly content: readonly Expected[] }
  /** The marker of a list item or footnote. */
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
