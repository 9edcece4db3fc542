import type { ModelToolCall } from '@parley/models';
import type { Tool } from '../tools/tool.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import type { JournaledCall, ResultStep, TurnRound } from './turn-journal.ts';

/** The earlier result that answers a repeated call, and a note for the model. */
export interface RepeatedCall {
  readonly result: ResultStep;
  readonly remark: string;
}

const SAME_STEP =
  'This is the same call as one before in the same step. It was run once; the result of that call was:';
const DONE =
  'You have just made this very call, and nothing has changed since. It was not run again; its result was:';
const FAILED =
  'This very call has failed twice in the same way. It was not run again: change its arguments, do it in another way, or say what does not work. The result was:';

/** After this many consecutive failures the same call does not run again. */
const MAX_FAILURES = 2;

/**
 * Finds the earlier result that answers a repeated call (same turn, tool and arguments):
 * - when it occurs twice in one model step, whatever the tool does;
 * - after a success, if the tool is Parley's own and, since then, nobody has written and no call
 *   has changed anything. Tools whose result changes by itself (`repeats`: the clock, a shell) run
 *   again, and so do those of plugins and MCP servers, which models use to wait for something;
 * - after two identical failures in a row, with no other call between them.
 *
 * `rounds` are the rounds of the turn; `nth` is the index of the call in the last round.
 */
export function findRepeatedCall(
  rounds: readonly TurnRound[],
  nth: number,
  tools: Pick<ToolSet, 'get' | 'sizes'>,
): RepeatedCall | null {
  const current = rounds.at(-1)?.calls[nth];
  if (current === undefined) return null;
  const sought = toCallKey(current.call);
  const before = rounds.flatMap((round, at) =>
    at < rounds.length - 1 ? round.calls : round.calls.slice(0, nth),
  );
  const isSame = ({ call }: JournaledCall) => toCallKey(call) === sought;
  const inStep = rounds.at(-1)?.calls.slice(0, nth).findLast(isSame)?.result;
  if (inStep != null) return { result: inStep, remark: SAME_STEP };
  const tool = tools.get(current.call.name);
  if (tool === undefined || tool.repeats === true) return null;
  const last = before.findLastIndex(isSame);
  const result = before[last]?.result;
  if (result == null) return null;
  if (result.failed) {
    const tail = before.slice(-MAX_FAILURES);
    const isStuck =
      tail.length === MAX_FAILURES &&
      tail.every(
        (one) => isSame(one) && one.result?.failed === true && one.result.text === result.text,
      );
    return isStuck ? { result, remark: FAILED } : null;
  }
  const isOwn = !tools.sizes.has(tool.name);
  const hasChanged =
    before.slice(last + 1).some((one) => hasEffects(tools.get(one.call.name))) ||
    hasMessageJoinedSince(rounds, before[last]);
  return isOwn && !hasChanged ? { result, remark: DONE } : null;
}

function hasEffects(tool: Tool | undefined): boolean {
  return tool !== undefined && tool.effect !== 'read';
}

function hasMessageJoinedSince(
  rounds: readonly TurnRound[],
  call: JournaledCall | undefined,
): boolean {
  const at = rounds.findIndex(({ calls }) => calls.some((one) => one.key === call?.key));
  return rounds.slice(Math.max(0, at)).some(({ joined }) => joined.length > 0);
}

/** A key that does not depend on the order of the arguments. */
export function toCallKey({
  name,
  arguments: written,
}: Pick<ModelToolCall, 'name' | 'arguments'>): string {
  try {
    return `${name} ${JSON.stringify(sortKeys(JSON.parse(written)))}`;
  } catch {
    return `${name} ${written.trim()}`;
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, one]) => [key, sortKeys(one)]);
}
