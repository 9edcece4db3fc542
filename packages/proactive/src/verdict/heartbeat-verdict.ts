import { quietSpellings } from './quiet-spelling.ts';
import { saysSomething, withoutSpellings } from './without-spellings.ts';

/** What a run of a standing task comes to (H03). Of all but `alert` nobody is told. */
export type HeartbeatVerdict =
  | { readonly kind: 'quiet'; readonly reason: string }
  /** Holds no spelling of the token. */
  | { readonly kind: 'alert'; readonly text: string }
  /** Neither: it is logged, with what was said. */
  | { readonly kind: 'unclear'; readonly reason: string; readonly text: string };

/** So much may stand beside a token that begins or ends an answer, in characters. */
const QUIET_REST = 300;

/** A sentence about the token: "I would answer HEARTBEAT_OK, because …". */
const SPEAKS_OF_IT =
  /\b(?:answer|answering|reply|replying|respond|responding|say|saying|return|returning|send|sending|output|with|is|be)[:\s*_`"'“„«(]*$/iu;
/** Nothing but a nod, as whole answer. */
const NODS =
  /^(?:ok|okay|k|done|fine|noted|understood|all (?:is )?(?:ok|okay|good|quiet|clear|fine|well)|everything (?:is )?(?:ok|okay|fine|good)|nothing (?:new|to (?:report|do|tell))|no (?:news|alerts?|changes?|updates?)|heartbeat(?: (?:is )?(?:ok|okay|fine|good))?|none|n\/a|null|undefined)$/iu;
const SILENT = /^NO[_ -]?REPLY$/i;
/** The model's answer was cut off in the token. */
const BEGUN = /^HEARTB(?:E(?:A(?:T_?O?)?)?)?$/i;

/** Judges the answer of a run: whatever is not plainly an alert stays quiet. */
export function heartbeatVerdict(answer: string): HeartbeatVerdict {
  if (!saysSomething(answer)) return { kind: 'quiet', reason: 'it said nothing' };
  const places = quietSpellings(answer);
  const [first] = places;
  if (first === undefined) return withoutToken(answer);
  const last = places.at(-1) ?? first;
  const text = withoutSpellings(answer);
  if (!saysSomething(text)) return { kind: 'quiet', reason: 'it said that all is quiet' };
  const lead = answer.slice(0, first.start);
  const isAtEdge = !saysSomething(lead) || !saysSomething(answer.slice(last.end));
  if ([...text].length > QUIET_REST) return { kind: 'alert', text };
  if (isAtEdge) return { kind: 'quiet', reason: 'it said that all is quiet, and little else' };
  if (!SPEAKS_OF_IT.test(lead)) return { kind: 'alert', text };
  return { kind: 'unclear', reason: 'it spoke of being quiet', text: answer };
}

function withoutToken(answer: string): HeartbeatVerdict {
  const text = answer.trim();
  const words = text
    .normalize('NFKC')
    .replace(/[\p{Cf}\\]/gu, '')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  if (SILENT.test(words)) return { kind: 'quiet', reason: 'it answered NO_REPLY' };
  if (BEGUN.test(words)) return { kind: 'unclear', reason: 'its answer breaks off', text };
  if (NODS.test(words.replace(/\s+/g, ' '))) {
    return { kind: 'unclear', reason: 'it only nodded', text };
  }
  return { kind: 'alert', text };
}
