import {
  type Audience,
  argumentLine,
  type CheckRunner,
  type Clock,
  type InboundMessage,
  type LiveToolCall,
  type Logger,
  type Meter,
  type Monotonic,
  type Reader,
  reasonOf,
  type StepFacts,
  silentTracer,
  type Tracer,
  typedText,
} from '@parley/core';
import { type ModelToolCall, toolArguments } from '@parley/models';
import type { AgentFile } from '@parley/store';
import { type ApprovalGate, noApproverText } from '../approvals/approval-gate.ts';
import {
  type ApprovalRules,
  hasUntrustedText,
  isSometimes,
  isSpared,
  needOf,
  subjectOf,
} from '../approvals/approval-policy.ts';
import { givenText, kindOf } from '../tools/send-file.ts';
import {
  type CallLimits,
  type CallMoment,
  type HeldCall,
  type PersonQuestion,
  type Proposal,
  runTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  TurnSuspendedError,
} from '../tools/tool.ts';
import { isPlaceholder, type ToolSet } from '../tools/tool-registry.ts';
import { tryArguments } from '../tools/try-arguments.ts';
import type { TurnOrigin } from '../turn-opening.ts';
import { cutCallText, isCutCall } from './cut-answers.ts';
import { type RepeatedCall, repeatedCall } from './repeated-call.ts';
import type { JournalledCall, Round, TurnJournal } from './turn-journal.ts';

/** What tools are called with in a turn. */
export interface CallToolsDeps {
  readonly turnId: string;
  readonly tools: ToolSet;
  /** Tries arguments out whose check could take long. */
  readonly checks: CheckRunner;
  readonly journal: TurnJournal;
  /** Asks for approvals (G05); without it, tools that need one are not run. */
  readonly gate?: ApprovalGate | undefined;
  /** Which do besides those that say so themselves. */
  readonly approvals?: { readonly rules: Pick<ApprovalRules, 'ask' | 'auto'> } | undefined;
  readonly limits: CallLimits;
  /** Called before anything that changes something: from then on the turn is not ended for a later message. */
  readonly beforeActing?: (() => Promise<void>) | undefined;
  /** Keeps a file that a tool has made; without it such files are dropped. */
  readonly keepFile?: ((id: string, file: AgentFile) => Promise<void>) | undefined;
  /** Called when a tool is started and when it has ended, for people who watch. */
  readonly onCall?: (call: LiveToolCall) => void;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  readonly meter?: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly at: Pick<
    ToolCall,
    'facts' | 'reader' | 'view' | 'session' | 'messages' | 'route' | 'show'
  > & {
    /** Where the messages are Parley’s own: what caused them. */
    readonly origin?: TurnOrigin;
  };
}

/**
 * Runs the calls of a round that have no result yet, one after another, each journalled before the next
 * (G16). False when the lease was lost. Throws when `stop` has fired, and TurnSuspendedError.
 */
export async function callTools(
  deps: CallToolsDeps,
  round: Round,
  stop: AbortSignal,
): Promise<boolean> {
  const { calls } = round;
  const audience = audienceOf(deps.at.reader);
  for (const [nth, journalled] of calls.entries()) {
    if (journalled.result !== null) continue;
    stop.throwIfAborted();
    const startedAt = deps.clock();
    const outcome = isCutCall(round, nth)
      ? { text: cutCallText(journalled), failed: true }
      : await outcomeOf(deps, journalled, nth, stop);
    if (outcome === null) return false;
    const { text, failed = false, foreign = false } = outcome;
    const result = {
      kind: 'result',
      call: journalled.key,
      text,
      failed,
      audience,
      foreign,
    } as const;
    const facts = toolFacts(deps.tools, journalled, outcome);
    if (!(await deps.journal.append(result, { startedAt, facts }))) return false;
  }
  return true;
}

/** Whatever a tool was shown may be in what it says. */
export function audienceOf({ kind, conversationId }: Reader): Audience {
  return kind === 'owner' ? { kind } : { kind: 'conversation', conversationId };
}

interface Outcome extends ToolOutcome {
  readonly foreign?: boolean;
  /** The tool itself was called. */
  readonly ran?: boolean;
}

/** The facts of a call; an unknown tool name was invented by the model. */
function toolFacts(
  tools: ToolSet,
  { call, key }: JournalledCall,
  { failed = false, ran = false }: Outcome,
): StepFacts {
  const tool = tools.get(call.name)?.name ?? 'a tool that is not there';
  const ended = failed ? 'failed' : 'done';
  return { kind: 'tool', tool, outcome: ran ? ended : 'not-run', call: key };
}

/** Null when the lease was lost. */
async function outcomeOf(
  deps: CallToolsDeps,
  journalled: JournalledCall,
  nth: number,
  stop: AbortSignal,
): Promise<Outcome | null> {
  const { key, call, started, held } = journalled;
  if (started) return cutOff(call);
  if (nth >= deps.limits.calls) return tooMany(call, deps.limits.calls);
  const tool = deps.tools.get(call.name);
  if (tool === undefined) return held.length > 0 ? gone(call) : unknownTool(call, deps.tools);
  const repeated = repeatedCall(deps.journal.rounds(), nth, deps.tools);
  if (repeated !== null) return again(repeated);
  const unchecked = await tryArguments(deps, call, stop);
  if (unchecked !== null) return unchecked;
  const moment = momentOf(deps.at, deps.journal);
  const proposal = await proposalOf(deps, tool, call);
  const verdict = await verdictOn(deps, tool, journalled, moment, proposal);
  if (verdict === null || 'text' in verdict) return verdict;
  const { approved } = verdict;
  if (tool.effect !== 'read') {
    await deps.beforeActing?.();
    stop.throwIfAborted();
  }
  const begin = () => journalStart(deps, tool, key);
  // A call that was held has a tool that says itself when it begins again.
  if (journalled.held.length === 0 && !(await begin())) return null;
  const { turnId, tools, clock, monotonic, log, limits, gate } = deps;
  const foreign = tools.foreign.has(tool.name);
  const { origin: _origin, ...at } = deps.at;
  const messages = [...(at.messages ?? []), ...deps.journal.joined().map(({ message }) => message)];
  const startedAt = monotonic();
  const about = {
    ...{ ...at, messages, moment, turnId, callId: key, clock, log },
    held: heldCall(deps, journalled, begin),
    ...(approved && proposal !== null && { approved: proposal.content }),
    ...(gate !== undefined && { ask: (question: PersonQuestion) => gate.askPerson(key, question) }),
  };
  const { tracer = silentTracer, onCall } = deps;
  const shown = { callId: key, tool: tool.name, about: argumentLine(call.arguments) };
  onCall?.({ ...shown, state: 'running', ms: 0 });
  const outcome = await tracer.span('parley.tool', { facts: { tool: tool.name } }, async (span) => {
    const offered = tools.offered.find(({ name }) => name === tool.name);
    const ended = await runTool({ tool, foreign, offered }, call, about, limits, stop);
    span.note({ failed: ended.failed === true });
    return ended;
  });
  const ended = outcome.failed === true ? 'failed' : 'done';
  const ms = monotonic() - startedAt;
  onCall?.({ ...shown, state: ended, ms });
  deps.meter?.observe('parley_tool_seconds', ms, { tool: tool.name, outcome: ended });
  log.info({ tool: tool.name, ms, failed: outcome.failed }, 'tool');
  const text = await withFiles(deps, key, outcome);
  return { ...outcome, text, ran: true, foreign };
}

/** Reading may be done twice; anything else must not be done again by a later run. False when the lease was lost. */
async function journalStart({ journal }: CallToolsDeps, tool: Tool, key: string): Promise<boolean> {
  if (tool.effect === 'read' || tool.actsOnce === true) return true;
  return await journal.append({ kind: 'started', call: key });
}

/** Where the lease was lost the turn is left, as where it waits: the worker that has the lane now goes on. */
function heldCall(
  { journal }: CallToolsDeps,
  { key, call, held }: JournalledCall,
  begin: () => Promise<boolean>,
): HeldCall {
  const orLeave = (isStored: boolean): void => {
    if (!isStored) throw new TurnSuspendedError(call.name);
  };
  return {
    kept: held,
    keep: async (content) => orLeave(await journal.append({ kind: 'held', call: key, content })),
    begin: async () => orLeave(await begin()),
  };
}

/** The result with the files that the tool has made, which are kept first. */
async function withFiles(
  { keepFile, tools }: CallToolsDeps,
  key: string,
  { text, files = [] }: ToolOutcome,
): Promise<string> {
  if (files.length === 0 || keepFile === undefined || !tools.names.includes('send_file'))
    return text;
  const given = files.map((file, nth) => ({ ...file, id: `${key}.f${nth + 1}` }));
  for (const { id, ...file } of given) await keepFile(id, { ...file, kind: kindOf(file.mimeType) });
  return `${text}\n\n${givenText(given)}`;
}

/** What a call would change, for people to see. What cannot be planned is not asked about: the tool says why. */
async function proposalOf(
  { at, tools, log }: CallToolsDeps,
  tool: Tool,
  call: ModelToolCall,
): Promise<Proposal | null> {
  const input = toolArguments(call);
  if (tool.proposes === undefined || isPlaceholder(tools, tool.name)) return null;
  if (input === null || !tool.input.safeParse(input).success) return null;
  try {
    return await tool.proposes(input, at);
  } catch (error) {
    log.warn({ tool: tool.name, reason: reasonOf(error) }, 'what a call would change is not known');
    return null;
  }
}

/** Whether a call may be run, and as it was approved; else the refusal for the model. Null: the lease was lost. */
async function verdictOn(
  deps: CallToolsDeps,
  tool: Tool,
  journalled: JournalledCall,
  moment: CallMoment,
  proposal: Proposal | null,
): Promise<{ readonly approved: boolean } | ToolOutcome | null> {
  const { gate, tools } = deps;
  if (gate === undefined) return withoutAsking(deps, tool, journalled, moment, proposal);
  const verdict = await gate.check(tool, journalled, tools, moment, proposal);
  if (verdict.kind === 'fenced') return null;
  return verdict.kind === 'run' ? verdict : { text: verdict.text, failed: true };
}

/** Where no approver can be asked, only calls that need no approval run, and reads that the settings allow. */
function withoutAsking(
  { approvals, tools }: CallToolsDeps,
  tool: Tool,
  { call }: JournalledCall,
  moment: CallMoment,
  proposal: Proposal | null,
): ToolOutcome | { readonly approved: boolean } {
  const { rules = { ask: [], auto: [] } } = approvals ?? {};
  const input = toolArguments(call);
  // Broken arguments are never run; the tool says so better.
  if (input === null || !tool.input.safeParse(input).success) return { approved: false };
  const schema = tools.offered.find(({ name }) => name === tool.name)?.inputSchema;
  const subject = subjectOf(schema?.properties, input);
  const need = needOf(tool, subject, rules, isSpared(tool, input, moment), proposal);
  if (need === 'never' || (need === 'auto' && tool.effect === 'read')) return { approved: false };
  const about = isSometimes(tool, rules) ? tool.asksAbout : undefined;
  return { text: noApproverText(tool.name, about), failed: true };
}

/** What an earlier result says was framed when it came. */
function again({ result, remark }: RepeatedCall): Outcome {
  const { text, failed, foreign } = result;
  return { text: `[${remark}]\n\n${text}`, failed, foreign };
}

function cutOff({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} was started, and then this turn was cut off. Whether it took effect is not known: look before you do it again, and tell the person if you cannot.`;
  return { text, failed: true };
}

/** Its server may not be connected yet, in a process that has just started. */
function gone({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} waited for a person, and is not there any more. It has changed nothing: call it again once it is there.`;
  return { text, failed: true };
}

function tooMany({ name }: ModelToolCall, most: number): ToolOutcome {
  const text = `${name} was not run: at most ${most} calls in one step are.`;
  return { text, failed: true };
}

/** Tools of other readers do not exist here, so the text cannot name them. */
function unknownTool({ name }: ModelToolCall, { names }: ToolSet): ToolOutcome {
  const known = names.length === 0 ? 'There are none here.' : `There are: ${names.join(', ')}.`;
  return { text: `There is no tool ${JSON.stringify(name.slice(0, 80))}. ${known}`, failed: true };
}

/** Whom a turn answers, and from what. */
export interface TurnSoFar {
  readonly reader: Reader;
  readonly messages?: readonly InboundMessage[];
  readonly origin?: TurnOrigin;
}

/** What has been said in a turn up to now, from its messages and its journal. */
function momentOf(
  { reader, messages: startedWith = [], origin }: TurnSoFar,
  journal: Pick<TurnJournal, 'rounds' | 'joined'>,
): CallMoment {
  const messages = [...startedWith, ...journal.joined().map(({ message }) => message)];
  const results = journal
    .rounds()
    .flatMap(({ calls }) =>
      calls.flatMap(({ call: { name: tool }, result }) =>
        result === null ? [] : [{ tool, ...result }],
      ),
    );
  // What Parley itself put there (the end of a sub-agent, say) the model may have written; a job not.
  const said = messages
    .map((message) => (message.trigger === 'cron' ? message.text : typedText(message)))
    .filter((text) => text !== '');
  return {
    reader,
    said: [...(origin?.said ?? []), ...said],
    quoted: messages.flatMap(({ replyTo, quotation }) =>
      [replyTo?.text, quotation?.text].filter((text) => text !== undefined),
    ),
    results: results.map(({ tool, text }) => ({ tool, text })),
    untrustedText: hasUntrustedText({
      messages,
      results,
      inherited: origin?.untrustedText === true,
    }),
  };
}
