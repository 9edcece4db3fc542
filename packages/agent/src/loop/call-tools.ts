import {
  formatArguments,
  getTypedText,
  type InboundMessage,
  type LiveToolCall,
  reasonOf,
  type StepInfo,
} from '@parley/core';
import { type ModelToolCall, parseToolArguments } from '@parley/models';
import { describeMissingApprover } from '../approvals/approval-gate.ts';
import {
  type ApprovalRules,
  findApprovalSubject,
  hasUntrustedText,
  isExempt,
  mayNeedApproval,
  resolveApprovalRequirement,
} from '../approvals/approval-policy.ts';
import { describeCreatedFiles, getOutboundFileKind } from '../tools/send-file.ts';
import {
  type CallMoment,
  type HeldCall,
  type PersonQuestion,
  type Proposal,
  runTool,
  type Tool,
  type ToolOutcome,
  TurnSuspendedError,
} from '../tools/tool.ts';
import { isPlaceholderTool, type ToolSet } from '../tools/tool-set.ts';
import { validateArguments } from '../tools/try-arguments.ts';
import type { RunningTurn } from '../turn/run.ts';
import { getAudience, type Turn } from '../turn/turn.ts';
import { describeTruncatedCall, isTruncatedCall } from './cut-answers.ts';
import { findRepeatedCall, type RepeatedCall } from './repeated-call.ts';
import type { JournaledCall, TurnJournal, TurnRound } from './turn-journal.ts';

/** Receives events during a call, to display its progress. */
export interface CallObserver {
  /** Shows Markdown until the answer replaces it, on platforms that support that. */
  show(markdown: string): void;
  /** Called when a tool starts and when it ends. */
  onCall(call: LiveToolCall): void;
}

/**
 * Runs the calls of a round that have no result yet, in order; each result is journaled before the
 * next call starts (G16). Returns false if the lease was lost. Throws the abort reason of the run's
 * signal, and TurnSuspendedError.
 */
export async function callTools(
  running: RunningTurn,
  round: TurnRound,
  watch: CallObserver,
): Promise<boolean> {
  const { services, turn, run, tools } = running;
  const audience = getAudience(turn.reader);
  for (const [nth, journalled] of round.calls.entries()) {
    if (journalled.result !== null) continue;
    run.signal.throwIfAborted();
    const startedAt = services.clock();
    const outcome = isTruncatedCall(round, nth)
      ? { text: describeTruncatedCall(journalled), failed: true }
      : await runToolCall(running, journalled, nth, watch);
    if (outcome === null) return false;
    const { text, failed = false, foreign = false } = outcome;
    const { key: call } = journalled;
    const result = { kind: 'result', call, text, failed, audience, foreign } as const;
    const facts = createToolFacts(tools, journalled, outcome);
    if (!(await run.journal.append(result, { startedAt, facts }))) return false;
  }
  return true;
}

interface CallOutcome extends ToolOutcome {
  readonly foreign?: boolean;
  /** True if the tool itself ran. */
  readonly ran?: boolean;
}

/** The name of an unknown tool is omitted, because the model invented it. */
function createToolFacts(
  tools: ToolSet,
  { call, key }: JournaledCall,
  { failed = false, ran = false }: CallOutcome,
): StepInfo {
  const { name: tool = 'unknown tool', effect } = tools.get(call.name) ?? {};
  const ended = failed ? 'failed' : 'done';
  const outcome = ran ? ended : 'not-run';
  return { kind: 'tool', tool, outcome, call: key, ...(effect !== undefined && { effect }) };
}

/** Null if the lease was lost. */
async function runToolCall(
  running: RunningTurn,
  journalled: JournaledCall,
  nth: number,
  watch: CallObserver,
): Promise<CallOutcome | null> {
  const { services, turn, means, run, tools } = running;
  const { key, call, started, held } = journalled;
  if (started) return createInterruptedCallOutcome(call);
  if (nth >= means.limits.calls) return createTooManyCallsOutcome(call, means.limits.calls);
  const tool = tools.get(call.name);
  if (tool === undefined)
    return held.length > 0 ? createMissingToolOutcome(call) : createUnknownToolOutcome(call, tools);
  const repeated = findRepeatedCall(run.journal.rounds(), nth, tools);
  if (repeated !== null) return createRepeatedCallOutcome(repeated);
  const unchecked = await validateArguments({ tools, checks: services.checks }, call, run.signal);
  if (unchecked !== null) return unchecked;
  const moment = createCallMoment(turn, run.journal);
  const proposal = await proposeChange(running, tool, call);
  const verdict = await decideCall(running, tool, journalled, moment, proposal);
  if (verdict === null || 'text' in verdict) return verdict;
  if (tool.effect !== 'read') {
    await run.later?.beforeActing();
    run.signal.throwIfAborted();
  }
  // If a call was held, its tool records the start itself.
  if (held.length === 0 && !(await journalCallStart(run.journal, tool, key))) return null;
  const approved = verdict.approved && proposal !== null ? proposal.content : undefined;
  return runCall(running, { tool, journalled, moment, approved }, watch);
}

interface AllowedCall {
  readonly tool: Tool;
  readonly journalled: JournaledCall;
  readonly moment: CallMoment;
  /** The content that a person approved, as shown in the question. */
  readonly approved: string | undefined;
}

async function runCall(
  running: RunningTurn,
  { tool, journalled, moment, approved }: AllowedCall,
  { show, onCall }: CallObserver,
): Promise<CallOutcome> {
  const { services, turn, means, run, tools } = running;
  const { meter, tracer, monotonic, clock, log } = services;
  const { key, call } = journalled;
  const { gate, journal } = run;
  const foreign = tools.foreign.has(tool.name);
  const startedAt = monotonic();
  const about = {
    ...{
      ...createTurnContext(running),
      show,
      moment,
      callId: key,
      clock,
      log,
      turnId: turn.turnId,
    },
    messages: listTurnMessages(turn, journal),
    held: createHeldCall(journal, journalled, () => journalCallStart(journal, tool, key)),
    ...(approved !== undefined && { approved }),
    ...(gate !== undefined && { ask: (question: PersonQuestion) => gate.askPerson(key, question) }),
  };
  const shown = { callId: key, tool: tool.name, about: formatArguments(call.arguments) };
  onCall({ ...shown, state: 'running', ms: 0 });
  const outcome = await tracer.span('parley.tool', { facts: { tool: tool.name } }, async (span) => {
    const offered = tools.definitions.find(({ name }) => name === tool.name);
    const ended = await runTool({ tool, foreign, offered }, call, about, means.limits, run.signal);
    span.note({ failed: ended.failed === true });
    return ended;
  });
  const ended = outcome.failed === true ? 'failed' : 'done';
  const ms = monotonic() - startedAt;
  onCall({ ...shown, state: ended, ms });
  meter.observe('parley_tool_seconds', ms, { tool: tool.name, outcome: ended });
  log.info({ tool: tool.name, ms, failed: outcome.failed }, 'tool');
  const text = await storeToolFiles(running, key, outcome);
  return { ...outcome, text, ran: true, foreign };
}

/** The parts of a turn that are visible to its tools. */
function createTurnContext({
  turn: { session, route },
  opened: { facts, reader, view, messages },
}: RunningTurn) {
  return { facts, reader, view, messages, session, route };
}

/** The messages that the turn started with, followed by those that joined it. */
function listTurnMessages(
  turn: Pick<Turn, 'messages'>,
  journal: Pick<TurnJournal, 'joined'>,
): readonly InboundMessage[] {
  return [...turn.messages, ...journal.joined()].map(({ message }) => message);
}

/**
 * Journals the start of a call, so that a later run does not repeat the call. Reads may be
 * repeated, so they are not recorded. Returns false if the lease was lost.
 */
async function journalCallStart(journal: TurnJournal, tool: Tool, key: string): Promise<boolean> {
  if (tool.effect === 'read' || tool.actsOnce === true) return true;
  return await journal.append({ kind: 'started', call: key });
}

/**
 * Lets a tool record content before its call takes effect (`hold`). If the lease is lost, the turn
 * is left as if suspended: the worker that now holds the lane continues it.
 */
function createHeldCall(
  journal: TurnJournal,
  { key, call, held }: JournaledCall,
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

/** Stores the files created by the tool and returns the result text with their ids. */
async function storeToolFiles(
  { services: { store, clock }, turn, tools }: RunningTurn,
  key: string,
  { text, files = [] }: ToolOutcome,
): Promise<string> {
  if (files.length === 0 || !tools.names.includes('send_file')) return text;
  const given = files.map((file, nth) => ({ ...file, id: `${key}.f${nth + 1}` }));
  for (const { id, ...file } of given) {
    const kept = { ...file, kind: getOutboundFileKind(file.mimeType) };
    await store.agentFiles.keep(id, turn.turnId, kept, clock());
  }
  return `${text}\n\n${describeCreatedFiles(given)}`;
}

/**
 * Computes the change that a call would make, so that people can see it. If the computation fails,
 * nobody is asked, and the tool reports the problem when it runs.
 */
async function proposeChange(
  running: RunningTurn,
  tool: Tool,
  call: ModelToolCall,
): Promise<Proposal | null> {
  const input = parseToolArguments(call);
  if (tool.proposes === undefined || isPlaceholderTool(running.tools, tool.name)) return null;
  if (input === null || !tool.input.safeParse(input).success) return null;
  try {
    return await tool.proposes(input, createTurnContext(running));
  } catch (error) {
    const facts = { tool: tool.name, reason: reasonOf(error) };
    running.services.log.warn(facts, 'could not compute what a call would change');
    return null;
  }
}

/**
 * Decides whether a call may run and whether a person approved it. Otherwise returns the refusal
 * for the model, or null if the lease was lost.
 */
async function decideCall(
  { services, run: { gate }, tools }: RunningTurn,
  tool: Tool,
  journalled: JournaledCall,
  moment: CallMoment,
  proposal: Proposal | null,
): Promise<{ readonly approved: boolean } | ToolOutcome | null> {
  if (gate === undefined)
    return decideCallWithoutApprover(
      services.approvals?.rules,
      tools,
      tool,
      journalled,
      moment,
      proposal,
    );
  const verdict = await gate.check(tool, journalled, tools, moment, proposal);
  if (verdict.kind === 'fenced') return null;
  return verdict.kind === 'run' ? verdict : { text: verdict.text, failed: true };
}

/**
 * Decides without an approver: only calls that do not need an approval may run, and reads that the
 * settings allow.
 */
function decideCallWithoutApprover(
  rules: Pick<ApprovalRules, 'ask' | 'auto'> = NO_RULES,
  tools: ToolSet,
  tool: Tool,
  { call }: JournaledCall,
  moment: CallMoment,
  proposal: Proposal | null,
): ToolOutcome | { readonly approved: boolean } {
  const input = parseToolArguments(call);
  // Calls with invalid arguments never run; the tool's own message explains the problem better.
  if (input === null || !tool.input.safeParse(input).success) return { approved: false };
  const schema = tools.definitions.find(({ name }) => name === tool.name)?.inputSchema;
  const subject = findApprovalSubject(schema?.properties, input);
  const need = resolveApprovalRequirement(
    tool,
    subject,
    rules,
    isExempt(tool, input, moment),
    proposal,
  );
  if (need === 'never' || (need === 'auto' && tool.effect === 'read')) return { approved: false };
  const about = mayNeedApproval(tool, rules) ? tool.asksAbout : undefined;
  return { text: describeMissingApprover(tool.name, about), failed: true };
}

const NO_RULES = { ask: [], auto: [] };

/** The text of an earlier result was framed when it arrived. */
function createRepeatedCallOutcome({ result, remark }: RepeatedCall): CallOutcome {
  const { text, failed, foreign } = result;
  return { text: `[${remark}]\n\n${text}`, failed, foreign };
}

function createInterruptedCallOutcome({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} was started, and then this turn was cut off. It is not known whether it took effect: check before you do it again, and tell the person if you cannot.`;
  return { text, failed: true };
}

/** The server of this tool is not connected (yet), for example in a freshly started process. */
function createMissingToolOutcome({ name }: ModelToolCall): ToolOutcome {
  const text = `${name} waited for a person and is no longer available. It has changed nothing: call it again once it is available.`;
  return { text, failed: true };
}

function createTooManyCallsOutcome({ name }: ModelToolCall, most: number): ToolOutcome {
  const text = `${name} was not run: one step may run at most ${most} calls.`;
  return { text, failed: true };
}

/** Lists only the tools offered in this turn, so it cannot reveal tools for other readers. */
function createUnknownToolOutcome({ name }: ModelToolCall, { names }: ToolSet): ToolOutcome {
  const known = names.length === 0 ? 'There are none here.' : `There are: ${names.join(', ')}.`;
  return { text: `There is no tool ${JSON.stringify(name.slice(0, 80))}. ${known}`, failed: true };
}

/** Everything about the turn so far that approval rules need, from its messages and its journal. */
function createCallMoment(turn: Turn, journal: TurnJournal): CallMoment {
  const { reader, purpose } = turn;
  const origin = purpose.kind === 'chat' ? undefined : purpose.origin;
  const messages = listTurnMessages(turn, journal);
  const results = journal
    .rounds()
    .flatMap(({ calls }) =>
      calls.flatMap(({ call: { name: tool }, result }) =>
        result === null ? [] : [{ tool, ...result }],
      ),
    );
  // Messages from Parley may contain text from a model (a sub-agent's result, say), but the text of
  // a job was written by its owner.
  const said = messages
    .map((message) => (message.trigger === 'cron' ? message.text : getTypedText(message)))
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
