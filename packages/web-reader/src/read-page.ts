import {
  FETCH_LIMITS,
  type FetchLimits,
  fetchResource,
  type Resource,
} from './fetch/fetch-resource.ts';
import type { AddressRules } from './fetch/resolve-host.ts';
import { cleanText } from './page/clean-text.ts';
import { convertPage } from './page/convert-page.ts';
import { decodeText } from './page/decode-text.ts';
import { WebError } from './web-error.ts';

/** A page of the web as text. All of it was written by strangers. */
export interface WebPage {
  /** Where it was in the end. */
  readonly url: string;
  /** Empty where it has none. */
  readonly title: string;
  /** Markdown, or the text as it was; never cut. */
  readonly text: string;
}

/** How pages are read. */
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
    const type = typeOf(resource);
    const text = decodeText(resource.bytes, resource.contentType);
    if (HTML.test(type)) {
      const page = await convertPage({ html: text, url }, convertMs, signal);
      return { url, title: oneLine(page.title), text: cleanText(page.markdown) };
    }
    if (!TEXT.test(type) || text.includes('\0')) throw noText(type);
    return { url, title: '', text: cleanText(text) };
  };
}

/** As the server says; where it says nothing or nothing of use, as it looks. */
function typeOf({ contentType, bytes }: Resource): string {
  const said = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (said !== '' && said !== 'application/octet-stream') return said;
  if (bytes.includes(0)) return said || 'application/octet-stream';
  const start = bytes.subarray(0, 512).toString('latin1');
  return /^\s*<(?:!doctype html|html|head|body)/i.test(start) ? 'text/html' : 'text/plain';
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').slice(0, 300).toWellFormed();
}

function noText(type: string): WebError {
  const message =
    type === 'application/pdf'
      ? 'It is a PDF, and PDFs are not read from the web. Somebody can send the file in the chat instead.'
      : `It is no text that can be read (${cleanText(type).slice(0, 80)}).`;
  return new WebError('web-format', message);
}
