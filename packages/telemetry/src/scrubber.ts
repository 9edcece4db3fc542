import { secretForms } from './secret-forms.ts';

/** Removes secrets from a text. Pure; scrubbing twice changes nothing more. */
export type Scrub = (text: string) => string;

/** What stands where a secret stood. */
export const HIDDEN = '[secret]';
const HIDDEN_PHONE = '[phone]';

/** What gives itself away by its look, also when nobody configured it. */
const PATTERNS: readonly { readonly look: RegExp; readonly instead: string }[] = [
  // Telegram: `123456789:AA…`, also in a request path (`/bot123456789:AA…/sendMessage`).
  { look: /(?<!\d)\d{6,}(?::|%3A)[A-Za-z0-9_-]{30,}/gi, instead: HIDDEN },
  // OpenAI, Anthropic and those who copy them; `task-…` and `risk-…` are words.
  { look: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}/g, instead: HIDDEN },
  // What a browser is signed in to the page with.
  { look: /parley_session_[A-Za-z0-9_-]{16,}/g, instead: HIDDEN },
  { look: /(?<=\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{16,}/gi, instead: HIDDEN },
  // WhatsApp names people and their chats by number, also inside an id that was encoded for a URL.
  { look: /(?<!\d)\d{6,15}(?=(?::\d+)?(?:@|%(?:25)*40)s\.whatsapp\.net)/gi, instead: HIDDEN_PHONE },
  { look: /(?<=\bwhatsapp:)\d{6,15}(?!\d)/gi, instead: HIDDEN_PHONE },
  // E.164: a plus, then 8 to 15 digits.
  { look: /(?<![\w+])\+[1-9]\d{7,14}(?!\d)/g, instead: HIDDEN_PHONE },
];

interface Span {
  readonly start: number;
  readonly end: number;
  readonly instead: string;
}

/**
 * Makes the function that keeps secrets out of everything that leaves the process for people: logs,
 * replies, tool output (D10). It removes by value, because an error's text holds a token just as well
 * as a field named `token` does. Secrets shorter than 6 characters are left to the patterns.
 */
export function createScrubber(secrets: Iterable<string>): Scrub {
  const forms = secretForms(secrets);
  return (text) => {
    const spans = [...forms.flatMap((form) => literalSpans(text, form)), ...patternSpans(text)];
    return spans.length === 0 ? text : replaceSpans(text, spans);
  };
}

function literalSpans(text: string, form: string): Span[] {
  const spans: Span[] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
    spans.push({ start: at, end: at + form.length, instead: HIDDEN });
  }
  return spans;
}

function patternSpans(text: string): Span[] {
  return PATTERNS.flatMap(({ look, instead }) =>
    [...text.matchAll(look)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      instead,
    })),
  );
}

/** Overlapping finds become one: replacing one after the other would leave the rest of a second. */
function replaceSpans(text: string, spans: readonly Span[]): string {
  let clean = '';
  let done = 0;
  let open: Span | undefined;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (open !== undefined && span.start < open.end) {
      const instead = span.instead === open.instead ? open.instead : HIDDEN;
      open = { start: open.start, end: Math.max(open.end, span.end), instead };
      continue;
    }
    if (open !== undefined) {
      clean += text.slice(done, open.start) + open.instead;
      done = open.end;
    }
    open = span;
  }
  if (open === undefined) return text;
  return clean + text.slice(done, open.start) + open.instead + text.slice(open.end);
}
