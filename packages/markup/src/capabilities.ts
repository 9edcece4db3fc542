import type { Dialect, RenderTarget } from '@parley/core';
import type { RunMark } from './document.ts';

/** The URLs that a dialect can show as links with text; all other URLs are written out. */
export interface LinkRule {
  readonly schemes: readonly string[];
  /** URLs that would notify a person. These URLs are written as text without a link. */
  readonly notifying?: RegExp;
  /** Whether the platform drops links to hosts without a dot, such as `localhost`. */
  readonly dottedHostOnly: boolean;
}

/** The capabilities of a dialect, which are the transform's only information about a platform. */
export interface DialectCapabilities {
  /**
   * The deepest heading level; deeper headings become bold lines. 0 when the dialect has no
   * headings.
   */
  readonly headingLevels: number;
  /** `native`; otherwise an aligned grid up to this many text columns, and a list beyond that. */
  readonly tables: 'native' | { readonly gridColumns: number };
  readonly nestedQuotes: boolean;
  /**
   * The supported formatting; the transform drops any other formatting and keeps the text. Links
   * have a separate rule.
   */
  readonly marks: readonly Exclude<RunMark['type'], 'link'>[];
  /** When false, a code span cannot have another mark or be the text of a link. */
  readonly marksOnCode: boolean;
  /** Undefined when the printer writes out every URL. */
  readonly links: LinkRule | undefined;
  /**
   * Text that the platform or its client library turns into a notification: every username on
   * Telegram, or the matches of this pattern (with the flag `g`). A zero-width space after the
   * first character prevents the notification.
   */
  readonly pings: RegExp | 'usernames' | undefined;
  /** The text to which the length limit applies: only the visible text, or the markup as well. */
  readonly counts: 'visible' | 'everything';
  /** The maximum number of formatted ranges in one part. */
  readonly maxEntities: number;
}

const ALL_MARKS = ['bold', 'italic', 'underline', 'strike', 'spoiler', 'code'] as const;

/** On Linear, the URL of a person's profile is a mention. */
const LINEAR_PROFILE = /^https?:\/\/(?:www\.)?linear\.app\/[^/]+\/profiles\//i;

/** The dialects that have a printer; Markdown itself does not need a printer. */
export type PrintedDialect = Exclude<Dialect, 'markdown'>;

export interface PrintedTarget extends RenderTarget {
  readonly dialect: PrintedDialect;
}

/** Each dialect has one row. A new platform adds one row here and one printer. */
export const CAPABILITIES: Readonly<Record<PrintedDialect, DialectCapabilities>> = {
  telegram: {
    headingLevels: 0,
    // A phone held upright shows about 40 fixed-width columns.
    tables: { gridColumns: 40 },
    // Only the outermost quote is a block; the lines of nested quotes begin with `>`.
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
    pings: /@(?=everyone|here)/g,
    counts: 'everything',
    // Clients show a message with 200 formatted ranges or emoji unformatted, with all its markup
    // characters.
    maxEntities: 199,
  },
  whatsapp: {
    headingLevels: 0,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    // A spoiler keeps its bars, which are WhatsApp's own syntax.
    marks: ['bold', 'italic', 'strike', 'spoiler', 'code'],
    marksOnCode: false,
    links: { schemes: [], dottedHostOnly: false },
    pings: undefined,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  slack: {
    headingLevels: 0,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    marks: ['bold', 'italic', 'strike', 'code'],
    marksOnCode: false,
    links: { schemes: ['http:', 'https:', 'mailto:'], dottedHostOnly: true },
    // Slack's tokens, and the names that the Chat SDK's adapter turns into tokens.
    pings: /(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])|<(?=@|!(?:here|channel|everyone|subteam\^))/g,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  // The app's own syntax, not the Markdown that an app can be configured to read.
  'google-chat': {
    headingLevels: 0,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    marks: ['bold', 'italic', 'strike', 'code'],
    marksOnCode: false,
    links: { schemes: ['http:', 'https:'], dottedHostOnly: true },
    pings: /<(?=users\/)/gi,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  // Text messages with `textFormat: markdown` support a subset; Teams on phones shows no headings.
  teams: {
    headingLevels: 0,
    tables: { gridColumns: 40 },
    nestedQuotes: false,
    marks: ['bold', 'italic', 'strike', 'code'],
    marksOnCode: false,
    links: { schemes: ['http:', 'https:'], dottedHostOnly: false },
    // A mention needs an entity of the message besides its text.
    pings: undefined,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  // The common subset of GitHub and Linear.
  gfm: {
    headingLevels: 6,
    tables: 'native',
    nestedQuotes: true,
    marks: ['bold', 'italic', 'strike', 'code'],
    marksOnCode: true,
    links: {
      schemes: ['http:', 'https:', 'mailto:'],
      dottedHostOnly: false,
      notifying: LINEAR_PROFILE,
    },
    pings: /(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])|(?<=linear\.app)\/(?=[^\s/]+\/profiles\/)/gi,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  plain: {
    headingLevels: 6,
    tables: { gridColumns: 100 },
    nestedQuotes: true,
    // The printer shows no marks, but code spans can be split as a last resort.
    marks: ['code'],
    marksOnCode: true,
    links: { schemes: [], dottedHostOnly: false },
    pings: undefined,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
  html: {
    headingLevels: 6,
    tables: 'native',
    nestedQuotes: true,
    // The page renders formulas once it has loaded the formula library.
    marks: [...ALL_MARKS, 'math'],
    marksOnCode: true,
    links: { schemes: ['http:', 'https:', 'mailto:'], dottedHostOnly: false },
    pings: undefined,
    counts: 'everything',
    maxEntities: Number.POSITIVE_INFINITY,
  },
};

/**
 * The additional capabilities of a rich message on Telegram. All other capabilities equal those of
 * an ordinary message, so that the same part can be printed both ways.
 */
export const TELEGRAM_RICH: DialectCapabilities = {
  ...CAPABILITIES.telegram,
  headingLevels: 6,
  tables: 'native',
  marks: [...ALL_MARKS, 'math'],
};
