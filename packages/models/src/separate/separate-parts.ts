import type { AnswerPart } from '../answer-parts.ts';
import type { ModelRequest } from '../chat-model.ts';
import type { SeparatedPiece, SeparatorOptions } from './answer-piece.ts';
import type { AnswerStart, ReasoningStartTracker } from './reasoning-habit.ts';
import { AnswerSeparator } from './separator.ts';

/**
 * Separates the parts of an answer: reasoning and calls that a server left in the text become
 * separate parts, for every provider and every caller. Calls come last, including calls that do not
 * run. If an answer consists only of a call that does not run, the call is passed on anyway: the
 * caller refuses it, and the model is told the reason.
 */
export async function* separateParts(
  parts: AsyncIterable<AnswerPart>,
  request: ModelRequest,
  habit: ReasoningStartTracker,
  maxCall: number,
): AsyncGenerator<AnswerPart> {
  const start = habit.start();
  const separator = new AnswerSeparator(toSeparatorOptions(request, start, maxCall));
  const seen = { text: false, calls: 0, reasoning: false };
  function* proxyToOwner(pieces: readonly SeparatedPiece[]): Generator<AnswerPart> {
    for (const piece of pieces) {
      if (piece.kind === 'restart') seen.text = false;
      else if (piece.kind === 'text') seen.text ||= piece.text.trim() !== '';
      else if (piece.kind === 'call') seen.calls += 1;
      yield toAnswerPart(piece, seen.calls);
    }
  }
  for await (const part of parts) {
    switch (part.type) {
      case 'text': {
        const pieces = separator.push(part.text);
        // Text that is held back also counts as activity.
        if (pieces.length === 0) yield { type: 'alive' };
        yield* proxyToOwner(pieces);
        break;
      }
      case 'finish': {
        // For a model that starts within reasoning, text before its calls that has no end marker
        // was reasoning.
        const isUnanswered = start === 'inside' && seen.calls > 0;
        const last = separator.end(part.reason === 'length' || isUnanswered);
        yield* proxyToOwner(last);
        if (!seen.text && seen.calls === 0) yield* listRefusedCalls(last, request);
        if (part.reason !== 'length') {
          habit.learn(separator.sawBareClose && !seen.reasoning ? 'began-inside' : 'began-outside');
        }
        yield part;
        break;
      }
      case 'reasoning':
        if (!seen.reasoning) yield* proxyToOwner(separator.interrupt(true));
        seen.reasoning = true;
        yield part;
        break;
      default:
        if (part.type === 'tool-call') seen.calls += 1;
        // Text before a call is passed on first.
        if (part.type === 'call-start' || part.type === 'tool-call') {
          yield* proxyToOwner(separator.interrupt(start !== 'inside'));
        }
        yield part;
    }
  }
}

function toSeparatorOptions(
  request: ModelRequest,
  start: AnswerStart,
  maxCall: number,
): SeparatorOptions {
  const { tools = [], callable: offered = tools, format, appendsOnly = false } = request;
  const mayBegin = start === 'unknown' && appendsOnly ? 'inside' : start;
  return {
    offered,
    start: mayBegin,
    wantsJson: format !== undefined,
    isQuoted: (text) => isQuotedFromRequest(request, text),
    maxCall,
  };
}

/** Whether the people or the tools in a request wrote this text. */
function isQuotedFromRequest({ messages }: ModelRequest, text: string): boolean {
  const sought = trimMarkup(text);
  return messages.some(
    ({ role, content }) => role !== 'assistant' && trimMarkup(content).includes(sought),
  );
}

function trimMarkup(text: string): string {
  return text
    .replace(/^\s*(?:`{3,}|~{3,})[\w-]*[ \t]*\n|\n[ \t]*(?:`{3,}|~{3,})\s*$/g, '')
    .replace(/\s+/g, '');
}

function toAnswerPart(piece: SeparatedPiece, nth: number): AnswerPart {
  switch (piece.kind) {
    case 'call':
      return { type: 'tool-call', call: { id: `written_${nth}`, ...piece.call } };
    case 'dropped':
      return { type: 'dropped', why: piece.why, raw: piece.raw, problem: piece.problem };
    case 'restart':
      return { type: 'restart' };
    default:
      return { type: piece.kind, text: piece.text };
  }
}

/** The calls that do not run, for an answer that contains nothing else. */
function* listRefusedCalls(
  pieces: readonly SeparatedPiece[],
  { tools = [] }: ModelRequest,
): Generator<AnswerPart> {
  if (tools.length === 0) return;
  for (const [nth, piece] of pieces.entries()) {
    if (piece.kind !== 'dropped' || piece.call === undefined) continue;
    yield { type: 'tool-call', call: { id: `written_${nth + 1}`, ...piece.call } };
  }
}
