import type { Dialect, RenderTarget } from '@parley/core';
import type { Mark } from './document.ts';

/** The addresses that a dialect can show as links with text; all others are written out. */
export interface LinkRule {
  readonly schemes: readonly string[];
  /** Whether the platform drops links to hosts without a dot, such as `localhost`. */
  readonly dottedHostOnly: boolean;
}

/** The capabilities of a dialect. The transform knows nothing else about a platform. */
export interface DialectCapabilities {
  /** The deepest heading it has; deeper ones become bold lines. 0 when it has none. */
  readonly headingLevels: number;
  /** `native`, or an aligned grid up to this many columns of text and a list beyond that. */
  readonly tables: 'native' | { readonly gridColumns: number };
  readonly nestedQuotes: boolean;
  /**
   * The formats it has; the transform drops the others and keeps their text. Links have a rule of
   * their own.
   */
  readonly marks: readonly Exclude<Mark['type'], 'link'>[];
  /** When false, a code span has no other mark and cannot be a link's text. */
  readonly marksOnCode: boolean;
  /** Undefined when the printer writes out every address. */
  readonly links: LinkRule | undefined;
  /**
   * Text that the platform itself turns into a notification anywhere: these names, or every
   * username.
   */
  readonly pings: readonly string[] | 'usernames';
  /** The text that the length limit counts: only what people see, or the markup as well. */
  readonly counts: 'visible' | 'everything';
  /** The most formatted stretches in one part. */
  readonly maxEntities: number;
}

const ALL_MARKS = ['bold', 'italic', 'underline', 'strike', 'spoiler', 'code'] as const;

/** The dialects that have a printer; Markdown itself needs none. */
export type PrintedDialect = Exclude<Dialect, 'markdown'>;

/** A target whose dialect has a printer. */
export interface PrintedTarget extends RenderTarget {
  readonly dialect: PrintedDialect;
}

/** One row per dialect. A new platform is one row here and one printer. */
export const CAPABILITIES: Readonly<Record<PrintedDialect, DialectCapabilities>> = {
  telegram: {
    headingLevels: 0,
    // A phone held upright shows about 40 fixed-width columns.
    tables: { gridColumns: 40 },
    // Only the outer one is a block; the lines of nested ones begin with `>`.
    nestedQuotes: true,
    marks: ALL_MARKS,
    marksOnCode: false,
    links: { schemes: ['http:', 'https:'], dottedHostOnly: true },
    pings: 'usernames',
    counts: 'visible',
    // Telegram formats the first 100 entities of a message and silently ignores the rest.
    maxEntities: 100,
  },
  discord: {
    headingLevels: 3,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    marks: ALL_MARKS,
    marksOnCode: true,
    links: { schemes: ['http:', 'https:'], dottedHostOnly: true },
    pings: ['everyone', 'here'],
    counts: 'everything',
    // Its clients show a message with 200 formats or emoji unformatted, with all its marks.
    maxEntities: 199,
  },
  whatsapp: {
    headingLevels: 0,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    // A spoiler is written with its bars, like WhatsApp's own.
    marks: ['bold', 'italic', 'strike', 'spoiler', 'code'],
    marksOnCode: false,
    links: { schemes: [], dottedHostOnly: false },
    pings: [],
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  plain: {
    headingLevels: 6,
    tables: { gridColumns: 100 },
    nestedQuotes: true,
    // The printer shows no marks, but a code span is the last place for a cut.
    marks: ['code'],
    marksOnCode: true,
    links: { schemes: [], dottedHostOnly: false },
    pings: [],
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  html: {
    headingLevels: 6,
    tables: 'native',
    nestedQuotes: true,
    // The page draws formulas once it has loaded what that takes.
    marks: [...ALL_MARKS, 'math'],
    marksOnCode: true,
    links: { schemes: ['http:', 'https:', 'mailto:'], dottedHostOnly: false },
    pings: [],
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
};

/**
 * The additional capabilities of a rich message on Telegram. Everything else is as in an ordinary
 * one, so that the same part can be printed both ways.
 */
export const TELEGRAM_RICH: DialectCapabilities = {
  ...CAPABILITIES.telegram,
  headingLevels: 6,
  tables: 'native',
  marks: [...ALL_MARKS, 'math'],
};
