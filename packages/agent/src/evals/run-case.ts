import type { CheckRunner, Logger, Monotonic } from '@parley/core';
import { silentMeter, silentTracer } from '@parley/core';
import type { ChatModel } from '@parley/models';
import type { ClaimedTurn } from '@parley/store';
import { getVisibleAnswer } from '../answer/visible-text.ts';
import type { HistoryLimits } from '../context/history.ts';
import type { TurnRound } from '../loop/turn-journal.ts';
import type { TurnLimits } from '../loop/turn-limits.ts';
import type { ReplayedAnswer } from '../replay/outcome.ts';
import { completeRequest, type RebuiltTurn } from '../replay/rebuild-request.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import { buildPrompt, openTurn } from '../turn/build-prompt.ts';
import { createPreviewMeans } from '../turn/means.ts';
import type { PreviewServices } from '../turn/preview-turn.ts';
import { CHAT, startTurn, type Turn, toSenderId } from '../turn/turn.ts';
import { type CheckResult, type JudgeAnswer, runChecks } from './check-answer.ts';
import type { CaseResult, EvalCase, PromptOutline } from './eval-case.ts';
import { compareOutlines, outlinePrompt, restoreContext } from './prompt-outline.ts';
import { createRecordedModel } from './recorded-model.ts';

/** What a case may use: the services of a preview, which cannot send or write anything. */
export interface CaseServices extends PreviewServices {
  readonly history: HistoryLimits;
  readonly limits: TurnLimits;
  readonly checks: CheckRunner;
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

export interface CaseRun {
  /** The model to ask; null to use the recorded answers. */
  readonly model: ChatModel | null;
  readonly judge?: JudgeAnswer | undefined;
}

/** The result of one case. */
export interface CaseOutcome {
  /** `skipped`: there is nothing to check without asking a model. */
  readonly kind: 'passed' | 'failed' | 'skipped';
  /** What changed in the request, and what kept the turn from answering, as sentences. */
  readonly problems: readonly string[];
  readonly checks: readonly CheckResult[];
  /** Null if no model answered. */
  readonly answer: ReplayedAnswer | null;
  /** The request as it is now, which `--accept` writes into the case. */
  readonly prompt: PromptOutline;
  /** The model's answers one by one, which `--record` writes into the case. */
  readonly rounds: EvalCase['answers'];
}

/**
 * Builds the request of a case with the code and the files of today, compares it with the outline
 * in the case, lets a model or the recorded answers continue, and checks the answer.
 */
export async function runCase(
  value: EvalCase,
  claimed: ClaimedTurn,
  services: CaseServices,
  run: CaseRun,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  const at = value.at === undefined ? services.clock() : Date.parse(value.at);
  const owners = chooseOwners(value, claimed, services);
  const turn = startTurn(claimed, CHAT, { ...services, owners }, at);
  const rebuilt = await buildCaseRequest(value, turn, { ...services, clock: () => at }, signal);
  const { prompt: assembled } = rebuilt.draft;
  const { tools = [] } = rebuilt.request;
  const prompt = outlinePrompt({ prompt: assembled, tools, limits: listLimits(services) });
  const changes = value.prompt === undefined ? [] : compareOutlines(value.prompt, prompt);
  if (run.model === null && value.answers.length === 0) {
    const kind = changes.length > 0 ? 'failed' : value.prompt === undefined ? 'skipped' : 'passed';
    return { kind, problems: changes, checks: [], answer: null, prompt, rounds: [] };
  }
  const answered = await answerCase(value, turn, rebuilt, services, run, signal);
  const isFailed = answered.checks.some(({ outcome }) => outcome === 'failed');
  const problems = [...changes, ...answered.problems];
  const kind = isFailed || problems.length > 0 ? 'failed' : 'passed';
  return { ...answered, kind, problems, prompt };
}

/** Lets the model or the recorded answers continue from the request, and checks the answer. */
async function answerCase(
  value: EvalCase,
  turn: Turn,
  rebuilt: RebuiltTurn,
  services: CaseServices,
  { model, judge }: CaseRun,
  signal: AbortSignal,
): Promise<Omit<CaseOutcome, 'kind' | 'prompt'>> {
  const { model: asked, answers: rounds } = keepAnswers(
    model ?? createRecordedModel(value.answers),
  );
  const record = { turn, rounds: createRounds(value.results, turn), messages: [] };
  const replayed = await replayTurn(record, rebuilt, { ...services, model: asked }, signal);
  if (replayed.kind === 'failed')
    return { problems: [replayed.reason], checks: [], answer: null, rounds };
  const { after } = replayed;
  if (replayed.kind === 'diverged') {
    const { name, arguments: written } = replayed.call;
    const problem = `The model called ${name} with ${written}, and the case has no result for this call.`;
    return { problems: [problem], checks: [], answer: after, rounds };
  }
  const visible = getVisibleAnswer(after.text, { known: new Set() });
  const isSilent = visible.kind === 'silent';
  const shown = { text: isSilent ? '' : visible.text, isSilent, calls: after.calls };
  const checks = await runChecks(value.checks, shown, { ...services, judge }, signal);
  return { problems: [], checks, answer: after, rounds };
}

/** The case says whether an owner writes, so that it gives the same result under other settings. */
function chooseOwners(
  { owner }: EvalCase,
  { messages }: ClaimedTurn,
  { owners }: CaseServices,
): readonly string[] {
  if (owner === undefined) return owners;
  return owner ? [...owners, ...messages.map(toSenderId)] : [];
}

async function buildCaseRequest(
  value: EvalCase,
  turn: Turn,
  services: CaseServices,
  signal: AbortSignal,
): Promise<RebuiltTurn> {
  const { reader } = turn;
  const means = { ...createPreviewMeans({ ...services, hooks: [] }), history: services.history };
  const opened = await openTurn(turn, services);
  const transcript = value.history.map((entry, seq) => ({ ...entry, seq, at: 0 }));
  const audience =
    reader.kind === 'owner'
      ? { kind: 'owner' as const }
      : { kind: 'conversation' as const, conversationId: reader.conversationId };
  const summary =
    value.summary === null
      ? null
      : { text: value.summary, source: 'summary of this conversation', audience };
  const building = { ...services, meter: silentMeter, tracer: silentTracer };
  const past = async () => ({ summary, transcript });
  const { draft, tools } = await buildPrompt(turn, opened, means, building, past, signal);
  const prompt = restoreContext(draft.prompt, value);
  // The groups that the session of the case had opened are open again.
  const recorded = value.prompt?.tools ?? [];
  const open = new Set(recorded.flatMap(({ name }) => tools.groups.get(name) ?? []));
  return completeRequest({ turn }, { ...draft, prompt }, tools, services.log, [...open]);
}

/** The limits that bound what the model reads and does. */
export function listLimits({
  history,
  limits,
}: Pick<CaseServices, 'history' | 'limits'>): Readonly<Record<string, number>> {
  return { ...limits, historyEntries: history.entries, historyTokens: history.tokens };
}

/** The results of a case as a single recorded round; each answers one call. */
function createRounds(results: readonly CaseResult[], { reader }: Turn): readonly TurnRound[] {
  const audience = { kind: 'conversation', conversationId: reader.conversationId } as const;
  const calls = results.map(({ name, arguments: written, result, failed }, at) => {
    const key = `case.${at}`;
    const call = { id: key, name, arguments: written };
    const found = {
      kind: 'result',
      call: key,
      text: result,
      failed,
      audience,
      foreign: false,
    } as const;
    return { key, call, started: true, held: [], result: found };
  });
  const usage = { model: '', inputTokens: 0, outputTokens: 0, costUsd: null };
  const step = { kind: 'model', text: '', calls: [], usage, audience } as const;
  return [{ step: { ...step, calls: [] }, calls, joined: [] }];
}

/** Keeps the answers of a model as they pass, so that they can be recorded. */
function keepAnswers(model: ChatModel) {
  const answers: EvalCase['answers'] = [];
  const kept: ChatModel = {
    ...model,
    id: model.id,
    async *stream(request, signal) {
      const calls: EvalCase['answers'][number]['calls'] = [];
      for await (const event of model.stream(request, signal)) {
        if (event.type === 'tool-call')
          calls.push({ name: event.call.name, arguments: event.call.arguments });
        if (event.type === 'finish') answers.push({ text: event.text, calls });
        yield event;
      }
    },
  };
  return { model: kept, answers };
}
