import { BARE_CLOSES, END_TOKENS, MARKERS, type Marker } from './markers.ts';
import {
  decideCallStart,
  decideReasoningEnd,
  isInInlineCode,
  type VisibleTextState,
} from './shown-text.ts';

/**
 * A position in an answer: the text that starts there, and the state of the text shown before it.
 */
export interface AnswerPosition {
  readonly text: string;
  readonly shown: VisibleTextState;
  /** Whether the answer ends with `text`. */
  readonly ended: boolean;
}

/** `bare`: the end of reasoning that started before the answer. */
export type FoundMarker = Marker | { readonly kind: 'bare'; readonly open: string };

/**
 * Returns the marker at the beginning of the text; `wait` means that more text is needed to decide.
 */
export function findMarker(place: AnswerPosition): FoundMarker | 'wait' | 'none' {
  const { shown, ended } = place;
  const bare = findUnmatchedEndMarker(place);
  if (bare !== 'none') return bare;
  if (shown.isInFence || shown.isQuotedLine) return 'none';
  let waits = false;
  for (const marker of MARKERS) {
    if (marker.where === 'line' && !shown.isLineStart) continue;
    if (marker.where === 'start' && !shown.isEmpty) continue;
    if (marker.where === 'sentence' && (shown.isLineStart || !shown.isSentenceEnd)) continue;
    const head = place.text.slice(0, marker.open.length).toLowerCase();
    if (head === marker.open) {
      const state = matchOpeningMarker(marker, place);
      if (state === 'wait') waits = true;
      else if (state === 'yes') return isInInlineCode(shown.line) ? 'none' : marker;
    } else waits ||= !ended && marker.open.startsWith(head);
  }
  return waits ? 'wait' : findEndToken(place);
}

/** Whether an opening marker is plausible given the text after it. */
function matchOpeningMarker(
  { kind, open, where }: Marker,
  { text, shown, ended }: AnswerPosition,
): 'yes' | 'no' | 'wait' {
  const rest = text.slice(open.length);
  if (open === 'analysis') {
    if (rest === '') return ended ? 'no' : 'wait';
    return /^[\s\p{Ll}\p{P}]/u.test(rest) ? 'no' : 'yes';
  }
  if (where === 'sentence') {
    if (rest.trim() === '' && !rest.includes('\n')) return ended ? 'no' : 'wait';
    // The text "<think> opens the reasoning" is a sentence about the tag.
    return /^[ \t]+\p{Ll}/u.test(rest) ? 'no' : 'yes';
  }
  if (kind !== 'call' || where !== 'anywhere') return 'yes';
  // An empty opening marker after a call was meant as the end marker of that call.
  if (ended && rest.trim() === '' && shown.isBehindHidden) return 'yes';
  return decideCallStart(open, rest, ended);
}

function findUnmatchedEndMarker({
  text,
  shown,
  ended,
}: AnswerPosition): FoundMarker | 'wait' | 'none' {
  let waits = false;
  for (const close of BARE_CLOSES) {
    const head = text.slice(0, close.length).toLowerCase();
    if (head !== close) {
      waits ||= !ended && close.startsWith(head);
      continue;
    }
    const verdict = decideReasoningEnd(shown, close, text.slice(close.length), ended);
    return verdict === 'yes' ? { kind: 'bare', open: close } : verdict === 'wait' ? 'wait' : 'none';
  }
  return waits ? 'wait' : 'none';
}

/** End-of-turn markers, after which the answer contains no more text. */
function findEndToken({ text, ended }: AnswerPosition): Marker | 'wait' | 'none' {
  let rest = text;
  for (;;) {
    const lower = rest.toLowerCase();
    const token = END_TOKENS.find((one) => lower.startsWith(one));
    if (token === undefined) break;
    rest = rest.slice(token.length).trimStart();
  }
  if (rest === text) {
    const mayBecome = !ended && END_TOKENS.some((one) => one.startsWith(text.toLowerCase()));
    return mayBecome ? 'wait' : 'none';
  }
  if (rest === '') {
    return ended
      ? { kind: 'noise', open: text.toLowerCase(), close: [], where: 'anywhere' }
      : 'wait';
  }
  const mayGoOn = !ended && END_TOKENS.some((one) => one.startsWith(rest.toLowerCase()));
  return mayGoOn ? 'wait' : 'none';
}
