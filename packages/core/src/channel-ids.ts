/** The ids of one kind on one platform, as people write them into the settings. */
export interface IdForm {
  /** The expected form, with an example: `a user id such as 123456789`. */
  readonly expected: string;
  /** Instructions for finding the right one; a sentence without its full stop. */
  readonly howToFind: string;
  /** The id as the platform's messages carry it; null: what is written can never be one. Pure. */
  normalize(written: string): string | null;
  /** Why a text of a known other kind, such as a name, is none; part of a sentence. */
  explain?(written: string): string | undefined;
  /** The id that was probably meant, where a text is none. */
  suggest?(written: string): string | undefined;
}

/** The forms of the ids of a channel; null: the platform has no such thing. */
export interface ChannelIds {
  /** People: `owners`, `access.allow`. */
  readonly person: IdForm;
  /** Chats of several people: `access.allowGroups`. */
  readonly group: IdForm | null;
  /** Direct chats. */
  readonly direct: IdForm;
  /** `access.allowRoles`. */
  readonly role: IdForm | null;
  /** Topics and threads of a chat. */
  readonly thread: IdForm | null;
}

/** The result of reading a written id. */
export type IdReading =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'wrong'; readonly expected: string; readonly nearest?: string | undefined };

/** Reads an id that may be of one of these forms, the first that fits. Pure. */
export function readId(written: string, forms: readonly IdForm[]): IdReading {
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
      (form) => form.suggest?.(written) ?? withoutWords(written, form) ?? [],
    )[0],
  };
}

/** Fewer digits beside words are hardly an id. */
const MIN_DIGITS = 5;

/** The id in `Ann (123456789)` or `id: 123456789`, which is suggested only: the words may say that it is another's. */
function withoutWords(written: string, form: IdForm): string | undefined {
  const tokens = written.normalize('NFKC').split(/[\s()<>=:#,;]+/);
  const others = tokens.filter((token) => token !== '' && !/\p{L}/u.test(token)).join(' ');
  if (others.replaceAll(/\D/g, '').length < MIN_DIGITS) return undefined;
  return form.normalize(others) ?? undefined;
}

/** An id without what comes with it when it is copied: blanks, invisible characters, other hyphens, brackets, a full stop. */
export function bareId(written: string): string {
  return written
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\s]/gu, '')
    .replaceAll(/[‐‑‒–—−]/g, '-')
    .replace(/[.,;]+$/, '')
    .replace(/^["'<](.*)["'>]$/, '$1');
}
