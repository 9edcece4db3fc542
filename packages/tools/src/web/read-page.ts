import { Worker } from 'node:worker_threads';
import { decodeText, encodingWarning } from '@parley/core';
import { moduleUrl } from '@parley/core/installation';
import { type AddressRules, WebError } from './addresses.ts';
import { FETCH_LIMITS, type FetchLimits, fetchResource, type Resource } from './fetch.ts';
import type { ReadablePage } from './html-to-markdown.ts';
import type { PageOrder } from './page-thread.ts';

/** A page of the web as text. All of it was written by strangers. */
export interface WebPage {
  /** Its final address. */
  readonly url: string;
  /** Empty where it has none. */
  readonly title: string;
  /** Markdown, or the text as it was; never cut. */
  readonly text: string;
  /** A doubt about the decoding of its bytes, as a sentence (W10); absent: none. */
  readonly warning?: string;
}

/** The options of reading pages. */
export interface PageReaderOptions {
  readonly limits?: Partial<FetchLimits>;
  /** Longest time to make Markdown of a page, in ms. */
  readonly convertMs?: number;
  /** For tests alone: without it nothing but the public internet is asked. */
  readonly rules?: AddressRules;
}

/** Reads one page. Throws WebError, or what `signal` fired with. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<WebPage>;

const CONVERT_MS = 10_000;
/** In characters. */
const MAX_TITLE = 300;
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|(?:x-)?(?:ndjson|yaml|javascript|toml))$)/;

/** Makes a reader of pages. Loads nothing until a page comes. */
export function createPageReader(options: PageReaderOptions = {}): ReadPage {
  const limits = { ...FETCH_LIMITS, ...options.limits };
  const { convertMs = CONVERT_MS, rules } = options;
  return async (address, signal) => {
    const resource = await fetchResource(address, limits, signal, rules);
    const url = resource.url.href;
    const type = pageType(resource);
    const declared = charsetOf(resource.contentType);
    const decoded = decodeText(resource.bytes, { declared });
    const { text, certainty } = decoded;
    const warning = encodingWarning(decoded) ?? undefined;
    const doubt = warning === undefined ? {} : { warning };
    if (HTML.test(type)) {
      const page = await convertPage({ html: text, url }, convertMs, signal);
      return {
        url,
        title: cleanOneLine(page.title).slice(0, MAX_TITLE).toWellFormed(),
        text: cleanText(page.markdown),
        ...doubt,
      };
    }
    if (!TEXT.test(type) || text.includes('\0') || certainty === 'none') throw noText(type);
    return { url, title: '', text: cleanText(text), ...doubt };
  };
}

/** As the server says; where it says nothing or nothing of use, as it looks. */
function pageType({ contentType, bytes }: Resource): string {
  const said = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (said !== '' && said !== 'application/octet-stream') return said;
  const { text, certainty } = decodeText(bytes.subarray(0, 2_048), { isCut: true });
  if (certainty === 'none' || text.includes('\0')) return said || 'application/octet-stream';
  const start = text.slice(0, 512);
  return /^\s*<(?:!doctype html|html|head|body)/i.test(start) ? 'text/html' : 'text/plain';
}

function noText(type: string): WebError {
  const message =
    type === 'application/pdf'
      ? 'It is a PDF, and PDFs are not read from the web. The file can be sent in the chat instead.'
      : `It is no text that can be read (${cleanText(type).slice(0, 80)}).`;
  return new WebError('web-format', message);
}

const SOURCE = new URL('./page-thread.ts', import.meta.url);
/** The memory for the thread's own objects, in megabytes. */
const MEMORY = { maxOldGenerationSizeMb: 256 };

/**
 * Makes Markdown of a page in a thread of its own: a hostile page can be stopped in the middle of a
 * loop, blocks no other turn, and the libraries are loaded there and nowhere else. Throws WebError
 * `web-format`, or what `signal` fired with.
 */
async function convertPage(
  order: PageOrder,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReadablePage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<ReadablePage>();
  const thread = new Worker(moduleUrl('page-thread', SOURCE), {
    workerData: order,
    resourceLimits: MEMORY,
    // Output of the libraries is dropped.
    stdout: true,
    stderr: true,
  });
  const fail = (why: string, cause?: unknown): void => {
    reject(new WebError('web-format', `The page cannot be read: ${why}.`, cause));
  };
  const stop = (): void => reject(signal.reason);
  const timer = setTimeout(
    () => fail(`making sense of it took longer than ${timeoutMs / 1_000} s`),
    timeoutMs,
  );
  signal.addEventListener('abort', stop, { once: true });
  thread.once('message', resolve);
  thread.on('error', (cause) => fail('it is too large or too deeply nested', cause));
  thread.once('exit', () => fail('making sense of it ended without a result'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    void thread.terminate();
  }
}

/**
 * Control characters but line ends and tabs, soft hyphens, invisible and direction-changing
 * characters, tags and variation selectors: people do not see what is written with them, a model
 * does. The zero-width joiner and the emoji selector stay, since emoji need them.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;
/** Those that emoji are made with. */
const KEPT: ReadonlySet<string> = new Set(['\n', '\t', '\u200d', '\ufe0f']);

/** Text as a person would see it, with plain line ends and no runs of empty lines. Pure. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(UNSEEN, (character) => (KEPT.has(character) ? character : ''))
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The same as one line. */
export function cleanOneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ');
}

/** The charset that the server states; undefined: none. */
function charsetOf(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
}
