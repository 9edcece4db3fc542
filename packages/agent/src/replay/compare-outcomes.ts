import type { ModelRequest } from '@parley/models';
import type { AssembledPrompt } from '@parley/prompt';
import { toCallKey } from '../loop/repeated-call.ts';
import type { ReplayChange, ReplayedAnswer, ReplayedCall } from './outcome.ts';
import type { RebuiltTurn } from './rebuild-request.ts';

/** Compares what the model did in the recorded turn and in its replay. */
export function compareAnswers(before: ReplayedAnswer, after: ReplayedAnswer): ReplayChange[] {
  const changes: ReplayChange[] = [];
  if (before.text !== after.text)
    changes.push({ kind: 'text', before: before.text, after: after.text });
  changes.push(...compareCalls(before.calls, after.calls));
  if (before.usage !== null && after.usage !== null) {
    const [one, other] = [before.usage, after.usage];
    const counts = [
      ['input', one.inputTokens, other.inputTokens],
      ['output', one.outputTokens, other.outputTokens],
      ['cached', one.cachedInputTokens ?? 0, other.cachedInputTokens ?? 0],
    ] as const;
    for (const [of, was, is] of counts)
      if (was !== is) changes.push({ kind: 'tokens', of, before: was, after: is });
    if (one.costUsd !== other.costUsd)
      changes.push({ kind: 'money', before: one.costUsd, after: other.costUsd });
  }
  const [waited, waits] = [before.latencyMs, after.latencyMs];
  if (waited !== null && waits !== null && waited !== waits)
    changes.push({ kind: 'latency', before: waited, after: waits });
  return changes;
}

function compareCalls(
  before: readonly ReplayedCall[],
  after: readonly ReplayedCall[],
): ReplayChange[] {
  const removed = subtractCalls(before, after);
  const added = subtractCalls(after, before);
  if (removed.length + added.length > 0) return [{ kind: 'calls', removed, added }];
  const isSameOrder = before.every((call, at) => {
    const other = after[at];
    return other !== undefined && toCallKey(call) === toCallKey(other);
  });
  const names = (calls: readonly ReplayedCall[]) => calls.map(({ name }) => name);
  return isSameOrder ? [] : [{ kind: 'order', before: names(before), after: names(after) }];
}

/** The calls that `others` lacks, counting repetitions. */
function subtractCalls(
  calls: readonly ReplayedCall[],
  others: readonly ReplayedCall[],
): ReplayedCall[] {
  const left = Map.groupBy(others, toCallKey);
  return calls.filter((call) => left.get(toCallKey(call))?.pop() === undefined);
}

/** Compares the recorded first request with the one that is sent instead. */
export function compareRequests(before: RebuiltTurn, after: RebuiltTurn): ReplayChange[] {
  if (before === after) return [];
  const layers = compareTexts(listLayers(before.draft.prompt), listLayers(after.draft.prompt));
  const tools = compareTexts(listToolTexts(before.request), listToolTexts(after.request));
  // The newest message contains layers, which are compared by themselves.
  const messages = compareTexts(listPastMessages(before.request), listPastMessages(after.request));
  return [...layers, ...tools, ...messages];
}

type NamedTexts = ReadonlyMap<string, string>;

function compareTexts(before: NamedTexts, after: NamedTexts): ReplayChange[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((part): ReplayChange[] => {
    const [was, is] = [before.get(part) ?? null, after.get(part) ?? null];
    return was === is ? [] : [{ kind: 'request', part, before: was, after: is }];
  });
}

function listLayers({ system, userContext }: AssembledPrompt): NamedTexts {
  const parts = [...system, ...userContext];
  return new Map(parts.map(({ layer, text }) => [`layer ${layer}`, text]));
}

function listToolTexts({ tools = [] }: ModelRequest): NamedTexts {
  return new Map(tools.map((tool) => [`tool ${tool.name}`, JSON.stringify(tool)]));
}

function listPastMessages({ messages }: ModelRequest): NamedTexts {
  const past = messages.slice(0, -1);
  return new Map(past.map(({ content }, at) => [`message ${at + 1}`, content]));
}

/** Whether a difference changes what people notice; the others only measure it. */
export function isNoticeable({ kind }: ReplayChange): boolean {
  return kind === 'text' || kind === 'calls' || kind === 'order' || kind === 'request';
}
