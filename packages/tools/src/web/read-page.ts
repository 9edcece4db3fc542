import { Worker } from 'node:worker_threads';
import { decodeText, describeEncodingWarning } from '@parley/core';
import { resolveModuleUrl } from '@parley/core/installation';
import { type AddressRules, WebError } from './addresses.ts';
import { FETCH_LIMITS, type FetchLimits, fetchResource, type Resource } from './fetch.ts';
import type { ReadablePage } from './html-to-markdown.ts';
import type { PageConversionInput } from './page-thread.ts';

/** A web page as text. The whole text was written by outsiders. */
export interface WebPage {
  /** The URL after redirects. */
  readonly url: string;
  /** The title; empty if the page has none. */
  readonly title: string;
  /** Markdown, or the original text; never truncated. */
  readonly text: string;
  /** A sentence about a doubtful decoding of the page (W10); absent if there is no doubt. */
  readonly warning?: string;
}

export interface PageReaderOptions {
  readonly limits?: Partial<FetchLimits>;
  /** The deadline for converting a page to Markdown, in ms. */
  readonly convertMs?: number;
  /** Replaces the rules in tests; by default, only the public internet is allowed. */
  readonly rules?: AddressRules;
}

/** Throws WebError, or the abort reason of the signal. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<WebPage>;

const CONVERT_MS = 10_000;
/** The longest title, in characters. */
const MAX_TITLE = 300;
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|(?:x-)?(?:ndjson|yaml|javascript|toml))$)/;

/** The libraries are loaded with the first page. */
export function createPageReader(options: PageReaderOptions = {}): ReadPage {
  const limits = { ...FETCH_LIMITS, ...options.limits };
  const { convertMs = CONVERT_MS, rules } = options;
  return async (address, signal) => {
    const resource = await fetchResource(address, limits, signal, rules);
    const url = resource.url.href;
    const type = getPageType(resource);
    const declared = parseCharset(resource.contentType);
    const decoded = decodeText(resource.bytes, { declared });
    const { text, certainty } = decoded;
    const warning = describeEncodingWarning(decoded) ?? undefined;
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
    if (!TEXT.test(type) || text.includes('\0') || certainty === 'none')
      throw createNoTextError(type);
    return { url, title: '', text: cleanText(text), ...doubt };
  };
}

/**
 * Returns the declared type of a page, or one guessed from its content if the declaration is
 * missing or meaningless.
 */
function getPageType({ contentType, bytes }: Resource): string {
  const said = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (said !== '' && said !== 'application/octet-stream') return said;
  const { text, certainty } = decodeText(bytes.subarray(0, 2_048), { isCut: true });
  if (certainty === 'none' || text.includes('\0')) return said || 'application/octet-stream';
  const start = text.slice(0, 512);
  return /^\s*<(?:!doctype html|html|head|body)/i.test(start) ? 'text/html' : 'text/plain';
}

function createNoTextError(type: string): WebError {
  const message =
    type === 'application/pdf'
      ? 'It is a PDF, and PDFs are not read from the web. The file can be sent in the chat instead.'
      : `It is not readable text (${cleanText(type).slice(0, 80)}).`;
  return new WebError('web-format', message);
}

const SOURCE = new URL('./page-thread.ts', import.meta.url);
/** The heap limit of the thread, in megabytes. */
const MEMORY = { maxOldGenerationSizeMb: 256 };

/**
 * Converts a page to Markdown in a separate thread: a hostile page can be stopped in the middle of
 * a loop and does not block other turns, and the libraries are loaded only in the thread. Throws
 * WebError `web-format`, or the abort reason of the signal.
 */
async function convertPage(
  order: PageConversionInput,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ReadablePage> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<ReadablePage>();
  const thread = new Worker(resolveModuleUrl('page-thread', SOURCE), {
    workerData: order,
    resourceLimits: MEMORY,
    // Discards the libraries' output.
    stdout: true,
    stderr: true,
  });
  const fail = (why: string, cause?: unknown): void => {
    reject(new WebError('web-format', `The page cannot be read: ${why}.`, cause));
  };
  const stop = (): void => reject(signal.reason);
  const timer = setTimeout(
    () => fail(`converting it took longer than ${timeoutMs / 1_000} s`),
    timeoutMs,
  );
  signal.addEventListener('abort', stop, { once: true });
  thread.once('message', resolve);
  thread.on('error', (cause) => fail('it is too large or too deeply nested', cause));
  thread.once('exit', () => fail('converting it ended without a result'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    void thread.terminate();
  }
}

/**
 * Control characters except line ends and tabs, soft hyphens, invisible and bidirectional control
 * characters, tags and variation selectors: people cannot see text hidden in them, but a model can.
 * The zero-width joiner and the emoji selector are kept, because emoji need them.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;
/** Characters that emoji consist of, and line ends and tabs. */
const KEPT: ReadonlySet<string> = new Set(['\n', '\t', '\u200d', '\ufe0f']);

/** Returns the visible text, with normalized line ends and without runs of empty lines. Pure. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(UNSEEN, (character) => (KEPT.has(character) ? character : ''))
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Returns the visible text on one line. */
export function cleanOneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ');
}

/** Returns the declared charset, or undefined. */
function parseCharset(contentType: string): string | undefined {
  return /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
}
