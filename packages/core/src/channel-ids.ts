/** The format of one kind of id on one platform, as people write it in the settings. */
export interface IdForm {
  /** The expected format with an example: `a user id such as 123456789`. */
  readonly expected: string;
  /** How to find the right id, as a sentence without a final full stop. */
  readonly howToFind: string;
  /**
   * Returns the id in the form used in the platform's messages, or null when the text can never be
   * one. Pure.
   */
  normalize(written: string): string | null;
  /**
   * Explains why text of another known kind, such as a name, is not an id; the explanation is part
   * of a sentence.
   */
  explain?(written: string): string | undefined;
  /** Suggests the id that was probably intended when the text is not an id. */
  suggest?(written: string): string | undefined;
}

/** The id formats of a channel; null for kinds that the platform does not have. */
export interface ChannelIds {
  /** People, in `owners` and `access.allow`. */
  readonly person: IdForm;
  /** Group chats, in `access.allowGroups`. */
  readonly group: IdForm | null;
  /** Direct chats. */
  readonly direct: IdForm;
  /** `access.allowRoles`. */
  readonly role: IdForm | null;
  /** Topics and threads of a chat. */
  readonly thread: IdForm | null;
}

/** The result of parsing an id as written in the settings. */
export type IdParseResult =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'wrong'; readonly expected: string; readonly nearest?: string | undefined };

/** Parses an id in the first of these formats that matches. Pure. */
export function parseId(written: string, forms: readonly IdForm[]): IdParseResult {
  for (const form of forms) {
    const id = form.normalize(written);
    if (id !== null) return { kind: 'id', id };
  }
  const why = forms.flatMap((form) => form.explain?.(written) ?? [])[0];
  const expected = forms.map((form) => form.expected).join(', or ');
  const ways = [...new Set(forms.map((form) => form.howToFind))].join('. ');
  return {
    kind: 'wrong',
    expected: `${expected}${why === undefined ? '' : `; ${why}`}. ${ways}`,
    nearest: forms.flatMap(
      (form) => form.suggest?.(written) ?? findIdWithinWords(written, form) ?? [],
    )[0],
  };
}

/** Fewer digits next to words are unlikely to be an id. */
const MIN_DIGITS = 5;

/**
 * The id in `Ann (123456789)` or `id: 123456789`. The id is only suggested, because the text around
 * it may state that it belongs to something else.
 */
function findIdWithinWords(written: string, form: IdForm): string | undefined {
  const tokens = written.normalize('NFKC').split(/[\s()<>=:#,;]+/);
  const others = tokens.filter((token) => token !== '' && !/\p{L}/u.test(token)).join(' ');
  if (others.replaceAll(/\D/g, '').length < MIN_DIGITS) return undefined;
  return form.normalize(others) ?? undefined;
}

/**
 * Removes what is often copied along with an id: spaces, invisible characters, other hyphens,
 * brackets, a full stop.
 */
export function trimCopiedId(written: string): string {
  return written
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\s]/gu, '')
    .replaceAll(/[‐‑‒–—−]/g, '-')
    .replace(/[.,;]+$/, '')
    .replace(/^["'<](.*)["'>]$/, '$1');
}
