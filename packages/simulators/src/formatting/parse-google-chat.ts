import type { LineStart, ReadingMode } from './read-marks.ts';
import { type MarkedMessage, parseMarkedMessage } from './read-message.ts';
import { type FlattenedMessage, Flattener } from './tokens.ts';

/**
 * Parses the syntax of Google Chat (`MARKUP_SYNTAX_CHAT`) strictly: only unambiguous marks count,
 * and ambiguous marks and mentions are violations.
 *
 * The source, read in November 2026, is Google's "Format messages" (the marks, bullets, links and
 * mentions in angle brackets). Google's documentation specifies neither where a mark begins and
 * ends nor how to escape markers, so the text must be correct under every interpretation
 * (`Reading`). The documentation does not mention quotes; a line that starts with `> ` is parsed as
 * a quote, because newer apps show it as one.
 */
export function parseGoogleChat(text: string): MarkedMessage {
  return parseMarkedMessage(flattenMessage(text), parseLineStart);
}

function parseLineStart(line: string, reading: ReadingMode): LineStart {
  const pattern = reading === 'strict' ? /^[>*-] (?=[^ \n])/ : /^(?:>|[*-][^\S\n])\s?/;
  const marker = pattern.exec(line)?.[0] ?? '';
  if (marker === '') return { kind: 'paragraph', length: 0 };
  return { kind: marker.startsWith('>') ? 'quote' : 'bullet', length: marker.length };
}

/** Text that begins with an invisible character or a marker is not a URL. */
const TOKENS =
  /<(?:users\/[^<>\n]*|[a-z][a-z0-9+.-]*:[^<>\n]*|[^\s\p{Cf}<>|*_~`][^<>|\n]*\|[^<>\n]*)>/giu;
const LINK = /^<(https?:\/\/[^\s|]+)\|([^|]+)>$/i;

function flattenMessage(text: string): FlattenedMessage {
  const flattener = new Flattener();
  let from = 0;
  for (const { index, 0: token } of text.matchAll(TOKENS)) {
    flattener.add(text.slice(from, index));
    from = index + token.length;
    const [, url, label] = isCode(text, index) ? [] : (LINK.exec(token) ?? []);
    if (url !== undefined) flattener.addLink(url, label);
    else {
      if (/^<users\//i.test(token)) flattener.report('alive', token);
      else if (!isCode(text, index)) flattener.report('token', token);
      flattener.add(token);
    }
  }
  flattener.add(text.slice(from));
  return flattener.end();
}

function isCode(text: string, at: number): boolean {
  const codes = text.matchAll(/```[\s\S]*?```|`(?=\S)[^`\n]*(?<=\S)`/g);
  return codes.some(({ index, 0: code }) => index < at && at < index + code.length);
}
