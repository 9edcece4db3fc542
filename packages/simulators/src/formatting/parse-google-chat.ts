import type { LineStart, Reading } from './read-marks.ts';
import { type MarkedMessage, readMessage } from './read-message.ts';
import { type Flattened, Flattener } from './tokens.ts';

/**
 * Parses the syntax of Google Chat (`MARKUP_SYNTAX_CHAT`) strictly: only what certainly is a mark
 * counts as one, and what might be one or notifies people is a violation.
 *
 * Source, read in November 2026: Google's "Format messages" (the marks, bullets, links and mentions
 * in angle brackets). It says neither where a mark begins and ends nor how to write these characters
 * literally, so the text must be correct under every interpretation (`Reading`). Quotes are not in
 * it; a line with `> ` is read as one, because the app shows it as one where it knows them.
 */
export function parseGoogleChat(text: string): MarkedMessage {
  return readMessage(flatten(text), readStart);
}

function readStart(line: string, reading: Reading): LineStart {
  const pattern = reading === 'strict' ? /^[>*-] (?=[^ \n])/ : /^(?:>|[*-][^\S\n])\s?/;
  const marker = pattern.exec(line)?.[0] ?? '';
  if (marker === '') return { kind: 'paragraph', length: 0 };
  return { kind: marker.startsWith('>') ? 'quote' : 'bullet', length: marker.length };
}

/** Nothing that begins with an invisible character or a marker is a URL. */
const TOKENS =
  /<(?:users\/[^<>\n]*|[a-z][a-z0-9+.-]*:[^<>\n]*|[^\s\p{Cf}<>|*_~`][^<>|\n]*\|[^<>\n]*)>/giu;
const LINK = /^<(https?:\/\/[^\s|]+)\|([^|]+)>$/i;

function flatten(text: string): Flattened {
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

/** Whether this position is in code. */
function isCode(text: string, at: number): boolean {
  const codes = text.matchAll(/```[\s\S]*?```|`(?=\S)[^`\n]*(?<=\S)`/g);
  return codes.some(({ index, 0: code }) => index < at && at < index + code.length);
}
