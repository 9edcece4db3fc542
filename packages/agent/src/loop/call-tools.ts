import type { Audience, Clock, Logger, Reader } from '@parley/contracts';
import type { ModelToolCall } from '@parley/models';
import type { ApprovalGate } from '../approvals/approval-gate.ts';
import { type ApprovalRules, asks } from '../approvals/approval-policy.ts';
import { nobodyText } from '../approvals/approval-words.ts';
import { runTool, type ToolLimits } from '../tools/run-tool.ts';
import type { CallMoment, Tool, ToolCall, ToolOutcome } from '../tools/tool.ts';
import type { ToolSet } from '../tools/tool-registry.ts';
import type { JournalledCall, Round, TurnJournal } from './turn-journal.ts';

/** What tools are called with in a turn. */
export interface CallToolsDeps {
  readonly turnId: string;
  readonly tools: ToolSet;
  readonly journal: TurnJournal;
  /** Asks people where that is needed (G05); without it, tools that need a yes are not run. */
  readonly gate?: ApprovalGate | undefined;
  /** Which do besides those that say so themselves. */
  readonly approvals?: { readonly rules: Pick<ApprovalRules, 'ask'> } | undefined;
  readonly limits: ToolLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly at: Pick<ToolCall, 'facts' | 'reader' | 'view' | 'session' | 'messages' | 'show'>;
}

/** Calls in one step that are run; a model that asks for more has lost its way. */
const MOST_CALLS = 20;

/**
 * Runs the calls of a round that have no result yet, one after another, each journalled before the next
 * (G16). False when the lease was lost. Throws when `stop` has fired, and TurnSuspendedError.
 */
export async function callTools(
  deps: CallToolsDeps,
  { calls }: Round,
  stop: AbortSignal,
): Promise<boolean> {
  const audience = audienceOf(deps.at.reader);
  for (const [nth, journalled] of calls.entries()) {
    if (journalled.result !== null) continue;
    stop.throwIfAborted();
    const outcome = await outcomeOf(deps, journalled, nth, stop);
    if (outcome === null) return false;
    const { text, failed = false } = outcome;
    const result = { kind: 'result', call: journalled.key, text, failed, audience } as const;
    if (!(await deps.journal.append(result))) return false;
  }
  return true;
}

/** Whatever a tool was shown may be in what it says. */
export function audienceOf({ kind, conversationId }: Reader): Audience {
  return kind === 'owner' ? { kind } : { kind: 'conversation', conversationId };
}

/** Null when the lease was lost. */
async function outcomeOf(
  deps: CallToolsDeps,
  journalled: JournalledCall,
  nth: number,
  stop: AbortSignal,
): Promise<ToolOutcome | null> {
  const { key, call, begun } = journalled;
  if (begun) return cutOff(call);
  if (nth >= MOST_CALLS) return tooMany(call);
  const tool = deps.tools.get(call.name);
  if (tool === undefined) return unknownTool(call, deps.tools);
  const refusal = await refusalOf(deps, tool, journalled);
  if (refusal !== 'none') return refusal;
  // Reading may be done twice; anything else must not be done again by a later run.
  const isSafe = tool.effect === 'read' || tool.actsOnce === true;
  if (!isSafe && !(await deps.journal.append({ kind: 'begun', call: key }))) return null;
  const { turnId, clock, log, limits, at } = deps;
  const begunAt = clock();
  const outcome = await runTool(
    tool,
    call,
    { ...at, turnId, callId: key, clock, log },
    limits,
    stop,
  );
  log.info({ tool: tool.name, ms: clock() - begunAt, failed: outcome.failed }, 'tool');
  return outcome;
}

/** Why a call may not be run: somebody said no. Null when the lease was lost. */
async function refusalOf(
  { gate, approvals, tools, journal, at }: CallToolsDeps,
  tool: Tool,
  journalled: JournalledCall,
): Promise<ToolOutcome | 'none' | null> {
  if (gate === undefined) {
    const mayRun = !asks(tool, approvals?.rules ?? { ask: [] });
    return mayRun ? 'none' : { text: nobodyText(tool.name), failed: true };
  }
  const verdict = await gate.check(tool, journalled, tools, momentOf(at, journal));
  if (verdict.kind === 'fenced') return null;
  return verdict.kind === 'run' ? 'none' : { text: verdict.text, failed: true };
}

function momentOf(
  { reader, messages = [] }: CallToolsDeps['at'],
  journal: Pick<TurnJournal, 'rounds'>,
): CallMoment {
  const calls = journal.rounds().flatMap((round) => round.calls);
  return {
    reader,
    // What Parley itself put there (the end of a sub-agent, say) the model may have written.
    said: messages.flatMap(({ text, occasion }) => (occasion === undefined ? text : [])),
    results: calls.flatMap(({ call, result }) =>
      result === null ? [] : [{ tool: call.name, text: result.text }],
    ),
  };
}

function cutOff({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} was begun, and then this turn was cut off. Whether it took effect is not known: look before you do it again, and tell the person if you cannot.`;
  return { text, failed: true };
}

function tooMany({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} was not run: at most ${MOST_CALLS} calls in one step are.`;
  return { text, failed: true };
}

/** Tools for others do not exist here, so it cannot be told which they are. */
function unknownTool({ name }: ModelToolCall, { names }: ToolSet): ToolOutcome {
  const known = names.length === 0 ? 'There are none here.' : `There are: ${names.join(', ')}.`;
  return { text: `There is no tool ${JSON.stringify(name.slice(0, 80))}. ${known}`, failed: true };
}
